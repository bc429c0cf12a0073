"""Biases b(u) of the gap u = t - s as Σ_r Q_r(t - c) K_r(c - s) + r(t - c), in float64, for every head.

Two kinds: the slide -m u of learnable slopes, and any realisation cᵀ exp(uX) v.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp
import torch
from torch import Tensor
from torch.nn.functional import pad

from ..symbolic.generator import Generator
from ..symbolic.realization import Realization, Slots
from .constants import nearest_float
from .flow import transport


class GapBias(ABC):
    """b(u) of the heads; factors are read at times on one side of a centre, so nothing cancels in them."""

    @property
    @abstractmethod
    def coordinates(self) -> int:
        """How many Q_r."""

    @property
    @abstractmethod
    def keys_by_head(self) -> bool:
        """Whether K_r differs between heads."""

    @abstractmethod
    def query(self, time: Tensor) -> Tensor:
        """Q_r(t - c): (S,) to (B or 1, H or 1, S, coordinates)."""

    @abstractmethod
    def key(self, time: Tensor) -> Tensor:
        """K_r(c - s): (K,) to (1, H or 1, K, coordinates)."""

    @abstractmethod
    def row_constant(self, time: Tensor) -> Tensor:
        """r(t - c): (S,) to (B or 1, H or 1, S)."""

    @abstractmethod
    def at(self, gap: Tensor) -> Tensor:
        """b(u): (S, K) to (B or 1, H or 1, S, K)."""


@dataclass(frozen=True)
class Slide(GapBias):
    """-m u = -m (t - c) - m (c - s); slopes: m in float64, (1 or B, H)."""

    slopes: Tensor

    @property
    def coordinates(self) -> int:
        """1: what depends on the query alone is the row constant."""
        return 1

    @property
    def keys_by_head(self) -> bool:
        """Positions are those of all heads."""
        return False

    def query(self, time: Tensor) -> Tensor:
        """-m, for every query."""
        return -self.slopes[..., None, None].expand(-1, -1, len(time), -1)

    def key(self, time: Tensor) -> Tensor:
        """c - s."""
        return time[None, None, :, None]

    def row_constant(self, time: Tensor) -> Tensor:
        """-m (t - c)."""
        return -self.slopes[..., None] * time

    def at(self, gap: Tensor) -> Tensor:
        """-m u."""
        return -self.slopes[..., None, None] * gap


@dataclass(frozen=True)
class Realized(GapBias):
    """cᵀ exp(uX) v with Q = exp((t-c)X)ᵀ c and K = exp((c-s)X) v; one for all heads, or one each."""

    heads: tuple[Slots, ...]

    @classmethod
    def of(cls, realizations: Sequence[Realization]) -> Realized:
        """Of realisations that have a flow; those that have none say so."""
        return cls(tuple(realization.slots(1) for realization in realizations))

    @property
    def coordinates(self) -> int:
        """The most that a head needs."""
        return max(head.width for head in self.heads)

    @property
    def keys_by_head(self) -> bool:
        """Each head has its own flow, or all have one."""
        return len(self.heads) > 1

    def query(self, time: Tensor) -> Tensor:
        """exp((t-c)X)ᵀ c without the dropped coordinate."""
        return self._padded([_moved(head.flow, head.c, time, transpose=True) for head in self.heads])

    def key(self, time: Tensor) -> Tensor:
        """exp((c-s)X) v without the dropped coordinate."""
        return self._padded([_moved(head.flow, head.v, time) for head in self.heads])

    def row_constant(self, time: Tensor) -> Tensor:
        """The dropped coordinate of exp((t-c)X)ᵀ c, whose key is 1."""
        rows = [
            torch.zeros_like(time)
            if head.dropped is None
            else _moved(head.flow, head.c, time, transpose=True)[:, head.dropped]
            for head in self.heads
        ]
        return torch.stack(rows)[None]

    def at(self, gap: Tensor) -> Tensor:
        """cᵀ exp(uX) v, once for each different gap."""
        found, place = gap.unique(return_inverse=True)
        values = [_moved(head.flow, head.v, found) @ _floats(head.c, gap) for head in self.heads]
        return torch.stack([value[place] for value in values])[None]

    def _padded(self, columns: list[Tensor]) -> Tensor:
        """(T, dim) of each head, without its dropped coordinate, as (1, H or 1, T, coordinates)."""
        kept = [
            column[:, [i for i in range(column.shape[1]) if i != head.dropped]]
            for head, column in zip(self.heads, columns, strict=True)
        ]
        return torch.stack([pad(column, (0, self.coordinates - column.shape[1])) for column in kept])[None]


def _floats(column: sp.MatrixBase, like: Tensor) -> Tensor:
    return torch.tensor([nearest_float(x) for x in column], dtype=torch.float64, device=like.device)


def _moved(flow: Generator, column: sp.MatrixBase, time: Tensor, *, transpose: bool = False) -> Tensor:
    """exp(tX) column, or exp(tX)ᵀ column, for every time, (T, dim)."""
    rows = _floats(column, time).expand(1, 1, len(time), -1)
    return transport(rows, flow, time, transpose=transpose)[0, 0]


__all__ = ["GapBias", "Realized", "Slide"]
