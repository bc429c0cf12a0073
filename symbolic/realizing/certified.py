"""A bound for |f(u) - a - Σ w e^{-γu}| over a whole window of real u, by Taylor's formula in ball arithmetic.

On each of adaptively halved intervals [m - r, m + r]

    |e(u)| <= Σ_{k<n} |e^{(k)}(m)| r^k/k! + sup |e^{(n)}| r^n/n!

with balls for the derivatives at m and a ball over the interval for the last one. Where those do not exist,
as those of √u at 0, the range of f itself has to do. No point is sampled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp
from flint import acb, arb, ctx, fmpq

from ..balls import Evaluator
from ..errors import BadInput, SingularPoint, Unsupported
from ..walk import text
from .onesided import starting_range

BITS = 128
DEGREE = 6
MAX_INTERVALS = 20_000


@dataclass(frozen=True)
class Bound:
    """upper: |e| <= upper everywhere on the window; intervals: how many it was cut into."""

    upper: sp.Rational
    intervals: int


class TooLarge(Unsupported):
    """The error is above the tolerance somewhere."""


@dataclass
class Error:
    """f - constant - Σ weight·e^{-rate·u}, with the derivatives of f that bounds are made from."""

    f: sp.Expr
    u: sp.Symbol
    constant: sp.Rational
    terms: Sequence[tuple[sp.Rational, sp.Rational]]

    def __post_init__(self) -> None:
        self._derivatives = [sp.diff(self.f, self.u, k) for k in range(DEGREE + 1)]
        self._terms = [(rational(w), rational(rate)) for w, rate in self.terms]

    def derivatives(self, u: arb, orders: range) -> list[arb]:
        """Balls for e^{(k)} at a point or over an interval."""
        evaluator, found = Evaluator({self.u: acb(u)}), []
        decays = [(w * (-rate * u).exp(), rate) for w, rate in self._terms]
        for k in orders:
            total = evaluator.value(self._derivatives[k]).real
            total = total - (rational(self.constant) if k == 0 else 0)
            for size, rate in decays:
                total = total - size * (-rate) ** k
            found.append(total)
        return found

    def over(self, lower: fmpq, upper: fmpq) -> tuple[arb, arb]:
        """(|e| at the midpoint, a bound for |e| on [lower, upper])."""
        middle, radius = arb((lower + upper) / 2), arb((upper - lower) / 2)
        total, power = arb(0), arb(1)
        at = self.derivatives(middle, range(DEGREE))
        for k, value in enumerate(at):
            total, power = total + abs(value) * power, power * radius / (k + 1)
        (last,) = self.derivatives(middle + arb(0, radius.upper()), range(DEGREE, DEGREE + 1))
        return abs(at[0]), total + abs(last) * power

    def beginning(self, lower: fmpq, upper: fmpq) -> arb:
        """A bound for |e| on [lower, upper], where f may begin with a limit; SingularPoint if it has none."""
        inside = arb(lower).union(arb(upper))
        total = starting_range(self.f, self.u, lower, upper) - rational(self.constant)
        for weight, rate in self._terms:
            total = total - weight * (-rate * inside).exp()
        return abs(total)


def certify(error: Error, lower: sp.Rational, upper: sp.Rational, tolerance: sp.Rational) -> Bound:
    """A bound of at most `tolerance` on [lower, upper].

    Errors: TooLarge if the error surely exceeds the tolerance at some point, Unsupported if the derivatives
    of f are not bounded or too many intervals are needed.
    """
    with ctx.workprec(BITS):
        wanted, worst, count = rational(tolerance), arb(0), 0
        waiting = [(_fmpq(lower), _fmpq(upper))]
        while waiting:
            left, right = waiting.pop()
            count += 1
            if count > MAX_INTERVALS:
                raise Unsupported(f"no bound came out of {MAX_INTERVALS} intervals; shorten the window")
            at, bound = _bounds(error, left, right)
            if bound.is_finite() and bound < wanted:
                worst = arb(max(worst.upper(), bound.upper()))
                continue
            if at > wanted:
                raise TooLarge(f"the error exceeds {text(tolerance)} at {(left + right) / 2}")
            middle = (left + right) / 2
            waiting += [(middle, right), (left, middle)]
        return Bound(rounded_up(worst), count)


def _bounds(error: Error, left: fmpq, right: fmpq) -> tuple[arb, arb]:
    try:
        return error.over(left, right)
    except SingularPoint:
        pass
    except BadInput as problem:
        raise Unsupported(f"the bias cannot be bounded on the window: {problem}") from None
    try:
        return arb(0), error.beginning(left, right)
    except SingularPoint:
        if right - left < fmpq(1, 2**40):
            raise Unsupported(
                f"the derivatives of the bias are not bounded near {left}, and it has no limit there that is "
                "found; let the window begin elsewhere"
            ) from None
        return arb(0), arb("inf")


def rounded_up(value: arb) -> sp.Rational:
    """The upper end, rounded up to three digits."""
    mantissa, exponent = value.upper().man_exp()
    exact = sp.Rational(int(mantissa)) * sp.Integer(2) ** int(exponent)
    grid = sp.Rational(10) ** (sp.floor(sp.log(exact, 10).evalf(10)) - 2) if exact else sp.Integer(1)
    return sp.ceiling(exact / grid) * grid


def rational(value: sp.Rational) -> arb:
    """A rational as a ball."""
    return arb(_fmpq(value))


def _fmpq(value: sp.Rational) -> fmpq:
    return fmpq(int(value.p), int(value.q))


__all__ = ["Bound", "Error", "TooLarge", "certify", "rational", "rounded_up"]
