"""Tokens at chosen positions for kernels without position ids: by an offset, packed, or padded from 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

Call = Callable[..., tuple[Tensor, ...]]  # of the inputs and one more argument, or none


def by_offset(call: Call, inputs: tuple[Tensor, ...], ids: Tensor, axis: int) -> tuple[Tensor, ...]:
    """One call for each run of neighbouring positions. ids: (time,), of all rows; axis: of time."""
    pieces = [
        call(*(x.narrow(axis, start, count).contiguous() for x in inputs), int(ids[start]))
        for start, count in _runs(ids)
    ]
    return tuple(torch.cat(parts, axis) for parts in zip(*pieces, strict=True))


def padded(call: Call, inputs: tuple[Tensor, ...], ids: Tensor, axis: int) -> tuple[Tensor, ...]:
    """One call on all positions from 0 on, with zeros where no token stands."""
    outputs = call(*(_spread(x, ids, axis) for x in inputs))
    return tuple(y.index_select(axis, ids) for y in outputs)


def packed(call: Call, inputs: tuple[Tensor, ...], ids: Tensor, axis: int) -> tuple[Tensor, ...]:
    """All rows one after the other in a batch of one, with cu_seqlens (int32, rows + 1)."""
    rows = inputs[0].shape[0]
    spread = [_spread(x, ids, axis) for x in inputs]
    length = spread[0].shape[axis]
    bounds = torch.arange(rows + 1, dtype=torch.int32) * length
    outputs = call(*(torch.cat(tuple(x.split(1)), axis) for x in spread), bounds)
    return tuple(torch.cat(y.split(length, axis), 0).index_select(axis, ids) for y in outputs)


def _spread(x: Tensor, ids: Tensor, axis: int) -> Tensor:
    shape = list(x.shape)
    shape[axis] = int(ids.max()) + 1
    return x.new_zeros(shape).index_copy(axis, ids, x)


def _runs(ids: Tensor) -> Iterator[tuple[int, int]]:
    """(start, count) of maximal runs t, t + 1, …"""
    start, given = 0, ids.tolist()
    for n in range(1, len(given) + 1):
        if n == len(given) or given[n] != given[n - 1] + 1:
            yield start, n - start
            start = n
