"""Exact division of a polynomial by a polynomial, for exponents that are fractions in writing only."""

from __future__ import annotations

from fractions import Fraction

from .sums import WIDTH, Ring, Sum


def quotient(ring: Ring, num: Sum, den: Sum) -> Sum | None:
    """num / den if den is a polynomial over Q that divides num, else None. Each exponential of num apart."""
    if any(e != ring.unit for e, _ in den.terms):
        return None
    divisor = {m: Fraction(c, den.den) for (_, m), c in den.terms.items()}
    parts: dict[int, dict[int, Fraction]] = {}
    for (e, m), c in num.terms.items():
        parts.setdefault(e, {})[m] = Fraction(c, num.den)
    sums = []
    for e, poly in parts.items():
        terms = _divided(ring, poly, divisor)
        if terms is None:
            return None
        sums += [Sum({(e, m): c.numerator}, c.denominator, num.degree) for m, c in terms.items()]
    return ring.total(sums)


def _divided(
    ring: Ring, poly: dict[int, Fraction], divisor: dict[int, Fraction]
) -> dict[int, Fraction] | None:
    """The integer order of packed monomials is a lexicographic one, so leading terms multiply."""
    top = max(divisor)
    out: dict[int, Fraction] = {}
    while poly:
        m = max(poly)
        if not _divides(ring, top, m):
            return None
        ring.spend(10 * len(divisor))
        out[m - top] = c = poly[m] / divisor[top]
        for n, d in divisor.items():
            total = poly.get(n + m - top, 0) - c * d
            if total:
                poly[n + m - top] = total
            else:
                poly.pop(n + m - top, None)
    return out


def _divides(ring: Ring, a: int, b: int) -> bool:
    mask = (1 << WIDTH) - 1
    return all(b >> WIDTH * place & mask >= power for place, power in ring.powers(a))
