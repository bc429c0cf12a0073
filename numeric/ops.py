"""The rotations as PyTorch operators: schema, shapes without numbers, gradients.

    exptx::rotary       y = R x, a new tensor
    exptx::rotary_qk    the same for queries and keys in one call
    exptx::rotary_out   y = R x, written into `out`, which may be x itself; autograd is told that it changed

y is linear in x and in the table, and so are the gradients of a loss: with respect to x it is the incoming
one g turned by the transposed generator, Rᵀg; with respect to cos and sin the products of x and g, summed
over the heads, and over the tokens and sequences that read the same row. The callers in `rotary` check
arguments.

The kernels are C on CPUs and Triton on GPUs; impl="triton" is for Triton's interpreter on a CPU.
"""

from __future__ import annotations

from functools import reduce
from types import ModuleType

import torch
from torch import Tensor
from torch.autograd.graph import increment_version

from . import native, triton
from .layout import split_pairs, time_axis
from .transforms import refuse_tangents

_TABLE = "Tensor cos, Tensor sin, Tensor? position_ids"
_OPTIONS = "int rotary_dim, bool interleaved, str layout, bool inverse, str impl='auto'"

LIBRARY = torch.library.Library("exptx", "FRAGMENT")
LIBRARY.define(f"rotary(Tensor x, {_TABLE}, {_OPTIONS}) -> Tensor")
LIBRARY.define(f"rotary_qk(Tensor q, Tensor k, {_TABLE}, {_OPTIONS}) -> (Tensor, Tensor)")
LIBRARY.define(f"rotary_out(Tensor x, Tensor(a!) out, {_TABLE}, {_OPTIONS}) -> ()")

rotary = torch.ops.exptx.rotary.default
rotary_qk = torch.ops.exptx.rotary_qk.default
rotary_out = torch.ops.exptx.rotary_out.default


def fresh(x: Tensor) -> Tensor:
    """Memory for a result: shape and dtype of x, contiguous."""
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def _kernels(x: Tensor, impl: str) -> ModuleType:
    return triton if x.is_cuda or impl == "triton" else native


def _result(x: Tensor) -> Tensor:
    return native.fresh(x) if x.is_cpu else fresh(x)


def _rotary(x: Tensor, cos, sin, ids, width, interleaved, layout, inverse, impl="auto") -> Tensor:
    refuse_tangents("exptx::rotary")
    out = _result(x)
    _kernels(x, impl).rotary(x, out, cos, sin, ids, width, interleaved, layout, inverse)
    return out


def _rotary_qk(
    q: Tensor, k: Tensor, cos, sin, ids, width, interleaved, layout, inverse, impl="auto"
) -> tuple[Tensor, Tensor]:
    refuse_tangents("exptx::rotary_qk")
    turned = _result(q), _result(k)
    _kernels(q, impl).rotary_qk(q, k, *turned, cos, sin, ids, width, interleaved, layout, inverse)
    return turned


def _rotary_out(
    x: Tensor, out: Tensor, cos, sin, ids, width, interleaved, layout, inverse, impl="auto"
) -> None:
    refuse_tangents("exptx::rotary_out")
    _kernels(x, impl).rotary(x, out, cos, sin, ids, width, interleaved, layout, inverse)


def _rotary_out_told(keys: torch._C.DispatchKeySet, x: Tensor, out: Tensor, *arguments) -> None:
    """The same on any device, with the version of `out` counted up: what was saved of it is void."""
    increment_version(out)
    with torch._C._AutoDispatchBelowADInplaceOrView():
        rotary_out.redispatch(keys & torch._C._after_ADInplaceOrView_keyset, x, out, *arguments)


for _device in ("CPU", "CUDA"):
    LIBRARY.impl("rotary", _rotary, _device)
    LIBRARY.impl("rotary_qk", _rotary_qk, _device)
    LIBRARY.impl("rotary_out", _rotary_out, _device)
LIBRARY.impl("rotary_out", _rotary_out_told, "ADInplaceOrView", with_keyset=True)

torch.library.register_fake("exptx::rotary", lambda x, *_: fresh(x), lib=LIBRARY)
torch.library.register_fake("exptx::rotary_qk", lambda q, k, *_: (fresh(q), fresh(k)), lib=LIBRARY)
torch.library.register_fake("exptx::rotary_out", lambda *_: None, lib=LIBRARY)


def _keep(ctx, inputs: tuple, output: object) -> None:
    """Keep the table, and what turns only where the table needs a gradient."""
    turning, (cos, sin, position_ids, *options) = inputs[:-8], inputs[-8:]
    ctx.count, ctx.options = len(turning), options
    learns = cos.requires_grad or sin.requires_grad
    ctx.save_for_backward(cos, sin, position_ids, *(turning if learns else ()))


def _backward(ctx, *gradients: Tensor) -> tuple[Tensor | None, ...]:
    cos, sin, position_ids, *turned = ctx.saved_tensors
    width, interleaved, layout, inverse, impl = ctx.options
    back: tuple[Tensor | None, ...] = (None,) * ctx.count
    if any(ctx.needs_input_grad[: ctx.count]):
        run = _rotary_one if ctx.count == 1 else rotary_qk
        back = run(*gradients, cos, sin, position_ids, width, interleaved, layout, not inverse, impl)
    to_table: tuple[Tensor | None, ...] = (None, None)
    if turned:
        shares = [
            table_gradients(x, g, cos, position_ids, width, interleaved, layout, inverse)
            for x, g in zip(turned, gradients, strict=True)
        ]
        to_table = tuple(reduce(torch.add, each) for each in zip(*shares, strict=True))
    return (*back, *to_table, *(None,) * 6)


def _rotary_one(*arguments) -> tuple[Tensor]:
    return (rotary(*arguments),)


def table_gradients(
    x: Tensor,
    gradient: Tensor,
    table: Tensor,
    position_ids: Tensor | None,
    rotary_dim: int,
    interleaved: bool,
    layout: str,
    inverse: bool,
) -> tuple[Tensor, Tensor]:
    """(∂L/∂cos, ∂L/∂sin) = (Σ x0 g0 + x1 g1, ±Σ x0 g1 - x1 g0), in the shape of the table."""
    heads = 3 - time_axis(layout)
    x0, x1 = split_pairs(x[..., :rotary_dim].to(table.dtype), interleaved)
    g0, g1 = split_pairs(gradient[..., :rotary_dim].to(table.dtype), interleaved)
    to_cos = (x0 * g0 + x1 * g1).sum(heads)
    to_sin = (x1 * g0 - x0 * g1 if inverse else x0 * g1 - x1 * g0).sum(heads)
    return _onto_rows(to_cos, table, position_ids), _onto_rows(to_sin, table, position_ids)


def _onto_rows(share: Tensor, table: Tensor, position_ids: Tensor | None) -> Tensor:
    """(batch, time, pairs) added up in the rows of the table that the tokens read."""
    if position_ids is None:
        return share.sum_to_size(table.shape)
    if position_ids.ndim == 1 or position_ids.shape[0] == 1:
        share = share.sum(0)
    rows = position_ids.reshape(-1).long()
    return torch.zeros_like(table).index_add(0, rows, share.reshape(-1, table.shape[-1]))


torch.library.register_autograd("exptx::rotary", _backward, setup_context=_keep, lib=LIBRARY)
torch.library.register_autograd("exptx::rotary_qk", _backward, setup_context=_keep, lib=LIBRARY)


__all__ = ["LIBRARY", "rotary", "rotary_out", "rotary_qk", "table_gradients"]
