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


def test_undefined_functions_are_told_apart_only_where_their_arguments_are():
    """log 4 / log 9 is log 2 / log 3, though sympy writes it in another way."""
    f, log = sp.Function("f", real=True), sp.log
    assert apart(f(log(4) / log(9)) - f(log(2) / log(3))) is None
    assert apart(f(log(4) / log(9)) - f(log(2) / log(5))) is not None
    assert apart(f(log(4) / log(9)) + x - f(log(2) / log(3)))[0][x] > 0


def test_undefined_functions_of_symbols_are_read_at_the_values_of_the_symbols():
    f = sp.Function("f", real=True)
    values, number = apart(f(x + 1) - f(2 * x))
    assert values[f(values[x] + 1)] - values[f(2 * values[x])] == sp.Rational(number)


def test_nothing_is_told_apart_where_a_logarithm_or_root_leaves_the_reals():
    far = sp.Symbol("y", positive=True)
    assert apart(sp.log(-far) - sp.log(-2 * far)) is None
    assert apart((-far) ** sp.Rational(1, 3) - 1) is None
    assert apart(1 / (far - 2) / (far - 31)) is None


def test_what_agrees_at_the_first_values_is_told_apart_at_others():
    """Symbols are 2, 3, 5, … at first: x = 2 is where these agree."""
    values, _ = apart(sp.exp(x) - sp.exp(2))
    assert values[x] != 2
    assert apart(sp.exp(x) * (sp.cos(x) ** 2 + sp.sin(x) ** 2) - sp.exp(x)) is None


def test_nothing_is_found_where_the_encoding_is_relative():
    assert separate(encoding("rope", head_dim=4), Place("score", 0, 2)) is None


def test_numbers_of_any_size_are_told_apart_without_being_written_out():
    """log₁₀ e^(10¹²) = 10¹² / ln 10 = 434294481903.25…"""
    far = sp.exp(10**12)
    assert apart(far - 1)[1].endswith("e+434294481903")
    assert apart(1 / far)[1].endswith("e-434294481904")
    assert apart(far * (sp.cos(1) ** 2 + sp.sin(1) ** 2 - 1)) is None


def test_a_boost_of_any_rate_on_both_sides_is_refuted():
    for rate in (10**6, -(10**6), sp.Rational(1, 10**30)):
        verdict = encoding("same_side_boost", rate=rate).is_relative()
        assert verdict.status.value == "refuted"
        assert verdict.witness
