"""The only file that knows feature indices: which coordinates form a plane, and which axis is time.

Two pairings of a width d are in use. Interleaved: plane i is (2i, 2i + 1). Half-split: plane i is
(i, i + d/2). They differ by one fixed permutation of the coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from .errors import BadChoice, BadDtype, BadTensor

LAYOUTS = ("bhtd", "bthd")


def time_axis(layout: str) -> int:
    """The axis of x that runs over tokens: 2 in (batch, heads, time, d), 1 in (batch, time, heads, d)."""
    if layout not in LAYOUTS:
        raise BadChoice(
            f"layout is {layout!r}; 'bhtd' (batch, heads, time, head_dim) or "
            "'bthd' (batch, time, heads, head_dim) works"
        )
    return layout.index("t")


def heads_first(x: Tensor, layout: str) -> Tensor:
    """A view of x as (batch, heads, time, d)."""
    return x if time_axis(layout) == 2 else x.transpose(1, 2)


def over_heads(table: Tensor, layout: str) -> Tensor:
    """(T, n) or (B, T, n) as (B or 1, 1, T, n), or (B or 1, T, 1, n): one row per token, for all heads."""
    if table.ndim == 2:
        table = table[None]
    return table.unsqueeze(3 - time_axis(layout))


def split_pairs(x: Tensor, interleaved: bool) -> tuple[Tensor, Tensor]:
    """First and second coordinate of every plane, each (..., d/2); views of x (..., d)."""
    if interleaved:
        return x[..., 0::2], x[..., 1::2]
    half = x.shape[-1] // 2
    return x[..., :half], x[..., half:]


def join_pairs(first: Tensor, second: Tensor, interleaved: bool) -> Tensor:
    """The inverse of `split_pairs`: (..., d/2) twice to (..., d)."""
    if interleaved:
        return torch.stack((first, second), dim=-1).flatten(-2)
    return torch.cat((first, second), dim=-1)


def select(x: Tensor, order: Sequence[int], dim: int = -1) -> Tensor:
    """Entries `order` of one axis: x itself or a view of it where they are evenly spaced, else a copy."""
    first, count = order[0], len(order)
    step = order[1] - first if count > 1 else 1
    if step < 1 or any(place != first + i * step for i, place in enumerate(order)):
        return x.index_select(dim, torch.tensor(order, device=x.device))
    if count == x.shape[dim]:
        return x
    return x[(..., slice(first, order[-1] + 1, step), *[slice(None)] * (-1 - dim))]


def rotated_width(head_dim: int, rotary_dim: int | None) -> int:
    """How many coordinates of a head turn: rotary_dim, or all; BadTensor unless they make whole planes."""
    width = head_dim if rotary_dim is None else rotary_dim
    if not isinstance(width, bool) and isinstance(width, int) and width % 2 == 0 and 0 < width <= head_dim:
        return width
    most = head_dim // 2 * 2
    if most and rotary_dim is not None:
        raise BadTensor(
            f"rotary_dim is {rotary_dim!r}, but coordinates turn in pairs and head_dim is {head_dim}; "
            f"an even number from 2 to {most} works, e.g. {most}"
        )
    partly = f"{most} or {most + 2} works, or rotary_dim={most} to turn only the first {most}"
    raise BadTensor(
        f"head_dim is {head_dim}, but coordinates turn in pairs; head_dim {partly if most else '2 works'}"
    )


def pair_order(width: int, *, to: str) -> list[int]:
    """p with y[i] = x[p[i]] for the same planes in the other pairing; `to` is the pairing of y."""
    half = width // 2
    if to == "half":
        return [*range(0, width, 2), *range(1, width, 2)]
    if to == "interleaved":
        return [plane + offset for plane in range(half) for offset in (0, half)]
    raise BadChoice(
        f"to is {to!r}; 'half' (planes (i, i + d/2)) or 'interleaved' (planes (2i, 2i + 1)) works"
    )


def permute_qk(weight: Tensor, num_heads: int, *, to: str, rotary_dim: int | None = None) -> Tensor:
    """Rows of a query or key projection moved between the two pairings; scores stay the same.

    weight: (num_heads * head_dim, in_features), or a bias (num_heads * head_dim,), any dtype; num_heads
    is the number of heads of *this* projection, so for grouped keys the number of key heads. to: the pairing
    that comes out, "half" (planes (i, i + d/2)) or "interleaved" (planes (2i, 2i + 1)), from the other one.
    Only the first `rotary_dim` (default: all) rows of a head are paired, the others stay. Moving there and
    back is the identity. Returns a new tensor. BadTensor or BadChoice name the argument that does not fit.
    """
    if isinstance(num_heads, bool) or not isinstance(num_heads, int) or num_heads < 1:
        raise BadTensor(f"num_heads is {num_heads!r}; the positive number of heads of this projection works")
    if not isinstance(weight, Tensor) or weight.layout != torch.strided or weight.is_nested:
        kind = (
            f"{'nested' if weight.is_nested else weight.layout} tensor"
            if isinstance(weight, Tensor)
            else type(weight).__name__
        )
        raise BadDtype(f"weight is a {kind}; a dense tensor of rows, or of a bias, works")
    if weight.ndim not in (1, 2) or weight.shape[0] % num_heads:
        raise BadTensor(
            f"weight has shape {tuple(weight.shape)}; ({num_heads} * head_dim, in_features) or a bias "
            f"({num_heads} * head_dim,) works (for grouped keys num_heads is the number of key heads)"
        )
    head_dim = weight.shape[0] // num_heads
    width = rotated_width(head_dim, rotary_dim)
    order = [*pair_order(width, to=to), *range(width, head_dim)]
    rows = weight.unflatten(0, (num_heads, head_dim))
    return rows[:, torch.tensor(order, device=weight.device)].flatten(0, 1)


__all__ = [
    "LAYOUTS",
    "heads_first",
    "join_pairs",
    "over_heads",
    "pair_order",
    "permute_qk",
    "rotated_width",
    "select",
    "split_pairs",
    "time_axis",
]
