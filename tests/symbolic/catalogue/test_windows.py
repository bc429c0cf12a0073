"""Clipped and grouped gaps: one is relative and no flow, the other depends on where its groups begin."""

import mpmath
import pytest
import sympy as sp
from exptx.symbolic import BadInput, Status, encoding

HALF = sp.Rational(1, 2)
PLANE = {"head_dim": 2, "frequencies": [HALF]}


def rotary(gap, q, k):
    """q·R(-gap/2)k in one plane."""
    c, s = mpmath.cos(gap / mpmath.mpf(2)), mpmath.sin(gap / mpmath.mpf(2))
    return q[0] * (c * k[0] + s * k[1]) + q[1] * (c * k[1] - s * k[0])


@pytest.mark.parametrize("gap", [-5, 0, 1, 3, 4, 5, 100])
def test_rerope_is_rope_up_to_the_window_and_holds_beyond(gap):
    given, plain = encoding("rerope", window=4, **PLANE), encoding("rope", **PLANE)
    assert given.score(gap, 0) == plain.score(min(gap, 4), 0)
    assert given.score(gap + 7, 7) == given.score(gap, 0)


def test_rerope_is_relative_bounded_by_one_and_no_flow(row):
    given = encoding("rerope", window=4, **PLANE)
    assert row(given) == ["no", "yes", "no", "yes", "yes"]
    witness = given.in_family().witness
    assert witness[sp.Symbol("u", real=True)] < 4


def test_clipping_the_gap_is_no_homomorphism():
    """A(3)A(3) is the rotation by gap 6, which the window turns back to gap 4."""
    given = encoding("rerope", window=4, **PLANE)
    a3, a6 = (given.maps(sp.Integer(gap), sp.S.Zero)["score"] for gap in (3, 6))
    assert abs((a3 * a3 - a6)[0, 0].n(20)) > HALF


@pytest.mark.parametrize(("window", "group"), [(4, 2), (5, 3), (512, 8), (7, 7)])
def test_self_extend_is_refuted_where_a_group_begins(told_apart, row, window, group):
    given = encoding("self_extend", window=window, group=group, **PLANE)

    def score(t, s, q, k, at):
        far = t // group - s // group + window - window // group
        return rotary(t - s if t - s < window else far, q, k)

    assert told_apart(given, score) > mpmath.mpf(1) / 100
    assert row(given)[:3] == ["no", "no", "no"]
    assert given.is_relative().witness[sp.Symbol("u", real=True)] >= window


def test_within_the_window_self_extend_is_rope():
    given, plain = encoding("self_extend", window=6, group=3, **PLANE), encoding("rope", **PLANE)
    for t, s in ((9, 4), (3, 3), (2, 0)):
        assert given.score(t, s) == plain.score(t - s, 0)


def test_what_is_refused():
    with pytest.raises(BadInput, match="window is 0; a whole number from 1"):
        encoding("rerope", window=0, **PLANE)
    with pytest.raises(BadInput, match="group is 1; a whole number from 2"):
        encoding("self_extend", window=4, group=1, **PLANE)
    assert encoding("rope", **PLANE).in_family().status is Status.PROVED
