"""Tables read off the gap: steps at given edges, indices that are clipped, the buckets of T5."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from ..errors import BadInput
from .columns import column, reals


def steps(u: sp.Expr, edges: Sequence[sp.Expr], values: Sequence[sp.Expr]) -> sp.Expr:
    """values[i] where edges[i-1] <= u < edges[i]; one value more than edges."""
    pieces = [(value, u < edge) for value, edge in zip(values, edges, strict=False)]
    return sp.Piecewise(*pieces, (values[-1], True))


def clipped(u: sp.Expr, reach: int, values: Sequence[sp.Expr]) -> sp.Expr:
    """values[u + reach] at whole u, the index clipped to those there are; a step between."""
    return steps(u, range(1 - reach, len(values) - reach), values)


def levels(given: object, name: str, letter: str, count: int) -> tuple[sp.Expr, ...]:
    """`count` table values, not all equal: those given, or free symbols letter0, letter1, … if None."""
    values = reals(letter, count) if given is None else column(given, name, count)
    if len(set(values)) == 1:
        raise BadInput(
            f"{name} are all equal, which is a constant and no table; give at least two different ones"
        )
    return values


def bucket_starts(count: int, most: int) -> tuple[int, ...]:
    """The least distance of each of `count` buckets: half hold one distance, the others more and more.

    With h = ⌊count/2⌋ bucket h + j starts at the least n with log(n/h) / log(most/h) · (count-h) >= j, or
    n^(count-h) >= h^(count-h-j) most^j: decided in whole numbers, no logarithm is rounded.
    """
    single = count // 2
    grown = count - single
    powers = (single ** (grown - j) * most**j for j in range(grown))
    return (*range(single), *(_least_root(power, grown) for power in powers))


def _least_root(power: int, degree: int) -> int:
    """The least n with n^degree >= power."""
    root, exact = sp.integer_nthroot(power, degree)
    return int(root) if exact else int(root) + 1
