"""Whole numbers and comparisons of exact numbers that only balls can place: floors, ceilings, clips.

`floor(d·ln(L/(64π))/(2 ln b))` has no closed form; a ball that holds no whole number settles it.
"""

from __future__ import annotations

import sympy as sp

from .balls import enclose
from .errors import BadInput, Undecidable

_DIGITS = (20, 80, 320, 1280)


def floor(value: sp.Expr, name: str) -> sp.Integer:
    """⌊value⌋ of a number without symbols; Undecidable when no ball tells it from a whole number."""
    for digits in _DIGITS:
        found = enclose(number(value, name), digits)
        if sp.floor(found.lower) == sp.floor(found.upper):
            return sp.floor(found.lower)
    raise Undecidable(f"{name} cannot be told from a whole number near {sp.N(value, 5)}; change a parameter")


def ceiling(value: sp.Expr, name: str) -> sp.Integer:
    """⌈value⌉ = -⌊-value⌋."""
    return -floor(-value, name)


def less(a: sp.Expr, b: sp.Expr, name: str) -> bool:
    """Whether a < b, for numbers without symbols; `name` says what is compared."""
    difference = number(b - a, name)
    if difference.is_zero:
        return False
    for digits in _DIGITS:
        found = enclose(difference, digits)
        if found.lower > 0 or found.upper < 0:
            return bool(found.lower > 0)
        if found.lower == found.upper:
            return False
    raise Undecidable(f"{name} cannot be told from equality; change a parameter")


def clip(value: sp.Expr, name: str) -> sp.Expr:
    """min(max(value, 0), 1): the value itself where it lies between."""
    if not less(sp.S.Zero, value, name):
        return sp.S.Zero
    return value if less(value, sp.S.One, name) else sp.S.One


def number(value: sp.Expr, name: str) -> sp.Expr:
    """`value`, which must have no symbols: its place among the whole numbers is asked for."""
    if value.free_symbols:
        raise BadInput(
            f"{name} is {value}, which has symbols; this rule compares numbers, so give exact numbers"
        )
    return value
