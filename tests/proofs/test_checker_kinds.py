"""Every step kind of the checker: what is true is accepted, what is false is rejected at its place."""

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


# identity and apart

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
    if lhs[0] in ("matmul", "diff", "matadd", "matpow", "transpose") and name != "second derivative":
        size = 3 if lhs[0] == "matpow" else 2
        lhs = ["matadd", lhs, ["matrix", [[num(0)] * size] * (size - 1) + [[tiny] * size]]]
        where = f"[{size - 1}][0]"
    else:
        lhs = add(lhs, tiny)
    rejected(where, "not zero", "identity", lhs=lhs, rhs=rhs, assume=[], nonzero=NONZERO.get(name, []))


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


# enclosed

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


# cited


def test_a_citation_counts_only_with_its_hypotheses():
    lemma = {"lemma": "Cauchy", "source": "Aczél 1966, Theorem 1", "needs": ["continuity"]}
    accepted("cited", hypotheses=["continuity"], **lemma)
    rejected("status", "continuity", "cited", **lemma)
    accepted("cited", "not_checked", **lemma)
    rejected("status", "proved is right", "cited", "not_checked", hypotheses=["continuity"], **lemma)


# sign

SIGNS = {
    "square plus one": (add(["pow", x, 2], num(1)), "+", []),
    "a decay": (mul(g, ["exp", neg(mul(g, t))]), "+", [["pos", "g"]]),
    "minus a decay": (neg(mul(g, ["exp", neg(mul(g, t))])), "-", [["pos", "g"]]),
    "complete square": (add(["pow", x, 2], mul(num(-2), x), num(1)), "+0", []),
    "cosh above its tangent": (
        add(mul(x, ["pow", minus(y, num(1)), 2]), y),
        "+0",
        [["nonneg", "x"], ["nonneg", "y"]],
    ),
    "identically zero": (minus(["sinh", x], mul(num("1/2"), minus(["exp", x], ["exp", neg(x)]))), "0", []),
    "quadratic without roots": (add(["pow", x, 2], x, num(1)), "+", []),
    "cubic right of its root": (minus(["pow", add(x, num(1)), 3], num(1)), "+", [["pos", "x"]]),
    "odd function": (["sinh", x], "-", [["neg", "x"]]),
    "with a derivative": (["diff", ["exp", neg(mul(g, t))], "t", 1], "-", [["pos", "g"]]),
    "bounded below by pi": (add(["pi"], ["pow", t, 2]), "+", []),
}


@pytest.mark.parametrize("name", SIGNS)
def test_a_sign_is_accepted_and_the_other_one_rejected(name):
    expr, sign, assume = SIGNS[name]
    accepted("sign", expr=expr, sign=sign, assume=assume)
    other = {"+": "-0", "-": "+0", "+0": "-", "0": "+", "-0": "+"}[sign]
    rejected("sign", "", "sign", expr=expr, sign=other, assume=assume)


def test_a_sign_without_its_assumption_is_rejected():
    for name in (
        "a decay",
        "cubic right of its root",
        "odd function",
        "with a derivative",
        "cosh above its tangent",
    ):
        expr, sign, _ = SIGNS[name]
        rejected("sign", "as far as the rules tell", "sign", expr=expr, sign=sign, assume=[])
    rejected("sign", "", "sign", expr=["pow", x, 2], sign="+", assume=[])
    rejected("sign", "", "sign", expr=["cos", x], sign="+", assume=[["pos", "x"]])
    rejected("expr", "divides", "sign", expr=["pow", x, -2], sign="+", assume=[])
    rejected("sign", "", "sign", expr=minus(["pow", x, 2], num(2)), sign="+", assume=[["pos", "x"]])


def test_a_polynomial_on_a_stated_interval():
    expr = minus(num(1), ["pow", x, 2])
    accepted("sign", expr=expr, sign="+", assume=[], domain={"x": ["-1/2", "9/10"]})
    rejected("sign", "zero", "sign", expr=expr, sign="+", assume=[], domain={"x": ["-1/2", "1"]})
    accepted("sign", expr=expr, sign="-0", assume=[], domain={"x": ["1", None]})
    rejected("sign", "", "sign", expr=expr, sign="-0", assume=[], domain={"x": ["99/100", None]})
    rejected("expr", "no polynomial", "sign", expr=["exp", x], sign="+", assume=[], domain={"x": ["1", None]})


