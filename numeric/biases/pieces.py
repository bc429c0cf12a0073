"""Pieces of the pairs (query, key): rectangles with keys and queries on two sides of a centre, and the rest.

Queries are cut again and again, about in half. At each cut c (the position of a query) all keys at s <= c
are behind all later queries: a rectangle. Without a causal mask the keys at s > c are ahead of all earlier
queries: another one. What remains near the diagonal is at most LEAF queries wide. Every visible pair lies in
exactly one piece, and all pieces together hold O(T log T) queries and keys.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

LEAF = 256  # queries of a piece whose bias is formed for every pair
STRIP = 64  # the same where a piece holds all keys


@dataclass(frozen=True)
class Piece:
    """Queries rows × keys cols; side 1: keys behind the centre, -1: ahead of it, 0: near, any order."""

    rows: slice
    cols: slice
    side: int
    centre: Tensor | None = None

    @property
    def between(self) -> Tensor:
        """The centre of a rectangle."""
        if self.centre is None:
            raise ValueError("a piece near the diagonal has no centre")
        return self.centre


@dataclass(frozen=True)
class Call:
    """What all pieces share.

    query_ids: (1 or B, Tq); key_ids: (1 or B, Tk), int64 or float64; symmetric: b(|u|); mask: booleans or
    floats, (1 or B, 1 or H, 1 or Tq, 1 or Tk), or None.
    """

    query_ids: Tensor
    key_ids: Tensor
    causal: bool
    symmetric: bool
    scale: float
    mask: Tensor | None


@dataclass(frozen=True)
class Line:
    """One sequence: ascending positions (Tq,) and (Tk,), who sees whom, and how far anything reaches."""

    query_ids: Tensor
    key_ids: Tensor
    causal: bool
    reach: float

    def until(self, position: Tensor) -> int:
        """How many keys stand at s <= position."""
        return int(torch.searchsorted(self.key_ids, position, right=True))

    def behind(self, rows: slice, cols: slice, centre: Tensor) -> Iterator[Piece]:
        """Queries at t >= centre and keys at s <= centre, those within reach."""
        if self.reach < math.inf:
            rows = slice(rows.start, min(rows.stop, _count(self.query_ids, centre + self.reach, right=True)))
            cols = slice(max(cols.start, _count(self.key_ids, centre - self.reach, right=False)), cols.stop)
        if rows.start < rows.stop and cols.start < cols.stop:
            yield Piece(rows, cols, 1, centre)

    def ahead(self, rows: slice, cols: slice, centre: Tensor) -> Iterator[Piece]:
        """Queries at t <= centre and keys at s >= centre, those within reach; none under a causal mask."""
        if self.causal:
            return
        if self.reach < math.inf:
            rows = slice(max(rows.start, _count(self.query_ids, centre - self.reach, right=False)), rows.stop)
            cols = slice(cols.start, min(cols.stop, _count(self.key_ids, centre + self.reach, right=True)))
        if rows.start < rows.stop and cols.start < cols.stop:
            yield Piece(rows, cols, -1, centre)

    def outer(self) -> Iterator[Piece]:
        """Keys behind the first query and ahead of the last, where there are many; then the rest, halved."""
        rows, first, last = slice(0, len(self.query_ids)), self.query_ids[0], self.query_ids[-1]
        keys, low, high = len(self.key_ids), self.until(first), self.until(last)
        if _near(rows, slice(0, high if self.causal else keys)):
            low, high = 0, high if self.causal else keys
        low, high = low if low > LEAF else 0, high if self.causal or keys - high > LEAF else keys
        yield from self.behind(rows, slice(0, low), first)
        yield from self.ahead(rows, slice(high, keys), last)
        yield from self.halved(rows, slice(low, high))

    def halved(self, rows: slice, cols: slice) -> Iterator[Piece]:
        """The pairs of these queries and keys."""
        if cols.start >= cols.stop:
            return
        if _near(rows, cols):
            yield Piece(rows, cols, 0)
            return
        middle = rows.start + _first_part(rows.stop - rows.start)
        centre = self.query_ids[middle - 1]
        cut = min(max(self.until(centre), cols.start), cols.stop)
        early, late = slice(rows.start, middle), slice(middle, rows.stop)
        left, right = slice(cols.start, cut), slice(cut, cols.stop)
        yield from self.behind(late, left, centre)
        yield from self.ahead(early, right, centre)
        yield from self.halved(early, left)
        yield from self.halved(late, right)


def pieces(query_ids: Tensor, key_ids: Tensor, call: Call, reach: float = math.inf) -> list[Piece]:
    """The pieces of one sequence, ids (Tq,) and (Tk,), without pairs at a gap beyond reach.

    Where positions do not ascend, or there is a mask: a few queries with all keys, a strip at a time.
    """
    queries, keys = len(query_ids), len(key_ids)
    if not queries or not keys:
        return []
    if call.mask is None and ascends(query_ids) and ascends(key_ids):
        if reach < math.inf and not query_ids.is_floating_point():
            reach = math.ceil(reach)  # a float added to whole positions would round them
        return list(Line(query_ids, key_ids, call.causal, reach).outer())
    starts = range(0, queries, STRIP)
    return [Piece(slice(start, min(start + STRIP, queries)), slice(0, keys), 0) for start in starts]


def ascends(ids: Tensor) -> bool:
    """Whether no position is smaller than the one before."""
    return bool((ids[1:] >= ids[:-1]).all())


def _near(rows: slice, cols: slice) -> bool:
    """Few enough pairs for a bias of their own: a leaf and its neighbour, or one query with any keys."""
    queries, keys = rows.stop - rows.start, cols.stop - cols.start
    return queries == 1 or (queries <= LEAF and queries * keys <= 2 * LEAF**2)


def _first_part(queries: int) -> int:
    """The largest LEAF·2^n below the number of queries, so that most pieces are alike; half of a few."""
    if queries <= LEAF:
        return queries // 2
    return LEAF << ((queries - 1) // LEAF).bit_length() - 1


def _count(ids: Tensor, position: Tensor, *, right: bool) -> int:
    """How many ids are below the position, or at it as well."""
    return int(torch.searchsorted(ids, position, right=right))


__all__ = ["LEAF", "Call", "Line", "Piece", "ascends", "pieces"]
