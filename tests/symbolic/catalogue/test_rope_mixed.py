"""Mixed axes: the angle of a plane is fx x + fy y, with any frequencies."""

import mpmath
import pytest
import sympy as sp
from exptx.symbolic import BadInput, Status, WrongType, enclose, encoding

R = sp.Rational


def test_the_score_is_that_of_the_complex_numbers_of_the_source():
    fx, fy = [R(13, 10), R(-7, 10)], [0, R(2, 5)]
    mixed = encoding("rope_mixed", head_dim=4, fx=fx, fy=fy)
    q, k, t, s = [1, 2, 3, 4], [4, -3, 2, 1], (5, -2), (1, 7)
    with mpmath.workdps(30):
        turn = lambda p, j: mpmath.expj(mpmath.mpf(str(sp.N(fx[j] * p[0] + fy[j] * p[1], 30))))  # noqa: E731
        terms = [
            mpmath.mpc(*q[2 * j : 2 * j + 2])
            * turn(t, j)
            * mpmath.conj(mpmath.mpc(*k[2 * j : 2 * j + 2]) * turn(s, j))
            for j in range(2)
        ]
        found = enclose(mixed.score(t, s, q=q, k=k), 20)
        assert abs(mpmath.mpf(found.lower.p) / found.lower.q - sum(terms).real) < 1e-15


@pytest.mark.parametrize("shift", [(7, -2), (100, 3)])
def test_a_common_shift_changes_nothing_exactly(shift):
    fx, fy = sp.symbols("fx fy", real=True)
    mixed = encoding("rope_mixed", head_dim=2, fx=[fx], fy=[fy])
    t, s = sp.symbols("t0 t1", real=True), sp.symbols("s0 s1", real=True)
    moved = [tuple(a + b for a, b in zip(p, shift, strict=True)) for p in (t, s)]
    assert sp.expand((mixed.score(*moved) - mixed.score(t, s)).rewrite(sp.exp)) == 0


def test_equal_positions_of_two_axes_are_one_axis_with_summed_frequencies():
    mixed = encoding("rope_mixed", head_dim=2, fx=[3], fy=[-1])
    rope = encoding("rope", head_dim=2, frequencies=[2])
    assert mixed.score((5, 5), (1, 1)) == rope.score(5, 1)


def test_symbols_without_a_sign_turn_as_numbers_do():
    f, g = sp.symbols("f g", real=True)
    free = encoding("rope_mixed", head_dim=2, fx=[f], fy=[g])
    given = encoding("rope_mixed", head_dim=2, fx=[3], fy=[-1])
    t, s, content = (2, 1), (0, 5), {"q": [1, 2], "k": [3, -1]}
    assert free.score(t, s, **content).subs({f: 3, g: -1}) == given.score(t, s, **content)


def test_axial_is_the_mixed_one_with_zeros():
    axial = encoding("axial", head_dim=8)
    zeros, rates = [0, 0], [1, R(1, 10)]
    mixed = encoding("rope_mixed", head_dim=8, fx=rates + zeros, fy=zeros + rates)
    assert mixed.axes.planes == axial.axes.planes
    assert mixed.is_relative().status is Status.PROVED


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"fx": [1], "fy": [1]}, BadInput, "fx has 1 entries; head_dim 4 makes 2 planes"),
        ({"fx": [1, 2], "fy": [1, 0.5]}, WrongType, r"fy\[1\] is 0.5"),
        ({"fx": 3, "fy": [1, 2]}, WrongType, "fx is 3; a list with one exact number a plane"),
    ],
)
def test_what_is_no_list_of_frequencies_is_refused(given, error, words):
    with pytest.raises(error, match=words):
        encoding("rope_mixed", head_dim=4, **given)