def test_a_wrong_sign_is_refuted_by_a_point():
    claim = {"expr": minus(["exp", x], num(2)), "sign": "+", "assume": [["pos", "x"]]}
    accepted("sign", "refuted", **claim, witness={"x": "1/2"})
    rejected("witness", "positive, as claimed", "sign", "refuted", **claim, witness={"x": "1"})
    rejected("witness", "against pos", "sign", "refuted", **claim, witness={"x": "-1"})
    accepted("sign", "refuted", expr=["pow", x, 2], sign="+", assume=[], witness={"x": "0"})
    rejected(
        "witness", "zero, as claimed", "sign", "refuted", expr=x, sign="+0", assume=[], witness={"x": "0"}
    )


# limit

LIMITS = {
    "a decay fades": (["exp", neg(mul(g, t))], "+oo", num(0), [["pos", "g"]]),
    "a decay backwards": (["exp", neg(mul(g, t))], "-oo", "+oo", [["pos", "g"]]),
    "polynomial times decay": (mul(["pow", t, 5], ["exp", neg(mul(g, t))]), "+oo", num(0), [["pos", "g"]]),
    "damped turn": (mul(["exp", neg(mul(g, t))], ["cos", mul(w, t)]), "+oo", num(0), [["pos", "g"]]),
    "norm of a slide": (add(num(1), ["pow", t, 2]), "-oo", "+oo", []),
    "odd power backwards": (mul(a, ["pow", t, 3]), "-oo", "-oo", [["pos", "a"]]),
    "constant": (add(["pow", ["cos", mul(w, t)], 2], ["pow", ["sin", mul(w, t)], 2]), "+oo", num(1), []),
    "constant beside a decay": (add(a, mul(t, ["exp", neg(t)])), "+oo", a, []),
    "quotient": (
        mul(add(mul(a, t), num(1)), ["pow", add(mul(b, t), s), -1]),
        "+oo",
        mul(a, ["pow", b, -1]),
        [["pos", "b"]],
    ),
    "hyperbolic tangent": (["tanh", mul(w, t)], "+oo", num(1), [["pos", "w"]]),
    "hyperbolic tangent backwards": (["tanh", mul(w, t)], "-oo", num(-1), [["pos", "w"]]),
}


@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_is_accepted_and_another_one_rejected(name):
    expr, to, value, assume = LIMITS[name]
    claim = {"expr": expr, "variable": "t", "to": to, "assume": assume}
    accepted("limit", **claim, value=value)
    for other in (num(7), "+oo", "-oo"):
        if other != value:
            rejected("value", "", "limit", **claim, value=other)
            accepted("limit", "refuted", **claim, value=other, actual=value)
    rejected("actual", "", "limit", "refuted", **claim, value=value, actual=value)
    rejected("actual", "missing", "limit", "refuted", **claim, value=num(7))


def test_a_limit_needs_signs_and_no_oscillation():
    claim = {"variable": "t", "to": "+oo", "assume": []}
    rejected(
        "expr",
        "order the assumptions leave open",
        "limit",
        **claim,
        expr=["exp", neg(mul(g, t))],
        value=num(0),
    )
    rejected("expr", "oscillates", "limit", **claim, expr=["cos", t], value=num(0))
    rejected("expr", "oscillates", "limit", **claim, expr=mul(t, ["cos", t]), value="+oo")
    rejected("expr", "sign of its leading", "limit", **claim, expr=mul(a, t), value="+oo")
    rejected(
        "expr",
        "vanish",
        "limit",
        **claim,
        expr=mul(t, ["pow", add(mul(b, t), num(1)), -1]),
        value=["pow", b, -1],
    )
    rejected("expr", "opaque", "limit", **claim, expr=["fn", "f", t], value=num(0))
    rejected("value", "depends on", "limit", **claim, expr=t, value=t)


