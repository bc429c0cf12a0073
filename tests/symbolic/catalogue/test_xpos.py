"""xPos: the published scales, the common centre, and where uncentred keys overflow."""

import pytest
import sympy as sp
from exptx.symbolic import BadInput, WrongType, decide, encoding
from exptx.symbolic.catalogue.xpos import zetas

t, s, c = sp.symbols("t s c", real=True)


@pytest.mark.parametrize(
    ("plane", "decimal"),
    [(0, "0.2857142857142857"), (16, "0.6428571428571429"), (31, "0.9776785714285714")],
)
def test_the_scales_of_the_paper(rounds_to, plane, decimal):
    assert rounds_to(zetas(64)[plane], decimal)
    block = encoding("xpos", head_dim=64).generators[0].blocks[plane]
    assert rounds_to(sp.exp(-512 * block.decay), decimal)
    assert block.frequency == sp.Integer(10000) ** sp.Rational(-plane, 32)


def test_the_fastest_fade_of_64_features(rounds_to):
    given = encoding("xpos", head_dim=64)
    assert rounds_to(given.generators[0].blocks[0].decay, "0.002446802672842516")
    unit = [1] + [0] * 63
    score = given.score(107, 7, q=unit, k=unit)
    assert rounds_to(score / sp.cos(100), "0.782954834501328")


def test_a_common_centre_drops_out():
    given = encoding("xpos", head_dim=2, centre=c).symbolic()[0]
    plain = encoding("xpos", head_dim=2).symbolic()[0]
    assert given.query_factor(t) != plain.query_factor(t)
    assert decide(given.score(t, s), plain.score(t, s)).holds
    assert given.query_factor(c).is_Identity
    assert given.key_factor(c).is_Identity


def test_two_centres_do_not():
    """Queries counted from c, keys from 0: the score keeps the factor ζ^(-c/512)."""
    given = encoding("xpos", head_dim=2, centre=c).symbolic()[0]
    plain = encoding("xpos", head_dim=2).symbolic()[0]
    mixed = given.query_factor(t).T * plain.key_factor(s)
    assert not decide(mixed, plain.query_factor(t).T * plain.key_factor(s)).holds


@pytest.mark.parametrize(("dtype", "position"), [("float16", 4533), ("float32", 36261)])
def test_the_first_position_at_which_an_uncentred_key_overflows(first_to_overflow, dtype, position):
    given = encoding("xpos", head_dim=64)
    column = given.key_factor(s)[:, 0]
    size = sp.sqrt(column[0] ** 2 + column[1] ** 2)
    assert first_to_overflow(size, dtype, position)


def test_its_row(row):
    assert row(encoding("xpos", head_dim=4, centre=c)) == ["yes", "yes", "yes", "no", "forward-only"]


def test_the_scale_base_divides_the_rates():
    half = encoding("xpos", head_dim=2, scale_base=256).generators[0].blocks[0].decay
    assert sp.simplify(half - 2 * encoding("xpos", head_dim=2).generators[0].blocks[0].decay) == 0


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        ({"head_dim": 3}, BadInput, "head_dim is 3, which is odd"),
        ({"head_dim": 2, "scale_base": 0}, BadInput, "scale_base is 0; it must be positive"),
        ({"head_dim": 2, "centre": 0.5}, WrongType, "centre is .*, which is a float"),
        ({"head_dim": 2, "interleaved": 1}, WrongType, "interleaved is 1; True or False works"),
    ],
)
def test_other_input_is_refused_in_one_sentence(given, error, sentence):
    with pytest.raises(error, match=sentence):
        encoding("xpos", **given)


@pytest.mark.parametrize(
    "centre", [sp.sqrt(2), sp.pi, sp.Rational(7, 2) - sp.sqrt(3), 2 ** sp.Rational(1, 3)]
)
def test_an_irrational_centre_is_as_common_as_a_whole_one(centre):
    """ζ^{(t-c)/512} ζ^{-(s-c)/512}: c leaves the product, whichever number it is."""
    given = encoding("xpos", head_dim=2, centre=centre)
    assert given.is_relative().holds
    assert given.in_family().holds
