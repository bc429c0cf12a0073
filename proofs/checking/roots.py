"""Roots of unity: sums of exp(iπq) reduced modulo cyclotomic polynomials; square roots as Gauss sums."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from math import lcm
from typing import TYPE_CHECKING

from .refusal import Refusal

if TYPE_CHECKING:
    from .sums import Exponent, Ring, Sum

ORDER = 4000
PRIME = 400
Poly = dict[int, int]  # monomial -> integer


@cache
def cyclotomic(n: int) -> tuple[int, ...]:
    """Coefficients of Φ_n, constant first: x^n - 1 divided by Φ_d for every proper divisor d."""
    poly = [-1, *[0] * (n - 1), 1]
    for d in range(1, n // 2 + 1):
        if n % d == 0:
            poly = _divided(poly, cyclotomic(d))
    return tuple(poly)


def _divided(poly: list[int], divisor: tuple[int, ...]) -> list[int]:
    poly, size = list(poly), len(divisor) - 1
    quotient = [0] * (len(poly) - size)
    for k in range(len(quotient) - 1, -1, -1):
        quotient[k] = c = poly[k + size]
        if c:
            for j, d in enumerate(divisor):
                poly[k + j] -= c * d
    return quotient


def reduced_groups(ring: Ring, a: Sum) -> Iterator[tuple[Exponent, dict[Fraction, Poly]]]:
    """For every exponent P of the sum: {q: polynomial} with exp(iπq) in the power basis of its field."""
    groups: dict[frozenset, dict[Fraction, Poly]] = {}
    for (e, m), c in a.terms.items():
        exponent, q = ring.exponentials[e]
        groups.setdefault(frozenset(exponent.items()), {}).setdefault(q, {})[m] = c
    for exponent, roots in groups.items():
        yield dict(exponent), roots if len(roots) == 1 else _reduced(ring, roots)


def _reduced(ring: Ring, roots: dict[Fraction, Poly]) -> dict[Fraction, Poly]:
    """z = exp(2πi/n), n twice the common denominator: z^e for e >= deg Φ_n is replaced from the top."""
    n = 2 * lcm(*(q.denominator for q in roots))
    if n > ORDER:
        raise Refusal(f"needs roots of unity of order {n}; at most {ORDER} is supported")
    phi = cyclotomic(n)
    size = len(phi) - 1
    powers: list[Poly] = [{} for _ in range(n)]
    for q, poly in roots.items():
        powers[int(q * n / 2)] = dict(poly)
    for e in range(n - 1, size - 1, -1):
        if powers[e]:
            ring.spend(len(powers[e]) * size)
            _subtract(powers, e, phi)
    return {Fraction(2 * e, n): p for e, p in enumerate(powers[:size]) if p}


def _subtract(powers: list[Poly], e: int, phi: tuple[int, ...]) -> None:
    top, base = powers[e], e - len(phi) + 1
    for j, factor in enumerate(phi[:-1]):
        if factor:
            low = powers[base + j]
            for m, c in top.items():
                total = low.get(m, 0) - c * factor
                if total:
                    low[m] = total
                else:
                    del low[m]
    powers[e] = {}


def square_root(ring: Ring, value: Fraction) -> Sum:
    """sqrt(p/q) = sqrt(p q)/q, every prime by its Gauss sum."""
    square, rest = _square_part(value.numerator * value.denominator)
    result = ring.constant(Fraction(square, value.denominator))
    for prime in rest:
        result = ring.multiply(result, _gauss(ring, prime))
    return result


def _square_part(n: int) -> tuple[int, list[int]]:
    """n = s² p1 p2 …: (s, primes). Primes above the limit must come in squares."""
    square, rest, p = 1, [], 2
    if n == 0:
        return 0, rest
    while p <= PRIME:
        count = 0
        while n % p == 0:
            n, count = n // p, count + 1
        square *= p ** (count // 2)
        if count % 2:
            rest.append(p)
        p += 1
    big = _exact_root(n)
    if big is None:
        raise Refusal(
            f"has a square root of a prime above {PRIME}; a free positive symbol with its square stated works"
        )
    return square * big, rest


def _exact_root(n: int) -> int | None:
    from math import isqrt

    root = isqrt(n)
    return root if root * root == n else None


def _gauss(ring: Ring, p: int) -> Sum:
    """sqrt(2) = ζ8 + 1/ζ8; for odd p the sum of (k/p) exp(2πik/p) is sqrt(p), or i·sqrt(p) if p = 3 mod 4."""
    if p == 2:
        return ring.add(ring.root(Fraction(1, 4)), ring.root(Fraction(-1, 4)))
    signs = ((k, pow(k, (p - 1) // 2, p) == 1) for k in range(1, p))
    roots = (
        ring.root(Fraction(2 * k, p)) if plus else ring.negative(ring.root(Fraction(2 * k, p)))
        for k, plus in signs
    )
    total = ring.total(roots)
    return total if p % 4 == 1 else ring.multiply(total, ring.root(Fraction(-1, 2)))