# words

FLOW = {
    "letters": ["A", "B", "X"],
    "central": [],
    "rules": [
        [["A", "B"], [["1", []]]],
        [["B", "A"], [["1", []]]],
        [["X", "A"], [["1", ["A", "X"]]]],
        [["X", "B"], [["1", ["B", "X"]]]],
    ],
    "derivation": {"A": [["1", ["X", "A"]]], "B": [["-1", ["X", "B"]]], "X": []},
}


def test_words_follow_from_their_rules():
    flow = {**FLOW, "lhs": ["D", [["1", ["B", "A", "A"]]]], "rhs": [["1", ["A", "X"]]]}
    accepted("words", **flow)
    rejected("lhs - rhs", "normal form", "words", **{**flow, "rhs": [["2", ["A", "X"]]]})
    rejected("lhs - rhs", "normal form", "words", **{**flow, "rules": flow["rules"][:1]})
    rejected("lhs - rhs", "normal form", "words", **{**flow, "derivation": {**flow["derivation"], "B": []}})
    rejected(
        "rules[1][1][0][1][0]",
        "not among the letters",
        "words",
        **{**flow, "rules": [flow["rules"][0], [["B", "A"], [["1", ["Z"]]]]]},
    )


def test_central_letters_commute():
    claim = {"letters": ["A", "X", "t"], "central": ["t"], "rules": [], "derivation": {}}
    accepted("words", **claim, lhs=[["1", ["A", "t", "X"]]], rhs=[["1", ["t", "A", "X"]]])
    rejected(
        "lhs - rhs",
        "",
        "words",
        **{**claim, "central": []},
        lhs=[["1", ["A", "t", "X"]]],
        rhs=[["1", ["t", "A", "X"]]],
    )
    square = {**claim, "rules": [[["A", "t", "t"], [["3", ["X"]]]]]}
    accepted("words", **square, lhs=[["1", ["t", "X", "t", "A"]]], rhs=[["3", ["X", "X"]]])


def test_words_that_never_end_are_rejected():
    loop = {"letters": ["A"], "central": [], "derivation": {}, "lhs": [["1", ["A"]]], "rhs": []}
    rejected("", "", "words", **loop, rules=[[["A"], [["1", ["A"]]]]])
    rejected("", "letters", "words", **loop, rules=[[["A"], [["1", ["A", "A"]]]]])
    rejected("rules[0][0]", "empty", "words", **loop, rules=[[[], [["1", ["A"]]]]])


def test_false_words_are_refuted_by_a_model():
    claim = {
        "letters": ["P", "Q"],
        "central": [],
        "derivation": {},
        "lhs": [["1", ["P", "Q"]]],
        "rhs": [["1", ["Q", "P"]]],
    }
    rules = [[["P", "P"], [["1", ["P"]]]]]
    model = {"P": [["1", "0"], ["0", "0"]], "Q": [["0", "1"], ["0", "0"]]}
    accepted("words", "refuted", **claim, rules=rules, model=model)
    rejected("model", "equal", "words", "refuted", **claim, rules=rules, model={**model, "Q": "3"})
    rejected(
        "model",
        "breaks rules[0]",
        "words",
        "refuted",
        **claim,
        rules=rules,
        model={**model, "P": [["2", "0"], ["0", "0"]]},
    )
    rejected("model", "letter 'Q'", "words", "refuted", **claim, rules=rules, model={"P": "1"})
    rejected(
        "model", "commuting", "words", "refuted", **{**claim, "central": ["Q"]}, rules=rules, model=model
    )
    fixed = [*rules, [["Q", "P"], [["1", ["P", "Q"]]]]]
    rejected("model", "breaks rules[1]", "words", "refuted", **claim, rules=fixed, model=model)


# induction

