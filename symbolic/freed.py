"""Free symbols in place of irrational decays and frequencies, so that laws about them can be decided.

`exp(t·√2)` or `cos(t·10000^(-1/64))` lie outside the decidable ring. What is proved for a free positive
symbol holds for every positive number, this one included.
"""

from __future__ import annotations

import sympy as sp

from .block import Block


def freed_blocks(blocks: tuple[Block, ...]) -> tuple[tuple[Block, ...], dict[sp.Symbol, sp.Expr]]:
    """The blocks with irrational parameters replaced by symbols of the same sign, and symbol -> value."""
    taken = {symbol.name for block in blocks for symbol in block.matrix.free_symbols}
    symbols: dict[sp.Expr, sp.Symbol] = {}

    def free(value: sp.Expr, stem: str) -> sp.Expr:
        if is_rational_polynomial(value):
            return value
        if value not in symbols:
            symbols[value] = _like(value, stem, taken)
        return symbols[value]

    freed = tuple(Block(free(b.decay, "gamma"), free(b.frequency, "omega"), b.size) for b in blocks)
    return freed, {symbol: value for value, symbol in symbols.items()}


def is_rational_polynomial(value: sp.Expr) -> bool:
    """Whether `value` is a polynomial in its symbols with rational coefficients."""
    if value.is_Rational:
        return True
    symbols = value.free_symbols
    return (
        bool(symbols)
        and value.is_polynomial(*symbols)
        and all(c.is_Rational for c in sp.Poly(value).coeffs())
    )


def _like(value: sp.Expr, stem: str, taken: set[str]) -> sp.Symbol:
    """A new symbol with the sign of `value`, as far as that is known."""
    index = next(i for i in range(len(taken) + 1) if f"{stem}_{i}" not in taken)
    taken.add(f"{stem}_{index}")
    known = {"positive": value.is_positive, "negative": value.is_negative}
    signs = {key: True for key, holds in known.items() if holds}
    return sp.Symbol(f"{stem}_{index}", **(signs or {"real": True}))
