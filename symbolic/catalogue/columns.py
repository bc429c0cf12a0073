"""Lists of exact numbers given as parameters: vectors, gains, phases."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from ..errors import BadInput, WrongType
from ..exact import exact_entry
from ..walk import shown


def column(given: object, name: str, count: int | None = None) -> tuple[sp.Expr, ...]:
    """`given` as a tuple of exact numbers or symbols, `count` of them unless that is None."""
    entries = given.flat() if isinstance(given, sp.MatrixBase) else given
    if isinstance(entries, str) or not isinstance(entries, Sequence) or not entries:
        raise WrongType(f"{name} is {shown(given)}; a list of exact numbers works")
    if count is not None and len(entries) != count:
        raise BadInput(f"{name} has {len(entries)} entries; {count} are needed")
    return tuple(exact_entry(x, f"{name}[{i}]") for i, x in enumerate(entries))


def reals(letter: str, count: int) -> tuple[sp.Symbol, ...]:
    """The real symbols letter0, letter1, …: any numbers at all."""
    return tuple(sp.Symbol(f"{letter}{i}", real=True) for i in range(count))
