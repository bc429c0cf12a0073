"""Fractions of exponential polynomials: denominators kept in factors, side conditions as formulas."""

from __future__ import annotations

from dataclasses import dataclass, field

import sympy as sp

from .errors import BadInput, Unsupported
from .exppoly import ExpPoly, Ring
from .walk import text

MAX_POWER = 10_000
MAX_POWER_OF_SUM = 256

Factors = tuple[tuple[int, int], ...]  # ((number of a denominator factor, power), ...), sorted


@dataclass(frozen=True, eq=False)
class Ratio:
    """numerator / Π factor^power; `nonzero` lists the formulas that must not vanish."""

    numerator: ExpPoly
    factors: Factors = ()
    nonzero: frozenset[sp.Expr] = frozenset()


@dataclass
class Fractions:
    """Arithmetic of fractions over one ring; equal denominators are recognised by their factors."""

    ring: Ring
    _factors: list[ExpPoly] = field(default_factory=list)

    def add(self, a: Ratio, b: Ratio) -> Ratio:
        """a + b over the least common multiple of the listed factors."""
        nonzero = a.nonzero | b.nonzero
        if a.factors == b.factors:
            return Ratio(a.numerator + b.numerator, a.factors, nonzero)
        common = dict(a.factors)
        for k, power in b.factors:
            common[k] = max(power, common.get(k, 0))
        factors = tuple(sorted(common.items()))
        return Ratio(self._lift(a, common) + self._lift(b, common), factors, nonzero)

    def _lift(self, a: Ratio, common: dict[int, int]) -> ExpPoly:
        own, numerator = dict(a.factors), a.numerator
        for k, power in common.items():
            if power > own.get(k, 0):
                numerator = numerator * self._factors[k] ** (power - own.get(k, 0))
        return numerator

    def multiply(self, a: Ratio, b: Ratio) -> Ratio:
        """a·b."""
        powers = dict(a.factors)
        for k, power in b.factors:
            powers[k] = powers.get(k, 0) + power
        factors = a.factors if not b.factors else tuple(sorted(powers.items()))
        return Ratio(a.numerator * b.numerator, factors, a.nonzero | b.nonzero)

    def negate(self, a: Ratio) -> Ratio:
        """-a."""
        return Ratio(-a.numerator, a.factors, a.nonzero)

    def invert(self, a: Ratio, source: sp.Expr) -> Ratio:
        """1/a; `source` is the formula that becomes a side condition."""
        top = self.ring.one
        for k, power in a.factors:
            top = top * self._factors[k] ** power
        inverse = self.inverse(a.numerator, text(source))
        nonzero = a.nonzero | {source} if inverse.factors else a.nonzero
        return Ratio(top * inverse.numerator, inverse.factors, nonzero)

    def inverse(self, element: ExpPoly, name: str) -> Ratio:
        """1/element: in the ring for a unit, else with one more denominator factor."""
        unit = element.unit_inverse()
        if unit is not None:
            return Ratio(unit)
        if element.is_zero():
            raise BadInput(f"malformed: the denominator {name} is identically zero")
        return Ratio(self.ring.one, ((self._factor(element), 1),))

    def _factor(self, element: ExpPoly) -> int:
        for k, known in enumerate(self._factors):
            if known == element:
                return k
        self._factors.append(element)
        return len(self._factors) - 1

    def power(self, a: Ratio, exponent: int, source: sp.Expr) -> Ratio:
        """a^exponent, guarded against sizes that would not end."""
        limit = MAX_POWER if a.numerator.size() <= 1 else MAX_POWER_OF_SUM
        if abs(exponent) > limit:
            raise Unsupported(
                f"too large for the exact procedure: the power {text(exponent)} of {text(source)}; "
                "use a free symbol for the power and prove the step by induction"
            )
        if exponent < 0:
            a, exponent = self.invert(a, source), -exponent
        factors = tuple((k, power * exponent) for k, power in a.factors)
        return Ratio(a.numerator**exponent, factors, a.nonzero)

    def subtract(self, a: Ratio, b: Ratio) -> Ratio:
        """a - b."""
        return self.add(a, self.negate(b))

    def denominator(self, a: Ratio) -> list[tuple[ExpPoly, int]]:
        """[(factor, power), ...]"""
        return [(self._factors[k], power) for k, power in a.factors]

    def is_zero(self, a: Ratio) -> bool:
        """Denominators were found non-zero when they were formed, so the numerator decides."""
        return a.numerator.is_zero()

    def constant(self, value: sp.Rational) -> Ratio:
        """A rational number."""
        return Ratio(self.ring.constant(int(value.p), int(value.q)))

    def differentiate(self, a: Ratio, symbol: sp.Symbol) -> Ratio:
        """(n/Πf^p)' = (n' - n Σ p f'/f)/Πf^p."""
        i = self.ring.index[symbol]
        result = Ratio(a.numerator.diff(i), a.factors, a.nonzero)
        for k, power in a.factors:
            rate = self._factors[k].diff(i)
            if rate:
                slope = a.numerator * rate * self.ring.constant(-power)
                term = self.multiply(Ratio(slope, a.factors), Ratio(self.ring.one, ((k, 1),)))
                result = self.add(result, term)
        return result

    def cancelled(self, value: Ratio) -> Ratio:
        """The same fraction without the denominators that divide its numerator: ω·(u + 2π/ω) is ωu + 2π."""
        numerator, left = value.numerator, []
        for k, power in value.factors:
            while power and (quotient := numerator.quotient(self._factors[k])) is not None:
                numerator, power = quotient, power - 1
            left += [(k, power)] if power else []
        return Ratio(numerator, tuple(left), value.nonzero)
