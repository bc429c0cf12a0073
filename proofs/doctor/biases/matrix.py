"""Calls of a bias in one form; gaps, visible keys, and rows without their constant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ..call import called, shown
from ..failed import Failed
from ..subject import Subject

SQUARE = 48
PARTS = ((1, 17), (5, 17), (1, 2), (16, 48))


@dataclass(frozen=True)
class Biases:
    """Each bias float64, (heads, Tq, Tk); parts by (Tq, Tk)."""

    square: Tensor
    parts: dict[tuple[int, int], Tensor]

    @property
    def heads(self) -> int:
        """How many heads it has."""
        return self.square.shape[0]

    def all(self) -> dict[tuple[int, int], Tensor]:
        """The square and the parts."""
        rows, keys = self.square.shape[-2:]
        return {(rows, keys): self.square, **self.parts}


def read(given: Subject) -> Biases:
    """A square first, then decoding steps and chunks, one as long as is claimed; or Failed."""
    size = min(SQUARE, given.claims.longest)
    square = bias_of(given, given.apply, size, size)
    wanted = [part for part in PARTS if part[1] <= size] + [(1, given.claims.longest)]
    return Biases(square, {part: bias_of(given, given.apply, *part) for part in wanted})


def bias_of(given: Subject, apply: Callable[..., Any], rows: int, keys: int, heads: int | None = 0) -> Tensor:
    """One bias, (heads, rows, keys) in float64; one row for all is all rows. heads: None for any number."""
    found = called(apply, rows, keys)
    wanted = given.claims.heads if heads == 0 else heads
    if not isinstance(found, Tensor) or not found.is_floating_point() or found.ndim not in (3, 4):
        raise Failed(f"returned {shown(found)}; ({wanted}, {rows}, {keys}) was expected")
    lowest = torch.finfo(found.dtype).min / 2
    bias = found.detach().to("cpu", torch.float64)
    bias = torch.where(bias <= lowest, -torch.inf, bias)
    bias = bias[0] if bias.ndim == 4 and bias.shape[0] == 1 else bias
    fits = bias.ndim == 3 and bias.shape[1] in (1, rows) and bias.shape[2] == keys
    if not fits or (wanted is not None and bias.shape[0] != wanted):
        raise Failed(f"returned {shown(found)}; ({wanted}, {rows}, {keys}) was expected")
    if bool(bias.isnan().any()) or bool(bias.isposinf().any()):
        raise Failed("returned numbers that are not finite")
    return bias.expand(-1, rows, -1)


def gaps(bias: Tensor) -> Tensor:
    """t - s of every pair, (Tq, Tk)."""
    rows, keys = bias.shape[-2:]
    return (keys - rows + torch.arange(rows).double()[:, None]) - torch.arange(keys).double()


def visible(bias: Tensor, causal: bool) -> Tensor:
    """The pairs that count, shaped as the bias."""
    return (gaps(bias) >= 0).expand_as(bias) if causal else torch.ones_like(bias, dtype=torch.bool)


def seen(bias: Tensor) -> Tensor:
    """b(i, j) - b(i, j0), j0 the key where the query stands."""
    rows, keys = bias.shape[-2:]
    own = torch.arange(rows)[:, None] + keys - rows
    return bias - bias.gather(-1, own.expand(*bias.shape[:-1], 1))
