"""Sequences that the kernel takes in one call: those that share positions and have keys of their own per head."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Group:
    """Tensors of heads as (N, M, …): the whole batch as (B, H, …), or one sequence as below.

    Where positions differ, or several query heads share a key head, sequence `row` alone: (key heads, query
    heads per key head, …), so that keys are read where they stand and never repeated.
    """

    row: int | None
    key_heads: int
    query_ids: Tensor
    key_ids: Tensor

    def heads(self, x: Tensor) -> Tensor:
        """(1 or B, 1 or H, …) of query heads as a view (1 or N, 1 or M, …)."""
        if self.row is None:
            return x
        own = x[self.row if len(x) > 1 else 0]
        return own[None] if len(own) == 1 else own.unflatten(0, (self.key_heads, -1))

    def keys(self, x: Tensor) -> Tensor:
        """(B, key heads, …) as a view (N, M or 1, …)."""
        return x if self.row is None else x[self.row][:, None]


def groups(query_ids: Tensor, key_ids: Tensor, q: Tensor, k: Tensor) -> Iterator[Group]:
    """The whole batch at once if it can be, else its sequences one by one; ids (1 or B, T)."""
    if q.shape[1] == k.shape[1] and _one_row(query_ids) and _one_row(key_ids):
        yield Group(None, k.shape[1], query_ids[0], key_ids[0])
        return
    for b in range(q.shape[0]):
        query, key = (ids[b if len(ids) > 1 else 0] for ids in (query_ids, key_ids))
        yield Group(b, k.shape[1], query, key)


def _one_row(ids: Tensor) -> bool:
    return len(ids) == 1 or bool((ids == ids[:1]).all())


__all__ = ["Group", "groups"]
