"""Axes side by side: the published frequencies, digit by digit, and which plane turns with which axis."""

import pytest
import sympy as sp
from exptx.symbolic import BadInput, WrongType, enclose, encoding

X, Y = sp.symbols("x y", real=True)


def agrees(number, printed):
    """Whether an exact number rounds to the printed decimal in every digit."""
    places = len(printed.partition(".")[2])
    found = enclose(sp.sympify(number), len(printed) + 5)
    return {sp.floor(end * 10**places + sp.S.Half) for end in (found.lower, found.upper)} == {
        sp.Rational(printed) * 10**places
    }


def angle(given, plane, position):
    """The angle by which the key of a plane is ahead of a query at the origin, from cosine and sine alone."""
    i, j = list(given.axes.planes)[plane]
    e = [int(r == i) for r in range(given.head_dim)]
    up = [int(r == j) for r in range(given.head_dim)]
    origin = (0,) * len(position)
    cosine, sine = (given.score(origin, position, q=q, k=e) for q in (e, up))
    return cosine, sine


@pytest.mark.parametrize(("plane", "printed"), [(1, "0.7498942093324558"), (15, "0.01333521432163324")])
def test_the_published_axial_frequencies_turn_each_axis(plane, printed):
    given = encoding("axial", head_dim=64)
    rate = -given.axes.planes[2 * plane, 2 * plane + 1][0]
    assert agrees(rate, printed)
    assert angle(given, plane, (3, 0)) == (sp.cos(3 * rate), sp.sin(3 * rate))
    assert angle(given, plane, (0, 3)) == (1, 0)
    assert angle(given, plane + 16, (0, 3)) == (sp.cos(3 * rate), sp.sin(3 * rate))
    assert angle(given, plane + 16, (3, 0)) == (1, 0)


def test_the_first_plane_of_each_axis_turns_by_one_radian_a_step():
    given = encoding("axial", head_dim=64)
    assert angle(given, 0, (1, 0)) == angle(given, 16, (0, 1)) == (sp.cos(1), sp.sin(1))


def test_one_axis_at_rest_leaves_rope_of_half_the_features():
    half = encoding("rope", head_dim=4, rope_theta=100, interleaved=True)
    q, k = [1, 2, 3, 4], [4, 3, 2, 1]
    rest = [0, 0, 0, 0]
    axial = encoding("axial", head_dim=8)
    assert sp.expand(axial.score((5, 9), (2, 7), q=q + rest, k=k + rest) - half.score(5, 2, q=q, k=k)) == 0
    assert sp.expand(axial.score((9, 5), (7, 2), q=rest + q, k=rest + k) - half.score(5, 2, q=q, k=k)) == 0


def test_planes_may_be_split_by_halves():
    assert list(encoding("axial", head_dim=8, interleaved=False).axes.planes) == [
        (0, 4),
        (1, 5),
        (2, 6),
        (3, 7),
    ]


def test_three_sections_each_count_their_own_planes():
    given = encoding("rope_3d", head_dim=128)
    assert given.parameters["sections"] == (44, 42, 42)
    rates = [tuple(-x for x in turns) for turns in given.axes.planes.values()]
    w = [10000 ** sp.Rational(-2 * j, 44) for j in range(22)]
    v = [10000 ** sp.Rational(-2 * j, 42) for j in range(21)]
    assert rates == [(x, 0, 0) for x in w] + [(0, x, 0) for x in v] + [(0, 0, x) for x in v]


def test_given_sections_and_base_are_used():
    given = encoding("rope_3d", head_dim=128, sections=[16, 56, 56], rope_theta=256)
    rates = list(given.axes.planes.values())
    assert rates[1] == (-sp.S.Half, 0, 0)  # 256^(-2/16)
    assert rates[8 + 7] == (0, -sp.Rational(1, 4), 0)  # 256^(-14/56)


@pytest.mark.parametrize(
    ("name", "given", "error", "words"),
    [
        (
            "axial",
            {"head_dim": 6},
            BadInput,
            "head_dim is 6; two axes with as many planes each need a multiple",
        ),
        ("axial", {"head_dim": 8, "rope_theta": 1.5}, WrongType, "rope_theta is 1.5"),
        ("axial", {"head_dim": 8, "interleaved": 1}, WrongType, "interleaved is 1; True or False works"),
        ("rope_3d", {"head_dim": 4}, BadInput, "head_dim is 4; three axes need a plane each"),
        (
            "rope_3d",
            {"head_dim": 6, "sections": [2, 2]},
            BadInput,
            "three even numbers that add up to head_dim 6",
        ),
        ("rope_3d", {"head_dim": 6, "sections": [2, 2, 4]}, BadInput, "add up to head_dim 6"),
        ("rope_3d", {"head_dim": 6, "sections": [1, 3, 2]}, BadInput, r"sections\[0\] is 1"),
        ("rope_3d", {"head_dim": 6, "sections": "222"}, WrongType, "sections is '222'; three even numbers"),
    ],
)
def test_what_makes_no_axes_is_refused(name, given, error, words):
    with pytest.raises(error, match=words):
        encoding(name, **given)
