"""Steps about formulas in the checker: what is true is accepted, what is forged is rejected at its place."""

import math
from fractions import Fraction

import pytest
from steps import (
    IMAGINARY,
    PI,
    TINY,
    F,
    a,
    accepted,
    add,
    b,
    g,
    inverse,
    minus,
    mul,
    neg,
    num,
    rejected,
    s,
    t,
    w,
    x,
    y,
)


def rotation(angle):
    return ["matrix", [[["cos", angle], neg(["sin", angle])], [["sin", angle], ["cos", angle]]]]


def damped(at):
    return ["smul", ["exp", neg(mul(g, at))], rotation(mul(w, at))]


def bounds(value, digits=9):
    return [f"{value - 10**-digits:.12f}", f"{value + 10**-digits:.12f}"]


TRUE = {
    "addition of angles": (
        ["cos", add(a, b)],
        minus(mul(["cos", a], ["cos", b]), mul(["sin", a], ["sin", b])),
    ),
    "seventh roots of unity": (add(*(["cos", mul(num(f"{2 * k}/7"), PI)] for k in (1, 2, 3))), num("-1/2")),
    "roots of order 180": (["cos", mul(num("1/90"), PI)], ["sin", mul(num("44/90"), PI)]),
    "a surd as a cosine": (mul(num(2), ["cos", mul(num("1/4"), PI)]), ["sqrt", "2"]),
    "a surd squared": (["pow", ["sqrt", "45/7"], 2], num("45/7")),
    "product of two surds": (mul(["sqrt", "6"], ["sqrt", "10"]), mul(num(2), ["sqrt", "15"])),
    "two twelfth roots": (add(*(["exp", mul(num(f"{k}/6"), IMAGINARY, PI)] for k in (1, 5))), IMAGINARY),
    "Euler": (["exp", mul(IMAGINARY, t)], add(["cos", t], mul(IMAGINARY, ["sin", t]))),
    "a whole turn with a symbol": (["cos", mul(num(2), PI, add(t, num(1)))], ["cos", mul(num(2), PI, t)]),
    "second derivative": (["diff", ["exp", mul(a, t)], "t", 2], mul(a, a, ["exp", mul(a, t)])),
    "derivative of a bell": (
        ["diff", ["exp", mul(a, ["pow", t, 3])], "t", 1],
        mul(num(3), a, ["pow", t, 2], ["exp", mul(a, ["pow", t, 3])]),
    ),
    "third derivative of a square": (["diff", ["pow", t, 2], "t", 3], num(0)),
    "chain rule of a value": (
        ["diff", ["at", ["sin", y], "y", mul(x, x)], "x", 1],
        mul(num(2), x, ["cos", mul(x, x)]),
    ),
    "derivative then value": (["at", ["diff", ["sin", mul(w, t)], "t", 1], "t", num(0)], w),
    "value is simultaneous": (["at", ["at", minus(t, s), "t", s], "s", x], num(0)),
    "opaque function of the gap": (["at", F(minus(t, s)), "t", add(s, x)], F(x)),
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
    "fractions": (
        add(inverse(add(["exp", a], num(1))), inverse(add(["exp", neg(a)], num(1)))),
        num(1),
    ),
    "a fraction of fractions": (
        inverse(add(num(1), inverse(add(num(1), ["exp", t])))),
        mul(add(num(1), ["exp", t]), inverse(add(num(2), ["exp", t]))),
    ),
}
SHAPES = {
    "cube of a nilpotent": 3,
    "transpose of a turn is the turn back": 2,
    "damped turn is a group": 2,
    "the damped turn obeys A' = XA": 2,
    "matrix minus itself is zero": 2,
}


@pytest.mark.parametrize("name", TRUE)
def test_a_true_identity_is_accepted_and_what_is_off_by_a_tiny_number_is_not(name):
    lhs, rhs = TRUE[name]
    accepted("identity", lhs=lhs, rhs=rhs, assume=[])
    accepted("apart", "refuted", lhs=lhs, rhs=rhs, assume=[])
    size = SHAPES.get(name)
    corner = size and ["matrix", [[num(0)] * size] * (size - 1) + [[TINY] * size]]
    off = ["matadd", lhs, corner] if size else add(lhs, TINY)
    where = f"lhs - rhs[{size - 1}][0]" if size else "lhs - rhs"
    rejected(where, "identity", lhs=off, rhs=rhs, assume=[])
    rejected(where, "apart", "refuted", lhs=off, rhs=rhs, assume=[])


