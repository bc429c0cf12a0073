"""Attention with a bias as PyTorch sees it: an operator with schema, shapes without numbers and gradients.

exptx::slide             (out, ℓ) for slopes
exptx::slide_backward    gradients of q, k, v and slopes
WithBias                 the same for a realisation, which no operator can take as an argument
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ..errors import NotBuilt
from ..transforms import refuse_tangents
from .blockwise import attention_backward, attention_forward
from .gap_bias import GapBias, Slide
from .pieces import Call

_OPTIONS = "Tensor query_ids, Tensor key_ids, Tensor? mask, bool causal, bool symmetric, float scale"
_INPUTS = f"Tensor q, Tensor k, Tensor v, Tensor slopes, {_OPTIONS}"

LIBRARY = torch.library.Library("exptx", "FRAGMENT")
LIBRARY.define(f"slide({_INPUTS}) -> (Tensor, Tensor)")
LIBRARY.define(
    f"slide_backward(Tensor gradient, Tensor out, Tensor log_sum, {_INPUTS}, bool of_slopes) -> "
    "(Tensor, Tensor, Tensor, Tensor)"
)

SLIDE = torch.ops.exptx.slide.default
SLIDE_BACKWARD = torch.ops.exptx.slide_backward.default


def _call(
    query_ids: Tensor, key_ids: Tensor, mask: Tensor | None, causal: bool, symmetric: bool, scale: float
) -> Call:
    return Call(query_ids, key_ids, causal, symmetric, scale, mask)


def _slide_of(slopes: Tensor) -> Slide:
    return Slide(torch.atleast_2d(slopes.double()))


def _slide(q: Tensor, k: Tensor, v: Tensor, slopes: Tensor, *options) -> tuple[Tensor, Tensor]:
    refuse_tangents("exptx::slide")
    return attention_forward(q, k, v, _slide_of(slopes), _call(*options))


def _slide_backward(
    gradient: Tensor,
    out: Tensor,
    log_sum: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    slopes: Tensor,
    *options,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    *options, of_slopes = options
    inputs = (gradient, q, k, v, out, log_sum, _slide_of(slopes), _call(*options))
    *moved, of = attention_backward(*inputs, probe=of_slopes)
    of_q, of_k, of_v = moved
    return (
        of_q,
        of_k,
        of_v,
        torch.zeros_like(slopes) if of is None else of.reshape(slopes.shape).to(slopes.dtype),
    )


def _slide_shapes(q: Tensor, k: Tensor, v: Tensor, *_) -> tuple[Tensor, Tensor]:
    return q.new_empty(*q.shape[:3], v.shape[-1]), q.new_empty(q.shape[:3], dtype=torch.float64)


def _slide_backward_shapes(
    gradient: Tensor, out: Tensor, log_sum: Tensor, *inputs
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    q, k, v, slopes = (torch.empty_like(x, memory_format=torch.contiguous_format) for x in inputs[:4])
    return q, k, v, slopes


def _keep(ctx: Any, inputs: tuple, output: tuple[Tensor, Tensor]) -> None:
    tensors, ctx.options = inputs[:7], inputs[7:]
    ctx.save_for_backward(*output, *tensors)


def _once(ctx: Any, *_: Tensor) -> None:
    raise NotBuilt("gradients of the gradients of alibi_attention are not formed; attention() has them")


def _gradients(ctx: Any, gradient: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
    out, log_sum, *tensors = ctx.saved_tensors
    found = SLIDE_BACKWARD(gradient, out, log_sum, *tensors, *ctx.options, ctx.needs_input_grad[3])
    return *found, None, None, None, None, None, None


LIBRARY.impl("slide", _slide, "CompositeExplicitAutograd")
LIBRARY.impl("slide_backward", _slide_backward, "CompositeExplicitAutograd")
torch.library.register_fake("exptx::slide", _slide_shapes, lib=LIBRARY)
torch.library.register_fake("exptx::slide_backward", _slide_backward_shapes, lib=LIBRARY)
torch.library.register_autograd("exptx::slide", _gradients, setup_context=_keep, lib=LIBRARY)
torch.library.register_autograd("exptx::slide_backward", _once, lib=LIBRARY)


class WithBias(torch.autograd.Function):
    """softmax(scale q·k + b(t - s)) v of a `Call`; gradients of q, k and v."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, bias: GapBias, call: Call) -> Tensor:
        """The output; ℓ is kept for the gradients."""
        out, log_sum = attention_forward(q, k, v, bias, call)
        ctx.save_for_backward(q, k, v, out, log_sum)
        ctx.bias, ctx.call = bias, call
        return out

    @staticmethod
    @once_differentiable
    # pyrefly: ignore[bad-override] - once_differentiable does not say what it returns
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """∂L/∂q, ∂L/∂k, ∂L/∂v."""
        q, k, v, out, log_sum = ctx.saved_tensors
        found = attention_backward(gradient, q, k, v, out, log_sum, ctx.bias, ctx.call, probe=False)
        return *found[:3], None, None


__all__ = ["SLIDE", "SLIDE_BACKWARD", "WithBias"]
