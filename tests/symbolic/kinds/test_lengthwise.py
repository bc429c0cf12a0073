"""Rotations that follow the length: factors, what is asked of them, and what is left undecided."""

import pytest
import sympy as sp
from exptx.symbolic import Status, decide
from exptx.symbolic.kinds.lengthwise import Lengthwise

t, s = sp.symbols("t s", real=True)
m = sp.Symbol("m", positive=True)


def growing(length):
    """One plane that does not change and one that slows down past 4 positions."""
    return sp.S.One, 1 / (2 + sp.Max(0, length - 4))


def live(spectrum, planes=((0, 2), (1, 3)), amplitude=sp.S.One):
    return Lengthwise("live", {}, 4, planes=planes, spectrum=spectrum, original_length=4, amplitude=amplitude)


def test_the_factors_give_the_map_and_the_map_is_the_difference_of_two_turns():
    encoding = live(growing, amplitude=m)
    for query, key in ((7, 5), (2, 9), (0, 0)):
        product = encoding.query_factor(sp.Integer(query)).T * encoding.key_factor(sp.Integer(key))
        assert decide(product, encoding.maps(sp.Integer(query), sp.Integer(key))["score"]).holds


@pytest.mark.parametrize("planes", [((0, 2), (1, 3)), ((0, 1), (2, 3))])
def test_the_witness_lies_in_a_plane_that_changes(planes):
    verdict = live(growing, planes).is_relative()
    assert verdict.status is Status.REFUTED
    assert verdict.entry == (planes[1][0],) * 2
    assert live(growing, planes).in_family().status is Status.REFUTED
    assert live(growing, planes).has_group_law().status is Status.REFUTED


def test_what_never_changes_is_not_refuted():
    still = live(lambda length: (sp.S.One, sp.Rational(1, 3)))
    assert still.is_relative().status is Status.UNDECIDED
    assert still.in_family().status is Status.UNDECIDED


def test_rotations_are_bounded_and_both_sided_at_every_length():
    encoding = live(growing, amplitude=m)
    assert encoding.is_bounded().holds
    assert encoding.is_bounded("causal").holds
    assert encoding.is_bidirectional().holds
    factor = encoding.query_factor(sp.Integer(9))
    assert decide(factor.T * factor, m**2 * sp.eye(4)).holds