@pytest.mark.parametrize(
    "tree",
    [
        ["exp", mul(["sqrt", "2"], t)],
        ["exp", mul(["exp", a], t)],
        ["exp", mul(inverse(add(num(1), ["exp", a])), t)],
        F(inverse(add(num(1), t))),
        ["log", num(2)],
        ["root", "2", "1/3"],
        ["sqrt", "-2"],
        ["diff", F(t), "t", 1],
        ["sqrt", "1000003"],
        ["pow", t, True],
        ["fn", "f"],
        ["sin", t, t],
        ["matrix", [[t], [t, t]]],
        ["matmul", rotation(t), ["matrix", [[t]]]],
        ["matadd", rotation(t), ["matrix", [[t]]]],
        ["add", rotation(t), t],
    ],
)
def test_what_is_outside_the_class_is_refused(tree):
    rejected("", "identity", lhs=tree, rhs=tree, assume=[])


def test_sixty_four_planes_are_relative():
    q, k = ([["sym", f"{c}{i}"] for i in range(128)] for c in "qk")

    def turned(v, at):
        out = []
        for i in range(64):
            c, d = (["cos", mul(["sym", f"w{i}"], at)], ["sin", mul(["sym", f"w{i}"], at)])
            out += [
                minus(mul(c, v[2 * i]), mul(d, v[2 * i + 1])),
                add(mul(d, v[2 * i]), mul(c, v[2 * i + 1])),
            ]
        return out

    lhs, rhs = (add(*map(mul, turned(q, at), right)) for at, right in ((t, turned(k, s)), (minus(t, s), k)))
    accepted("identity", lhs=lhs, rhs=rhs, assume=[])


def test_a_division_needs_its_condition():
    claim = {"lhs": mul(a, inverse(a)), "rhs": num(1)}
    for assume in ([["pos", "a"]], [["neg", "a"]], [["ne", "a"]], [["nonneg", "a"], ["ne", "a"]]):
        accepted("identity", **claim, assume=assume)
    for assume in ([], [["nonneg", "a"]], [["pos", "b"]]):
        rejected("lhs - rhs", "identity", **claim, assume=assume)
    accepted("identity", **claim, assume=[], nonzero=[mul(num(3), a)])
    rejected("lhs - rhs", "identity", **claim, assume=[], nonzero=[b])
    accepted("identity", lhs=inverse(IMAGINARY), rhs=neg(IMAGINARY), assume=[], nonzero=[IMAGINARY])
    rejected("lhs - rhs", "identity", **claim, assume=[], nonzero=[["pow", a, 2]])
    rejected("nonzero", "identity", **claim, assume=[], nonzero=[minus(a, a)])
    rejected("assume", "identity", **claim, assume=[["pos", "a"], ["neg", "a"]])
    rejected("lhs - rhs", "identity", lhs=inverse(minus(a, a)), rhs=num(1), assume=[])


@pytest.mark.parametrize(
    "tree",
    [
        mul(num(0), inverse(a)),
        ["diff", mul(y, inverse(a)), "z", 1],
        ["at", mul(x, inverse(a)), "x", num(0)],
        ["at", num(0), "x", inverse(a)],
        ["at", mul(["sin", t], inverse(t)), "t", mul(a, num(0))],
        ["pow", minus(a, mul(a, a, inverse(a))), 1],
    ],
)
def test_a_division_is_not_lost_on_the_way_to_zero(tree):
    rejected("lhs - rhs", "identity", lhs=tree, rhs=num(0), assume=[])
    if tree[-1] != mul(a, num(0)):
        accepted("identity", lhs=tree, rhs=num(0), assume=[["pos", "a"]])


WRONG = {"lhs": ["cos", minus(t, s)], "rhs": ["cos", add(t, s)], "assume": []}
POINT, GAP = {"t": "1", "s": "1/2"}, math.cos(0.5) - math.cos(1.5)


