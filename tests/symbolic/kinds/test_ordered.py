"""Products in order: cocycles for any factors, functions of clocks only where factors commute."""

from dataclasses import replace

import pytest
import sympy as sp
from exptx.symbolic.decide import Status
from exptx.symbolic.errors import BadInput, WrongType
from exptx.symbolic.kinds.ordered import LONGEST, Loss, Ordered, Tokens
from exptx.symbolic.verdicts import verdicts

t, s, u = sp.symbols("t s u", real=True)
HALF = sp.Rational(1, 2)


def shear(x, y):
    """An upper shear times a lower one: determinant 1, does not commute with others."""
    return sp.Matrix([[1, x], [0, 1]]) * sp.Matrix([[1, 0], [y, 1]])


def scale(x, y):
    return sp.diag(x, y)


def turn(x):
    return sp.Matrix([[sp.cos(x), -sp.sin(x)], [sp.sin(x), sp.cos(x)]])


SHEARS = Tokens(("x", "y"), shear, samples=((sp.S.One, sp.S.Zero), (sp.S.Zero, sp.S.One)))
SCALES = Tokens(("x", "y"), scale, samples=((HALF, sp.S.One), (sp.S.One, HALF), (sp.S.Zero, sp.S.One)))
TURNS = Tokens(("x",), turn, samples=((sp.S.One,), (sp.Integer(2),)))


def ordered(tokens, **changes):
    return replace(Ordered("ordered", {}, 2, tokens), **changes)


def given(tokens, *numbers):
    return replace(tokens, given=tuple(tuple(map(sp.Rational, one)) for one in numbers))


def test_later_tokens_stand_on_the_left_and_inclusive_counts_the_query():
    tokens = given(SHEARS, (1, 2), (3, 5), (7, 11), (13, 17))
    hands = [shear(*numbers) for numbers in ((1, 2), (3, 5), (7, 11), (13, 17))]
    assert ordered(tokens).evolution(3, 1) == hands[3] * hands[2]
    assert ordered(tokens, inclusive=False).evolution(3, 1) == hands[2] * hands[1]
    assert ordered(tokens).evolution(2, 2) == sp.eye(2)
    score = ordered(tokens).score(3, 1, q=[1, 2], k=[3, -1])
    assert score == (sp.Matrix([[1, 2]]) * hands[3] * hands[2] * sp.Matrix([3, -1]))[0]


def test_it_is_a_cocycle_and_neither_relative_nor_a_function_of_clocks():
    found = verdicts(ordered(SHEARS))
    words = {name: getattr(found, name).word for name in ("group", "relative", "family", "bounded")}
    assert words == {"group": "cocycle", "relative": "no", "family": "no", "bounded": "not applicable"}
    assert ordered(SHEARS).is_relative_in_clocks().status is Status.REFUTED


@pytest.mark.parametrize("inclusive", [True, False])
def test_the_witness_names_the_numbers_of_the_tokens_passed(inclusive):
    encoding = ordered(SHEARS, inclusive=inclusive)
    verdict = encoding.is_relative()
    assert verdict.status is Status.REFUTED
    key, gap = int(verdict.witness[s]), int(verdict.witness[u])
    rest = {x: value for x, value in verdict.witness.items() if x not in (s, u)}
    values = [encoding.score(*pair).subs(rest) for pair in ((key + gap, key), (gap, 0))]
    assert all(value.is_Rational for value in values)
    assert values[0] != values[1]


def test_factors_that_commute_are_functions_of_clocks():
    assert ordered(SCALES).is_relative_in_clocks().status is Status.PROVED
    assert ordered(TURNS).is_relative_in_clocks().status is Status.PROVED
    some = ordered(given(SHEARS, (1, 0), (2, 0), (3, 0)))
    assert some.is_relative_in_clocks().status is Status.PROVED
    assert some.is_relative().status is Status.REFUTED


def test_equal_tokens_are_relative_and_the_logarithm_is_left_open():
    same = ordered(given(SHEARS, (9, 9), (1, 2), (1, 2)))
    assert same.is_relative().status is Status.PROVED
    assert same.in_family().status is Status.UNDECIDED
    assert ordered(same.tokens, inclusive=False).is_relative().status is Status.REFUTED


def test_a_singular_factor_leaves_no_key_side():
    verdict = ordered(SCALES).has_key_side()
    assert verdict.status is Status.REFUTED
    assert "semigroup" in verdict.reason
    with pytest.raises(BadInput, match="no key factor"):
        ordered(SCALES).key_factor(sp.S.One)
    assert "ahead" in ordered(SCALES).is_bidirectional().reason


