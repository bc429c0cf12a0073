"""The door of the room: what may enter a block, a basis or a matrix is exact, and it is real."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from numbers import Rational as AnyRational

import sympy as sp

from .errors import BadInput, WrongType


def exact_entry(value: object, name: str) -> sp.Expr:
    """`value` as an exact real sympy expression; floats, strings, truth values and non-numbers are refused.

    Accepted: int, Fraction, and sympy expressions without Float, infinity or an imaginary part. A symbol
    without assumptions counts as real, as everywhere in this room.
    """
    if isinstance(value, bool) or value is None or isinstance(value, str):
        raise WrongType(
            f"{name} is {value!r}; an exact number or a real sympy symbol works, e.g. Rational(1, 10)"
        )
    if isinstance(value, float):
        raise _refuse_float(value, name)
    if isinstance(value, AnyRational):
        return sp.Rational(int(value.numerator), int(value.denominator))
    if not isinstance(value, sp.Expr):
        raise WrongType(f"{name} is a {type(value).__name__}; an exact number or a real sympy symbol works")
    return _checked(value, name)


def _refuse_float(value: float, name: str) -> Exception:
    if not math.isfinite(value):
        return BadInput(f"{name} is {value}; a finite exact number works, e.g. Rational(1, 10)")
    near = Fraction(value).limit_denominator(1000)
    return WrongType(
        f"{name} is the float {value!r}, which is not exact; "
        f"write Rational({near.numerator}, {near.denominator}) if that is meant"
    )


def _checked(value: sp.Expr, name: str) -> sp.Expr:
    if value.has(sp.nan, sp.oo, -sp.oo, sp.zoo):
        raise BadInput(f"{name} is {value}; a finite exact number works, e.g. Rational(1, 10)")
    if value.has(sp.Float):
        raise WrongType(f"{name} is {value}, which contains a float; write its numbers as Rational(p, q)")
    if value.is_extended_real is False or value.has(sp.I):
        raise BadInput(f"{name} is {value}, which is not real; a turn is given by a decay and a frequency")
    return value


def exact_matrix(value: object, name: str) -> sp.ImmutableMatrix:
    """`value` as an immutable square matrix of exact real entries (shape (n, n), n >= 1)."""
    if isinstance(value, sp.MatrixBase):
        rows = value.tolist()
    elif _is_nested(value):
        rows = [list(row) for row in value]  # type: ignore[attr-defined]
    else:
        raise WrongType(f"{name} is a {type(value).__name__}; a sympy Matrix or a list of rows works")
    if not rows or any(len(row) != len(rows) for row in rows):
        shape = f"{len(rows)} x {sorted({len(row) for row in rows})}" if rows else "empty"
        raise BadInput(f"{name} is not square ({shape}); a square matrix with at least one row works")
    named = [[exact_entry(x, f"{name}[{i}, {j}]") for j, x in enumerate(row)] for i, row in enumerate(rows)]
    return sp.ImmutableMatrix(named)


def _is_nested(value: object) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and all(isinstance(row, Sequence) and not isinstance(row, str) for row in value)
    )


def exact_time(t: object) -> sp.Expr:
    """The argument of `exp`: an exact real number or expression."""
    return exact_entry(t, "t")