def test_a_refutation_stands_on_its_witness():
    accepted("identity", "refuted", **WRONG, witness=POINT, gap=bounds(GAP), entry=None)
    accepted("apart", **WRONG, witness=POINT, gap=bounds(GAP))
    for gap in (bounds(-GAP), bounds(GAP + 3e-9), ["-1", "1"], bounds(GAP)[::-1], ["1"], None):
        rejected("gap", "identity", "refuted", **WRONG, witness=POINT, gap=gap)
    rejected("gap", "identity", "refuted", **WRONG, witness={"t": "1", "s": "1/3"}, gap=bounds(GAP))
    rejected("", "identity", "refuted", **WRONG, witness={"t": "1"}, gap=bounds(GAP))
    rejected("witness", "identity", "refuted", **WRONG, witness={"t": "1", "s": 0.5}, gap=bounds(GAP))
    rejected("witness", "identity", "refuted", **WRONG, gap=bounds(GAP))
    rejected("entry", "identity", "refuted", **WRONG, witness=POINT, gap=bounds(GAP), entry=[0, 0])
    rejected("nonzero", "identity", "refuted", **WRONG, witness=POINT, gap=bounds(GAP), nonzero=[t])
    zero = {"lhs": mul(num(0), inverse(t)), "rhs": num(1), "assume": [], "witness": {"t": "0"}}
    rejected("", "identity", "refuted", **zero, gap=["-1", "-1"])
    square = {"lhs": ["pow", a, 2], "rhs": a, "gap": ["2", "2"], "witness": {"a": "2"}}
    accepted("identity", "refuted", **square, assume=[["pos", "a"]])
    rejected("witness", "identity", "refuted", **square, assume=[["neg", "a"]])
    turn = {"lhs": rotation(t), "rhs": rotation(neg(t)), "assume": [], "witness": {"t": "1"}}
    accepted("identity", "refuted", **turn, entry=[1, 0], gap=bounds(2 * math.sin(1)))
    for entry in ([0, 0], [2, 0], None, [1]):
        rejected("", "identity", "refuted", **turn, entry=entry, gap=bounds(2 * math.sin(1)))
    tiny = {"lhs": ["exp", t], "rhs": add(["exp", t], TINY), "assume": [], "witness": {"t": "2/3"}}
    accepted("identity", "refuted", **tiny, gap=["-1.1e-40", "-9e-41"])
    rejected("gap", "identity", "refuted", **tiny, gap=["-1.1e-41", "-9e-42"])


def test_derivatives_complex_numbers_and_opaque_functions_have_values():
    flow = ["diff", ["matmul", damped(t), ["matpow", rotation(t), 2]], "t", 1]
    value = math.exp(-0.5) * (-0.5 * math.cos(3) - 3 * math.sin(3))
    found = {"lhs": flow, "rhs": num(0), "assume": [], "witness": {"t": "1", "g": "1/2", "w": "1"}}
    accepted("identity", "refuted", **found, entry=[0, 0], gap=bounds(value))
    turn = {"lhs": ["exp", mul(IMAGINARY, t)], "rhs": num(0), "assume": [], "witness": {"t": "1"}}
    accepted("identity", "refuted", **turn, gap=[*bounds(math.cos(1)), *bounds(math.sin(1))])
    rejected("gap", "identity", "refuted", **turn, gap=[*bounds(math.cos(1)), *bounds(-math.sin(1))])
    powers = add(
        ["pow", add(t, IMAGINARY), 3], ["pow", add(t, IMAGINARY), -1]
    )  # (1+i)³ + 1/(1+i) = -2+2i + (1-i)/2
    accepted("identity", "refuted", **{**turn, "lhs": powers}, gap=["-3/2", "-3/2", "3/2", "3/2"])
    opaque = {"lhs": mul(F(t), F(s)), "rhs": F(add(t, s)), "assume": [], "gap": ["-1", "-1"]}
    table = {"f": [[["1"], "2"], [["2"], "5"]]}
    accepted("identity", "refuted", **opaque, witness={"t": "1", "s": "1"}, functions=table)
    rejected("", "identity", "refuted", **opaque, witness={"t": "1", "s": "2"}, functions=table)
    irrational = {"lhs": F(["exp", t]), "rhs": num(0), "assume": [], "witness": {"t": "1"}, "gap": ["7", "7"]}
    rejected("", "identity", "refuted", **irrational, functions={"f": [[[], "7"]]})


