"""What may enter a block, a basis or a matrix: exact finite real numbers and real symbols."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeGuard

import sympy as sp

from .admit import admit, check_length
from .errors import BadInput, WrongType
from .walk import shown, text

DIGITS = 1_000  # of a number in a parameter or a matrix, as many as are read from text
MOST = 1024  # the largest size (features, heads, block size) that is built entry by entry


def exact_entry(value: object, name: str) -> sp.Expr:
    """`value` as an exact real sympy expression; floats, strings, truth values and non-numbers are refused.

    Accepted: int, Fraction, and sympy expressions without floats, infinities or an imaginary part. A symbol
    without assumptions counts as real, as everywhere in this room.
    """
    if isinstance(value, sp.Integer):  # most entries of a basis: little to examine
        check_length(value, name, DIGITS)
        return value
    if not _finite(value):
        raise BadInput(f"{name} is {shown(value)}; a finite exact number works, e.g. sympy.Rational(1, 10)")
    entry = admit(value, name)
    for number in entry.atoms(sp.Rational):
        check_length(number, name, DIGITS)
    if getattr(entry, "is_Matrix", False):
        raise WrongType(f"{name} is a {type(value).__name__}; an exact number or a real sympy symbol works")
    if entry.is_extended_real is False or entry.has(sp.I):
        raise BadInput(
            f"{name} is {text(entry)}, which is not real; a turn is given by a decay and a frequency"
        )
    return entry


def _finite(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return not (isinstance(value, sp.Expr) and value.has(sp.nan, sp.oo, -sp.oo, sp.zoo))


def exact_matrix(value: object, name: str) -> sp.ImmutableMatrix:
    """`value` as an immutable square matrix of exact real entries (shape (n, n), n >= 1)."""
    if isinstance(value, sp.MatrixBase):
        rows = value.tolist()
    elif _is_rows(value) and all(map(_is_rows, value)):
        rows = [list(row) for row in value]
    else:
        raise WrongType(f"{name} is a {type(value).__name__}; a sympy Matrix or a list of rows works")
    if not rows or any(len(row) != len(rows) for row in rows):
        widths = " or ".join(str(width) for width in sorted({len(row) for row in rows}))
        shape = f"{len(rows)} rows of {widths} entries" if rows else "empty"
        raise BadInput(f"{name} is not square ({shape}); a square matrix with at least one row works")
    named = [[exact_entry(x, f"{name}[{i}, {j}]") for j, x in enumerate(row)] for i, row in enumerate(rows)]
    return sp.ImmutableMatrix(named)


def _is_rows(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


def exact_time(t: object) -> sp.Expr:
    """The argument of `exp`: an exact real number or expression."""
    return exact_entry(t, "t")


def positive(value: object, name: str) -> sp.Expr:
    """`value` as an exact expression known to be positive."""
    number = exact_entry(value, name)
    if number.is_positive:
        return number
    if number.free_symbols and number.is_positive is None:
        raise BadInput(
            f"{name} is {text(number)}, not known to be positive; declare its symbols so, "
            "e.g. Symbol('b', positive=True)"
        )
    raise BadInput(f"{name} is {text(number)}; it must be positive, e.g. {_positive_example(number, name)}")


def _positive_example(number: sp.Expr, name: str) -> str:
    """The number without its sign; instead of 0 the usual base, or 1."""
    if number.is_Rational and number.is_negative:
        return text(-number)
    return "10000" if name.endswith(("theta", "base")) else "1"


def whole(value: object, name: str, least: int = 1, most: int = MOST) -> int:
    """`value` as an int from `least` to `most`; what is larger would only exhaust the machine."""
    if isinstance(value, bool) or not isinstance(value, (int, sp.Integer)):
        written = isinstance(value, float) and value.is_integer() and value >= least
        example = int(value) if written else max(least, 64)
        raise WrongType(f"{name} is {shown(value)}; a whole number works, e.g. {example}")
    if not least <= value <= most:
        raise BadInput(f"{name} is {shown(value)}; a whole number from {least} to {most} works")
    return int(value)


def even(value: object, name: str) -> int:
    """`value` as an even int of at least 2: features are rotated in pairs."""
    number = whole(value, name, 2)
    if number % 2:
        raise BadInput(
            f"{name} is {number}, which is odd; features turn in pairs, so {number - 1} or {number + 1} works"
        )
    return number


def rational_power(base: sp.Expr, exponent: sp.Rational) -> sp.Expr:
    """base^exponent, also where sympy multiplies primes of the base into a number that no float holds.

    With python-flint it looks for perfect powers through that float; prime by prime there is none.
    """
    try:
        return base**exponent
    except OverflowError:
        primes = sp.factorrat(base, limit=2**15)
        return sp.Mul(*(sp.Integer(prime) ** (times * exponent) for prime, times in primes.items()))
