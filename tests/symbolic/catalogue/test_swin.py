"""Swin: a number for every gap in a window of two axes."""

import pytest
import sympy as sp
from exptx.symbolic import BadInput, WrongType, encoding


@pytest.mark.parametrize(
    ("t", "s", "index"),
    [((0, 0), (0, 0), (1, 1)), ((1, 0), (0, 0), (2, 1)), ((0, 0), (0, 1), (1, 0)), ((5, 2), (4, 3), (2, 0))],
)
def test_the_table_is_read_at_both_gaps(t, s, index):
    given = encoding("swin", head_dim=2, window=2)
    bias = given.scale * given.score(t, s, q=[0, 0], k=[0, 0])
    assert bias == sp.Symbol("b{}_{}".format(*index), real=True)


def test_it_is_relative_on_both_axes_and_outside(row):
    given = encoding("swin", head_dim=2, window=3)
    assert row(given) == ["no", "yes", "no", "yes", "yes"]
    assert "axis 0" in given.in_family().reason
    assert "25 values" in given.is_bidirectional().reason


def test_positions_are_pairs():
    given = encoding("swin", head_dim=2)
    with pytest.raises(WrongType, match="t is 3; a tuple of 2 exact numbers works"):
        given.score(3, (0, 0))
    with pytest.raises(BadInput, match="s has 3 coordinates; 2 work"):
        given.score((0, 0), (0, 0, 0))
    with pytest.raises(BadInput, match="window is 1; a whole number from 2"):
        encoding("swin", head_dim=2, window=1)