NUMBERS = {
    "the worked example": (
        add(*(["cos", mul(num(3), ["root", "10000", f"-{2 * k}/16"])] for k in range(8))),
        "5.5431010613",
        "5.5431010614",
    ),
    "e to the fifth": (["exp", num(5)], "148.413159", "148.413160"),
    "a full turn": (mul(num(2), PI, ["root", "10000", "3/8"]), "198.6917", "198.6918"),
    "a far cosine": (["cos", num(10**9)], "0.837887", "0.837888"),
    "a logarithm": (["log", num("1/10")], "-2.302585093", "-2.302585092"),
    "a surd": (
        ["sqrt", "2"],
        "1.4142135623730950488016887242096980785696718753769",
        "1.4142135623730950488016887242096980785696718753770",
    ),
    "a rational": (mul(num(2), inverse(num(3))), "0.6666", "0.6667"),
    "a tiny one": (["exp", num(-100)], "3.72e-44", "3.73e-44"),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_is_enclosed_and_narrowed_bounds_are_rejected(name):
    expr, lower, upper = NUMBERS[name]
    past = {"lower": upper, "upper": str(2 * Fraction(upper) - Fraction(lower))}
    accepted("enclosed", expr=expr, lower=lower, upper=upper)
    rejected("expr", "enclosed", expr=expr, **past)
    accepted("enclosed", "refuted", expr=expr, **past)
    rejected("expr", "enclosed", "refuted", expr=expr, lower=lower, upper=upper)


def test_an_enclosed_number_is_real_and_has_ordered_bounds():
    for expr in (
        ["exp", t],
        ["log", num(-1)],
        IMAGINARY,
        ["log", num(0)],
        inverse(minus(["exp", num(1)], ["exp", num(1)])),
    ):
        rejected("expr", "enclosed", expr=expr, lower="0", upper="9")
    rejected("upper", "enclosed", expr=num(1), lower="3", upper="2")
    rejected("lower", "enclosed", expr=num(1), lower="two", upper="3")
    rejected("expr", "enclosed", expr=num(2), lower="2", upper="3")


def test_a_citation_counts_only_with_its_hypotheses():
    lemma = {"lemma": "Cauchy", "source": "Aczél 1966, Theorem 1", "needs": ["continuity"]}
    accepted("cited", hypotheses=["continuity"], **lemma)
    accepted("cited", "not_checked", **lemma)
    rejected("status", "cited", **lemma)
    rejected("status", "cited", "not_checked", hypotheses=["continuity"], **lemma)
    rejected("status", "cited", "refuted", hypotheses=["continuity"], **lemma)


SIGNS = {
    "square plus one": (add(["pow", x, 2], num(1)), "+", []),
    "a decay": (mul(g, ["exp", neg(mul(g, t))]), "+", [["pos", "g"]]),
    "minus a decay": (neg(mul(g, ["exp", neg(mul(g, t))])), "-", [["pos", "g"]]),
    "an even power": (["pow", x, 4], "+0", []),
    "an even power that is not zero": (neg(["pow", x, 2]), "-", [["ne", "x"]]),
    "identically zero": (minus(mul(x, y), mul(y, x)), "0", []),
    "cubic right of its root": (minus(["pow", add(x, num(1)), 3], num(1)), "+", [["pos", "x"]]),
    "a quotient": (mul(add(x, num(2)), inverse(add(x, num(4)))), "+", [["nonneg", "x"]]),
    "a quotient below zero": (inverse(add(neg(x), num(-2))), "-", [["nonneg", "x"]]),
    "an odd power": (["pow", x, 3], "-", [["neg", "x"]]),
    "a negative power": (["pow", x, -3], "-", [["neg", "x"]]),
    "with a derivative": (["diff", ["exp", neg(mul(g, t))], "t", 1], "-", [["pos", "g"]]),
    "bounded below by pi": (add(PI, ["pow", t, 2]), "+", []),
}


@pytest.mark.parametrize("name", SIGNS)
def test_a_sign_is_accepted_and_the_other_one_or_one_without_its_assumptions_rejected(name):
    expr, sign, assume = SIGNS[name]
    accepted("sign", expr=expr, sign=sign, assume=assume)
    rejected("sign", "sign", expr=expr, sign={"+": "-0", "-": "+0", "+0": "-", "0": "+"}[sign], assume=assume)
    if assume:
        rejected("", "sign", expr=expr, sign=sign, assume=[])


def test_no_sign_is_claimed_that_is_not_known():
    for expr in (
        ["pow", x, 2],
        ["cos", x],
        minus(["pow", x, 2], num(2)),
        F(x),
        ["exp", mul(IMAGINARY, x)],
        ["pow", IMAGINARY, 2],
    ):
        rejected("sign", "sign", expr=expr, sign="+", assume=[["nonneg", "x"]])
    rejected("expr", "sign", expr=["pow", x, -2], sign="+", assume=[])
    for sign in "+-":
        rejected("sign", "sign", expr=minus(x, y), sign=sign, assume=[["pos", "x"], ["pos", "y"]])
    claim = {"expr": minus(["exp", x], num(2)), "sign": "+", "assume": [["pos", "x"]]}
    accepted("sign", "refuted", **claim, witness={"x": "1/2"})
    for point in ({"x": "1"}, {"x": "-1"}, None):
        rejected("witness", "sign", "refuted", **claim, witness=point)
    accepted("sign", "refuted", expr=["pow", x, 2], sign="+", assume=[], witness={"x": "0"})
    rejected("witness", "sign", "refuted", expr=x, sign="+0", assume=[], witness={"x": "0"})
    rejected("witness", "sign", "refuted", expr=["pow", ["sin", PI], 2], sign="-0", assume=[], witness={})
