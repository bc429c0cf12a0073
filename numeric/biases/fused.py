"""Pieces of attention in PyTorch's fused kernel, forwards and backwards, and the sum of pieces.

A piece over some of the keys gives its output o_i and ℓ_i = log Σ e^{logit}; pieces join exactly:

    ℓ = log(e^{ℓ_1} + e^{ℓ_2}),   o = o_1 + w (o_2 - o_1),   w = e^{ℓ_2 - ℓ} = sigmoid(ℓ_2 - ℓ_1).

Backwards every piece is given the ℓ and o of the whole, and its gradients add.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ..validation import compute_dtype

_FORWARD = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
_BACKWARD = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward
_CPU = getattr(torch.cpu, "get_capabilities", dict)()
_TILED = {
    dtype for dtype, name in ((torch.bfloat16, "amx_bf16"), (torch.float16, "amx_fp16")) if _CPU.get(name)
}
_STRIP = 1 << 20  # logits of a head formed at once where there is no fused kernel


@dataclass(frozen=True)
class Part:
    """The pieces of a stack: q (N, M, n, S, D); k, v (N, M, n, K, D), any strides but the last; one dtype.

    mask: expands to (N, M, n, S, K), with -∞ for hidden pairs, or None; logits are scale q·k + mask.
    """

    q: Tensor
    k: Tensor
    v: Tensor
    mask: Tensor | None
    scale: float

    @property
    def axis(self) -> int:
        """What is taken one by one, since the kernel has four axes: n or N, whichever is shorter."""
        return 2 if self.q.shape[2] <= self.q.shape[0] else 0

    def calls(self) -> Iterator[Part]:
        """The part as the kernel takes it, with one axis less."""
        axis, mask = self.axis, self.mask
        if mask is not None:
            mask = mask.expand(*self.q.shape[:4], self.k.shape[3])
        for i in range(self.q.shape[axis]):
            q, k, v = (x.select(axis, i) for x in (self.q, self.k, self.v))
            yield Part(q, k, v, None if mask is None else mask.select(axis, i), self.scale)

    def each(self, run: Callable[..., tuple[Tensor, ...]], *others: Tensor) -> tuple[Tensor, ...]:
        """run(call, *others) of every call, put together along the axis that was taken apart."""
        found = [run(call, *(x.select(self.axis, i) for x in others)) for i, call in enumerate(self.calls())]
        if len(found) == 1:
            return tuple(x.unsqueeze(self.axis) for x in found[0])
        return tuple(torch.stack(parts, dim=self.axis) for parts in zip(*found, strict=True))

    def strips(self) -> Iterator[tuple[slice, Part]]:
        """A call in strips of queries, so that logits of a strip fit into little memory."""
        rows = max(1, _STRIP // self.k.shape[2])
        for start in range(0, self.q.shape[2], rows):
            own = slice(start, min(start + rows, self.q.shape[2]))
            mask = None if self.mask is None else self.mask[:, :, own]
            yield own, replace(self, q=self.q[:, :, own], mask=mask)


def kernel_dtype(q: Tensor) -> torch.dtype:
    """What q, k and v are given to the kernel in: float32 for half precision, rounded once in the end.

    Half precision itself where the CPU multiplies it in tiles, several times as fast; elsewhere it would be
    the slower of the two.
    """
    tiles = q.device.type == "cpu" and q.dtype in _TILED
    return q.dtype if tiles else compute_dtype(q.dtype)


def attend(part: Part) -> tuple[Tensor, Tensor]:
    """(o, ℓ) of softmax(logits) v: o in the dtype of q, ℓ in float64, -∞ where every key is hidden.

    Logits and sums are float32 in half precision; weights are rounded to the dtype of v.
    """
    out, log_sum = part.each(_fused if _has_kernel(part.q) else _plain)
    return out, log_sum


def join(out: Tensor, log_sum: Tensor, part: Tensor, part_log_sum: Tensor) -> None:
    """(out, log_sum) and the part's (o, ℓ) as one, in place."""
    weight = torch.sigmoid(part_log_sum - log_sum).nan_to_num_(0.0)  # -∞ - -∞: no key seen so far
    out.lerp_(part.to(out.dtype), weight.to(out.dtype)[..., None])
    log_sum.copy_(torch.logaddexp(log_sum, part_log_sum))


