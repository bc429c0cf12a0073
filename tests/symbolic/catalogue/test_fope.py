"""Fourier position embedding: gap 0 changes with the position unless each plane has one frequency."""

import mpmath
import pytest
import sympy as sp
from exptx.symbolic import BadInput, Status, WrongType, decide, encoding

t, s, u = sp.symbols("t s u", real=True)
HALF = sp.Rational(1, 2)
TWO = {"frequencies": [1, 2], "amplitudes": [[1, HALF]]}


def test_gap_zero_at_position_zero_and_at_pi():
    given = encoding("fope", head_dim=2, **TWO)
    assert given.score(0, 0, q=[1, 0], k=[1, 0]) == sp.Rational(9, 4)
    assert given.score(sp.pi, sp.pi, q=[1, 0], k=[1, 0]) == sp.Rational(1, 4)


def test_the_score_is_the_product_of_two_complex_sums():
    """Re(F(t) q conj(F(s) k)) for F = e^{it} + ½ e^{2it}, written out for q = k = 1."""
    given = encoding("fope", head_dim=2, **TWO).score(t, s, q=[1, 0], k=[1, 0])
    product = sp.cos(t - s) + sp.cos(2 * (t - s)) / 4 + sp.cos(t - 2 * s) / 2 + sp.cos(2 * t - s) / 2
    assert decide(given, product).holds


def test_the_planes_turn_counterclockwise():
    """Re(F(t) conj(F(s) i)): the key e1 is i."""
    given = encoding("fope", head_dim=2, **TWO).score(t, s, q=[1, 0], k=[0, 1])
    product = sp.sin(t - s) + sp.sin(2 * (t - s)) / 4 + sp.sin(t - 2 * s) / 2 + sp.sin(2 * t - s) / 2
    assert decide(given, product).holds


def test_two_frequencies_are_refuted(told_apart, row):
    given = encoding("fope", head_dim=4, frequencies=[1, 2], amplitudes=[[1, HALF], [HALF, 3]])

    def score(t, s, q, k, at):
        def moved(x, position):
            waves = [mpmath.expj(w * position) for w in (1, 2)]
            sums = (waves[0] + waves[1] / 2, waves[0] / 2 + 3 * waves[1])
            return [f * mpmath.mpc(x[j], x[j + 2]) for j, f in enumerate(sums)]

        return sum((a * mpmath.conj(b)).real for a, b in zip(moved(q, t), moved(k, s), strict=True))

    assert told_apart(given, score) > mpmath.mpf(1) / 10
    assert row(given) == ["no", "no", "no", "yes", "yes"]


def test_free_amplitudes_are_refuted():
    assert encoding("fope", head_dim=2, frequencies=[1, 2]).is_relative().status is Status.REFUTED


@pytest.mark.parametrize(
    "given", [{"frequencies": [3]}, {"frequencies": [1, 2], "amplitudes": [[0, 5], [HALF, 0]]}]
)
def test_one_frequency_a_plane_is_relative_and_inside(given):
    one = encoding("fope", head_dim=4, **given)
    assert one.is_relative().status is Status.PROVED
    assert one.in_family().status is Status.PROVED


def test_a_clipped_plane_counts_twice():
    """sin = cos = 1 is the rotation by 45 degrees times √2, on both sides."""
    given = encoding("fope", head_dim=4, **TWO)
    assert given.score(5, 2, q=[0, 3, 0, 5], k=[0, 7, 0, 11]) == 2 * (21 + 55)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"frequencies": []}, WrongType, "frequencies is"),
        (
            {"frequencies": [1], "amplitudes": [[1, 2]]},
            BadInput,
            r"amplitudes\[0\] has 2 entries; 1 are needed",
        ),
        ({"frequencies": [1], "amplitudes": [[1]] * 3}, BadInput, "amplitudes has 3 rows; 2 planes work"),
        ({"frequencies": [1], "amplitudes": "1"}, WrongType, "amplitudes is '1'; a list with a row"),
    ],
)
def test_what_is_refused(given, error, words):
    with pytest.raises(error, match=words):
        encoding("fope", head_dim=4, **given)


def test_a_free_frequency_is_told_from_every_given_one():
    """Symbols get small primes first, 2 among them, and at w = 2 these two frequencies are one."""
    w = sp.Symbol("w", positive=True)
    for given in (1, 2, 3, 5, 7):
        verdict = encoding("fope", head_dim=2, frequencies=(w, given), amplitudes=((1, HALF),)).is_relative()
        assert {str(x) for x in verdict.witness} >= {"s", "u", "w"}, given
        assert verdict.witness[w] != given
