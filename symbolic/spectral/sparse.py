"""Products and direct sums of explicit matrices with mostly zero entries, kept as sympy entries."""

from __future__ import annotations

from collections.abc import Iterable

import sympy as sp

Entries = dict[tuple[int, int], sp.Expr]


def diagonal(parts: Iterable[sp.MatrixBase]) -> sp.ImmutableMatrix:
    """The block-diagonal matrix of `parts`."""
    entries, at = {}, 0
    for part in parts:
        entries.update({(at + i, at + j): x for (i, j), x in part.todok().items()})
        at += part.rows
    return from_sparse(at, entries)


def sandwich(
    left: sp.ImmutableMatrix, middle: sp.ImmutableMatrix, right: sp.ImmutableMatrix
) -> sp.ImmutableMatrix:
    """left · middle · right, summed over non-zero entries only."""
    return product(product(left, middle), right)


def product(a: sp.MatrixBase, b: sp.MatrixBase) -> sp.ImmutableMatrix:
    """a · b, summed over non-zero entries only; nothing is expanded."""
    return from_sparse(a.rows, multiplied(a.todok(), b.todok()), b.cols)


def multiplied(a: Entries, b: Entries) -> Entries:
    """The entries of a · b from those of a and b that are not zero."""
    rows: dict[int, list[tuple[int, sp.Expr]]] = {}
    for (k, j), y in b.items():
        rows.setdefault(k, []).append((j, y))
    terms: dict[tuple[int, int], list[sp.Expr]] = {}
    for (i, k), x in a.items():
        for j, y in rows.get(k, ()):
            terms.setdefault((i, j), []).append(x * y)
    return {place: sp.Add(*parts) for place, parts in terms.items()}


def from_sparse(
    rows: int, entries: dict[tuple[int, int], sp.Expr], columns: int | None = None
) -> sp.ImmutableMatrix:
    """The rows x columns matrix (square if `columns` is None) with these entries, zero elsewhere."""
    return sp.ImmutableMatrix(sp.SparseMatrix(rows, rows if columns is None else columns, entries))
