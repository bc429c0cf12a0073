"""When a quotient of exponential polynomials is one again: exact division, or a proof that it is not.

The exponents of numerator and denominator span a lattice; over it the ring is one of Laurent polynomials. If
N = Q·D, then Q, cut into cosets of that lattice, has only one part, for D·(another part) would vanish: so
division over the lattice decides (compare J. F. Ritt, Trans. AMS 31 (1929) 680-686).
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from math import lcm
from typing import Any

import sympy as sp
from sympy.polys.domains import QQ_I
from sympy.polys.rings import PolyElement, PolyRing

from ..errors import Unsupported
from ..exponent import HALF, ZERO
from ..exppoly import ExpPoly
from ..reader import Reader
from ..walk import text

Vector = tuple[int, ...]


def exact_quotient(
    formula: sp.Expr, u: sp.Symbol, rates: frozenset[sp.Symbol] = frozenset()
) -> sp.Expr | None:
    """The exponential polynomial that a quotient equals, or None if surely none does.

    rates: symbols whose values are linearly independent over Q with 1, such as logarithms of primes.
    Errors: Unsupported where that is not decided: other symbols or constant exponentials in a denominator
    that does not divide, roots of unity beyond i, square roots.
    """
    reader = Reader.of(formula, extra=[u])
    ratio = reader.cancelled(reader.read(formula))
    below = reader.ring.one
    for factor, power in reader.denominator(ratio):
        below = below * factor**power
    lattice = _Lattice([*ratio.numerator.terms, *below.terms], reader)
    found, rest = lattice.polynomial(ratio.numerator).div(lattice.polynomial(below))
    if not rest:
        return lattice.formula(found, ratio.numerator, below)
    top = _without_content(ratio.numerator, reader, u)
    if not (_plain(top, reader, u, rates) and _plain(below, reader, u, rates)):
        raise Unsupported(f"{text(formula)} keeps a denominator beside constants that are not plain numbers")
    return None


def _without_content(element: ExpPoly, reader: Reader, u: sp.Symbol) -> ExpPoly:
    """The element without a common factor of its coefficients that is free of u and surely not 0."""
    ring = reader.ring
    common = reduce(lambda a, b: a.gcd(b), element.terms.values())
    for factor, power in common.factor_list()[1]:
        formula = factor.as_expr(*ring.symbols)
        if not formula.has(u) and (formula.is_positive or formula.is_negative or formula.is_nonzero):
            element = ExpPoly(ring, {n: c.exquo(factor**power) for n, c in element.terms.items()})
    return element


def _plain(below: ExpPoly, reader: Reader, u: sp.Symbol, rates: frozenset[sp.Symbol]) -> bool:
    """Rational coefficients but for u, and exponents, up to a common one, in u times 1 or a rate."""
    ring, i = reader.ring, reader.ring.index[u]
    others = [k for k, x in enumerate(ring.symbols) if x != u]
    loose = [k for k in others if ring.symbols[k] not in rates]
    first = ring.exponents[next(iter(below.terms))]
    for number, c in below.terms.items():
        exponent = ring.exponents[number]
        moved = [*(exponent.real - first.real), *(exponent.imaginary - first.imaginary)]
        if any(m[k] for m in c for k in others) or any(not m[i] or any(m[k] for k in loose) for m in moved):
            return False
    return True


class _Lattice:
    """Coordinates for the exponents that occur, and the polynomials over them."""

    def __init__(self, numbers: list[int], reader: Reader) -> None:
        self.reader, self.ring = reader, reader.ring
        self.raw = {n: self._raw(n) for n in numbers}
        keys = sorted({key for vector in self.raw.values() for key in vector})
        common = lcm(1, *(x.denominator for vector in self.raw.values() for x in vector.values()))
        self.vectors = {n: tuple(int(v.get(key, ZERO) * common) for key in keys) for n, v in self.raw.items()}
        self.basis = _echelon(list(self.vectors.values()))
        self.coordinates = {n: _coordinates(v, self.basis) for n, v in self.vectors.items()}
        symbols = [f"x{i}" for i in range(len(self.ring.symbols))] + [f"z{i}" for i in range(len(self.basis))]
        self.polynomials = PolyRing(symbols or ["x"], QQ_I)
        self.scaled = [dict(zip(keys, (Fraction(x, common) for x in row), strict=True)) for row in self.basis]

    def _raw(self, number: int) -> dict[Any, Fraction]:
        exponent = self.ring.exponents[number]
        if exponent.surd != 1 or exponent.opaque or exponent.turn not in (ZERO, HALF):
            raise Unsupported("a quotient with square roots or roots of unity in it is not divided out")
        parts = enumerate((exponent.real, exponent.imaginary))
        return {
            (i, m): Fraction(int(c.numerator), int(c.denominator)) for i, p in parts for m, c in p.items()
        }

    def _lowest(self, element: ExpPoly) -> Vector:
        rows = [self.coordinates[n] for n in element.terms]
        return tuple(min(column) for column in zip(*rows, strict=True))

    def polynomial(self, element: ExpPoly) -> PolyElement:
        """The element times the monomial that makes all exponents of z whole and at least 0."""
        low, total = self._lowest(element), self.polynomials.zero
        for n, c in element.terms.items():
            unit = QQ_I(0, 1) if self.ring.exponents[n].turn == HALF else QQ_I(1, 0)
            shifted = tuple(a - b for a, b in zip(self.coordinates[n], low, strict=True))
            width = len(self.ring.symbols)
            total += self.polynomials.from_dict(
                {(*m[:width], *shifted): unit * QQ_I.convert(value) for m, value in c.items()}
            )
        return total

    def formula(self, found: PolyElement, top: ExpPoly, bottom: ExpPoly) -> sp.Expr:
        """A quotient of polynomials as an expression, the shifts undone."""
        shift = [a - b for a, b in zip(self._lowest(top), self._lowest(bottom), strict=True)]
        width, terms = len(self.ring.symbols), []
        for monomial, c in found.items():
            powers = [a + b for a, b in zip(monomial[width:], shift, strict=True)]
            plain = sp.Mul(*(x**k for x, k in zip(self.ring.symbols, monomial, strict=False)))
            terms.append(QQ_I.to_sympy(c) * plain * sp.exp(self._exponent(powers)))
        return sp.Add(*terms)

    def _exponent(self, powers: list[int]) -> sp.Expr:
        total = sp.S.Zero
        for power, row in zip(powers, self.scaled, strict=True):
            for (part, monomial), value in row.items():
                product = sp.Mul(*(x**k for x, k in zip(self.ring.symbols, monomial, strict=False)))
                factor = sp.Rational(value.numerator, value.denominator) * power * product
                total += factor * (sp.I if part else 1)
        return total


def _echelon(rows: list[Vector]) -> list[Vector]:
    """A basis of the integer lattice that the rows span, in echelon form (Euclid's algorithm by columns)."""
    rows, basis = [row for row in rows if any(row)], []
    for column in range(len(rows[0]) if rows else 0):
        active = [row for row in rows if row[column]]
        rows = [row for row in rows if not row[column]]
        while len(active) > 1:
            active.sort(key=lambda row: abs(row[column]))
            pivot = active[0]
            reduced = [_minus(row, row[column] // pivot[column], pivot) for row in active[1:]]
            rows += [row for row in reduced if not row[column] and any(row)]
            active = [pivot, *(row for row in reduced if row[column])]
        basis += active
    return basis


def _minus(row: Vector, factor: int, other: Vector) -> Vector:
    return tuple(a - factor * b for a, b in zip(row, other, strict=True))


def _coordinates(vector: Vector, basis: list[Vector]) -> Vector:
    """The whole numbers that combine the echelon basis to a vector of its lattice."""
    found = []
    for row in basis:
        column = next(k for k, x in enumerate(row) if x)
        found.append(vector[column] // row[column])
        vector = _minus(vector, found[-1], row)
    return tuple(found)


__all__ = ["exact_quotient"]
