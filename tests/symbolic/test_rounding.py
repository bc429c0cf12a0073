"""Floors, ceilings and comparisons of exact numbers: right next to whole numbers, refused at ties."""

import pytest
import sympy as sp
from exptx.symbolic.errors import BadInput, Undecidable
from exptx.symbolic.rounding import ceiling, clip, floor, less

TINY = sp.Rational(1, 10**30)


@pytest.mark.parametrize("n", [-3, 0, 7, 10**20])
def test_a_whole_number_is_its_own_floor_and_ceiling(n):
    assert floor(sp.Integer(n), "n") == ceiling(sp.Integer(n), "n") == n


@pytest.mark.parametrize("n", [-2, 0, 5])
def test_a_hair_beside_a_whole_number_is_placed_on_its_side(n):
    hair = TINY * sp.pi
    assert (floor(n + hair, "x"), ceiling(n + hair, "x")) == (n, n + 1)
    assert (floor(n - hair, "x"), ceiling(n - hair, "x")) == (n - 1, n)


def test_numbers_closer_than_double_precision_are_told_apart():
    near = sp.sqrt(2) + TINY
    assert less(sp.sqrt(2), near, "x")
    assert not less(near, sp.sqrt(2), "x")
    assert not less(near, near, "x")
    assert not less(sp.Rational(1, 3), sp.Rational(1, 3), "x")


def test_clipping_keeps_what_lies_between_and_stops_at_the_ends():
    assert clip(sp.log(2), "x") == sp.log(2)
    assert clip(sp.pi, "x") == 1
    assert clip(-sp.pi, "x") == 0
    assert (clip(sp.S.Zero, "x"), clip(sp.S.One, "x")) == (0, 1)


def test_what_no_ball_can_place_is_undecided_and_symbols_are_refused():
    tie = sp.log(8) - 3 * sp.log(2) + sp.sqrt(2) * sp.sqrt(3) - sp.sqrt(6) + sp.sin(1) ** 2 + sp.cos(1) ** 2
    with pytest.raises(Undecidable, match="the ramp cannot be told from"):
        floor(tie, "the ramp")
    with pytest.raises(Undecidable, match="x cannot be told from equality"):
        less(sp.S.One, tie, "x")
    with pytest.raises(BadInput, match="x is a, which has symbols"):
        floor(sp.Symbol("a", positive=True), "x")
