"""Telling two scores apart: only a ball without zero does, and parameters get values of their sign."""

import sympy as sp
from exptx.symbolic.catalogue import encoding
from exptx.symbolic.entries import Place
from exptx.symbolic.separate import apart, assign, separate

p, x = sp.Symbol("p", negative=True), sp.Symbol("x", real=True)


def test_a_ball_around_zero_tells_nothing_apart():
    nested = (sp.sqrt(2) + sp.sqrt(3)) ** 2 - 5 - 2 * sp.sqrt(6)
    assert nested != 0
    assert apart(nested) is None
    assert apart(nested + sp.Rational(1, 10**40)) is not None


def test_values_are_distinct_and_of_the_declared_sign():
    values = assign([p, x])
    assert values[p] < 0
    assert abs(values[p]) != abs(values[x])


def test_an_undefined_function_stands_in_the_witness_by_its_application():
    b = sp.Function("b", real=True)
    values, number = apart(b(1) - b(0))
    assert set(values) == {b(0), b(1)}
    assert sp.Rational(number) == values[b(1)] - values[b(0)]


def test_nothing_is_found_where_the_encoding_is_relative():
    assert separate(encoding("rope", head_dim=4), Place("score", 0, 2)) is None