def gradients(part: Part, gradient: Tensor, out: Tensor, log_sum: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of q, k, v, given the rows of ∂o, o and ℓ of the whole; ℓ = -∞ gives zeros."""
    of_q, of_k, of_v = part.each(
        _fused_gradients if _has_kernel(part.q) else _plain_gradients, gradient, out, _usable(log_sum, part.q)
    )
    return of_q, of_k, of_v


def logit_gradients(part: Part, gradient: Tensor, out: Tensor, log_sum: Tensor, factor: Tensor) -> Tensor:
    """Σ factor ∂logit over all pairs of a piece and over the pieces, (N, M) in float64; factor: (S, K).

    ∂logit = p (∂o·v - ∂o·o) with p = e^{logit - ℓ}; one piece at a time, so that memory does not grow with n.
    """
    log_sum, total = _usable(log_sum, part.q), torch.zeros(part.q.shape[:2], dtype=torch.float64)
    for i in range(part.q.shape[2]):
        q, k, v, of_out, own, ell = (x[:, :, i] for x in (part.q, part.k, part.v, gradient, out, log_sum))
        mask = part.mask
        mask = None if mask is None else mask[:, :, i if mask.shape[2] > 1 else 0]
        moved = _weights_and_gradients(Part(q, k, v, mask, part.scale), of_out, own, ell)[1]
        total = total.to(q.device) + (moved * factor).sum((-2, -1))
    return total


def _has_kernel(q: Tensor) -> bool:
    """Whether the fused kernel takes q: the one that returns ℓ in every dtype is that of the CPU."""
    return q.device.type in ("cpu", "meta")


def _usable(log_sum: Tensor, q: Tensor) -> Tensor:
    """ℓ in the dtype of the sums; +∞ instead of -∞, which gives weights of 0."""
    return log_sum.masked_fill(log_sum == -math.inf, math.inf).to(compute_dtype(q.dtype))


def _fused(part: Part) -> tuple[Tensor, Tensor]:
    out, log_sum = _FORWARD(part.q, part.k, part.v, 0.0, False, attn_mask=part.mask, scale=part.scale)
    log_sum = log_sum.double()
    if part.mask is None:
        return out, log_sum
    return out, log_sum.masked_fill(part.mask.amax(-1) == -math.inf, -math.inf)  # the kernel says ℓ = 0 there


def _fused_gradients(
    part: Part, gradient: Tensor, out: Tensor, log_sum: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    inputs = (gradient, part.q, part.k, part.v, out, log_sum, 0.0, False)
    return _BACKWARD(*inputs, attn_mask=part.mask, scale=part.scale)


def _plain(part: Part) -> tuple[Tensor, Tensor]:
    found = []
    for _, strip in part.strips():
        logits = _logits(strip)
        log_sum = logits.logsumexp(-1)
        weights = (logits - log_sum[..., None]).exp().nan_to_num(0.0)
        found.append((weights.to(part.v.dtype) @ part.v, log_sum.double()))
    outs, log_sums = zip(*found, strict=True)
    return torch.cat(outs, dim=2), torch.cat(log_sums, dim=2)


def _plain_gradients(
    part: Part, gradient: Tensor, out: Tensor, log_sum: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    dtype = compute_dtype(part.q.dtype)
    of_q, of_k, of_v = (torch.zeros_like(x, dtype=dtype) for x in (part.q, part.k, part.v))
    for rows, strip in part.strips():
        own = (x[:, :, rows] for x in (gradient, out, log_sum))
        weights, logits = _weights_and_gradients(strip, *own)
        of_q[:, :, rows] = part.scale * (logits @ part.k.to(dtype))
        of_k += part.scale * (logits.mT @ strip.q.to(dtype))
        of_v += weights.mT @ gradient[:, :, rows].to(dtype)
    return of_q, of_k, of_v


def _logits(part: Part) -> Tensor:
    dtype = compute_dtype(part.q.dtype)
    logits = part.scale * (part.q.to(dtype) @ part.k.to(dtype).mT)
    return logits if part.mask is None else logits + part.mask


def _weights_and_gradients(
    part: Part, gradient: Tensor, out: Tensor, log_sum: Tensor
) -> tuple[Tensor, Tensor]:
    gradient, out = gradient.to(log_sum.dtype), out.to(log_sum.dtype)
    weights = (_logits(part) - log_sum[..., None]).exp()
    along = (gradient * out).sum(-1, keepdim=True)
    return weights, weights * (gradient @ part.v.to(log_sum.dtype).mT - along)


__all__ = ["Part", "attend", "gradients", "join", "kernel_dtype", "logit_gradients"]
