"""What linear attention accepts: one sentence about the first argument that does not fit."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor

from ..angles import LARGEST_ANGLE
from ..errors import BadDtype, BadTensor, TooLarge
from ..layout import join_pairs
from ..softmax import LARGEST
from ..validation import (
    INTEGERS,
    check_dense,
    check_flag,
    check_heads,
    check_tensor,
    compute_dtype,
    same_device,
)
from .inputs import Tokens, running_sum


def check_tokens(
    q: object,
    k: object,
    v: object,
    log_decay: object,
    angle: object,
    scale: object,
    interleaved: bool,
    enable_gqa: bool = False,
) -> Tokens:
    """The tokens, or one sentence about the first argument that does not fit."""
    q, k, v = (check_heads(x, name) for x, name in ((q, "q"), (k, "k"), (v, "v")))
    for x, name in ((k, "k"), (v, "v")):
        same_device(q, "q", x, name)
        if x.dtype != q.dtype:
            raise BadDtype(f"{name} has dtype {x.dtype} but q has {q.dtype}; one dtype for q, k and v works")
    _check_keys(q, k, check_flag(enable_gqa, "enable_gqa"))
    if v.shape[:3] != k.shape[:3]:
        sizes = ", ".join(map(str, k.shape[:3]))
        raise BadTensor(f"v has shape {tuple(v.shape)}, but k has {tuple(k.shape)}; ({sizes}, dv) works")
    check_flag(interleaved, "interleaved")
    turned = _turned_so_far(check_angle(angle, q), q)
    decay = check_log_decay(log_decay, q, turned is not None, interleaved)
    return Tokens(q, k, v, decay, turned, check_scale(scale), interleaved)


def _check_keys(q: Tensor, k: Tensor, enable_gqa: bool) -> None:
    """k is shaped as q, or, where that is asked for, with a number of heads that divides that of q."""
    shared = enable_gqa and k.shape[1] > 0 and q.shape[1] % k.shape[1] == 0
    if (k.shape[0], *k.shape[2:]) != (q.shape[0], *q.shape[2:]) or (k.shape[1] != q.shape[1] and not shared):
        raise BadTensor(
            f"k has shape {tuple(k.shape)} but q has {tuple(q.shape)}; equal shapes work, or enable_gqa=True "
            "with a number of query heads that is a multiple of the key heads"
        )


def check_log_decay(log_decay: object, q: Tensor, turns: bool, interleaved: bool) -> Tensor:
    """(H,), (B, H, T) or (B, H, T, features) as (1 or B, H, 1 or T, 1 or dk), all at most 0."""
    log_decay = check_tensor(log_decay, "log_decay")
    same_device(q, "q", log_decay, "log_decay")
    batch, heads, time, dim = q.shape
    features = dim // 2 if turns else dim
    shape = tuple(log_decay.shape)
    if shape not in ((heads,), (batch, heads, time), (batch, heads, time, features)):
        why = ": a turn mixes the two features of a plane, so they share one decay" if turns else ""
        raise BadTensor(
            f"log_decay has shape {shape}; {_shape(heads)}, {_shape(batch, heads, time)} or "
            f"{_shape(batch, heads, time, features)} works{why}"
        )
    if _readable(log_decay) and not bool((log_decay <= 0).all()):
        raise BadTensor(
            f"log_decay contains {float(log_decay.detach().amax()):.4g}; log decays <= 0 work, -inf to "
            "forget everything: each step multiplies the state by e^log_decay and must not let it grow"
        )
    if log_decay.ndim == 1:
        return log_decay[None, :, None, None]
    if log_decay.ndim == 3:
        return log_decay[..., None]
    return join_pairs(log_decay, log_decay, interleaved) if turns else log_decay


def check_angle(angle: object, q: Tensor) -> Tensor | None:
    """(pairs,), (H, pairs) or (B, H, T, pairs) as (1 or B, 1 or H, 1 or T, pairs), or None."""
    if angle is None:
        return None
    angle = check_tensor(angle, "angle")
    same_device(q, "q", angle, "angle")
    batch, heads, time, dim = q.shape
    if dim % 2:
        raise BadTensor(f"q has {dim} features, but with angle they turn in pairs; an even number works")
    pairs, shape = dim // 2, tuple(angle.shape)
    if shape not in ((pairs,), (heads, pairs), (batch, heads, time, pairs)):
        raise BadTensor(
            f"angle has shape {shape}; {_shape(pairs)}, {_shape(heads, pairs)} or "
            f"{_shape(batch, heads, time, pairs)}, radians a token for each plane, works"
        )
    if _readable(angle) and not bool(angle.isfinite().all()):
        raise BadTensor("angle contains NaN or infinity; finite radians a token work")
    return angle if angle.ndim == 4 else angle.reshape(1, -1, 1, pairs)


def check_state(state: object, name: str, q: Tensor, v: Tensor, sequences: int) -> Tensor:
    """(sequences, H, dk, dv) in the dtype of the arithmetic; zeros for None."""
    dtype, shape = compute_dtype(q.dtype), (sequences, q.shape[1], q.shape[3], v.shape[3])
    if state is None:
        return torch.zeros(shape, dtype=dtype, device=q.device)
    known = known_state(state, name, dtype, shape)
    same_device(q, "q", known, name)
    return known


def known_state(state: object, name: str, dtype: torch.dtype, shape: tuple[int, ...]) -> Tensor:
    """The state itself, known to have that dtype and shape."""
    if not isinstance(state, Tensor) or state.dtype != dtype:
        got = f"has dtype {state.dtype}" if isinstance(state, Tensor) else f"is a {type(state).__name__}"
        raise BadDtype(f"{name} {got}; a {dtype} tensor works here, so that no call rounds it")
    if tuple(check_dense(state, name).shape) != shape:
        raise BadTensor(f"{name} has shape {tuple(state.shape)}; {_shape(*shape)} works")
    return state


def queries_like(k: object, log_decay: object) -> Tensor:
    """Heads for log_decay, of which keys may have fewer, where there are no queries to count."""
    k, log_decay = check_heads(k, "k"), check_tensor(log_decay, "log_decay")
    heads = log_decay.shape[0] if log_decay.ndim == 1 else log_decay.shape[1] if log_decay.ndim > 1 else 0
    if not k.shape[1] or heads % k.shape[1] or not heads:
        raise BadTensor(
            f"log_decay has shape {tuple(log_decay.shape)}, {heads} heads, but k has {k.shape[1]}; with "
            "enable_gqa=True a multiple of those of k works"
        )
    return k[:, :1].expand(-1, heads, -1, -1)


def check_bounds(cu_seqlens: object, batch: int, time: int) -> list[int]:
    """Where sequences begin in one packed row of tokens, and where the last one ends."""
    if not isinstance(cu_seqlens, Tensor) or cu_seqlens.dtype not in INTEGERS or cu_seqlens.ndim != 1:
        raise BadDtype(
            "cu_seqlens is no integer tensor (sequences + 1,); e.g. torch.tensor([0, 5, 12]) works"
        )
    if cu_seqlens.is_meta:
        raise BadTensor("cu_seqlens is on meta, where it has no numbers to cut sequences by; the CPU works")
    if batch != 1:
        raise BadTensor(f"cu_seqlens packs sequences into one row, but q has batch {batch}; batch 1 works")
    bounds = cu_seqlens.tolist()
    rising = all(a <= b for a, b in pairwise(bounds))
    if len(bounds) < 2 or bounds[0] != 0 or bounds[-1] != time or not rising:
        raise BadTensor(f"cu_seqlens is {bounds}; numbers that rise from 0 to the {time} tokens of q work")
    return bounds


def _turned_so_far(angle: Tensor | None, q: Tensor) -> Tensor | None:
    """Σ angle up to and with every token, float64; one product where all tokens turn alike."""
    if angle is None:
        return None
    time = q.shape[2]
    if angle.shape[2] == time:
        total = running_sum(angle.double())
    else:
        total = angle.double() * torch.arange(1, time + 1, dtype=torch.float64, device=q.device)[:, None]
    if _readable(total) and (largest := float(total.detach().abs().max())) > LARGEST_ANGLE:
        raise TooLarge(
            f"angle adds up to {largest:.4g} > 2^28 radians, where float64 angles lose accuracy; angles less "
            "whole turns work, or shorter calls that hand on their state"
        )
    return total


def check_scale(scale: object) -> float:
    """A finite number."""
    if isinstance(scale, bool) or not isinstance(scale, int | float) or not abs(scale) <= LARGEST:
        raise BadTensor(f"scale is {scale!r}; a finite number works")
    return float(scale)


def check_chunk_size(chunk_size: object) -> None:
    """A power of two."""
    whole = isinstance(chunk_size, int) and not isinstance(chunk_size, bool)
    if not whole or chunk_size < 1 or chunk_size.bit_count() != 1:
        raise BadTensor(f"chunk_size is {chunk_size!r}; a power of two works, e.g. 64")


def _readable(x: Tensor) -> bool:
    return not (x.is_meta or torch.compiler.is_compiling()) and x.numel() > 0


def _shape(*sizes: int) -> str:
    return str(tuple(sizes))


__all__ = [
    "check_bounds",
    "check_chunk_size",
    "check_scale",
    "check_state",
    "check_tokens",
    "known_state",
    "queries_like",
]
