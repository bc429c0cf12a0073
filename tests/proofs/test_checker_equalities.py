"""Identities, differences, enclosed numbers and citations as the checker repeats them."""

import math
from fractions import Fraction

import pytest
from exptx.proofs.checking.context import Context
from exptx.proofs.checking.refusal import Refusal
from exptx.proofs.checking.steps import check


def num(x):
    return ["num", str(x)]


def sym(name):
    return ["sym", name]


def add(*parts):
    return ["add", *parts]


def mul(*parts):
    return ["mul", *parts]


def neg(part):
    return ["mul", num(-1), part]


def minus(a, b):
    return add(a, neg(b))


a, b, g, t, s, w, x, y = map(sym, "abgtswxy")


def step(kind, status="proved", **fields):
    return {"kind": kind, "name": "it", "status": status, "reason": "", **fields}


def accepted(kind, status="proved", hypotheses=(), **fields):
    check(Context(frozenset(hypotheses)), step(kind, status, **fields))


def rejected(where, why, kind, status="proved", hypotheses=(), **fields):
    with pytest.raises(Refusal) as caught:
        check(Context(frozenset(hypotheses)), step(kind, status, **fields))
    assert where in caught.value.where, (caught.value.where, caught.value.reason)
    assert why in caught.value.reason, (caught.value.where, caught.value.reason)


def rotation(angle):
    return ["matrix", [[["cos", angle], neg(["sin", angle])], [["sin", angle], ["cos", angle]]]]


def damped(at):
    turn = rotation(mul(w, at))
    return ["smul", ["exp", neg(mul(g, at))], turn]


TRUE = {
    "addition of angles": (
        ["cos", add(a, b)],
        minus(mul(["cos", a], ["cos", b]), mul(["sin", a], ["sin", b])),
    ),
    "seventh roots of unity": (
        add(*(["cos", mul(num(f"{2 * k}/7"), ["pi"])] for k in (1, 2, 3))),
        num("-1/2"),
    ),
    "a surd as a cosine": (mul(num(2), ["cos", mul(num("1/4"), ["pi"])]), ["sqrt", "2"]),
    "a surd squared": (["pow", ["sqrt", "45/7"], 2], num("45/7")),
    "product of two surds": (mul(["sqrt", "6"], ["sqrt", "10"]), mul(num(2), ["sqrt", "15"])),
    "Euler": (["exp", mul(["i"], t)], add(["cos", t], mul(["i"], ["sin", t]))),
    "a complex rate": (
        ["exp", mul(add(neg(g), mul(["i"], w)), t)],
        mul(["exp", neg(mul(g, t))], add(["cos", mul(w, t)], mul(["i"], ["sin", mul(w, t)]))),
    ),
    "a whole turn with a symbol": (
        ["cos", mul(num(2), ["pi"], add(t, num(1)))],
        ["cos", mul(num(2), ["pi"], t)],
    ),
    "second derivative": (["diff", ["exp", mul(a, t)], "t", 2], mul(a, a, ["exp", mul(a, t)])),
    "derivative of a bell": (
        ["diff", ["exp", mul(a, ["pow", t, 3])], "t", 1],
        mul(num(3), a, ["pow", t, 2], ["exp", mul(a, ["pow", t, 3])]),
    ),
    "derivative then value": (["at", ["diff", ["sin", mul(w, t)], "t", 1], "t", num(0)], w),
    "value is simultaneous": (["at", ["at", minus(t, s), "t", s], "s", x], num(0)),
    "shift derivative of an opaque function": (
        add(["diff", ["fn", "f", minus(t, s)], "t", 1], ["diff", ["fn", "f", minus(t, s)], "s", 1]),
        num(0),
    ),
    "opaque function of the gap": (["at", ["fn", "f", minus(t, s)], "t", add(s, x)], ["fn", "f", x]),
    "damped turn is a group": (["matmul", damped(t), damped(s)], damped(add(t, s))),
    "the damped turn obeys A' = XA": (
        ["diff", damped(t), "t", 1],
        ["matmul", ["matrix", [[neg(g), neg(w)], [w, neg(g)]]], damped(t)],
    ),
    "matrix minus itself is zero": (["matadd", damped(t), ["smul", num(-1), damped(t)]], num(0)),
    "cube of a nilpotent": (
        ["matpow", ["matrix", [[num(0), a, b], [num(0), num(0), a], [num(0)] * 3]], 3],
        num(0),
    ),
    "transpose of a turn is the turn back": (["transpose", rotation(t)], rotation(neg(t))),
    "an exponent that is a fraction in writing only": (
        ["exp", mul(minus(["pow", a, 2], ["pow", b, 2]), ["pow", add(a, b), -1])],
        ["exp", minus(a, b)],
    ),
}
SCALARS = ("second derivative", "derivative of a bell")
NONZERO = {"an exponent that is a fraction in writing only": [add(a, b)]}


