"""Exact numbers of the symbolic room as correctly rounded floats, by ball arithmetic."""

from __future__ import annotations

import flint
import sympy as sp

from ..symbolic.balls import ball
from .errors import NotLowered
from .rounding import round_correctly


def number_ball(value: sp.Expr) -> flint.arb:
    """A ball around a real number, at the ambient precision; NotLowered if a symbol is left in it."""
    if value.free_symbols:
        free = ", ".join(sorted(map(str, value.free_symbols)))
        raise NotLowered(f"{value} contains the symbol {free}; substitute numbers before running on tensors")
    return ball(value, {}, flint.ctx.prec).real


def nearest_float(value: sp.Expr, dtype: object = "float64") -> float:
    """The exact number rounded to nearest in `dtype`."""
    if value.is_Integer and abs(int(value)) <= 2**8:
        return float(int(value))
    return round_correctly(lambda: number_ball(value), dtype)
