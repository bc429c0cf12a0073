"""How much faster `decide` settles a relativity law than `sympy.simplify`.

The law: the score of two damped turning planes, qᵀA(t)A(-s)k with A(u) = exp(-gu) R(wu), depends on t - s.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp
from sympy.core.cache import clear_cache

from ..symbolic.decide import decide
from .race import TIMED, WRONG, Race, Row, timed


def damped_turn_relativity(planes: int = 2) -> tuple[sp.Expr, sp.Expr]:
    """(score written with positions, score written with the gap)."""
    t, s, g = sp.symbols("t s g", real=True)
    apart = _score(planes, lambda w: _factor(g, w, t) * _factor(g, w, -s))
    return apart, _score(planes, lambda w: _factor(g, w, t - s))


def _score(planes: int, between: Callable[[sp.Symbol], sp.Matrix]) -> sp.Expr:
    total = sp.Integer(0)
    for plane in range(planes):
        w, a, b, c, d = sp.symbols(f"w{plane} a{plane} b{plane} c{plane} d{plane}", real=True)
        total += (sp.Matrix([[a, b]]) * between(w) * sp.Matrix([c, d]))[0]
    return total


def _factor(g: sp.Expr, w: sp.Expr, u: sp.Expr) -> sp.Matrix:
    """exp(-gu) R(wu)."""
    turn = sp.Matrix([[sp.cos(w * u), -sp.sin(w * u)], [sp.sin(w * u), sp.cos(w * u)]])
    return sp.exp(-g * u) * turn


def race(rounds: int, planes: int = 2) -> Race:
    """Both start without what sympy remembers of earlier calls; both must find the two sides equal."""
    lhs, rhs = damped_turn_relativity(planes)

    def simplified() -> bool:
        clear_cache()
        return sp.simplify(lhs - rhs) == 0

    def decided() -> bool:
        clear_cache()
        return decide(lhs, rhs).holds

    runs = {"decide": decided, "sympy.simplify": simplified}
    rows = [_row(name, kind, runs[name]()) for name, kind in (("decide", "ours"), ("sympy.simplify", "peer"))]
    return Race("decide", "decide", (planes,), timed(rows, runs, rounds))


def _row(name: str, kind: str, right: bool) -> Row:
    if right:
        return Row(name, kind, "", TIMED)
    return Row(name, kind, "", WRONG, "does not find the two sides equal")


__all__ = ["damped_turn_relativity", "race"]