GEOMETRIC = {
    "index": "n",
    "start": "0",
    "relation": "==",
    "state": {"S": {"first": num(0), "next": add(sym("S"), sym("n"), num(1))}},
    "claim": {"S": mul(num("1/2"), sym("n"), add(sym("n"), num(1)))},
    "assume": [],
}
BERNOULLI = {
    "index": "n",
    "start": "0",
    "relation": ">=",
    "state": {"P": {"first": num(1), "next": mul(sym("P"), add(num(1), x))}},
    "claim": {"P": add(num(1), mul(sym("n"), x))},
    "assume": [["nonneg", "y"]],
    "reparametrize": {"x": minus(y, num(1))},
}


def test_an_induction_has_base_and_step():
    accepted("induction", **GEOMETRIC)
    for field, value, where in (
        ("start", "1", "base"),
        ("claim", {"S": mul(num("1/2"), sym("n"), sym("n"))}, "step"),
        ("state", {"S": {"first": num(1), "next": GEOMETRIC["state"]["S"]["next"]}}, "base"),
        ("state", {"S": {"first": num(0), "next": add(sym("S"), sym("n"))}}, "step"),
        ("claim", {"T": num(1)}, "claim"),
        ("claim", {"S": sym("S")}, "claim"),
    ):
        rejected(where, "", "induction", **{**GEOMETRIC, field: value})


def test_a_rotation_by_induction_with_an_unclaimed_state():
    n, tau = sym("n"), sym("T")
    state = {
        "T": {"first": num(0), "next": add(tau, ["fn", "d", n])},
        "C": {"first": num(1), "next": mul(sym("C"), ["exp", neg(mul(g, ["fn", "d", n]))])},
    }
    claim = {"index": "n", "start": "0", "relation": "==", "state": state, "assume": []}
    accepted("induction", **claim, claim={"C": ["exp", neg(mul(g, tau))]})
    rejected("step", "", "induction", **claim, claim={"C": ["exp", mul(g, tau)]})


def test_an_inequality_by_induction_with_slack():
    accepted("induction", **BERNOULLI)
    rejected("step", "not shown", "induction", **{**BERNOULLI, "assume": []})
    rejected(
        "step",
        "not shown",
        "induction",
        **{**BERNOULLI, "claim": {"P": add(num(1), mul(num(2), sym("n"), x))}},
    )
    rejected("base", "not shown", "induction", **{**BERNOULLI, "claim": {"P": add(num(2), mul(sym("n"), x))}})
    rejected(
        "assume", "more of the index", "induction", **{**BERNOULLI, "assume": [["nonneg", "y"], ["pos", "n"]]}
    )


def test_an_assumption_on_a_state_symbol_is_itself_proved():
    state = {
        "p": {"first": num(1), "next": mul(num(2), sym("p"))},
        "s": {"first": num(0), "next": add(sym("s"), sym("p"))},
    }
    claim = {"index": "n", "start": "0", "relation": ">=", "state": state, "claim": {"s": num(0)}}
    accepted("induction", **claim, assume=[["pos", "p"]])
    rejected("step", "not shown", "induction", **claim, assume=[])
    state["p"]["next"] = neg(sym("p"))
    rejected("assume", "not kept", "induction", **claim, assume=[["pos", "p"]])


def test_a_false_induction_is_refuted_by_running_it():
    wrong = {**GEOMETRIC, "claim": {"S": mul(num("1/2"), sym("n"), sym("n"))}}
    accepted("induction", "refuted", **wrong, witness={"n": "3"}, symbol="S", gap=["1.5", "1.5"])
    rejected(
        "gap",
        "does not contain",
        "induction",
        "refuted",
        **wrong,
        witness={"n": "2"},
        symbol="S",
        gap=["1.5", "1.5"],
    )
    rejected(
        "witness",
        "integer",
        "induction",
        "refuted",
        **wrong,
        witness={"n": "1/2"},
        symbol="S",
        gap=["1.5", "1.5"],
    )
    rejected(
        "symbol",
        "claimed",
        "induction",
        "refuted",
        **wrong,
        witness={"n": "3"},
        symbol="T",
        gap=["1.5", "1.5"],
    )
    rejected(
        "gap",
        "does not contain",
        "induction",
        "refuted",
        **GEOMETRIC,
        witness={"n": "3"},
        symbol="S",
        gap=["1.5", "1.5"],
    )
    strong = {**BERNOULLI, "claim": {"P": add(num(1), mul(num(2), sym("n"), x))}}
    accepted("induction", "refuted", **strong, witness={"n": "1", "y": "2"}, symbol="P", gap=["-1", "-1"])
    rejected(
        "gap",
        "below 0",
        "induction",
        "refuted",
        **strong,
        witness={"n": "1", "y": "0"},
        symbol="P",
        gap=["1", "1"],
    )


