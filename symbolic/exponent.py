"""The exponents of the ring: what stands beside a polynomial coefficient, and how two of them multiply."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import Any

from sympy.polys.rings import PolyElement

ZERO, HALF = Fraction(0), Fraction(1, 2)


@dataclass(frozen=True)
class Exponent:
    """exp(real + i·imaginary + iπ·turn) · √surd · Π opaque^power, with 0 <= turn < 1."""

    real: PolyElement
    imaginary: PolyElement
    turn: Fraction = ZERO
    surd: int = 1
    opaque: tuple[tuple[int, int], ...] = ()

    @property
    def transcendental(self) -> tuple[Any, ...]:
        """The part over which exponents are linearly independent."""
        return (self.real, self.imaginary, self.opaque)

    def times(self, other: Exponent) -> tuple[Exponent, int]:
        """The product as (exponent, factor): √a·√b = g·√(ab/g²) with g = gcd(a, b), and exp(iπ) = -1."""
        sign, turn = fold_turn(self.turn + other.turn)
        common = gcd(self.surd, other.surd)
        exponent = Exponent(
            self.real + other.real,
            self.imaginary + other.imaginary,
            turn,
            self.surd * other.surd // common**2,
            _merge(self.opaque, other.opaque),
        )
        return exponent, sign * common


def fold_turn(turn: Fraction) -> tuple[int, Fraction]:
    """exp(iπ·turn) = sign · exp(iπ·turn') with 0 <= turn' < 1."""
    turn %= 2
    return (1, turn) if turn < 1 else (-1, turn - 1)


def _merge(a: tuple[tuple[int, int], ...], b: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Product of monomials in opaque values."""
    if not a or not b:
        return a or b
    powers = dict(a)
    for k, power in b:
        powers[k] = powers.get(k, 0) + power
    return tuple(sorted(powers.items()))
