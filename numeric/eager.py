"""The rotation in eager PyTorch: operations that every device runs, autograd follows and a compiler fuses."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import embedding

from .direct import unwatched
from .emitted import turn, turn_transposed
from .layout import join_pairs, over_heads, split_pairs, time_axis
from .validation import check_in_table

_TILE = 2**19  # features at a time: what lies between the steps of a program then stays in the cache


def rotary(
    x: Tensor,
    cos: Tensor,
    sin: Tensor,
    position_ids: Tensor | None,
    rotary_dim: int,
    interleaved: bool,
    layout: str,
    inverse: bool,
) -> Tensor:
    """y = R x, computed in the dtype of the tables and rounded once to that of x; the tail is copied."""
    if x.numel() > _TILE and unwatched(x, cos, sin, position_ids):
        out = torch.empty_like(x, memory_format=torch.contiguous_format)
        rotary_out(x, out, cos, sin, position_ids, rotary_dim, interleaved, layout, inverse)
        return out
    c, s = rows(cos, sin, position_ids, layout)
    y = turned(x[..., :rotary_dim], c, s, interleaved, inverse)
    return torch.cat((y, x[..., rotary_dim:]), dim=-1) if rotary_dim < x.shape[-1] else y


def rotary_out(
    x: Tensor,
    out: Tensor,
    cos: Tensor,
    sin: Tensor,
    position_ids: Tensor | None,
    rotary_dim: int,
    interleaved: bool,
    layout: str,
    inverse: bool,
) -> None:
    """out[...] = R x, a few heads at a time; out may be x itself."""
    c, s = rows(cos, sin, position_ids, layout)
    heads = 3 - time_axis(layout)
    count = max(1, _TILE * x.shape[heads] // max(1, x.numel()))
    for source, target in zip(x.split(count, heads), out.split(count, heads), strict=True):
        target[..., :rotary_dim].copy_(turned(source[..., :rotary_dim], c, s, interleaved, inverse))
        if rotary_dim < x.shape[-1] and target is not source:
            target[..., rotary_dim:].copy_(source[..., rotary_dim:])


def rows(cos: Tensor, sin: Tensor, position_ids: Tensor | None, layout: str) -> tuple[Tensor, Tensor]:
    """The table rows of every token, broadcast over heads; PositionOutOfRange where there is none."""
    if position_ids is not None:
        check_in_table(position_ids, cos.shape[0])
        ids = position_ids.long()
        cos, sin = embedding(ids, cos), embedding(ids, sin)
    return over_heads(cos, layout), over_heads(sin, layout)


def turned(x: Tensor, cos: Tensor, sin: Tensor, interleaved: bool, inverse: bool) -> Tensor:
    """R(angle) on every plane, or its transpose."""
    x0, x1 = split_pairs(x.to(cos.dtype), interleaved)
    y0, y1 = (turn_transposed if inverse else turn)(x0, x1, cos, sin)
    return join_pairs(y0, y1, interleaved).to(x.dtype)


__all__ = ["rotary", "rotary_out", "rows", "turned"]
