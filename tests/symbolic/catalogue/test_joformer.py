"""Composed rotations: one plane as the published code turns it, three features whose order counts."""

import math

import pytest
import sympy as sp
from exptx.symbolic import Status, WrongType, encoding

ANGLES = [sp.Rational(k, 8) for k in (1, 3, -2, 5)]


def test_one_plane_is_what_the_code_computes():
    """Query and key turned clockwise by the sum of the code's angles from their own token to the end."""
    entry = encoding("joformer", head_dim=2, angles=[[-x] for x in ANGLES])
    q, k = (1.0, 2.0), (3.0, -1.0)

    def turned(x, position):
        angle = sum(float(y) for y in ANGLES[position:])
        return (
            math.cos(angle) * x[0] + math.sin(angle) * x[1],
            -math.sin(angle) * x[0] + math.cos(angle) * x[1],
        )

    for t, s in ((3, 0), (2, 1), (1, 1)):
        expected = sum(a * b for a, b in zip(turned(q, t), turned(k, s), strict=True))
        assert math.isclose(float(entry.score(t, s, q=[1, 2], k=[3, -1])), expected, rel_tol=1e-12)


def test_its_row_of_the_map(row):
    assert row(encoding("joformer", head_dim=3)) == ["cocycle", "no", "no", "yes", "yes"]
    assert row(encoding("joformer", head_dim=2))[1] == "in-its-clocks"


def test_quarter_turns_about_two_axes_in_both_orders():
    quarter = sp.pi / 2
    one = encoding("joformer", head_dim=3, angles=[[quarter, 0], [0, quarter], [0, 0]]).evolution(2, 0)
    two = encoding("joformer", head_dim=3, angles=[[0, quarter], [quarter, 0], [0, 0]]).evolution(2, 0)
    assert one * sp.Matrix([1, 0, 0]) == sp.Matrix([0, 0, 1])
    assert two * sp.Matrix([1, 0, 0]) == sp.Matrix([0, 1, 0])


def test_one_token_turns_its_planes_one_after_the_other():
    quarter = sp.pi / 2
    both = encoding("joformer", head_dim=3, angles=[[quarter, quarter], [0, 0]]).evolution(1, 0)
    assert both * sp.Matrix([1, 0, 0]) == sp.Matrix([0, 0, 1])


def test_values_are_moved_with_the_keys():
    entry = encoding("joformer", head_dim=3, angles=[[1, 2], [3, 4]])
    maps = entry.maps(sp.S.One, sp.S.Zero)
    assert maps["values"] == maps["score"]
    assert entry.has_key_side().status is Status.PROVED


def test_a_list_of_angles_a_token():
    with pytest.raises(WrongType, match="list"):
        encoding("joformer", head_dim=2, angles=[1, 2])
