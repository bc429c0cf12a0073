"""Pieces that are alike, taken in one call: along evenly spaced tokens most of them are.

Few long calls instead of many short ones keep all threads busy, also where they have to share the machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from torch import Tensor

from .pieces import Piece


@dataclass(frozen=True)
class Stack:
    """`count` pieces with the gaps of the first; each next one stands row_step queries, col_step keys on."""

    piece: Piece
    count: int = 1
    row_step: int = 0
    col_step: int = 0

    def rows(self, x: Tensor) -> Tensor:
        """Their queries in x (N, M, Tq, …), as a view (N, M, count, S, …)."""
        return _windows(x, self.piece.rows, self.count, self.row_step)

    def cols(self, x: Tensor) -> Tensor:
        """Their keys in x (N, M, Tk, …), as a view (N, M, count, K, …)."""
        return _windows(x, self.piece.cols, self.count, self.col_step)


def _windows(x: Tensor, first: slice, count: int, step: int) -> Tensor:
    if count == 1:
        return x[:, :, None, first]
    length = first.stop - first.start
    return x[:, :, first.start : first.stop + (count - 1) * step].unfold(2, length, step).movedim(-1, 3)


def stacks(query_ids: Tensor, key_ids: Tensor, given: list[Piece]) -> list[Stack]:
    """The pieces of one sequence in as few stacks as their gaps and places allow."""
    row_step, col_step = _step(query_ids), _step(key_ids)
    if not row_step or not col_step:
        return [Stack(piece) for piece in given]
    alike: dict[tuple[int, ...], list[Piece]] = {}
    for piece in given:
        rows, cols = piece.rows, piece.cols
        centre = 0 if piece.centre is None else int(piece.centre - query_ids[rows.start])
        gap = row_step * rows.start - col_step * cols.start  # but for a constant, that of the first pair
        kind = (piece.side, rows.stop - rows.start, cols.stop - cols.start, gap, centre)
        alike.setdefault(kind, []).append(piece)
    return [stack for found in alike.values() for stack in _runs(sorted(found, key=lambda p: p.rows.start))]


def _step(ids: Tensor) -> int:
    """What every position adds to the one before if that is a whole number and always the same, else 0."""
    if ids.is_floating_point() or len(ids) < 2:
        return 0
    first = ids[1] - ids[0]
    return int(first) if bool((ids.diff() == first).all()) else 0


def _runs(found: list[Piece]) -> Iterator[Stack]:
    """Pieces at equal steps that do not overlap, as long as they go."""
    while found:
        first, count, rows, cols = found[0], 1, 0, 0
        if len(found) > 1:
            rows, cols = _apart(first, found[1])
        if rows >= first.rows.stop - first.rows.start and cols >= first.cols.stop - first.cols.start:
            while count < len(found) and _apart(found[count - 1], found[count]) == (rows, cols):
                count += 1
        yield Stack(first, count, rows, cols) if count > 1 else Stack(first)
        found = found[count:]


def _apart(one: Piece, other: Piece) -> tuple[int, int]:
    return other.rows.start - one.rows.start, other.cols.start - one.cols.start


__all__ = ["Stack", "stacks"]
