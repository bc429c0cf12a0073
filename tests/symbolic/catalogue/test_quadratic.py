"""The quadratic bias: its published sign, its lift, and its row."""

import pytest
import sympy as sp
from exptx.symbolic import BadInput, WrongType, decide, encoding

r, sigma = sp.symbols("r sigma", positive=True)
t, s = sp.symbols("t s", real=True)


def test_the_logit_falls_with_the_square_of_the_gap():
    given = encoding("quadratic_bias", coefficient=r, head_dim=2, scale=sigma)
    q, k = given.content()
    assert decide(given.scale * given.score(t, s), sigma * (q.T * k)[0, 0] - r * (t - s) ** 2).holds
    zero = {"q": [0, 0], "k": [0, 0]}
    assert given.score(9, 5, **zero) == given.score(5, 9, **zero) == -16 * r / sigma


def test_the_split_form_cancels_between_numbers_that_grow_as_the_square_of_the_position():
    given = encoding("quadratic_bias", coefficient=1, head_dim=4)
    query = given.query_factor(sp.Integer(100)) * given.query_lift(sp.zeros(4, 1))
    key = given.key_factor(sp.Integer(99)) * given.key_lift(sp.zeros(4, 1))
    assert list(query)[4:] == [-4, -400, -20000]
    assert list(key)[4:] == [sp.Rational(9801, 2), -99, 1]
    assert (query.T * key)[0, 0] == -2


def test_its_row(row):
    given = encoding("quadratic_bias", coefficient=r, head_dim=2, scale=sigma)
    assert row(given) == ["yes", "yes", "yes", "yes", "no"]
    assert [block.size for block in given.generators[0].blocks] == [1, 1, 3]


def test_it_adds_to_a_rotation():
    both = encoding("rope", head_dim=4) + encoding("quadratic_bias", coefficient=r, head_dim=4)
    assert both.in_family().holds


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        ({"coefficient": 0}, BadInput, "coefficient is 0; it must be positive"),
        ({"coefficient": -r}, BadInput, "coefficient is -r; it must be positive"),
        ({"coefficient": 0.5}, WrongType, "coefficient is .*, which is a float"),
        ({"coefficient": 1, "scale": 0}, BadInput, "scale is 0; it must be positive"),
    ],
)
def test_other_input_is_refused_in_one_sentence(given, error, sentence):
    with pytest.raises(error, match=sentence):
        encoding("quadratic_bias", **given)
