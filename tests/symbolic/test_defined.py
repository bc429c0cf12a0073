"""What a typed formula asks of its symbols to have a value at all."""

import pytest
import sympy as sp
from exptx.symbolic.defined import demands
from exptx.symbolic.parse import parse, parse_signs
from exptx.symbolic.premises import Premises
from exptx.symbolic.typeset import to_text


def asked(text, *assume):
    formula = parse(text, signs=parse_signs(assume))
    return [to_text(d.relation) for d in demands(formula, known=Premises.of((), formula.free_symbols))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x/x", ["x ≠ 0"]),
        ("exp(log(x))", ["x > 0"]),
        ("log(x) - log(x)", ["x > 0"]),
        ("x^(1/2)*x^(-1/2)", ["x > 0"]),
        ("sqrt(x)^2", ["x ≥ 0"]),
        ("log(x^2)", ["x ≠ 0"]),
        ("0*log(x)", ["x > 0"]),
        ("0/x", ["x ≠ 0"]),
        ("log(x)^0", ["x > 0"]),
        ("tan(x)", ["cos(x) ≠ 0"]),
        ("x^y", ["x > 0"]),
        ("1/(3*x)^2", ["x ≠ 0"]),
        ("(x/2)^(1/3)", ["x ≥ 0"]),
        ("log(log(x))", ["ln(x) > 0", "x > 0"]),
        ("sin(5*u)/sin(u)", ["sin(u) ≠ 0"]),
        ("[[x/x, log(y)], [1, 2]]*[[1/x, 0], [0, 1]]", ["x ≠ 0", "y > 0"]),
    ],
)
def test_logarithms_roots_and_divisors_ask_for_signs(text, expected):
    assert asked(text) == expected


@pytest.mark.parametrize(
    ("text", "assume"),
    [
        ("log(x)", ["x > 0"]),
        ("sqrt(x)", ["x >= 0"]),
        ("log(1 + u)", ["u >= 0"]),
        ("log(min(u, 4) + 1)", ["u >= 0"]),
        ("sqrt(abs(u))", []),
        ("log(1 + abs(u))", []),
        ("1/(x^2 + x + 1)", []),
        ("2^x", []),
        ("log(exp(-2*x))", []),
        ("x^0", []),
        ("sqrt(2)/log(3)", []),
        ("1/cosh(x)", []),
    ],
)
def test_nothing_is_asked_that_is_known(text, assume):
    assert asked(text, *assume) == []


def test_branches_are_not_looked_into():
    x = sp.Symbol("x", real=True)
    assert demands(sp.Piecewise((sp.log(x), x > 0), (0, True)), known=Premises.of((), [x])) == ()
