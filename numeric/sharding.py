"""Rotations of DTensors: which shardings of heads, tokens and sequences need no communication."""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, TypeGuard

from torch import Tensor

from . import ops
from .direct import Table
from .layout import time_axis

if TYPE_CHECKING:
    from torch.distributed.tensor import DTensor


def beside(x: Tensor, cos: Tensor, sin: Tensor, position_ids: Tensor | None) -> Table:
    """The table as it is; where x is a DTensor, what of it is plain as replicated over its mesh."""
    if not is_distributed(x):
        return cos, sin, position_ids
    _register()
    ids = None if position_ids is None else alongside(x, position_ids)
    return alongside(x, cos), alongside(x, sin), ids


def alongside(x: Tensor, other: Tensor) -> Tensor:
    """The other as it is; where x is a DTensor and it is none, as replicated over the mesh of x."""
    if not is_distributed(x) or is_distributed(other):
        return other
    from torch.distributed.tensor import DTensor, Replicate

    mesh = x.device_mesh
    return DTensor.from_local(other, mesh, [Replicate()] * mesh.ndim, run_check=False)


def is_distributed(x: object) -> TypeGuard[DTensor]:
    """Whether x is a DTensor; where it is, that module is loaded already."""
    if type(x) is Tensor:
        return False
    loaded = sys.modules.get("torch.distributed.tensor")
    return loaded is not None and isinstance(x, loaded.DTensor)


@cache
def _register() -> None:
    """Tell DTensor how the operators may be sharded: y like x, and the table rows like their tokens."""
    from torch.distributed.tensor.experimental import register_sharding

    register_sharding(ops.rotary)(lambda *arguments: _placements(1, *arguments))
    register_sharding(ops.rotary_qk)(lambda *arguments: _placements(2, *arguments))


def _placements(count: int, *arguments) -> list[tuple[list, list]]:
    """(placements of the results, of the arguments) over one mesh dimension: whole, or along an axis."""
    from torch.distributed.tensor import Replicate, Shard

    cos, _, ids, *options = arguments[count:]
    layout = options[2]
    time = time_axis(layout)
    whole = Replicate()

    def along(axis, table, rows):
        turned = [axis] * count
        return turned, [*turned, table, table, None if ids is None else rows, *[None] * len(options)]

    batch_table = Shard(0) if cos.ndim == 3 and cos.shape[0] > 1 else whole
    batch_rows = Shard(0) if ids is not None and ids.ndim == 2 and ids.shape[0] > 1 else whole
    time_table = whole if ids is not None else Shard(cos.ndim - 2)
    return [
        along(whole, whole, whole),
        along(Shard(3 - time), whole, whole),
        along(Shard(time), time_table, None if ids is None else Shard(ids.ndim - 1)),
        along(Shard(0), batch_table, batch_rows),
    ]


__all__ = ["alongside", "beside", "is_distributed"]
