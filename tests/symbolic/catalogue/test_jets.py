"""Three changes to the Jordan form, each refuted; undone, each is the exact form and relative."""

from math import factorial

import mpmath
import pytest
import sympy as sp
from exptx.symbolic import BadInput, Status, decide, encoding

t, s, u = sp.symbols("t s u", real=True)
g = sp.Symbol("g", positive=True)
HALF = sp.Rational(1, 2)


def jordan(coefficient, growth, order, angle=1):
    """The score q·A(-t)⁻¹A(-s)k of one block by mpmath, A(p) = growth(p) Σ coefficient(r, p) N^r ⊗ R(p)."""

    def block(p):
        n, turn = mpmath.matrix(order), mpmath.matrix(2)
        for i in range(order - 1):
            n[i, i + 1] = 1
        c, z = mpmath.cos(angle * p), mpmath.sin(angle * p)
        turn[0, 0], turn[0, 1], turn[1, 0], turn[1, 1] = c, -z, z, c
        shear = mpmath.matrix(order)
        for r in range(order):
            shear += coefficient(r, mpmath.mpf(p)) * n**r
        whole = mpmath.matrix(2 * order)
        for i in range(2 * order):
            for j in range(2 * order):
                whole[i, j] = growth(mpmath.mpf(p)) * shear[i // 2, j // 2] * turn[i % 2, j % 2]
        return whole

    def score(t, s, q, k, at):
        return (mpmath.matrix([q]) * block(-t) ** -1 * block(-s) * mpmath.matrix(k))[0]

    return score


def test_the_saturated_shear_is_refuted(told_apart, row):
    given = encoding("jordan_stabilised", head_dim=4, gamma=HALF, length=4)
    tau = jordan(lambda r, p: (p / (1 + abs(p) / 4)) ** r, lambda p: mpmath.exp(-p / 2), 2)
    assert told_apart(given, tau) > mpmath.mpf(1) / 1000
    assert row(given)[:3] == ["no", "no", "no"]


def test_without_a_shear_between_far_levels_a_long_length_is_nearly_exact():
    """L → ∞ gives τ(u) = u: at L = 10^9 gap 3 of jordan_rope is met to a millionth."""
    given = encoding("jordan_stabilised", head_dim=4, gamma=HALF, length=10**9)
    exact = encoding("jordan_rope", head_dim=4, gamma=HALF)
    difference = given.score(5, 2, q=[1, 2, 3, 4], k=[4, 3, 2, 1]) - exact.score(
        5, 2, q=[1, 2, 3, 4], k=[4, 3, 2, 1]
    )
    assert 0 < abs(difference.n(30)) < sp.Rational(1, 10**6)


def test_free_coefficients_are_refuted(told_apart, row):
    given = encoding("jetmix", head_dim=6, gamma=HALF, coefficients=[2, 3])
    jets = jordan(lambda r, p: [1, 2, 3][r] * p**r / factorial(r), lambda p: mpmath.exp(-p / 2), 3)
    assert told_apart(given, jets) > mpmath.mpf(1) / 10
    assert row(given)[:3] == ["no", "no", "no"]
    assert encoding("jetmix", head_dim=6, gamma=g).is_relative().status is Status.REFUTED


@pytest.mark.parametrize(
    "given",
    [
        {"head_dim": 6, "coefficients": [3, 9]},
        {"head_dim": 4, "order": 2},
        {"head_dim": 6, "coefficients": [0, 0]},
    ],
)
def test_coefficients_that_are_powers_are_relative(given):
    """Two of them always are: 1/(1 - c t N) · (1 - c s N) = 1 + c(t-s)N."""
    jets = encoding("jetmix", gamma=g, **given)
    assert jets.is_relative().status is Status.PROVED
    assert jets.in_family().status is Status.PROVED


def test_coefficients_of_the_exponential_series_give_jordan_rope():
    mixed = encoding("jetmix", head_dim=6, gamma=g, coefficients=[3, 9])
    exact = encoding("jordan_rope", head_dim=6, gamma=g, order=3, shear=3)
    assert decide(mixed.score(t, s), exact.score(t, s)).holds


def test_the_clamp_is_refuted_beyond_its_reach(told_apart, row):
    """γ = 1/10: the fade stops counting at position 300."""
    given = encoding("jordan_clamped", head_dim=4, gamma=sp.Rational(1, 10))
    clamp = jordan(lambda r, p: p**r, lambda p: mpmath.exp(max(-30, min(30, -p / 10))), 2)
    assert told_apart(given, clamp) > mpmath.mpf(1) / 100
    witness = given.is_relative().witness
    assert witness[s] + witness[u] > 300
    assert row(given)[:3] == ["no", "no", "no"]


def test_the_clamp_does_nothing_up_to_its_reach():
    clamped = encoding("jordan_clamped", head_dim=4, gamma=sp.Rational(1, 10))
    exact = encoding("jordan_rope", head_dim=4, gamma=sp.Rational(1, 10))
    for key in (0, 100, 297):
        assert decide(clamped.score(key + 3, key), exact.score(3, 0)).holds
    assert not decide(clamped.score(301, 298), exact.score(3, 0)).holds
    assert decide(clamped.score(-297, -300), exact.score(3, 0)).holds
    assert not decide(clamped.score(-298, -301), exact.score(3, 0)).holds


@pytest.mark.parametrize("gamma", [g, sp.Rational(1, 10**4), sp.Rational(29, 7)])
def test_the_clamp_is_refuted_at_any_rate(gamma):
    assert encoding("jordan_clamped", head_dim=4, gamma=gamma).is_relative().status is Status.REFUTED


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        (
            "jetmix",
            {"head_dim": 4, "gamma": 1},
            "head_dim is 4, no multiple of 6, the size of a block of order 3",
        ),
        ("jetmix", {"head_dim": 6, "gamma": 1, "order": 1}, "order is 1; a whole number from 2"),
        (
            "jetmix",
            {"head_dim": 6, "gamma": 1, "coefficients": [1]},
            "coefficients has 1 entries; 2 are needed",
        ),
        ("jordan_clamped", {"head_dim": 4, "gamma": 0}, "gamma is 0; it must be positive"),
        ("jordan_stabilised", {"head_dim": 4, "gamma": 1, "length": 0}, "length is 0; it must be positive"),
    ],
)
def test_what_is_refused(name, given, words):
    with pytest.raises(BadInput, match=words):
        encoding(name, **given)
