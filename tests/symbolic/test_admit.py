"""Laws of the door: only exact real formulas come in, each refusal is one sentence."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from exptx.symbolic import BadInput, ExptxError, Unsupported, WrongType, decide, encoding
from sympy import Function, ImmutableMatrix, MatMul, Matrix, Rational, Symbol, exp, sin, symbols

x, y = symbols("x y", real=True)
f = Function("f")


FLOATS = [
    0.5,
    0.5 * x,
    x**0.5,
    sin(0.1 * x + y),
    Matrix([[x, 0.1]]),
    MatMul(ImmutableMatrix([[x]]), ImmutableMatrix([[0.25]])),
    sp.Derivative(0.5 * x**2, x),
    sp.Subs(x, x, 0.5),
    f(0.5),
    exp(x * sp.Float("1e-30")),
    float("nan"),
    1j,
]


@pytest.mark.parametrize("formula", FLOATS)
def test_floats_are_refused_at_the_door_also_deep_inside(formula):
    for sides in ((formula, 1), (1, formula)):
        with pytest.raises(WrongType, match="float"):
            decide(*sides)


@pytest.mark.parametrize(
    ("value", "instead"),
    [
        (0.25, "write Rational(1, 4) (from sympy import Rational)"),
        (-0.1, "write Rational(-1, 10)"),
        (500000.0, "write 500000"),
        (1e-10, "write Rational(1, 10000000000)"),
        (sp.Float("0.3") * x, "write Rational(3, 10)"),
        (np.float32(0.7), "write Rational(7, 10)"),
        (Decimal("2.50"), "a Decimal; write Rational(5, 2)"),
        (1 / 3, "write the exact number that it stands for"),
        (1e300, "write the exact number that it stands for"),
        (float("inf"), "write a finite exact number"),
        (1j, "write an exact number"),
    ],
)
def test_a_refused_float_is_told_as_the_fraction_that_it_shows(value, instead):
    with pytest.raises(WrongType) as caught:
        decide(value, 1)
    assert instead in str(caught.value)


def test_what_the_refusal_of_a_float_says_to_write_is_admitted():
    for value in (0.25, -1.75, 3.0, 1e-7, 123456.789):
        with pytest.raises(WrongType) as caught:
            decide(value, 1)
        written = re.search(
            r"write (?:Rational\((-?\d+), (\d+)\) \(from .*|(-?\d+))$", str(caught.value)
        ).groups()
        exact = Rational(int(written[2])) if written[2] else Rational(int(written[0]), int(written[1]))
        assert float(exact) == value
        assert decide(exact, Rational(str(value))).holds


@pytest.mark.parametrize("value", ["x", None, True, sp.true, x > 1, [1]])
def test_what_is_no_formula_is_refused(value):
    with pytest.raises(WrongType, match="lhs"):
        decide(value, 1)


@pytest.mark.parametrize("value", [sp.nan, sp.oo, sp.zoo, -sp.oo, x + sp.zoo * y])
def test_infinities_are_refused(value):
    with pytest.raises(BadInput, match="finite"):
        decide(value, 1)


@pytest.mark.parametrize(
    ("symbol", "words"),
    [
        (Symbol("n", integer=True), "induction"),
        (Symbol("n", even=True), "induction"),
        (Symbol("c", complex=True), "not declared real"),
        (Symbol("c", imaginary=True), "not declared real"),
        (Symbol("A", commutative=False), "non-commutative"),
        (Symbol("a", irrational=True), "irrational"),
    ],
)
def test_symbols_that_are_not_real_are_refused(symbol, words):
    with pytest.raises(BadInput, match=words):
        decide(symbol, 1)


def test_two_symbols_of_one_name_are_refused():
    with pytest.raises(BadInput, match="two different symbols named x"):
        decide(Symbol("x") + 1, x + 1)


def test_exact_numbers_of_python_are_welcome():
    assert decide(Fraction(1, 3), Rational(1, 3)).holds
    assert decide(2, 2).holds


def test_every_refusal_is_an_exptx_error_and_the_builtin():
    assert issubclass(WrongType, (ExptxError, TypeError))
    assert issubclass(BadInput, ExptxError)
    assert issubclass(BadInput, ValueError)
    assert issubclass(WrongType, TypeError)


def test_a_deep_tree_gets_a_sentence():
    deep = x
    for _ in range(5000):
        deep = sin(deep, evaluate=False)
    with pytest.raises(Unsupported, match="nested more than 200 deep"):
        decide(deep, 1)


def test_numbers_too_long_to_be_written_are_refused_by_their_length():
    with pytest.raises(BadInput, match="lhs contains a number of 5001 digits; up to 4200 digits work"):
        decide(sp.Integer(10) ** 5000, 1)
    with pytest.raises(BadInput, match="number of 5001 digits"):
        decide(x / (sp.Integer(10) ** 5000 + 1), 1)
    assert decide(sp.Integer(10) ** 4000 + x, sp.Integer(10) ** 4000 + 1 + x).gap == "-1.000000000"


def test_parameters_of_encodings_are_numbers_that_can_be_printed():
    for name, key in (("rope", "rope_theta"), ("decay", "gamma"), ("boost", "rate"), ("alibi", "slope")):
        with pytest.raises(BadInput, match=f"{key} contains a number of 1202 digits; up to 1000 digits"):
            encoding(name, head_dim=2, **{key: sp.Rational(10**1201 + 1, 7)})
        long = encoding(name, head_dim=2, **{key: sp.Rational(10**999, 7)})
        assert len(str(long)) > 1000
        assert long.is_relative().holds
