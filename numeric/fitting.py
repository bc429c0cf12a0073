"""Whether a table, positions and a result fit a tensor of heads: every refusal of the rotary kernel."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .errors import BadChoice, BadDtype, BadTensor, NeedsGradient
from .forms import Form, check_apart, check_own
from .layout import rotated_width, split_pairs, time_axis
from .sharding import is_distributed
from .transforms import transforming
from .validation import (
    check_dense,
    check_heads,
    check_row_numbers,
    check_tensor,
    check_token_positions,
    compute_dtype,
    same_device,
)


def rotated_coordinates(
    x: Tensor,
    name: str,
    cos: Tensor,
    sin: Tensor,
    position_ids: Tensor | None,
    layout: str,
    rotary_dim: int | None,
) -> int:
    """How many coordinates turn, 2 * pairs, after refusing all that does not belong to x but row numbers."""
    check_heads(x, name, layout)
    width = _rotated_width(x, name, cos, sin, rotary_dim)
    batch, time = x.shape[0], x.shape[time_axis(layout)]
    if position_ids is not None:
        if cos.ndim != 2:
            raise BadChoice(
                f"cos has shape {tuple(cos.shape)} together with position_ids; a table (length, pairs) "
                "works, or rows (batch, time, pairs) without position_ids"
            )
        check_row_numbers(check_token_positions(position_ids, batch, time))
        same_device(x, name, position_ids, "position_ids")
    elif cos.shape[-2] != time or (cos.ndim == 3 and cos.shape[0] not in (1, batch)):
        raise BadTensor(
            f"cos has shape {tuple(cos.shape)}, but {name} has {batch} sequences of {time} tokens; a row a "
            f"token, ({time}, pairs) or ({batch}, {time}, pairs), works, or position_ids to look rows up"
        )
    return width


def check_same_kind(q: Tensor, k: Tensor, layout: str) -> None:
    """Queries and keys agree in all but the number of heads."""
    heads = 3 - time_axis(layout)
    check_heads(q, "q", layout)
    check_heads(k, "k", layout)
    same_device(q, "q", k, "k")
    if q.dtype != k.dtype:
        raise BadDtype(f"k has dtype {k.dtype} but q has {q.dtype}; equal dtypes work")
    if any(q.shape[axis] != k.shape[axis] for axis in range(4) if axis != heads):
        raise BadTensor(
            f"k has shape {tuple(k.shape)} but q has {tuple(q.shape)}; only the number of heads may differ"
        )


def check_out(out: object, x: Tensor, cos: Tensor, sin: Tensor) -> None:
    """Refuse memory that cannot take the result, and results that autograd would lose."""
    if isinstance(out, Tensor):
        check_dense(out, "out")
    if not isinstance(out, Tensor) or out.shape != x.shape or out.dtype != x.dtype or out.device != x.device:
        got = (
            f"{tuple(out.shape)} {out.dtype} on {out.device}"
            if isinstance(out, Tensor)
            else type(out).__name__
        )
        raise BadTensor(f"out is {got}; {tuple(x.shape)} {x.dtype} on {x.device} works")
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (x, cos, sin, out)):
        raise NeedsGradient(
            "out was given but a gradient is needed; leave out=None, or call under torch.no_grad()"
        )
    if is_distributed(x) or is_distributed(out):
        raise BadTensor("x or out is a DTensor, into which no result can be written; out=None works")
    if all(map(_has_address, (x, out, cos, sin))):
        check_own(Form.of(out))
        check_apart([(x, out)], (cos, sin))


def _has_address(x: Tensor) -> bool:
    """Whether x is memory by itself; what a compiler or a transform writes to is a copy."""
    plain = type(x) in (Tensor, nn.Parameter) and not x.is_meta
    return plain and not torch.compiler.is_compiling() and not transforming()


def _rotated_width(x: Tensor, name: str, cos: Tensor, sin: Tensor, rotary_dim: int | None) -> int:
    """2 * pairs, after refusing tables that do not belong to x."""
    check_tensor(cos, "cos")
    check_tensor(sin, "sin")
    if cos.shape != sin.shape or not 2 <= cos.ndim <= 3 or not cos.shape[-1]:
        raise BadTensor(
            f"cos has shape {tuple(cos.shape)} and sin {tuple(sin.shape)}; "
            "both (time, pairs) or both (batch, time, pairs) works, with one pair or more"
        )
    for table_name, table in (("cos", cos), ("sin", sin)):
        same_device(x, name, table, table_name)
        if table.dtype != compute_dtype(x.dtype):
            raise BadDtype(
                f"{table_name} has dtype {table.dtype} but {name} is {x.dtype}; "
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


__all__ = ["check_out", "check_same_kind", "rotated_coordinates"]
