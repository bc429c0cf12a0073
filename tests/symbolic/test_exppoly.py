"""Laws of the ring: it is a commutative ring with a derivation, and zero is recognised."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
import sympy as sp
from exptx.symbolic.errors import Unsupported
from exptx.symbolic.exppoly import ExpPoly, NotPolynomial, Ring

x, y = sp.symbols("x y", real=True)


@pytest.fixture
def ring() -> Ring:
    return Ring([x, y, sp.pi])


def element(ring: Ring, source: random.Random) -> ExpPoly:
    """A small random exponential polynomial with turns and surds."""
    total = ring.zero
    a, b, whole = ring.generator(x), ring.generator(y), source.randint
    for _ in range(whole(1, 4)):
        coefficient = ring.constant(whole(-4, 4) or 1, whole(1, 3)) * a ** whole(0, 2)
        slope = ring.constant(whole(-2, 2)) * a + ring.constant(whole(-1, 1), 2) * b * ring.i
        number = ring.root_of_unity(Fraction(whole(0, 11), 6)) * ring.surd(source.choice([1, 2, 3, 6]))
        total = total + coefficient * number * ring.exponential_of(slope)
    return total


@pytest.mark.parametrize("seed", range(12))
def test_the_ring_axioms_hold(ring, seed):
    source = random.Random(seed)
    a, b, c = (element(ring, source) for _ in range(3))
    assert (a * (b + c) - (a * b + a * c)).is_zero()
    assert (a * b - b * a).is_zero()
    assert ((a * b) * c - a * (b * c)).is_zero()
    assert (a - a).is_zero()
    assert (a * ring.one - a).is_zero()
    assert not (a + ring.one - a).is_zero()


@pytest.mark.parametrize("seed", range(12))
def test_the_derivative_is_a_derivation_and_partials_commute(ring, seed):
    source = random.Random(seed)
    a, b = element(ring, source), element(ring, source)
    assert ((a * b).diff(0) - (a.diff(0) * b + a * b.diff(0))).is_zero()
    assert (a.diff(0).diff(1) - a.diff(1).diff(0)).is_zero()


@pytest.mark.parametrize("seed", range(12))
def test_substitution_is_a_homomorphism_and_obeys_the_chain_rule(ring, seed):
    source = random.Random(seed)
    a, b = element(ring, source), element(ring, source)
    inner = ring.generator(y) * ring.generator(y) + ring.constant(1, 3)
    at = lambda e: e.compose({0: inner})  # noqa: E731
    assert (at(a * b) - at(a) * at(b)).is_zero()
    chain = at(a.diff(0)) * inner.diff(1) + at(a.diff(1))
    assert (at(a).diff(1) - chain).is_zero()


def test_powers_are_repeated_products(ring):
    a = ring.exponential_of(ring.generator(x)) + ring.generator(y) * ring.surd(2)
    product = ring.one
    for _ in range(7):
        product = product * a
    assert a**7 == product
    assert a**0 == ring.one


def test_half_a_turn_of_pi_becomes_a_root_of_unity(ring):
    turned = ring.exponential_of(ring.generator(sp.pi) * ring.i * ring.constant(1, 2))
    assert turned == ring.i
    assert (ring.i * ring.i + ring.one).is_zero()


def test_units_are_inverted_inside_the_ring(ring):
    number = ring.constant(3, 2) * ring.surd(5) * ring.root_of_unity(Fraction(1, 3))
    unit = number * ring.exponential_of(ring.generator(x))
    assert (unit * unit.unit_inverse() - ring.one).is_zero()
    assert ring.generator(x).unit_inverse() is None
    assert (unit + ring.one).unit_inverse() is None


def test_an_exponent_must_be_a_polynomial_over_the_gaussian_rationals(ring):
    inner = ring.exponential_of(ring.generator(x))
    for bad in (ring.surd(2), inner, ring.root_of_unity(Fraction(1, 3)), ring.opaque(0)):
        with pytest.raises(NotPolynomial):
            ring.exponential_of(bad * ring.generator(x))


def test_exponentials_of_different_polynomials_are_independent(ring):
    a, b = ring.generator(x), ring.generator(y)
    assert not (ring.exponential_of(a) - ring.exponential_of(b)).is_zero()
    assert not (ring.exponential_of(a * b) - ring.exponential_of(a) * ring.exponential_of(b)).is_zero()
    assert not (ring.exponential_of(ring.one) - ring.one).is_zero()


def test_a_product_that_would_not_end_is_refused(ring):
    long = ExpPoly(ring, {})
    for k in range(200):
        long = long + ring.exponential_of(ring.constant(k) * ring.generator(x))
    with pytest.raises(Unsupported, match="too large for the exact procedure"):
        _ = long * long * long


def test_the_surviving_term_does_not_cancel(ring):
    cancelling = ring.one + ring.root_of_unity(Fraction(2, 3)) + ring.root_of_unity(Fraction(4, 3))
    survivor = ring.constant(5) * ring.generator(y) * ring.exponential_of(ring.generator(x))
    assert (cancelling + survivor).surviving_term() == 5 * y * sp.exp(x)
    assert cancelling.surviving_term() == 0
