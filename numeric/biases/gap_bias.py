"""Biases b(u) of the gap u = t - s as Σ_r Q_r(t - c) K_r(c - s) + r(t - c), in float64, for every head.

Two kinds: the slide -m u of learnable slopes, and any realisation cᵀ exp(uX) v.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import sympy as sp
import torch
from torch import Tensor
from torch.nn.functional import pad

from ...symbolic.realization import Realization
from ..constants import nearest_float
from ..errors import NotLowered, TooLarge
from ..flow import transport
from .steps import stepped


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
    """cᵀ A^u v, A = exp(X) or a step: Q = (A^{t-c})ᵀ c and K = A^{c-s} v; one for all heads, or one each."""

    heads: tuple[Realization, ...]

    @property
    def coordinates(self) -> int:
        """The most that a head needs."""
        return max(len(_kept(head)) for head in self.heads)

    @property
    def keys_by_head(self) -> bool:
        """Each head has its own flow, or all have one."""
        return len(self.heads) > 1

    def query(self, time: Tensor) -> Tensor:
        """(A^{t-c})ᵀ c without the dropped coordinate."""
        return self._padded([_moved(head, head.c, time, transpose=True) for head in self.heads])

    def key(self, time: Tensor) -> Tensor:
        """A^{c-s} v without the dropped coordinate."""
        return self._padded([_moved(head, head.v, time) for head in self.heads])

    def row_constant(self, time: Tensor) -> Tensor:
        """The dropped coordinate of (A^{t-c})ᵀ c, whose key is 1."""
        rows = [
            torch.zeros_like(time)
            if head.dropped is None
            else _moved(head, head.c, time, transpose=True)[:, head.dropped]
            for head in self.heads
        ]
        return torch.stack(rows)[None]

    def at(self, gap: Tensor) -> Tensor:
        """cᵀ A^u v, once for each different gap."""
        found, place = gap.unique(return_inverse=True)
        values = [_moved(head, head.v, found) @ _floats(head.c, gap) for head in self.heads]
        return torch.stack([value[place] for value in values])[None]

    def _padded(self, columns: list[Tensor]) -> Tensor:
        """(T, dim) of each head, without its dropped coordinate, as (1, H or 1, T, coordinates)."""
        kept = [column[:, _kept(head)] for head, column in zip(self.heads, columns, strict=True)]
        return torch.stack([pad(column, (0, self.coordinates - column.shape[1])) for column in kept])[None]


def _kept(head: Realization) -> list[int]:
    """The coordinates that take slots."""
    return [i for i in range(head.c.rows) if i != head.dropped]


def _floats(column: sp.MatrixBase, like: Tensor) -> Tensor:
    return torch.tensor([nearest_float(x) for x in column], dtype=torch.float64, device=like.device)


def _moved(head: Realization, column: sp.MatrixBase, time: Tensor, *, transpose: bool = False) -> Tensor:
    """A^t column, or its transpose's, for every time, (T, dim): by the flow, or step by step without one."""
    rows = _floats(column, time)
    if not column.rows:
        return time.new_zeros(len(time), 0)
    if head.generator is None:
        if head.step is None:
            raise NotLowered("bias has neither a flow nor a step; what realize() answers has one")
        return stepped(head.step.T if transpose else head.step, rows, time)
    try:
        every = rows.expand(1, 1, len(time), -1)
        return transport(every, head.generator, time, transpose=transpose)[0, 0]
    except TooLarge as error:
        raise TooLarge(
            "the bias grows beyond float64 at such gaps; fewer positions work, or, if it grows ahead of the "
            "query only, causal=True or symmetric=True"
        ) from error


__all__ = ["GapBias", "Realized", "Slide"]
