"""How much faster `decide` settles a relativity law than `sympy.simplify`: interleaved medians, their ratio.

The law: the score of two damped turning planes, qᵀA(t)A(-s)k with A(u) = exp(-gu) R(wu), depends on t - s.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import sympy as sp
from exptx.symbolic.decide import decide
from sympy.core.cache import clear_cache

ROUNDS, WANTED = 3, 50


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


def _seconds(work: Callable[[], object]) -> float:
    clear_cache()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(rounds: int = ROUNDS) -> tuple[float, float]:
    """Median seconds of (decide, simplify), taken in turn so that both see the same machine."""
    lhs, rhs = damped_turn_relativity()
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(_seconds(lambda: decide(lhs, rhs)))
        theirs.append(_seconds(lambda: sp.simplify(lhs - rhs)))
    return median(ours), median(theirs)


def main() -> None:
    """Prints both medians and the ratio."""
    ours, theirs = measure()
    print("score of two damped turning planes depends on t - s only")
    print(f"  decide          {1000 * ours:10.1f} ms   (canonical form, and balls at three points)")
    print(f"  sympy.simplify  {1000 * theirs:10.1f} ms")
    print(f"  ratio           {theirs / ours:10.0f}      (wanted: at least {WANTED})")


if __name__ == "__main__":
    main()
