"""Trees and steps as certificates write them, and how a test offers one step to the checker."""

from fractions import Fraction

import pytest
from exptx.proofs.checker import check
from exptx.proofs.checking.reading import Refusal, spend, within


def num(x):
    return ["num", str(x)]


def add(*parts):
    return ["add", *parts]


def mul(*parts):
    return ["mul", *parts]


def neg(part):
    return ["mul", num(-1), part]


def minus(a, b):
    return add(a, neg(b))


def inverse(part):
    return ["pow", part, -1]


def F(*trees):
    return ["fn", "f", *trees]


a, b, g, t, s, w, x, y, n = (["sym", name] for name in "abgtswxyn")
PI, IMAGINARY, TINY = ["pi"], ["i"], num(Fraction(1, 10**40))


def accepted(kind, status="proved", hypotheses=(), **fields):
    spend(0, afresh=True)
    with within(""):
        check({"kind": kind, "name": "it", "status": status, "reason": "", **fields}, hypotheses)


def rejected(where, kind, status="proved", hypotheses=(), **fields):
    with pytest.raises(Refusal) as caught:
        accepted(kind, status, hypotheses, **fields)
    assert where in caught.value.place, (caught.value.place, caught.value.reason)
