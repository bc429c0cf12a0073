"""What every attention here shares: positions of queries and keys, who sees whom, and the weighted sum."""

from __future__ import annotations

import math
import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor

from .errors import BadDtype, BadTensor, TooLarge
from .validation import check_flag, check_heads, check_token_positions, compute_dtype, same_device

LARGEST = sys.float_info.max


@dataclass(frozen=True)
class Inputs:
    """q, k, v in the dtype of the arithmetic, (B, H, T, d), keys repeated to one per query head; positions.

    query_ids: (1 or B, Tq); key_ids: (1 or B, Tk); visible: (1 or B, 1 or H, Tq, Tk) booleans;
    added: what an additive mask adds, or None; dtype: of the caller's q.
    """

    q: Tensor
    k: Tensor
    v: Tensor
    query_ids: Tensor
    key_ids: Tensor
    visible: Tensor
    added: Tensor | None
    dtype: torch.dtype

    @property
    def gap(self) -> Tensor:
        """u = t - s in float64, (1 or B, Tq, Tk)."""
        return _gap(self.query_ids, self.key_ids)

    def gap_where_visible(self) -> Tensor:
        """u = t - s, (1 or B, 1 or H, Tq, Tk), and 0 for hidden pairs: nothing masked can overflow."""
        return torch.where(self.visible, self.gap[:, None], 0.0)

    def output(self, logits: Tensor, values: Tensor | None = None) -> Tensor:
        """softmax(logits) v over the visible keys, in the dtype of the arithmetic; 0 if none is seen."""
        if self.added is not None:
            logits = logits + self.added
        hidden = ~self.visible
        weights = logits.masked_fill(hidden, -math.inf).softmax(dim=-1)
        weights = weights.masked_fill(hidden.all(dim=-1, keepdim=True), 0.0)
        return weights @ (self.v if values is None else values)


def prepare(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    position_ids: Tensor | None,
    key_position_ids: Tensor | None,
    causal: bool,
    attn_mask: Tensor | None,
    enable_gqa: bool,
) -> Inputs:
    """Check and unify the arguments that every attention takes."""
    groups = check_shapes(q, k, v, enable_gqa)
    if groups > 1:
        k, v = k.repeat_interleave(groups, dim=1), v.repeat_interleave(groups, dim=1)
    query_ids, key_ids = positions(q, k, position_ids, key_position_ids)
    dtype = compute_dtype(q.dtype)
    visible, added = _mask(attn_mask, q, k, dtype)
    if causal:
        visible = visible & (_gap(query_ids, key_ids)[:, None] >= 0)
    return Inputs(q.to(dtype), k.to(dtype), v.to(dtype), query_ids, key_ids, visible, added, q.dtype)


def full_precision(x: Tensor) -> AbstractContextManager:
    """A context in which autocast is off, so that products stay in the dtype they are given in."""
    kind = x.device.type
    return torch.autocast(kind, enabled=False) if torch.amp.is_autocast_available(kind) else nullcontext()


def resolve_scale(scale: float | None, default: float) -> float:
    """The given scale, finite and positive, or the default."""
    if scale is None:
        return default
    if isinstance(scale, bool) or not isinstance(scale, (int, float)) or not 0 < scale <= LARGEST:
        raise BadTensor(f"scale is {scale!r}; a finite positive number works")
    return float(scale)


def _gap(query_ids: Tensor, key_ids: Tensor) -> Tensor:
    if not (query_ids.is_floating_point() or key_ids.is_floating_point()):
        return (query_ids.long()[:, :, None] - key_ids.long()[:, None, :]).double()
    return query_ids.double()[:, :, None] - key_ids.double()[:, None, :]


