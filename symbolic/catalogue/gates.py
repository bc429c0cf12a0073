"""Gates as the clocked encodings take them: forget gates f as -log f, steps that are not negative, angles."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sympy as sp

from ..balls import enclose
from ..errors import BadInput, WrongType
from ..exact import exact_entry
from ..walk import shown

Gates = tuple[sp.Expr, ...] | None


def gates(given: object, name: str, admit: Callable[[object, str], sp.Expr]) -> Gates:
    """One exact gate a token (tokens 0, 1, …), each through `admit`, or None where they are left free."""
    if given is None:
        return None
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise WrongType(f"{name} is {shown(given)}; a list with one exact gate a token works")
    return tuple(admit(gate, f"{name}[{token}]") for token, gate in enumerate(given))


def gate_rows(
    given: object, name: str, width: int, admit: Callable[[object, str], sp.Expr]
) -> tuple[Gates, ...]:
    """`width` gates a token as one tuple a clock: given is a list of tokens with `width` gates each."""
    if given is None:
        return (None,) * width
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise WrongType(f"{name} is {shown(given)}; a list with {width} exact gates a token works")
    rows = [gates(row, f"{name}[{token}]", admit) or () for token, row in enumerate(given)]
    for token, row in enumerate(rows):
        if len(row) != width:
            raise BadInput(f"{name}[{token}] has {len(row)} gates; {width} work")
    return tuple(zip(*rows, strict=True))


def forgotten(gate: object, name: str) -> sp.Expr:
    """-log f of a forget gate 0 < f <= 1, which is how far the clock moves."""
    factor = exact_entry(gate, name)
    if factor.is_zero:
        raise BadInput(
            f"{name} is 0: such a gate erases everything before it and has no logarithm; "
            "a number above 0 and at most 1 works"
        )
    if not (_not_negative(factor) and _not_negative(1 - factor)):
        raise BadInput(f"{name} is {factor}; a number above 0 and at most 1 works")
    return -sp.log(factor)


def step(gate: object, name: str) -> sp.Expr:
    """A step that is not negative."""
    size = exact_entry(gate, name)
    if not _not_negative(size):
        raise BadInput(f"{name} is {size}; a number that is not negative works")
    return size


def _not_negative(value: sp.Expr) -> bool:
    """Known to be at least 0: by the signs of its symbols, or for a number by balls."""
    if value.is_nonnegative is None and value.is_number:
        return enclose(value).lower >= 0
    return bool(value.is_nonnegative)