# reindex


def test_a_sum_is_relabelled():
    j, i = sym("j"), sym("i")
    body = mul(["fn", "a", i, j], ["fn", "v", j])
    moved = mul(["fn", "a", i, ["fn", "p", j]], ["fn", "v", ["fn", "p", j]])
    half = mul(["fn", "a", i, ["fn", "p", j]], ["fn", "v", j])
    names = {"index": "j", "bijection": "p", "body": body}
    accepted("reindex", **names, rhs=moved)
    accepted("reindex", **names, rhs=moved, operation="product")
    rejected("rhs", "is not body", "reindex", **names, rhs=half)
    tables = {
        "witness": {"i": "0"},
        "functions": {"a": [[["0", "0"], "1"], [["0", "1"], "2"]], "v": [[["0"], "3"], [["1"], "5"]]},
        "permutation": [1, 0],
    }
    accepted("reindex", "refuted", **names, rhs=half, **tables, gap=["2", "2"])
    rejected("gap", "", "reindex", "refuted", **names, rhs=moved, **tables, gap=["2", "2"])
    rejected(
        "permutation",
        "no permutation",
        "reindex",
        "refuted",
        **names,
        rhs=half,
        **{**tables, "permutation": [1, 1]},
        gap=["2", "2"],
    )


# finite


def cyclic(n):
    names = [str(k) for k in range(n)]
    return {"elements": names, "table": [[str((i + j) % n) for j in range(n)] for i in range(n)]}


GROUP = dict.fromkeys(("closure", "identity", "inverses", "associativity", "commutativity"), True)


def test_a_finite_group_is_checked_exhaustively():
    accepted("finite", **cyclic(12), axioms=GROUP)
    broken = cyclic(12)
    broken["table"][5][7] = "1"
    rejected("axioms", "fails", "finite", **broken, axioms=GROUP)
    rejected(
        "axioms[commutativity]", "holds", "finite", **cyclic(12), axioms={**GROUP, "commutativity": False}
    )
    accepted("finite", "refuted", **broken, axioms=GROUP, axiom="associativity")
    rejected("axiom", "refutes nothing", "finite", "refuted", **broken, axioms=GROUP, axiom="closure")
    accepted("finite", "refuted", **broken, axioms=GROUP, axiom="inverses", elements_witness=["5"])
    rejected(
        "elements_witness",
        "",
        "finite",
        "refuted",
        **broken,
        axioms=GROUP,
        axiom="inverses",
        elements_witness=["4"],
    )
    open_table = {"elements": ["1", "2"], "table": [["2", "3"], ["3", "4"]]}
    accepted("finite", **open_table, axioms={"closure": False, "inverses": False})
    rejected("axioms[associativity]", "no meaning", "finite", **open_table, axioms={"associativity": True})


def test_a_homomorphism_is_checked_exhaustively():
    maps = {"source": cyclic(4), "target": cyclic(2)}
    claims = {"homomorphism": True, "injective": False, "surjective": True}
    accepted("homomorphism", **maps, images=["0", "1", "0", "1"], claims=claims)
    rejected(
        "claims[homomorphism]", "fails", "homomorphism", **maps, images=["0", "1", "1", "1"], claims=claims
    )
    accepted(
        "homomorphism", "refuted", **maps, images=["0", "1", "1", "1"], claims=claims, claim="homomorphism"
    )
    rejected("images[3]", "no element", "homomorphism", **maps, images=["0", "1", "0", "2"], claims=claims)
