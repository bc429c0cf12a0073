"""A bias of the gaps on several axes: relative by its form, outside if one axis shows it."""

import pytest
import sympy as sp
from exptx.symbolic import BadInput, Status, WrongType
from exptx.symbolic.kinds.grid import GridBias


def grid(table, axes=2):
    return GridBias("test", {}, 1, axes, table)


def test_a_step_along_any_axis_refutes_the_family():
    for axis in range(3):
        given = grid(lambda gap, axis=axis: sp.Piecewise((0, gap[axis] < 1), (1, True)), axes=3)
        assert given.is_relative().status is Status.PROVED
        assert given.in_family().status is Status.REFUTED
        assert f"axis {axis}" in given.in_family().reason
        assert given.is_bounded().status is Status.PROVED


def test_exponential_polynomials_along_each_axis_leave_the_family_open():
    """The product of the gaps is one along each axis, and |product| is as well, which no member is."""
    assert grid(lambda gap: gap[0] * gap[1]).in_family().status is Status.UNDECIDED
    assert grid(lambda gap: sp.Abs(gap[0] * gap[1])).in_family().status is Status.UNDECIDED


def test_a_table_is_bounded_and_a_formula_is_left_open():
    nested = sp.Piecewise
    table = grid(lambda gap: nested((nested((2, gap[1] < 0), (3, True)), gap[0] < 0), (2, True)))
    assert table.is_bidirectional().status is Status.PROVED
    assert "2 values" in table.is_bidirectional().reason
    open_one = grid(lambda gap: gap[0] * gap[1])
    assert open_one.is_bidirectional().status is open_one.is_bounded().status is Status.UNDECIDED


def test_positions_are_tuples_and_scores_are_shown_at_tuples():
    given = grid(lambda gap: gap[0] - 2 * gap[1])
    assert given.score((5, 2), (1, 1), q=[1], k=[3]) == 3 + 4 - 2
    assert given.shown_positions()[0] == sp.symbols("t0 t1", real=True)
    assert "t_{0}" in given.latex()
    with pytest.raises(WrongType, match=r"t\[1\] is 0.5, which is a float"):
        given.score((1, 0.5), (0, 0))
    with pytest.raises(BadInput, match="t has 1 coordinates"):
        given.score((1,), (0, 0))


def test_a_table_that_knows_the_key_is_neither_relative_nor_placed():
    """s0 is the first coordinate of the key: with it the bias is no function of the gap."""
    odd = grid(lambda gap: gap[0] * sp.Symbol("s0", real=True) + sp.Piecewise((0, gap[1] < 1), (1, True)))
    assert odd.is_relative().status is Status.UNDECIDED
    assert odd.in_family().status is Status.UNDECIDED
    assert "coordinates of s" in odd.in_family().reason
