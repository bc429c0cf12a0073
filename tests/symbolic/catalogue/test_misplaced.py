"""An interleaved table used by the rotation of half-split planes: no rotation, and no map of the gap."""

import mpmath
import pytest
import sympy as sp
from exptx.symbolic import BadInput, Status, encoding


def test_the_table_is_read_feature_by_feature():
    """x ⊙ cos + rotate_half(x) ⊙ sin, angles (t, t, t/100, t/100), rotate_half(x) = (-x2, -x3, x0, x1)."""
    given = encoding("mismatched_table", head_dim=4)
    moved = given.query_factor(sp.Integer(3)) * sp.Matrix([1, 2, 5, 7])
    a, b = 3, sp.Rational(3, 100)
    expected = [
        sp.cos(a) - 5 * sp.sin(a),
        2 * sp.cos(a) - 7 * sp.sin(a),
        5 * sp.cos(b) + sp.sin(b),
        7 * sp.cos(b) + 2 * sp.sin(b),
    ]
    assert list(moved) == expected


def test_two_pairs_of_one_gap_are_told_apart(told_apart, row):
    given = encoding("mismatched_table", head_dim=4)

    def score(t, s, q, k, at):
        def turned(x, position):
            angles = [position * w for w in (1, 1, mpmath.mpf(1) / 100, mpmath.mpf(1) / 100)]
            swapped = [-x[2], -x[3], x[0], x[1]]
            return [
                a * mpmath.cos(angle) + b * mpmath.sin(angle)
                for a, b, angle in zip(x, swapped, angles, strict=True)
            ]

        return sum(a * b for a, b in zip(turned(q, t), turned(k, s), strict=True))

    assert told_apart(given, score) > mpmath.mpf(1) / 10
    assert row(given)[:3] == ["no", "no", "no"]


def test_with_equal_frequencies_the_two_tables_are_one():
    equal = encoding("mismatched_table", head_dim=4, frequencies=[sp.S.Half, sp.S.Half])
    assert equal.is_relative().status is Status.PROVED
    assert equal.in_family().status is Status.PROVED


def test_two_features_have_one_pairing():
    with pytest.raises(BadInput, match="head_dim is 2, where both pairings are the same"):
        encoding("mismatched_table", head_dim=2)