@pytest.mark.parametrize("name", TRUE)
def test_a_true_identity_is_accepted_and_its_denial_rejected(name):
    lhs, rhs = TRUE[name]
    accepted("identity", lhs=lhs, rhs=rhs, assume=[], nonzero=NONZERO.get(name, []))
    accepted("apart", "refuted", lhs=lhs, rhs=rhs, assume=[], nonzero=NONZERO.get(name, []))


@pytest.mark.parametrize("name", TRUE)
def test_an_identity_that_is_off_by_a_tiny_number_is_rejected(name):
    lhs, rhs = TRUE[name]
    tiny = num(Fraction(1, 10**40))
    where = "lhs - rhs"
    if lhs[0] in ("matmul", "diff", "matadd", "matpow", "transpose") and name not in SCALARS:
        size = 3 if lhs[0] == "matpow" else 2
        lhs = ["matadd", lhs, ["matrix", [[num(0)] * size] * (size - 1) + [[tiny] * size]]]
        where = f"[{size - 1}][0]"
    else:
        lhs = add(lhs, tiny)
    rejected(where, "not zero", "identity", lhs=lhs, rhs=rhs, assume=[], nonzero=NONZERO.get(name, []))


def test_an_exponent_outside_the_class_is_refused():
    for inner, why in (
        (["sqrt", "2"], "irrational"),
        (["exp", a], "an exponential"),
        (["pow", a, -1], "no polynomial"),
    ):
        same = ["exp", mul(inner, t)]
        rejected("lhs - rhs", why, "identity", lhs=same, rhs=same, assume=[["pos", "a"]])
    rejected("lhs - rhs", "no canonical form", "identity", lhs=["log", num(2)], rhs=num(0), assume=[])


def test_sixty_four_planes_are_relative():
    rates = [sym(f"w{k}") for k in range(64)]
    q = [sym(f"q{k}") for k in range(128)]
    k = [sym(f"k{k}") for k in range(128)]

    def turned(v, at):
        out = []
        for i, rate in enumerate(rates):
            c, d = ["cos", mul(rate, at)], ["sin", mul(rate, at)]
            out += [
                minus(mul(c, v[2 * i]), mul(d, v[2 * i + 1])),
                add(mul(d, v[2 * i]), mul(c, v[2 * i + 1])),
            ]
        return out

    def dot(u, v):
        return add(*(mul(m, n) for m, n in zip(u, v, strict=True)))

    lhs, rhs = dot(turned(q, t), turned(k, s)), dot(turned(q, minus(t, s)), k)
    accepted("identity", lhs=lhs, rhs=rhs, assume=[])


def test_a_division_needs_its_condition():
    claim = {"lhs": mul(a, ["pow", a, -1]), "rhs": num(1)}
    rejected("lhs", "divides by a", "identity", **claim, assume=[])
    for assume in ([["pos", "a"]], [["neg", "a"]], [["ne", "a"]]):
        accepted("identity", **claim, assume=assume)
    rejected("lhs", "divides by a", "identity", **claim, assume=[["nonneg", "a"]])
    accepted("identity", **claim, assume=[], nonzero=[mul(num(3), a, b)])
    rejected("lhs", "divides by a", "identity", **claim, assume=[], nonzero=[b])
    rejected("nonzero[0]", "identically zero", "identity", **claim, assume=[], nonzero=[minus(a, a)])
    rejected("lhs", "identically zero", "identity", lhs=["pow", minus(a, a), -1], rhs=num(1), assume=[])
    tangent = {"lhs": ["tan", a], "rhs": mul(["sin", a], ["pow", ["cos", a], -1]), "assume": []}
    rejected("lhs", "cos(a)", "identity", **tangent)
    accepted("identity", **tangent, nonzero=[["cos", a]])


def test_a_division_by_what_a_substitution_makes_zero_is_rejected():
    body = mul(["sin", t], ["pow", t, -1])
    rejected(
        "lhs",
        "identically zero",
        "identity",
        lhs=["at", body, "t", num(0)],
        rhs=num(0),
        assume=[],
        nonzero=[t],
    )


