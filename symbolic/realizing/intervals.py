"""A bias cut into intervals on which it is one formula without absolute values, minima or branches."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import sympy as sp

from ..errors import Unsupported
from ..walk import text
from .elementary import Names, Rewriter

MAX_CUTS = 64
STEPS = 3


@dataclass(frozen=True)
class Interval:
    """The open interval (lower, upper), a point of it, and the formula that the bias equals there."""

    lower: sp.Expr
    upper: sp.Expr
    sample: sp.Rational
    formula: sp.Expr


def intervals(
    bias: sp.Expr, u: sp.Symbol, start: sp.Expr, constants: Names, logs: Names, whole: bool
) -> list[Interval]:
    """The intervals of (start, oo), in order; some of them if there is no end to them.

    Errors: Unsupported at irrational or too many cuts.
    """
    cuts: set[sp.Rational] = set()
    while True:
        ends = [start, *sorted(cuts), sp.oo]
        found, turning, endless = [], set(), False
        for lower, upper in pairwise(ends):
            rewriter = Rewriter(u, _inside(lower, upper), constants, logs, whole)
            found.append(Interval(lower, upper, rewriter.where, rewriter.rewrite(bias)))
            turning |= rewriter.turning
            endless = endless or rewriter.endless
        new = {root for q in turning for root in _roots(q, u) if root > start} - cuts
        if endless and len(cuts) > STEPS:
            return [p for p in found if not any(p.lower < cut < p.upper for cut in new)]
        if not new:
            return found
        cuts |= new
        if len(cuts) > MAX_CUTS:
            raise Unsupported(f"bias changes its formula at more than {MAX_CUTS} places; split it up")


def _inside(lower: sp.Expr, upper: sp.Expr) -> sp.Rational:
    if lower.is_finite and upper.is_finite:
        return (lower + upper) / 2
    if lower.is_finite:
        return lower + 1
    return upper - 1 if upper.is_finite else sp.S.One


def _roots(q: sp.Expr, u: sp.Symbol) -> list[sp.Rational]:
    """All real roots of a polynomial over Q, which must be rational."""
    polynomial = sp.Poly(q, u)
    rational = list(sp.roots(polynomial, filter="Q"))
    if len(rational) != polynomial.count_roots():
        raise Unsupported(
            f"bias changes its formula at irrational roots of {text(q)}; use rational breakpoints"
        )
    return rational


__all__ = ["Interval", "intervals"]
