"""Pieces of the pairs (query, key): rectangles with a centre between their keys and queries, and what is near.

Queries are halved again and again. At each cut c (a query's position) all keys at s <= c are behind all later
queries: a rectangle. Without a causal mask the keys at s > c are ahead of all earlier queries: another one.
What remains near the diagonal is at most LEAF queries wide. Every visible pair lies in exactly one piece, and
all pieces together hold O(T log T) queries and keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

LEAF = 256  # queries of a piece whose bias is formed for every pair
UNSORTED = 64  # the same where a piece holds all keys


@dataclass(frozen=True)
class Piece:
    """Queries rows × keys cols; side 1: keys behind the centre, -1: ahead of it, 0: near, any order."""

    rows: slice
    cols: slice
    side: int
    centre: Tensor | None = None


def pieces(query_ids: Tensor, key_ids: Tensor, causal: bool, halved: bool) -> Iterator[Piece]:
    """The pieces of one sequence, ids (Tq,) and (Tk,).

    Positions that do not ascend, or halved=False: a few queries with all keys, a strip at a time.
    """
    queries, keys = len(query_ids), len(key_ids)
    if not queries or not keys:
        return
    if halved and _ascends(query_ids) and _ascends(key_ids):
        yield from _outer(query_ids, key_ids, causal)
        return
    for start in range(0, queries, UNSORTED):
        yield Piece(slice(start, min(start + UNSORTED, queries)), slice(0, keys), 0)


def _ascends(ids: Tensor) -> bool:
    return bool((ids[1:] >= ids[:-1]).all())


def _outer(query_ids: Tensor, key_ids: Tensor, causal: bool) -> Iterator[Piece]:
    """Keys behind the first query and ahead of the last one, where there are many; then the rest, halved."""
    rows, low, high = slice(0, len(query_ids)), 0, len(key_ids)
    behind, ahead = _until(key_ids, query_ids[0]), _until(key_ids, query_ids[-1])
    if behind > LEAF or rows.stop == 1:
        low = behind
        yield from _rectangle(rows, slice(0, low), 1, query_ids[0])
    if causal:
        high = ahead
    elif high - ahead > LEAF or rows.stop == 1:
        yield from _rectangle(rows, slice(ahead, high), -1, query_ids[-1])
        high = ahead
    yield from _halved(query_ids, key_ids, rows, slice(low, high), causal)


def _until(key_ids: Tensor, position: Tensor) -> int:
    """How many keys stand at s <= position."""
    return int(torch.searchsorted(key_ids, position, right=True))


def _rectangle(rows: slice, cols: slice, side: int, centre: Tensor) -> Iterator[Piece]:
    if cols.start < cols.stop:
        yield Piece(rows, cols, side, centre)


def _halved(query_ids: Tensor, key_ids: Tensor, rows: slice, cols: slice, causal: bool) -> Iterator[Piece]:
    queries, keys = rows.stop - rows.start, cols.stop - cols.start
    if not keys:
        return
    if queries == 1 or (queries <= LEAF and keys <= 2 * LEAF):
        yield Piece(rows, cols, 0)
        return
    middle = (rows.start + rows.stop) // 2
    centre = query_ids[middle - 1]
    cut = min(max(_until(key_ids, centre), cols.start), cols.stop)
    early, late = slice(rows.start, middle), slice(middle, rows.stop)
    yield from _rectangle(late, slice(cols.start, cut), 1, centre)
    if not causal:
        yield from _rectangle(early, slice(cut, cols.stop), -1, centre)
    yield from _halved(query_ids, key_ids, early, slice(cols.start, cut), causal)
    yield from _halved(query_ids, key_ids, late, slice(cut, cols.stop), causal)


__all__ = ["LEAF", "Piece", "pieces"]
