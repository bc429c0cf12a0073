"""The rotary kernel: turn every plane of x by the angle of its token, on the fastest path that runs.

y0 = x0 cos - x1 sin
y1 = x0 sin + x1 cos
"""

from __future__ import annotations

from torch import Tensor

from . import direct, eager, ops
from .backends import chosen
from .fitting import check_out, check_same_kind, rotated_coordinates
from .sharding import beside
from .validation import check_flag


def rotary_embedding(
    x: Tensor,
    cos: Tensor,
    sin: Tensor,
    position_ids: Tensor | None = None,
    *,
    interleaved: bool = False,
    layout: str = "bhtd",
    rotary_dim: int | None = None,
    inverse: bool = False,
    impl: str = "auto",
    out: Tensor | None = None,
) -> Tensor:
    """x with every plane turned by the angle of its token; same shape and dtype as x, contiguous.

    x: (batch, heads, time, head_dim), or (batch, time, heads, head_dim) with layout="bthd"; float64,
    float32, bfloat16 or float16, any strides. The last two are computed in float32 and rounded once.
    cos, sin: half-width tables from `rotary_table`, float32 (float64 for float64 x). Without position_ids
    one row per token, (time, pairs) or (batch, time, pairs); with position_ids, integers (time,) or
    (batch, time), the tables are (length, pairs) and the rows are looked up.
    interleaved: planes (2i, 2i + 1) instead of (i, i + rotary_dim/2).
    rotary_dim: rotate the first rotary_dim = 2 * pairs coordinates only; the rest is copied bit for bit. Give
    it whenever heads turn in part: a full-width table of half the head passes for a half-width one.
    inverse: turn back, by the transposed matrix; that undoes the rotation only for tables of amplitude 1.
    impl: "native" (C, on the CPU), "triton" (CUDA; with TRITON_INTERPRET=1 also the CPU, slowly) or "eager"
    (PyTorch operations, which torch.compile may fuse); "auto" takes the compiled path of the device, or says
    once why it cannot and takes "eager", as it does inside torch.func and forward-mode differentiation.
    "triton" reads no ids first: tokens with ids outside the table come out as NaN, which others refuse.
    out: receives the result, may be x but not overlap it else; NeedsGradient if x, cos or sin need gradients.
    Gradients flow to x, cos and sin. x may be a DTensor; plain tables then count as replicated. Raises
    BadTensor (shapes, devices), BadDtype, BadChoice, PositionOutOfRange (an id below 0 or beyond the table),
    NotBuilt or NeedsGradient. Source: Su et al., arXiv 2104.09864, section 3.4.2.
    """
    options = (interleaved, layout, rotary_dim, inverse, impl)
    if (y := direct.turned(x, out, (cos, sin, position_ids), options)) is not None:
        return y
    width = rotated_coordinates(x, "x", cos, sin, position_ids, layout, rotary_dim)
    check_flag(interleaved, "interleaved")
    check_flag(inverse, "inverse")
    path = chosen(impl, x.device.type)
    kernels, told = (eager, ()) if path == "eager" else (ops, (path,))
    table, turn = beside(x, cos, sin, position_ids), (width, interleaved, layout, inverse, *told)
    if (y := out) is None:
        y = kernels.rotary(x, *table, *turn)
    else:
        check_out(y, x, cos, sin)
        kernels.rotary_out(x, y, *table, *turn)
    if path == "native":
        direct.remember((x,), (y,), out, table, options)
    return y


def rotary_embedding_qk(
    q: Tensor,
    k: Tensor,
    cos: Tensor,
    sin: Tensor,
    position_ids: Tensor | None = None,
    *,
    interleaved: bool = False,
    layout: str = "bhtd",
    rotary_dim: int | None = None,
    inverse: bool = False,
    impl: str = "auto",
) -> tuple[Tensor, Tensor]:
    """(q, k), each turned as by `rotary_embedding`, in one call: for few tokens that takes half the time.

    q, k: equal in dtype, device and shape but for the number of heads. cos, sin, position_ids, interleaved,
    layout, rotary_dim, inverse and impl as there, and the errors: BadTensor, BadDtype, BadChoice,
    PositionOutOfRange, NotBuilt.
    """
    options = (interleaved, layout, rotary_dim, inverse, impl)
    y = direct.turned_qk(q, k, (cos, sin, position_ids), options)
    if y is not None:
        return y
    width = rotated_coordinates(q, "q", cos, sin, position_ids, layout, rotary_dim)
    check_same_kind(q, k, layout)
    check_flag(interleaved, "interleaved")
    check_flag(inverse, "inverse")
    path = chosen(impl, q.device.type)
    table, turn = beside(q, cos, sin, position_ids), (width, interleaved, layout, inverse)
    if path == "eager":
        return eager.rotary(q, *table, *turn), eager.rotary(k, *table, *turn)
    y = ops.rotary_qk(q, k, *table, *turn, path)
    if path == "native":
        direct.remember((q, k), y, None, table, options)
    return y


__all__ = ["rotary_embedding", "rotary_embedding_qk"]
