"""Laws of roots of unity: the sparse zero test agrees with reduction modulo the cyclotomic polynomial."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
import sympy as sp
from exptx.symbolic.cyclotomic import split_square, vanishes
from exptx.symbolic.errors import Unsupported


def by_reduction(order: int, coefficients: dict[int, int]) -> bool:
    """Σ c_e ζ^e = 0 by dense division modulo Φ_order."""
    z = sp.Symbol("z")
    total = sp.Poly(sum((c * z**e for e, c in coefficients.items()), sp.Integer(0)), z)
    return total.rem(sp.Poly(sp.cyclotomic_poly(order, z), z)).is_zero


def as_terms(order: int, coefficients: dict[int, int]) -> list[tuple[Fraction, int, int]]:
    return [(Fraction(2 * e, order), 1, c) for e, c in coefficients.items()]


def random_relation(source: random.Random, order: int) -> dict[int, int]:
    """A sum of shifted full cycles Σ_j ζ^(jN/p + a) = 0 for primes p dividing the order."""
    total: dict[int, int] = dict.fromkeys(range(order), 0)
    for _ in range(3):
        prime, shift = source.choice(sp.primefactors(order)), source.randrange(order)
        weight = source.randint(-3, 3)
        for j in range(prime):
            total[(j * order // prime + shift) % order] += weight
    return total


@pytest.mark.parametrize("order", [2, 3, 4, 5, 6, 8, 9, 12, 15, 30, 36, 60, 105])
def test_relations_vanish_and_a_change_of_one_coefficient_is_seen(order):
    source = random.Random(order)
    for _ in range(5):
        relation = random_relation(source, order)
        assert vanishes(as_terms(order, relation))
        relation[source.randrange(order)] += 1
        assert not vanishes(as_terms(order, relation))


@pytest.mark.parametrize("order", [6, 10, 12, 15, 20, 42])
def test_the_zero_test_agrees_with_reduction_modulo_the_cyclotomic_polynomial(order):
    source = random.Random(order)
    for _ in range(30):
        some = {source.randrange(order): source.randint(-1, 1) for _ in range(order)}
        assert vanishes(as_terms(order, some)) == by_reduction(order, some)


def test_surds_meet_the_roots_of_unity_that_contain_them():
    eighth, third = Fraction(1, 4), Fraction(1, 3)
    assert vanishes([(Fraction(0), 2, 1), (eighth, 1, -1), (-eighth, 1, -1)])  # √2 = ζ8 + 1/ζ8
    assert vanishes([(Fraction(1, 2), 3, 1), (2 * third, 1, -2), (Fraction(0), 1, -1)])  # i√3 = 2ω + 1
    assert not vanishes([(Fraction(1, 2), 3, 1), (2 * third, 1, -2), (Fraction(0), 1, -2)])
    assert not vanishes([(Fraction(0), 2, 1), (Fraction(0), 3, 1), (Fraction(0), 5, -1)])
    assert not vanishes([(Fraction(0), 2, 1), (Fraction(0), 1, -1)])
    assert not vanishes([(Fraction(0), 3, 1), (Fraction(0), 1, -2)])
    assert not vanishes([(Fraction(0), 2, 1), (Fraction(0), 2, 1)])


def test_a_huge_sparse_order_is_decided():
    prime = 1_000_003
    assert not vanishes([(Fraction(2, prime), 1, 1), (Fraction(-2, prime), 1, 1)])
    assert vanishes([(Fraction(2, prime), 1, 1), (Fraction(2, prime) + 1, 1, 1)])


def test_what_would_not_end_is_refused():
    with pytest.raises(Unsupported, match="too large"):
        vanishes([(Fraction(1, 10**13 + 1), 1, 1), (Fraction(0), 1, 1)])
    with pytest.raises(Unsupported, match=r"sqrt\(1000003\)"):
        vanishes([(Fraction(2, 1_000_003), 1, 1), (Fraction(0), 1_000_003, 1)])
    with pytest.raises(Unsupported, match="too large"):
        split_square(sp.nextprime(10**25) * sp.nextprime(10**26))


SQUARES = [(1, 1, 1), (12, 2, 3), (72, 6, 2), (10**20 + 39, 1, 10**20 + 39)]


@pytest.mark.parametrize(("n", "square", "rest"), SQUARES)
def test_a_number_is_a_square_times_a_squarefree_number(n, square, rest):
    assert split_square(n) == (square, rest)


def test_the_square_of_a_large_prime_is_found():
    prime = sp.nextprime(10**12)
    assert split_square(3 * prime**2) == (prime, 3)


def test_square_roots_of_long_numbers_end():
    """The two Mersenne primes are on the list of M. Robinson (1952)."""
    left, right = 2**521 - 1, 2**127 - 1
    with pytest.raises(Unsupported, match="number of 5001 digits"):
        split_square(10**5000 + 1)
    with pytest.raises(Unsupported, match="too large"):
        split_square(2**1279 - 1)
    assert split_square(right**2 * 6) == (right, 6)
    assert not vanishes([(Fraction(1, 7), left * right, 1), (Fraction(0), 1, 1)])
    assert vanishes([(Fraction(0), 3 * right, 1), (Fraction(1), 3 * right, 1)])
    third = Fraction(2, 3)  # i√3 = 2ω + 1
    assert vanishes([(Fraction(1, 2), 3 * right, 1), (third, right, -2), (Fraction(0), right, -1)])
