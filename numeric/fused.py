"""One piece of attention in PyTorch's fused kernel, forwards and backwards, and the sum of pieces.

A piece over some of the keys gives its output o_i and ℓ_i = log Σ e^{logit}; pieces join exactly:

    ℓ = log(e^{ℓ_1} + e^{ℓ_2}),   o = o_1 + w (o_2 - o_1),   w = e^{ℓ_2 - ℓ} = sigmoid(ℓ_2 - ℓ_1).

Backwards every piece is given the ℓ and o of the whole, and its gradients add.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from .validation import compute_dtype

_FORWARD = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
_BACKWARD = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward
_CPU = getattr(torch.cpu, "get_capabilities", dict)()
_TILED = {
    dtype for dtype, name in ((torch.bfloat16, "amx_bf16"), (torch.float16, "amx_fp16")) if _CPU.get(name)
}
_STRIP = 1 << 20  # logits of a head formed at once where there is no fused kernel


def kernel_dtype(q: Tensor) -> torch.dtype:
    """What q, k and v are given to the kernel in: float32 for half precision, rounded once in the end.

    Half precision itself where the CPU multiplies it in tiles, several times as fast; elsewhere it would be
    the slower of the two.
    """
    tiles = q.device.type == "cpu" and q.dtype in _TILED
    return q.dtype if tiles else compute_dtype(q.dtype)


def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, scale: float) -> tuple[Tensor, Tensor]:
    """(o, ℓ) of softmax(scale q·k + mask) v: o in the dtype of q, ℓ in float64, -∞ where every key is hidden.

    q: (N, M, S, D); k, v: (N, M, K, D), any strides but the last; mask: (N, M, S, K), with -∞ for hidden
    pairs. Logits and sums are float32 in half precision; weights are rounded to the dtype of v.
    """
    if not _has_kernel(q):
        return _plain(q, k, v, mask, scale)
    out, log_sum = _FORWARD(q, k, v, 0.0, False, attn_mask=mask, scale=scale)
    log_sum = log_sum.double()
    if mask is None:
        return out, log_sum
    return out, log_sum.masked_fill(mask.amax(-1) == -math.inf, -math.inf)  # the kernel says ℓ = 0 there


def join(out: Tensor, log_sum: Tensor, part: Tensor, part_log_sum: Tensor) -> None:
    """(out, log_sum) and the part's (o, ℓ) as one, in place."""
    weight = torch.sigmoid(part_log_sum - log_sum).nan_to_num_(0.0)  # -∞ - -∞: no key seen so far
    out.lerp_(part.to(out.dtype), weight.to(out.dtype)[..., None])
    log_sum.copy_(torch.logaddexp(log_sum, part_log_sum))


def gradients(
    gradient: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor,
    log_sum: Tensor,
    mask: Tensor | None,
    scale: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of q, k, v of a piece, given o and ℓ of the whole; ℓ = -∞ gives zeros."""
    log_sum = log_sum.masked_fill(log_sum == -math.inf, math.inf).to(compute_dtype(q.dtype))
    if not _has_kernel(q):
        return _plain_gradients(gradient, q, k, v, out, log_sum, mask, scale)
    return _BACKWARD(gradient, q, k, v, out, log_sum, 0.0, False, attn_mask=mask, scale=scale)


def logit_gradients(
    gradient: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor,
    log_sum: Tensor,
    mask: Tensor | None,
    scale: float,
) -> Tensor:
    """∂/∂logit = p (∂o·v - ∂o·o), (N, M, S, K), with p = e^{logit - ℓ}, in the dtype of the arithmetic."""
    return _weights_and_gradients(gradient, q, k, v, out, log_sum, mask, scale)[1]


def _has_kernel(q: Tensor) -> bool:
    """Whether the fused kernel takes q: the one that returns ℓ in every dtype is that of the CPU."""
    return q.device.type in ("cpu", "meta")


def _strips(q: Tensor, k: Tensor) -> Iterator[slice]:
    rows = max(1, _STRIP // k.shape[2])
    for start in range(0, q.shape[2], rows):
        yield slice(start, min(start + rows, q.shape[2]))


def _plain(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, scale: float) -> tuple[Tensor, Tensor]:
    """`attend` without a kernel, a strip of queries at a time."""
    parts = []
    for rows in _strips(q, k):
        logits = _logits(q[:, :, rows], k, None if mask is None else mask[:, :, rows], scale)
        log_sum = logits.logsumexp(-1)
        weights = (logits - log_sum[..., None]).exp().nan_to_num(0.0)
        parts.append(((weights.to(v.dtype) @ v), log_sum.double()))
    outs, log_sums = zip(*parts, strict=True)
    return torch.cat(outs, dim=2), torch.cat(log_sums, dim=2)


def _plain_gradients(
    gradient: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor,
    log_sum: Tensor,
    mask: Tensor | None,
    scale: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """`gradients` without a kernel, a strip of queries at a time."""
    dtype = compute_dtype(q.dtype)
    moved_q, moved_k, moved_v = [], 0.0, 0.0
    for rows in _strips(q, k):
        own = (gradient[:, :, rows], q[:, :, rows], k, v, out[:, :, rows], log_sum[:, :, rows])
        weights, logits = _weights_and_gradients(*own, None if mask is None else mask[:, :, rows], scale)
        moved_q.append(scale * (logits @ k.to(dtype)))
        moved_k = moved_k + scale * (logits.transpose(-2, -1) @ own[1].to(dtype))
        moved_v = moved_v + weights.transpose(-2, -1) @ own[0].to(dtype)
    # pyrefly: ignore[bad-return]
    return torch.cat(moved_q, dim=2), moved_k, moved_v


def _logits(q: Tensor, k: Tensor, mask: Tensor | None, scale: float) -> Tensor:
    dtype = compute_dtype(q.dtype)
    logits = scale * (q.to(dtype) @ k.to(dtype).transpose(-2, -1))
    return logits if mask is None else logits + mask


def _weights_and_gradients(
    gradient: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor,
    log_sum: Tensor,
    mask: Tensor | None,
    scale: float,
) -> tuple[Tensor, Tensor]:
    dtype = compute_dtype(q.dtype)
    log_sum = log_sum.masked_fill(log_sum == -math.inf, math.inf).to(dtype)
    weights = (_logits(q, k, mask, scale) - log_sum[..., None]).exp()
    along = (gradient.to(dtype) * out.to(dtype)).sum(-1, keepdim=True)
    return weights, weights * (gradient.to(dtype) @ v.to(dtype).transpose(-2, -1) - along)


__all__ = ["attend", "gradients", "join", "kernel_dtype", "logit_gradients"]
