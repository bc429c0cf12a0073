"""A bias cut into intervals on which it is one formula without absolute values, minima or branches."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise

import sympy as sp

from ..errors import BadInput, Unsupported
from .elementary import Names, Rewriter
from .places import between, compared, ordered, real_roots

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
    bias: sp.Expr,
    u: sp.Symbol,
    start: sp.Expr,
    constants: Names,
    logs: Names,
    whole: bool,
    asked: Iterable[sp.Expr] = (),
) -> list[Interval]:
    """The intervals of (start, oo), in order; some of them if there is no end to them.

    asked: formulas whose sign, where it is understood, changes between intervals only.
    Errors: Unsupported at too many cuts, and at those without a closed form.
    """
    cuts: list[sp.Expr] = []
    while True:
        ends = [start, *cuts, sp.oo]
        found, turning, endless = [], set(), False
        for lower, upper in pairwise(ends):
            rewriter = Rewriter(u, between(lower, upper), constants, logs, whole, (lower, upper))
            found.append(Interval(lower, upper, rewriter.where, rewriter.rewrite(bias)))
            for formula in asked:
                with suppress(Unsupported, BadInput):
                    rewriter.side(rewriter.rewrite(formula))
            turning |= rewriter.turning
            endless = endless or rewriter.endless
        roots = {root for q in turning for root in real_roots(q, u)}
        more = ordered([*cuts, *(root for root in roots if compared(root, start) > 0)])
        if endless and len(cuts) > STEPS:
            return [p for p in found if not any(p.lower < cut < p.upper for cut in more)]
        if len(more) == len(cuts):
            return found
        cuts = more
        if len(cuts) > MAX_CUTS:
            raise Unsupported(f"bias changes its formula at more than {MAX_CUTS} places; split it up")


__all__ = ["Interval", "intervals"]
