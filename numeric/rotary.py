"""The rotary kernel: turn every plane of x by the angle of its token, in plain eager PyTorch.

y0 = x0 cos - x1 sin
y1 = x0 sin + x1 cos
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import embedding

from .emitted import turn, turn_transposed
from .errors import BadChoice, BadDtype, BadTensor, NeedsGradient
from .layout import join_pairs, over_heads, rotated_width, split_pairs, time_axis
from .validation import (
    check_heads,
    check_impl,
    check_in_table,
    check_tensor,
    check_token_positions,
    compute_dtype,
    same_device,
)


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
    impl: "auto" or "eager"; a path that is not built raises NotBuilt.
    out: receives the result, may be x itself; NeedsGradient if x, cos or sin need one.
    Gradients flow to x, cos and sin. Raises BadTensor (shapes, devices), BadDtype, BadChoice,
    PositionOutOfRange (an id below 0 or beyond the table), NotBuilt or NeedsGradient; each names the
    argument, what it was and what would work. Source: Su et al., arXiv 2104.09864, section 3.4.2.
    """
    check_impl(impl)
    x = check_heads(x, "x", layout)
    width = _rotated_width(x, cos, sin, rotary_dim)
    cos, sin = _token_rows(x, cos, sin, position_ids, layout)
    turned = _turned(x[..., :width], cos, sin, interleaved, inverse)
    y = torch.cat((turned, x[..., width:]), dim=-1) if width < x.shape[-1] else turned
    return y if out is None else _store(y, out, (x, cos, sin))


def _turned(x: Tensor, cos: Tensor, sin: Tensor, interleaved: bool, inverse: bool) -> Tensor:
    """R(angle) on every plane, computed in the dtype of the tables and rounded once to that of x."""
    x0, x1 = split_pairs(x.to(cos.dtype), interleaved)
    y0, y1 = (turn_transposed if inverse else turn)(x0, x1, cos, sin)
    return join_pairs(y0, y1, interleaved).to(x.dtype)


def _rotated_width(x: Tensor, cos: Tensor, sin: Tensor, rotary_dim: int | None) -> int:
    """2 * pairs, after refusing tables that do not belong to x."""
    check_tensor(cos, "cos")
    check_tensor(sin, "sin")
    if cos.shape != sin.shape or not 2 <= cos.ndim <= 3:
        raise BadTensor(
            f"cos has shape {tuple(cos.shape)} and sin {tuple(sin.shape)}; "
            "both (time, pairs) or both (batch, time, pairs) works"
        )
    for name, table in (("cos", cos), ("sin", sin)):
        same_device(x, "x", table, name)
        if table.dtype != compute_dtype(x.dtype):
            raise BadDtype(
                f"{name} has dtype {table.dtype} but x is {x.dtype}; "
                f"a {compute_dtype(x.dtype)} table works: rotary_table(..., dtype={compute_dtype(x.dtype)})"
            )
    width = rotated_width(x.shape[-1], rotary_dim)
    _refuse_columns(cos, sin, width, x.shape[-1])
    return width


def _refuse_columns(cos: Tensor, sin: Tensor, width: int, head_dim: int) -> None:
    """Refuse tables with other than width/2 columns, and say what they are as far as their entries show."""
    columns = cos.shape[-1]
    if 2 * columns == width:
        return
    need = f"cos and sin have {columns} columns, but {width} coordinates turn and take {width // 2}"
    doubled = _doublings(cos, sin)
    what, piece = next(iter(doubled.items()), ("", ""))
    partly = "" if columns == width else f" with rotary_dim={columns}"
    sliced = f"cos[..., {piece}] and sin[..., {piece}]{partly}"
    if len(doubled) == 1 and columns <= head_dim:
        raise BadTensor(f"{need}; {what} repeat, so they are full width: {sliced} works")
    ways = [
        f"a table made for {width} coordinates works"
        + ("" if doubled else f" (this one is for {2 * columns})")
    ]
    if 2 * columns <= head_dim:
        ways.append(f"rotary_dim={2 * columns} if only the first {2 * columns} are to turn")
    if doubled and columns <= head_dim:
        ways.append(f"{sliced} if they are full width and {what} repeat")
    raise BadTensor(f"{need}; {', or '.join(ways)}")


def _doublings(cos: Tensor, sin: Tensor) -> dict[str, str]:
    """What repeats, or may repeat where entries do not show it, and the slice that keeps one of each."""
    known = cos.numel() and not cos.is_meta and not torch.compiler.is_compiling()
    ways = {"the two halves": f":{cos.shape[-1] // 2}", "neighbours": "::2"}
    return {
        what: piece
        for (what, piece), interleaved in zip(ways.items(), (False, True), strict=True)
        if cos.shape[-1] % 2 == 0
        and (not known or all(torch.equal(*split_pairs(table, interleaved)) for table in (cos, sin)))
    }


def _token_rows(
    x: Tensor, cos: Tensor, sin: Tensor, position_ids: Tensor | None, layout: str
) -> tuple[Tensor, Tensor]:
    """The table rows of every token, broadcast over heads."""
    batch, time = x.shape[0], x.shape[time_axis(layout)]
    if position_ids is not None:
        if cos.ndim != 2:
            raise BadChoice(
                f"cos has shape {tuple(cos.shape)} together with position_ids; a table (length, pairs) "
                "works, or rows (batch, time, pairs) without position_ids"
            )
        ids = check_token_positions(position_ids, batch, time)
        same_device(x, "x", ids, "position_ids")
        check_in_table(ids, cos.shape[0])
        cos, sin = embedding(ids.long(), cos), embedding(ids.long(), sin)
    elif cos.shape[-2] != time or (cos.ndim == 3 and cos.shape[0] not in (1, batch)):
        raise BadTensor(
            f"cos has shape {tuple(cos.shape)}, but x has {batch} sequences of {time} tokens; a row a token, "
            f"({time}, pairs) or ({batch}, {time}, pairs), works, or position_ids to look rows up"
        )
    return over_heads(cos, layout), over_heads(sin, layout)


def _store(y: Tensor, out: Tensor, inputs: tuple[Tensor, ...]) -> Tensor:
    """out[...] = y, refused where autograd would lose the result."""
    if not isinstance(out, Tensor) or out.shape != y.shape or out.dtype != y.dtype or out.device != y.device:
        got = (
            f"{tuple(out.shape)} {out.dtype} on {out.device}"
            if isinstance(out, Tensor)
            else type(out).__name__
        )
        raise BadTensor(f"out is {got}; {tuple(y.shape)} {y.dtype} on {y.device} works")
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (*inputs, out)):
        raise NeedsGradient(
            "out was given but a gradient is needed; leave out=None, or call under torch.no_grad()"
        )
    return out.copy_(y)


__all__ = ["rotary_embedding"]
