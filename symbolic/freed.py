"""Free symbols in place of irrational decays and frequencies, so that laws about them can be decided.

`exp(t·√2)` or `cos(t·10000^(-1/64))` lie outside the decidable ring. What is proved for a free positive
symbol holds for every positive number, this one included.
"""

from __future__ import annotations

import sympy as sp

from .block import Block
from .spectral.companion import CompanionBlock


def freed_blocks(
    blocks: tuple[Block | CompanionBlock, ...],
) -> tuple[tuple[Block | CompanionBlock, ...], dict[sp.Symbol, sp.Expr]]:
    """The blocks with irrational parameters replaced by symbols of the same sign, and symbol -> value."""
    taken = {symbol.name for block in blocks for symbol in block.matrix.free_symbols}
    symbols: dict[sp.Expr, sp.Symbol] = {}

    def free(value: sp.Expr, stem: str) -> sp.Expr:
        if is_rational_polynomial(value):
            return value
        if value not in symbols:
            symbols[value] = _like(value, stem, taken)
        return symbols[value]

    freed = tuple(
        Block(free(b.decay, "gamma"), free(b.frequency, "omega"), b.size) if isinstance(b, Block) else b
        for b in blocks
    )
    return freed, {symbol: value for value, symbol in symbols.items()}


def free_surds(
    matrices: tuple[sp.ImmutableMatrix, ...],
) -> tuple[tuple[sp.ImmutableMatrix, ...], dict[sp.Symbol, sp.Expr]]:
    """The matrices with square roots of formulas replaced by symbols of their sign, and symbol -> root."""
    powers = {power for matrix in matrices for power in matrix.atoms(sp.Pow) if power.exp.is_Rational}
    radicands = sorted({p.base for p in powers if p.exp.q == 2 and p.base.free_symbols}, key=str)
    if not radicands:
        return matrices, {}
    taken = {symbol.name for matrix in matrices for symbol in matrix.free_symbols}
    roots = {base: _like(sp.sqrt(base), "root", taken) for base in radicands}
    swap = {p: roots[p.base] ** (2 * p.exp) for p in powers if p.base in roots}
    squares = [_solved(base, root) for base, root in roots.items()]

    def free(entry: sp.Expr) -> sp.Expr:
        entry = entry.xreplace(swap)
        for symbol, value in filter(None, squares):
            entry = entry.subs(symbol, value)
        return entry

    replaced = tuple(matrix.applyfunc(free) for matrix in matrices)
    return replaced, {root: sp.sqrt(base) for base, root in roots.items()}


def _solved(base: sp.Expr, root: sp.Symbol) -> tuple[sp.Symbol, sp.Expr] | None:
    """(y, formula) with base = root² solved for a symbol y that enters it linearly, if there is one."""
    for symbol in sorted(base.free_symbols, key=str):
        slope = base.diff(symbol)
        if slope.is_Rational:
            return symbol, sp.expand((root**2 - base.subs(symbol, 0)) / slope)
    return None


def is_rational_polynomial(value: sp.Expr) -> bool:
    """Whether `value` is a polynomial in its symbols with rational coefficients."""
    if value.is_Rational:
        return True
    symbols = value.free_symbols
    return (
        bool(symbols)
        and value.is_polynomial(*symbols)
        and all(c.is_Rational for c in sp.Poly(value, *symbols).coeffs())
    )


def _like(value: sp.Expr, stem: str, taken: set[str]) -> sp.Symbol:
    """A new symbol with the sign of `value`, as far as that is known."""
    index = next(i for i in range(len(taken) + 1) if f"{stem}_{i}" not in taken)
    taken.add(f"{stem}_{index}")
    known = {"positive": value.is_positive, "negative": value.is_negative}
    signs = {key: True for key, holds in known.items() if holds}
    return sp.Symbol(f"{stem}_{index}", **(signs or {"real": True}))
