"""Boosts: opposite ones are relative, equal ones are not, and both grow."""

import pytest
import sympy as sp
from exptx.symbolic import BadInput, WrongType, decide, encoding

t, s = sp.symbols("t s", real=True)
mu = sp.Symbol("mu", positive=True)


def plane(p):
    return sp.Matrix([[sp.cosh(mu * p), sp.sinh(mu * p)], [sp.sinh(mu * p), sp.cosh(mu * p)]])


def test_query_and_key_are_boosted_in_opposite_directions():
    given = encoding("boost", rate=mu)
    assert decide(given.query_factor(t), plane(t)).holds
    assert decide(given.key_factor(s), plane(-s)).holds
    assert decide(given.query_factor(t).T * given.key_factor(s), plane(t - s)).holds


def test_the_same_boost_on_both_sides_is_the_refuted_sibling():
    sibling = encoding("same_side_boost", rate=mu)
    assert decide(sibling.query_factor(t), encoding("boost", rate=mu).query_factor(t)).holds
    assert decide(sibling.query_factor(t).T * sibling.key_factor(s), plane(t + s)).holds
    assert not sibling.is_relative().holds
    assert encoding("boost", rate=mu).is_relative().holds


def test_ten_positions_grow_by_cosh_ten(rounds_to):
    assert rounds_to(encoding("boost").query_factor(sp.Integer(10))[0, 0], "11013.23292010332")


@pytest.mark.parametrize("rate", [mu, -mu, sp.Rational(1, 3)])
def test_its_row(row, rate):
    assert row(encoding("boost", head_dim=4, rate=rate)) == ["yes", "yes", "yes", "no", "no"]


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        ({"rate": 0}, BadInput, "rate is 0, which is no boost"),
        ({"rate": sp.Symbol("x", real=True)}, BadInput, "rate is x, whose sign is not known"),
        ({"rate": 0.1}, WrongType, "rate is .*, which is a float"),
        ({"head_dim": 3}, BadInput, "head_dim is 3, which is odd"),
    ],
)
def test_other_input_is_refused_in_one_sentence(given, error, sentence):
    with pytest.raises(error, match=sentence):
        encoding("boost", **given)