def test_invertible_factors_split_into_query_and_key():
    tokens = given(SHEARS, (1, 2), (3, 5), (7, 11))
    encoding = ordered(tokens)
    assert encoding.has_key_side().status is Status.PROVED
    split = encoding.query_factor(sp.Integer(2)).T * encoding.key_factor(sp.S.One)
    assert split == encoding.evolution(2, 1)


def test_samples_do_not_prove_that_free_factors_are_invertible():
    assert ordered(SHEARS).has_key_side().status is Status.UNDECIDED
    assert ordered(SHEARS).is_bidirectional().status is Status.NOT_CHECKED


def test_samples_with_a_property_do_not_prove_it_of_all():
    same_way = replace(SHEARS, samples=((sp.S.One, sp.S.Zero), (sp.Integer(2), sp.S.Zero)))
    assert ordered(same_way).is_relative_in_clocks().status is Status.UNDECIDED
    mirrors = replace(SCALES, samples=((sp.S.One, -sp.S.One), (-sp.S.One, sp.S.One)))
    assert ordered(mirrors).has_key_side().status is Status.UNDECIDED
    assert ordered(mirrors).is_bidirectional().status is Status.NOT_CHECKED


def test_rotations_can_be_undone_and_grow_nowhere():
    assert ordered(TURNS).has_key_side().status is Status.PROVED
    assert ordered(TURNS).is_bidirectional().status is Status.PROVED
    assert verdicts(ordered(TURNS)).bounded.word == "yes"
    key = ordered(TURNS).key_factor(sp.Integer(2))
    assert key == ordered(TURNS).evolution(2, 0).T


def test_a_determinant_that_is_not_one_grows_in_one_direction():
    verdict = ordered(given(SCALES, (HALF, 1), (HALF, 3))).is_bidirectional()
    assert verdict.status is Status.REFUTED
    assert "determinant" in verdict.reason


def lost(x, y):
    """I - HᵀH of diag(x, y)."""
    e = sp.eye(2)
    return [Loss((1 - x, 1 + x), e.col(0)), Loss((1 - y, 1 + y), e.col(1))]


def test_factors_that_only_shorten_are_bounded_forward():
    scales = replace(SCALES, losses=lost, premise="|x|, |y| ≤ 1")
    found = verdicts(ordered(scales)).bounded
    assert found.word == "forward only"
    assert "for |x|, |y| ≤ 1 no factor makes a vector longer" in found.verdict.reason
    inside = ordered(given(scales, (HALF, 1), (1, -1)))
    assert inside.is_bounded("causal").status is Status.PROVED
    beyond = ordered(given(scales, (HALF, 1), (1, 2)))
    assert beyond.is_bounded("causal").status is Status.NOT_CHECKED
    assert "token 1" in beyond.is_bounded("causal").reason


def test_a_claimed_loss_that_is_not_the_loss_proves_nothing():
    wrong = replace(SCALES, losses=lambda x, y: lost(x, y)[:1])
    assert ordered(wrong).is_bounded("causal").status is Status.REFUTED
    assert verdicts(ordered(wrong)).bounded.word == "no"


def test_moved_values_are_asked_about_as_well():
    encoding = ordered(SHEARS, moves_values=True)
    assert set(encoding.maps(sp.Integer(2), sp.S.One)) == {"score", "values"}


@pytest.mark.parametrize(
    ("pair", "error", "words"),
    [
        ((1, 2), BadInput, "t >= s"),
        ((HALF, 0), WrongType, "whole number"),
        ((t, 0), WrongType, "whole number"),
        ((2, -1), BadInput, "whole number from 0"),
        ((LONGEST + 1, 0), BadInput, f"at most {LONGEST}"),
    ],
)
def test_positions_are_whole_and_run_from_key_to_query(pair, error, words):
    with pytest.raises(error, match=words):
        ordered(SHEARS).score(*pair)


def test_tokens_beyond_the_given_ones_are_refused():
    with pytest.raises(BadInput, match="0 to 1"):
        ordered(given(SHEARS, (1, 0), (2, 0))).score(2, 0)
    with pytest.raises(BadInput, match="3 numbers"):
        replace(SHEARS, given=((sp.S.One,) * 3,))


def test_the_formula_names_the_ends_of_the_product():
    assert "H_{s+1}" in ordered(SHEARS).latex()
    assert "H_{t-1}" in ordered(SHEARS, inclusive=False).latex()
