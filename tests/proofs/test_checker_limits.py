"""Limits in the checker: the dominant term decides, and what it leaves open is refused."""

import pytest
from steps import PI, F, a, accepted, add, g, inverse, minus, mul, neg, num, rejected, t, w

LIMITS = {
    "a decay fades": (["exp", neg(mul(g, t))], "+oo", num(0), [["pos", "g"]]),
    "a decay backwards": (["exp", neg(mul(g, t))], "-oo", "+oo", [["pos", "g"]]),
    "polynomial times decay": (mul(["pow", t, 5], ["exp", neg(mul(g, t))]), "+oo", num(0), [["pos", "g"]]),
    "damped turn": (mul(["exp", neg(mul(g, t))], ["cos", mul(w, t)]), "+oo", num(0), [["pos", "g"]]),
    "norm of a slide": (add(num(1), ["pow", t, 2]), "-oo", "+oo", []),
    "odd power backwards": (mul(a, ["pow", t, 3]), "-oo", "-oo", [["pos", "a"]]),
    "constant": (add(["pow", ["cos", mul(w, t)], 2], ["pow", ["sin", mul(w, t)], 2]), "+oo", num(1), []),
    "constant beside a decay": (add(mul(num(2), PI), mul(t, ["exp", neg(t)])), "+oo", mul(num(2), PI), []),
    "a bell": (mul(["exp", mul(a, t)], ["exp", neg(["pow", t, 2])]), "+oo", num(0), []),
    "faster growth wins": (minus(["exp", mul(num(2), t)], mul(t, ["exp", t])), "+oo", "+oo", []),
}


@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_is_accepted_and_another_one_rejected(name):
    expr, to, value, assume = LIMITS[name]
    claim = {"expr": expr, "variable": "t", "to": to, "assume": assume}
    accepted("limit", **claim, value=value)
    for other in (num(-7), "+oo", "-oo"):
        if other != value:
            rejected("value", "limit", **claim, value=other)
            accepted("limit", "refuted", **claim, value=other, actual=value)
            rejected("", "limit", "refuted", **claim, value=value, actual=other)
    rejected("actual", "limit", "refuted", **claim, value=value, actual=value)
    rejected("actual", "limit", "refuted", **claim, value=num(-7))


@pytest.mark.parametrize(
    ("where", "expr", "value"),
    [
        ("expr", ["exp", neg(mul(g, t))], num(0)),
        ("expr", ["cos", t], num(0)),
        ("expr", mul(t, ["cos", t]), "+oo"),
        ("expr", mul(a, t), "+oo"),
        ("expr", mul(F(t), ["exp", neg(t)]), num(0)),
        ("value", t, t),
        ("expr", mul(F(F(t)), ["exp", neg(t)]), num(0)),
        ("expr", mul(a, inverse(a), ["exp", neg(t)]), num(0)),
        ("expr", mul(t, inverse(t)), num(1)),
        ("expr", mul(t, inverse(add(num(1), ["pow", t, 2]))), num(0)),
        ("", add(["exp", neg(t)], num(1)), mul(a, inverse(a))),
    ],
)
def test_a_limit_needs_signs_known_functions_and_no_oscillation(where, expr, value):
    rejected(where, "limit", variable="t", to="+oo", assume=[], expr=expr, value=value)
    rejected("assume", "limit", variable="t", to="+oo", assume=[["pos", "t"]], expr=expr, value=value)