WRONG = {"lhs": ["cos", minus(t, s)], "rhs": ["cos", add(t, s)], "assume": []}
POINT = {"t": "1", "s": "1/2"}
GAP = math.cos(0.5) - math.cos(1.5)


def bounds(value, digits=9):
    return [f"{value - 10**-digits:.12f}", f"{value + 10**-digits:.12f}"]


def test_a_refutation_stands_on_its_witness():
    accepted("identity", "refuted", **WRONG, witness=POINT, gap=bounds(GAP), entry=None)
    accepted("apart", **WRONG, witness=POINT, gap=bounds(GAP))
    refute = {**WRONG, "status": "refuted", "kind": "identity"}
    rejected("gap", "does not contain", **refute, witness={"t": "1", "s": "1/3"}, gap=bounds(GAP))
    rejected("gap", "does not contain", **refute, witness=POINT, gap=bounds(-GAP))
    rejected("gap", "does not contain", **refute, witness=POINT, gap=bounds(GAP + 3e-9))
    rejected("gap", "contains 0", **refute, witness=POINT, gap=["-1", "1"])
    rejected("gap", "wrong order", **refute, witness=POINT, gap=bounds(GAP)[::-1])
    rejected("witness", "'s'", **refute, witness={"t": "1"}, gap=bounds(GAP))
    rejected("witness", "0.5", **refute, witness={"t": "1", "s": 0.5}, gap=bounds(GAP))
    rejected("gap", "", **refute, witness=POINT)
    rejected("entry", "no matrices", **refute, witness=POINT, gap=bounds(GAP), entry=[0, 0])
    same = {"lhs": ["cos", t], "rhs": ["cos", neg(t)], "assume": []}
    rejected("gap", "does not contain", "identity", "refuted", **same, witness={"t": "1"}, gap=["1/10", "1"])


def test_a_witness_obeys_the_assumptions_and_the_conditions():
    claim = {"lhs": ["pow", a, 2], "rhs": a, "gap": ["2", "2"], "witness": {"a": "2"}}
    accepted("identity", "refuted", **claim, assume=[["pos", "a"]])
    rejected("witness", "against neg", "identity", "refuted", **claim, assume=[["neg", "a"]])
    rejected("witness", "zero", "identity", "refuted", **claim, assume=[], nonzero=[minus(a, num(2))])
    rejected("assume[1]", "contradicts", "identity", "refuted", **claim, assume=[["neg", "a"], ["pos", "a"]])


def test_a_matrix_refutation_names_its_entry():
    lhs, rhs = rotation(t), rotation(neg(t))
    gap = bounds(2 * math.sin(1))
    found = {"lhs": lhs, "rhs": rhs, "assume": [], "witness": {"t": "1"}}
    accepted("identity", "refuted", **found, entry=[1, 0], gap=gap)
    rejected("gap", "does not contain", "identity", "refuted", **found, entry=[0, 0], gap=gap)
    rejected("entry", "matrices", "identity", "refuted", **found, gap=gap)
    rejected("entry", "0 to 1", "identity", "refuted", **found, entry=[2, 0], gap=gap)


def test_a_gap_of_one_part_in_ten_to_the_forty_is_seen():
    lhs, rhs = ["exp", t], add(["exp", t], num(Fraction(1, 10**40)))
    found = {"lhs": lhs, "rhs": rhs, "assume": [], "witness": {"t": "2/3"}}
    accepted("identity", "refuted", **found, gap=["-1.1e-40", "-9e-41"])
    rejected("gap", "does not contain", "identity", "refuted", **found, gap=["-1.1e-41", "-9e-42"])


def test_derivatives_and_values_are_evaluated_on_the_tree():
    lhs = ["at", ["diff", mul(["exp", mul(a, t)], ["tan", t]), "t", 1], "t", num("1/2")]
    value = math.exp(1) * (2 * math.tan(0.5) + 1 / math.cos(0.5) ** 2)
    accepted("identity", "refuted", lhs=lhs, rhs=num(0), assume=[], witness={"a": "2"}, gap=bounds(value))
    inner = ["diff", ["at", mul(x, ["sinh", y]), "y", mul(x, x)], "x", 1]
    value = math.sinh(0.25) + 0.5 * math.cosh(0.25)
    accepted("identity", "refuted", lhs=inner, rhs=num(0), assume=[], witness={"x": "1/2"}, gap=bounds(value))
    flow = ["diff", ["matmul", damped(t), ["matpow", rotation(t), 2]], "t", 1]
    value = math.exp(-0.5) * (-0.5 * math.cos(3) - 3 * math.sin(3))
    found = {"lhs": flow, "rhs": num(0), "assume": [], "witness": {"t": "1", "g": "1/2", "w": "1"}}
    accepted("identity", "refuted", **found, entry=[0, 0], gap=bounds(value))


