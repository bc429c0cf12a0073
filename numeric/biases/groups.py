"""What the kernel takes in one call: sequences that share positions, heads that reach about equally far."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from .gap_bias import GapBias, Slide
from .pieces import LEAF, Call, ascends
from .reach import classes, nearest_gap, reaches


@dataclass(frozen=True)
class Group:
    """Tensors of heads as (N, M, …): a run of heads of the whole batch as (B, heads, …), or as below.

    Where positions differ, or several query heads share a key head, of sequence `row` alone: (key heads,
    query heads per key head, …), so that keys are read where they stand and never repeated.
    own: the key heads; shared: how many query heads have one; reach: the gap beyond which no key weighs.
    """

    row: int | None
    own: slice
    shared: int
    query_ids: Tensor
    key_ids: Tensor
    reach: float = math.inf

    def heads(self, x: Tensor) -> Tensor:
        """(1 or B, 1 or H, …) of query heads as a view (1 or N, 1 or M, …)."""
        if self.row is None:
            return x if x.shape[1] == 1 else x[:, self.own]
        own = x[self.row if len(x) > 1 else 0]
        if len(own) == 1:
            return own[None]
        return own[self.own.start * self.shared : self.own.stop * self.shared].unflatten(0, (-1, self.shared))

    def keys(self, x: Tensor) -> Tensor:
        """(B, key heads, …) as a view (N, M or 1, …)."""
        return x[:, self.own] if self.row is None else x[self.row, self.own][:, None]


def groups(call: Call, bias: GapBias, q: Tensor, k: Tensor) -> Iterator[Group]:
    """All sequences and heads, in as few groups as positions and reaches allow; none of no sequences."""
    if not q.shape[0] * q.shape[1]:
        return
    for group in _alike(call, q, k):
        if not isinstance(bias, Slide) or not _worth(call, group):
            yield group
            continue
        nearest = nearest_gap(group.query_ids, group.key_ids, call.causal)
        rows = slice(None) if group.row is None else slice(group.row, group.row + 1)
        slopes = bias.slopes[rows] if len(bias.slopes) > 1 else bias.slopes
        found = reaches(q[rows], k[rows], slopes, call.scale, nearest)
        for own, reach in classes(found, _span(group), q.shape[2]):
            yield replace(group, own=own, reach=reach)


def _alike(call: Call, q: Tensor, k: Tensor) -> Iterator[Group]:
    own, shared = slice(0, k.shape[1]), q.shape[1] // max(1, k.shape[1])
    if shared == 1 and _one_row(call.query_ids) and _one_row(call.key_ids):
        yield Group(None, own, 1, call.query_ids[0], call.key_ids[0])
        return
    for b in range(q.shape[0]):
        query, key = (ids[b if len(ids) > 1 else 0] for ids in (call.query_ids, call.key_ids))
        yield Group(b, own, shared, query, key)


def _one_row(ids: Tensor) -> bool:
    return len(ids) == 1 or bool((ids == ids[:1]).all())


def _worth(call: Call, group: Group) -> bool:
    """Whether there are rectangles to cut: ascending positions, more than a leaf of queries and keys."""
    return (
        call.mask is None
        and min(len(group.query_ids), len(group.key_ids)) > LEAF
        and ascends(group.query_ids)
        and ascends(group.key_ids)
    )


def _span(group: Group) -> float:
    """The largest gap."""
    t, s = group.query_ids, group.key_ids
    return float(torch.maximum(t[-1] - s[0], s[-1] - t[0]))


__all__ = ["Group", "groups"]
