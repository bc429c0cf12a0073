"""Linear attention as torch.compile sees it: one operator, so that one graph serves every length.

exptx::linear            (out, final state)
exptx::linear_backward   gradients of q, k, v, log_decay, angle and the state; empty where none is wanted
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from ..transforms import refuse_tangents
from ..validation import compute_dtype

Attention = Callable[..., tuple[Tensor, Tensor]]

_TENSORS = "Tensor q, Tensor k, Tensor v, Tensor log_decay, Tensor? angle, Tensor? state, Tensor? cu_seqlens"
_INPUTS = f"{_TENSORS}, str form, float scale, int chunk_size, bool interleaved, bool enable_gqa"
_LEARNED = 6

LIBRARY = torch.library.Library("exptx", "FRAGMENT")
LIBRARY.define(f"linear({_INPUTS}) -> (Tensor, Tensor)")
LIBRARY.define(
    f"linear_backward(Tensor of_out, Tensor of_state, {_INPUTS}, bool[] wanted) -> "
    "(Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)"
)
LINEAR_BACKWARD = torch.ops.exptx.linear_backward.default


def operator(attention: Attention) -> Callable[..., tuple[Tensor, Tensor]]:
    """The operator whose numbers `attention` forms."""

    def forward(*inputs: Any) -> tuple[Tensor, Tensor]:
        refuse_tangents("exptx::linear")
        with torch.no_grad():
            out, state = attention(*inputs)
        return out.contiguous(), state.contiguous()

    def backward(of_out: Tensor, of_state: Tensor, *inputs: Any) -> tuple[Tensor, ...]:
        """The forward run again, with gradients: nothing but the inputs was kept."""
        given, wanted = inputs[:-1], inputs[-1]
        with torch.enable_grad():
            learned = [
                x.detach().requires_grad_() if need else x
                for x, need in zip(given[:_LEARNED], wanted, strict=True)
            ]
            found = attention(*learned, *given[_LEARNED:])
        asked = [x for x, need in zip(learned, wanted, strict=True) if need]
        moved = iter(torch.autograd.grad(found, asked, (of_out, of_state), materialize_grads=True))
        return tuple(next(moved).contiguous() if need else of_out.new_empty(0) for need in wanted)

    LIBRARY.impl("linear", forward, "CompositeExplicitAutograd")
    LIBRARY.impl("linear_backward", backward, "CompositeExplicitAutograd")
    return torch.ops.exptx.linear.default


def _shapes(q: Tensor, k: Tensor, v: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    cu_seqlens = rest[3]
    sequences = q.shape[0] if cu_seqlens is None else cu_seqlens.shape[0] - 1
    state = (sequences, q.shape[1], q.shape[3], v.shape[3])
    return v.new_empty(*q.shape[:3], v.shape[3]), v.new_empty(state, dtype=compute_dtype(q.dtype))


def _gradient_shapes(of_out: Tensor, of_state: Tensor, *inputs: Any) -> tuple[Tensor, ...]:
    wanted = inputs[-1]
    return tuple(
        torch.empty_like(x, memory_format=torch.contiguous_format) if need else of_out.new_empty(0)
        for x, need in zip(inputs[:_LEARNED], wanted, strict=True)
    )


def _keep(ctx: Any, inputs: tuple, output: tuple[Tensor, Tensor]) -> None:
    ctx.save_for_backward(*inputs[: _LEARNED + 1])
    ctx.options = inputs[_LEARNED + 1 :]


def _gradients(ctx: Any, of_out: Tensor, of_state: Tensor) -> tuple[Tensor | None, ...]:
    wanted: Sequence[bool] = ctx.needs_input_grad[:_LEARNED]
    found = LINEAR_BACKWARD(of_out, of_state, *ctx.saved_tensors, *ctx.options, wanted)
    return *(x if need else None for x, need in zip(found, wanted, strict=True)), *[None] * 6


torch.library.register_fake("exptx::linear", _shapes, lib=LIBRARY)
torch.library.register_fake("exptx::linear_backward", _gradient_shapes, lib=LIBRARY)
torch.library.register_autograd("exptx::linear", _gradients, setup_context=_keep, lib=LIBRARY)

__all__ = ["LINEAR_BACKWARD", "operator"]