def test_a_complex_gap_has_two_intervals():
    found = {"lhs": ["exp", mul(["i"], t)], "rhs": num(0), "assume": [], "witness": {"t": "1"}}
    accepted("identity", "refuted", **found, gap=[*bounds(math.cos(1)), *bounds(math.sin(1))])
    rejected("gap", "", "identity", "refuted", **found, gap=[*bounds(math.cos(1)), *bounds(-math.sin(1))])


def test_opaque_functions_take_stated_values():
    found = {"lhs": mul(["fn", "f", t], ["fn", "f", s]), "rhs": ["fn", "f", add(t, s)], "assume": []}
    table = {"f": [[["1"], "2"], [["2"], "5"]]}
    accepted("identity", "refuted", **found, witness={"t": "1", "s": "1"}, functions=table, gap=["-1", "-1"])
    rejected(
        "gap",
        "no value of 'f'",
        "identity",
        "refuted",
        **found,
        witness={"t": "1", "s": "2"},
        functions=table,
        gap=["-1", "-1"],
    )
    twice = {"f": [[["1"], "2"], [["1"], "5"]]}
    rejected(
        "functions",
        "second value",
        "identity",
        "refuted",
        **found,
        witness={"t": "1", "s": "1"},
        functions=twice,
        gap=["-1", "-1"],
    )


NUMBERS = {
    "the worked example": (
        add(*(["cos", mul(num(3), ["root", "10000", f"-{2 * k}/16"])] for k in range(8))),
        "5.5431010613",
        "5.5431010614",
    ),
    "e to the fifth": (["exp", num(5)], "148.413159", "148.413160"),
    "a full turn": (mul(num(2), ["pi"], ["root", "10000", "3/8"]), "198.6917", "198.6918"),
    "a far cosine": (["cos", num(10**9)], "0.837887", "0.837888"),
    "a logarithm": (["log", num("1/10")], "-2.302585093", "-2.302585092"),
    "a surd": (
        ["sqrt", "2"],
        "1.41421356237309504880168872420969807856967187537694",
        "1.4142135623730950488016887242096980785696718753769481",
    ),
    "a rational": (mul(num(2), ["pow", num(3), -1]), "0.6666", "0.6667"),
    "a tiny one": (["exp", num(-100)], "3.72e-44", "3.73e-44"),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_is_enclosed_and_narrowed_bounds_are_rejected(name):
    expr, lower, upper = NUMBERS[name]
    accepted("enclosed", expr=expr, lower=lower, upper=upper)
    width = str(Fraction(upper) - Fraction(lower))
    past = str(Fraction(upper) + Fraction(width))
    rejected("expr", "outside", "enclosed", expr=expr, lower=upper, upper=past)
    accepted("enclosed", "refuted", expr=expr, lower=upper, upper=past)
    rejected("expr", "inside", "enclosed", "refuted", expr=expr, lower=lower, upper=upper)


def test_an_enclosed_number_has_no_symbols_and_ordered_bounds():
    rejected("expr", "free symbol", "enclosed", expr=["exp", t], lower="0", upper="9")
    rejected("upper", "not above", "enclosed", expr=["exp", num(1)], lower="3", upper="2")
    rejected("lower", "rational", "enclosed", expr=["exp", num(1)], lower="two", upper="3")
    rejected(
        "expr",
        "too near",
        "enclosed",
        expr=["sqrt", "2"],
        lower="0",
        upper=str(Fraction(math.isqrt(2 * 10**1600), 10**800)),
    )


def test_a_real_logarithm_of_a_negative_number_is_rejected():
    rejected("expr", "not positive", "enclosed", expr=["log", num(-1)], lower="0", upper="1")


def test_a_citation_counts_only_with_its_hypotheses():
    lemma = {"lemma": "Cauchy", "source": "Aczél 1966, Theorem 1", "needs": ["continuity"]}
    accepted("cited", hypotheses=["continuity"], **lemma)
    rejected("status", "continuity", "cited", **lemma)
    accepted("cited", "not_checked", **lemma)
    rejected("status", "proved is right", "cited", "not_checked", hypotheses=["continuity"], **lemma)
