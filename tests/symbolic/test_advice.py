"""Laws outside the class: nothing is proved, the reason names the part and what to write instead."""

from __future__ import annotations

import pytest
import sympy as sp
from exptx.symbolic import D, Status, Undecidable, decide
from sympy import Function, Matrix, Rational, Symbol, cos, exp, sqrt, symbols

t, s, x, y = symbols("t s x y", real=True)
f = Function("f")


OUTSIDE = [
    (cos(t / sqrt(10)), "cos(sqrt(10)*t/10)", "use a free symbol for the frequency 1/sqrt(10)"),
    (10000 ** Rational(-1, 64) * t, "10**(15/16)", "free positive symbol"),
    (Symbol("b", positive=True) ** (2 * x), "b**(2*x)", "write b = exp(L)"),
    (2**x, "2**x", "exp(L*"),
    (sp.Abs(x), "Abs(x)", "write x itself where x > 0 and -x where x < 0, as two statements"),
    (sp.Abs(t - s), "Abs(", f"write {sp.Abs(t - s).args[0]} itself where"),
    (sp.sign(x), "sign(x)", "write 1 where x > 0 and -1 where x < 0, as two statements"),
    (sp.Max(x, y), "Max(x, y)", "the largest argument itself, one statement a case"),
    (sp.log(x), "log(x)", "inverse"),
    (sp.floor(x), "floor(x)", "whole part"),
    (sp.Piecewise((x, x > 0), (0, True)), "Piecewise", "each branch"),
    (sqrt(x**2 + 1), "sqrt(x**2 + 1)", "free symbol"),
    (sqrt(Symbol("v")), "sqrt(v)", "v = r**2"),
    (exp(exp(x)), "exp(exp(x))", "inner exponential"),
    (exp(1 / x), "exp(1/x)", "free symbol"),
    (cos(f(x)), "cos(f(x))", "undefined function"),
    (sqrt(1 + sqrt(2)), "sqrt(1 + sqrt(2))", "free symbol"),
    (D(f(x), x), "Derivative(f(x), x)", "free symbol"),
    (sp.Sum(x, (y, 0, 3)), "Sum", "induction"),
    (x ** (10**6), "x", "too large for the exact procedure"),
    ((x + y) ** 500, "x + y", "too large for the exact procedure"),
    (sp.gamma(x), "gamma(x)", "free symbol"),
    (sp.sec(x), "sec(x)", "1/cos"),
]


@pytest.mark.parametrize(("formula", "name", "instead"), OUTSIDE)
def test_outside_the_class_the_reason_names_the_part_and_what_to_write(formula, name, instead):
    verdict = decide(formula, formula)
    assert verdict.status is Status.UNDECIDED
    assert name in verdict.reason
    assert instead in verdict.reason
    with pytest.raises(Undecidable, match="undecided"):
        verdict.holds  # noqa: B018


@pytest.mark.parametrize(
    ("lhs", "rhs"),
    [(cos(t / sqrt(10)), cos(t)), (sqrt(x**2), x), (sp.Abs(t - s), t - s), (sp.log(2), Rational(7, 10))],
)
def test_outside_the_class_balls_may_still_refute(lhs, rhs):
    verdict = decide(lhs, rhs)
    assert verdict.status is Status.REFUTED
    assert verdict.gap


def test_outside_the_class_no_branch_of_a_root_is_chosen_for_symbols():
    v, r = symbols("v r")
    assert decide(sqrt(v * r), sqrt(v) * sqrt(r)).status is Status.UNDECIDED


def test_a_matrix_with_one_entry_outside_is_undecided_unless_another_entry_differs():
    a = Matrix([[sp.log(x), y]])
    assert decide(a, a).status is Status.UNDECIDED
    assert decide(a, Matrix([[sp.log(x), y + 1]])).entry == (0, 1)
