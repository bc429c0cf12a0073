"""What several reports share: RoPE as people write it in plain torch, and subjects around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from exptx.proofs import Claims, Subject, rope
from torch import Tensor

GITHUB = "https://github.com/"
DIM = 32
Turn = Callable[..., Any]


def issue(repository: str, number: int) -> str:
    """The link of an issue."""
    return f"{GITHUB}{repository}/issues/{number}"


def pull(repository: str, number: int) -> str:
    """The link of a pull request."""
    return f"{GITHUB}{repository}/pull/{number}"


def inv_freq(base: float = 10000.0, width: int = DIM, denominator: int | None = None) -> Tensor:
    """w_i = base^(-2i/denominator), i below width/2."""
    return 1.0 / base ** (torch.arange(0, width, 2).float() / (denominator or width))


def turn(x: Tensor, cos: Tensor, sin: Tensor, interleaved: bool = False) -> Tensor:
    """x0 c - x1 s, x0 s + x1 c on the first 2 * cos.shape[-1] features; the others as they are."""
    width = 2 * cos.shape[-1]
    head, tail = x[..., :width], x[..., width:]
    x0, x1 = (head[..., ::2], head[..., 1::2]) if interleaved else head.chunk(2, -1)
    y0, y1 = x0 * cos - x1 * sin, x0 * sin + x1 * cos
    y = torch.stack((y0, y1), -1).flatten(-2) if interleaved else torch.cat((y0, y1), -1)
    return torch.cat((y, tail), -1).to(x.dtype)


def angles(position_ids: Tensor, frequencies: Tensor) -> Tensor:
    """Position times frequency in float32: (batch, 1, time, pairs)."""
    return position_ids[:, None, :, None].float() * frequencies


def rotary(frequencies: Tensor | None = None, interleaved: bool = False) -> Turn:
    """A right kernel (x, position_ids) -> y."""
    w = inv_freq() if frequencies is None else frequencies

    def rotate(x: Tensor, position_ids: Tensor) -> Tensor:
        angle = angles(position_ids, w)
        return turn(x, angle.cos(), angle.sin(), interleaved)

    return rotate


def half(**changes: Any) -> Claims:
    """What most say: base 10000, half-split."""
    given: dict[str, Any] = {"encoding": rope(10000.0, DIM, interleaved=False), "head_dim": DIM}
    return Claims(**{**given, **changes})


def kernel(apply: Turn, claims: Claims | None = None, **more: Any) -> Subject:
    """A rotary subject."""
    return Subject(apply, "rotary", claims or half(), **more)


def both(apply: Turn) -> Turn:
    """(q, k, position_ids) from a kernel of one tensor."""

    def rotate(q: Tensor, k: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        return apply(q, position_ids), apply(k, position_ids)

    return rotate
