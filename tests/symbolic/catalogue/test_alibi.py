"""ALiBi in split form: the singular values of the key's slots, and what their product loses."""

import sympy as sp
from exptx.symbolic import encoding


def test_the_slots_of_a_key_stretch_as_the_position_grows(rounds_to):
    """The squares of the singular values of I - sE have the sum 2 + s² and the product 1; s = 10."""
    slots = encoding("alibi", slope=1, head_dim=1).key_factor(sp.Integer(10))[1:, 1:]
    total, product = (slots.T * slots).trace(), slots.det() ** 2
    assert (total, product) == (102, 1)
    largest = sp.sqrt((total + sp.sqrt(total**2 - 4 * product)) / 2)
    assert rounds_to(largest, "10.09901951359278")
    assert rounds_to(largest**2, "101.9901951359278")


def test_the_split_form_is_a_small_difference_of_large_numbers():
    """m = 2^-8 at (32768, 32760): -m t + m s = -128 + 127.96875, exactly -1/32."""
    given = encoding("alibi", slope=sp.Rational(1, 256), head_dim=1, scale=1)
    query = given.query_factor(sp.Integer(32768)) * given.query_lift(sp.zeros(1, 1))
    key = given.key_factor(sp.Integer(32760)) * given.key_lift(sp.zeros(1, 1))
    assert list(query[1:, 0]) == [sp.Rational(-1, 256), -128]
    assert list(key[1:, 0]) == [-32760, 1]
    assert (query.T * key)[0, 0] == sp.Rational(-1, 32)


def test_a_slope_of_zero_has_no_lift(row):
    given, nope = encoding("alibi", slope=0, head_dim=2), encoding("nope", head_dim=2)
    assert given.biases == ()
    assert given.generator.dim == 2
    assert row(given) == row(nope)
    assert given.score(5, 2) == nope.score(5, 2)
