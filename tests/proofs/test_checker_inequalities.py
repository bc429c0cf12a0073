"""Signs and limits as the checker repeats them: true ones accepted, false ones rejected."""

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
        value=num(1),
    )
    rejected("expr", "opaque", "limit", **claim, expr=["fn", "f", t], value=num(0))
    rejected("value", "depends on", "limit", **claim, expr=t, value=t)
    cancelled = mul(a, ["pow", a, -1], ["exp", neg(t)])
    rejected("expr", "divides by a", "limit", **claim, expr=cancelled, value=num(0))
    accepted("limit", **{**claim, "assume": [["ne", "a"]]}, expr=cancelled, value=num(0))
