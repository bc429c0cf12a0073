"""Exact numbers of the symbolic room as correctly rounded floats, by ball arithmetic."""

from __future__ import annotations

from collections.abc import Iterator

import flint
import sympy as sp

from ..symbolic.balls import ball
from .errors import NotLowered
from .rounding import round_correctly


def number_ball(value: sp.Expr, name: str = "an entry") -> flint.arb:
    """A ball around a real number, at the ambient precision; NotLowered, with its name, if it has symbols."""
    refuse_symbols(value, name)
    return ball(value, {}, flint.ctx.prec).real


def nearest_float(value: sp.Expr, dtype: object = "float64", *, name: str = "an entry") -> float:
    """The exact number rounded to nearest in `dtype`."""
    if value.is_Integer and abs(int(value)) <= 2**8:
        return float(int(value))
    return round_correctly(lambda: number_ball(value, name), dtype)


def refuse_symbols(value: object, name: str) -> None:
    """NotLowered if the value, or part of it where it is a tuple, is no number yet."""
    symbols = sorted(map(str, sp.Tuple.fromiter(_parts(value)).free_symbols))
    if not symbols:
        return
    words = (
        f"the symbol {value}"
        if str(value) == symbols[0]
        else f"{value}, with the symbol {', '.join(symbols)}"
    )
    example = 64 if getattr(value, "is_integer", False) else "Rational(1, 10)"
    raise NotLowered(f"{name} is {words}; tensors need numbers, so give one, e.g. {example}")


def _parts(value: object) -> Iterator[sp.Basic]:
    """The sympy objects that a parameter consists of."""
    if isinstance(value, sp.Basic):
        yield value
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from _parts(part)