def check_shapes(q: Tensor, k: Tensor, v: Tensor, enable_gqa: bool) -> int:
    """How many query heads share a key head, after refusing shapes that do not fit."""
    check_flag(enable_gqa, "enable_gqa")
    for name, x in (("q", q), ("k", k), ("v", v)):
        check_heads(x, name)
        if x.dtype != q.dtype:
            raise BadDtype(f"{name} has dtype {x.dtype} but q has {q.dtype}; equal dtypes work")
        same_device(q, "q", x, name)
    if k.shape[:3] != v.shape[:3] or q.shape[0] != k.shape[0] or q.shape[3] != k.shape[3]:
        raise BadTensor(
            f"q, k, v have shapes {tuple(q.shape)}, {tuple(k.shape)}, {tuple(v.shape)}; "
            "(batch, heads, Tq, d), (batch, heads, Tk, d), (batch, heads, Tk, dv) work"
        )
    if not q.shape[3]:
        raise BadTensor(f"q has shape {tuple(q.shape)}, without features; a head_dim of 1 or more works")
    if q.shape[1] == k.shape[1]:
        return 1
    groups, rest = divmod(q.shape[1], max(1, k.shape[1]))
    if not enable_gqa or rest or not k.shape[1]:
        raise BadTensor(
            f"q has {q.shape[1]} heads and k has {k.shape[1]}; equal numbers work, "
            "or enable_gqa=True with a number of query heads that is a multiple of the key heads"
        )
    return groups


def positions(
    q: Tensor, k: Tensor, position_ids: Tensor | None, key_position_ids: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Positions of queries and keys as (1 or B, T); never guessed where the two lengths differ."""
    (batch, _, queries, _), keys = q.shape, k.shape[2]
    if position_ids is None:
        if queries != keys:
            raise BadTensor(
                f"position_ids is None, but there are {queries} queries and {keys} keys; give the "
                f"positions of the queries, e.g. torch.arange({keys - queries}, {keys}) if they come last"
            )
        start = torch.arange(queries, device=q.device)
        position_ids = start if key_position_ids is None else key_position_ids
    query_ids = check_token_positions(position_ids, batch, queries)
    if key_position_ids is None:
        key_position_ids = query_ids if queries == keys else torch.arange(keys, device=q.device)
    key_ids = check_token_positions(key_position_ids, batch, keys, "key_position_ids")
    for ids, name in ((query_ids, "position_ids"), (key_ids, "key_position_ids")):
        same_device(q, "q", ids, name)
        _refuse_unreadable(ids, name)
    return torch.atleast_2d(query_ids), torch.atleast_2d(key_ids)


def _refuse_unreadable(ids: Tensor, name: str) -> None:
    """BadTensor for readings that are no numbers, TooLarge for positions whose gaps int64 cannot hold."""
    if ids.is_meta or not ids.numel() or torch.compiler.is_compiling():
        return
    if ids.is_floating_point():
        if not bool(ids.detach().isfinite().all()):
            raise BadTensor(f"{name} contains NaN or infinity; finite clock readings work")
    elif ids.dtype == torch.int64 and not -(2**62) <= int(ids.min()) <= int(ids.max()) < 2**62:
        raise TooLarge(f"{name} reaches beyond ±2^62, where gaps do not fit int64; smaller positions work")


def _mask(attn_mask: Tensor | None, q: Tensor, k: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor | None]:
    """(visible, added) of a boolean mask (True takes part) or of an additive one."""
    everything = torch.ones(1, 1, q.shape[2], k.shape[2], dtype=torch.bool, device=q.device)
    if attn_mask is None:
        return everything, None
    wide = check_mask(attn_mask, q, k)
    if wide.dtype == torch.bool:
        return everything & wide, None
    return everything & (wide != -math.inf), wide.to(dtype)


def check_mask(attn_mask: Tensor, q: Tensor, k: Tensor) -> Tensor:
    """The mask with four axes, known to broadcast to (B, H, Tq, Tk)."""
    if not isinstance(attn_mask, Tensor) or not (
        attn_mask.dtype == torch.bool or attn_mask.is_floating_point()
    ):
        kind = attn_mask.dtype if isinstance(attn_mask, Tensor) else type(attn_mask).__name__
        raise BadDtype(f"attn_mask is {kind}; booleans (True takes part) or floats to add work")
    full = (*q.shape[:3], k.shape[2])
    if attn_mask.ndim > 4 or any(
        size not in (1, wanted) for size, wanted in zip(attn_mask.shape[::-1], full[::-1], strict=False)
    ):
        raise BadTensor(f"attn_mask has shape {tuple(attn_mask.shape)}; what broadcasts to {full} works")
    same_device(q, "q", attn_mask, "attn_mask")
    return attn_mask.reshape((1,) * (4 - attn_mask.ndim) + attn_mask.shape)
