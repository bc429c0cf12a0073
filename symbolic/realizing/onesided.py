"""The range of a formula on [a, a + h], where it may begin with a limit: √u, u·log u and sin(u)/u at 0.

Ends are computed in ball arithmetic and 0 stays exactly 0, so that a root never leaves its domain. A quotient
0/0 at the left end is N'(ξ)/D'(ξ) for some ξ inside (Cauchy's mean value theorem; Rudin, Principles of
Mathematical Analysis, 3rd ed., Theorem 5.9).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import sympy as sp
from flint import arb, fmpq

from ..balls import Evaluator
from ..errors import SingularPoint
from ..walk import text

MOST_SLOPES = 4  # how often 0/0 is differentiated
_BY_BALL = {
    sp.sin: "sin",
    sp.cos: "cos",
    sp.tan: "tan",
    sp.sinh: "sinh",
    sp.cosh: "cosh",
    sp.tanh: "tanh",
}


@dataclass(frozen=True)
class Range:
    """[lower end of `low`, upper end of `high`]."""

    low: arb
    high: arb

    def hull(self) -> arb:
        """One ball around it."""
        return self.low if self.low is self.high else self.low.union(self.high)

    def is_zero(self) -> bool:
        """Exactly [0, 0]."""
        return bool(self.low == 0 and self.high == 0)


def starting_range(formula: sp.Expr, u: sp.Symbol, lower: fmpq, upper: fmpq) -> arb:
    """A ball around all values on (lower, upper] and the limit at lower.

    Errors: SingularPoint where none is found, as at a pole.
    """
    start = sp.Rational(int(lower.numerator), int(lower.denominator))
    moved = formula.xreplace({u: u + start}) if start else formula  # u - 1/3 at 1/3 is 0 in balls only then
    return _OneSided(u, fmpq(0), upper - lower).range(moved).hull()


@dataclass(frozen=True)
class _OneSided:
    u: sp.Symbol
    lower: fmpq
    upper: fmpq
    slopes: int = 0

    def range(self, node: sp.Expr) -> Range:
        """The range of a formula, children first."""
        if node == self.u:
            return Range(arb(self.lower), arb(self.upper))
        if self.u not in node.free_symbols:
            value = Evaluator({}).value(node).real
            return Range(value, value)
        if isinstance(node, sp.Add):
            parts = [self.range(part) for part in node.args]
            return Range(sum((p.low for p in parts), arb(0)), sum((p.high for p in parts), arb(0)))
        if isinstance(node, sp.Mul):
            return self._product(node)
        if isinstance(node, sp.exp):
            inside = self.range(node.args[0])
            return Range(inside.low.exp(), inside.high.exp())
        if isinstance(node, sp.log):
            return self._logarithm(node)
        if isinstance(node, sp.Pow):
            return self._power(node)
        if type(node) in _BY_BALL:
            inside = self.range(node.args[0])
            value = getattr(inside.hull(), _BY_BALL[type(node)])()
            return Range(value, value)
        raise SingularPoint(f"{text(node)} has no range here")

    def _logarithm(self, node: sp.log) -> Range:
        inside = self.range(node.args[0])
        if not inside.low > 0:
            raise SingularPoint(f"{text(node)}: its argument is not surely positive here")
        return Range(inside.low.log(), inside.high.log())

    def _power(self, node: sp.Pow) -> Range:
        base, exponent = node.args
        inside = self.range(base)
        if not isinstance(exponent, sp.Rational):
            raise SingularPoint(f"{text(node)} has no range here")
        if exponent < 0:
            if not inside.low > 0:
                raise SingularPoint(f"{text(base)} cannot be told from 0 here")
            return Range(_raised(inside.high, exponent), _raised(inside.low, exponent))
        if inside.low >= 0:
            return Range(_raised(inside.low, exponent), _raised(inside.high, exponent))
        if not isinstance(exponent, sp.Integer):
            raise SingularPoint(f"{text(node)}: its base may be negative here")
        value = inside.hull() ** int(exponent)
        return Range(value, value)

    def _product(self, node: sp.Mul) -> Range:
        fading = self._fading_logarithm(node)
        if fading is not None:
            first, others = fading
            return _times(first, self.range(others))
        try:
            total = Range(arb(1), arb(1))
            for factor in node.args:
                total = _times(total, self.range(factor))
        except SingularPoint:
            return self._quotient(node)
        return total

    def _fading_logarithm(self, node: sp.Mul) -> tuple[Range, sp.Expr] | None:
        """x^r·(log x)^k for x from 0 to at most e^{-k/r}, where it goes one way; and the other factors."""
        for factor in node.args:
            base, k = factor.as_base_exp()
            if not isinstance(base, sp.log) or not isinstance(k, sp.Integer) or k < 0:
                continue
            inside, (r, rest) = self.range(base.args[0]), _power_of(base.args[0], node)
            if inside.low == 0 and r > 0 and inside.high < arb(-fmpq(int(k)) / _fmpq(r)).exp():
                end = _raised(inside.high, r) * inside.high.log() ** int(k)
                around = end.union(arb(0))
                return Range(around, around), rest / factor
        return None

    def _quotient(self, node: sp.Mul) -> Range:
        """N/D with N = D = 0 at the left end."""
        above, below = sp.fraction(node)
        if self.slopes == MOST_SLOPES or not (self._starts(above) and self._starts(below)):
            raise SingularPoint(f"{text(node)} has no limit that is found here")
        further = _OneSided(self.u, self.lower, self.upper, self.slopes + 1)
        return further.range(sp.diff(above, self.u) / sp.diff(below, self.u))

    def _starts(self, formula: sp.Expr) -> bool:
        """Whether it moves, and begins with 0 exactly."""
        if self.u not in formula.free_symbols:
            return False
        return _OneSided(self.u, self.lower, self.lower, MOST_SLOPES).range(formula).is_zero()


def _power_of(x: sp.Expr, node: sp.Mul) -> tuple[sp.Rational, sp.Expr]:
    """(r, the product without x^r); r = 0 if x is no factor."""
    for factor in node.args:
        base, r = factor.as_base_exp()
        if base == x and isinstance(r, sp.Rational):
            return r, node / factor
    return sp.S.Zero, node


def _times(a: Range, b: Range) -> Range:
    """The least and the greatest of the four products of ends."""
    ends = [x * y for x, y in product((a.low, a.high), (b.low, b.high))]
    low = min(ends, key=lambda x: x.lower())
    high = max(ends, key=lambda x: x.upper())
    return Range(low, high)


def _raised(x: arb, r: sp.Rational) -> arb:
    """x^r for x > 0, or x = 0 and r > 0."""
    return arb(0) if x == 0 else x ** _fmpq(r)


def _fmpq(value: sp.Rational) -> fmpq:
    return fmpq(int(value.p), int(value.q))


__all__ = ["starting_range"]
