"""The bias of a piece: slots if keys and queries stand on two sides of a centre, a mask if they are near."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from ..errors import TooLarge
from ..validation import compute_dtype
from .gap_bias import GapBias
from .groups import Group
from .pieces import Call, Piece
from .slots import Slots, slots


@dataclass(frozen=True)
class Term:
    """Slots and what they leave out, (N or 1, M or 1, 1, S); or a mask (N, M, 1, S, K)."""

    slots: Slots | None
    left_out: Tensor | float
    mask: Tensor | None


class Terms:
    """The terms of the pieces of a group; the last one of each shape is kept and taken again if it fits."""

    def __init__(self, call: Call, bias: GapBias, group: Group, q: Tensor) -> None:
        self.call, self.bias, self.group, self.dtype = call, bias, group, q.dtype
        self._heads = group.heads(q).shape[:2]
        self._known: dict[tuple[int, int, int], tuple[tuple[Tensor, ...], Term]] = {}

    def of(self, piece: Piece) -> Term:
        """The term of a piece."""
        gaps = self.times(piece) if piece.side else (self.gap(piece),)
        shape = (piece.rows.stop - piece.rows.start, piece.cols.stop - piece.cols.start, piece.side)
        known = self._known.get(shape)
        if known is None or not all(map(torch.equal, known[0], gaps)):
            known = gaps, (self._rectangle if piece.side else self._near)(*gaps)
            self._known[shape] = known
        given, (_, term) = self.call.mask, known
        return term if given is None or term.mask is None else self._masked(term.mask, given, piece)

    def times(self, piece: Piece) -> tuple[Tensor, Tensor]:
        """t - c and c - s in float64; both are negative for keys ahead, unless the bias is of |t - s|."""
        sign, centre = piece.side if self.call.symmetric else 1, piece.between
        t, s = self.group.query_ids[piece.rows], self.group.key_ids[piece.cols]
        return sign * (t - centre).double(), sign * (centre - s).double()

    def gap(self, piece: Piece) -> Tensor:
        """u in float64, (S, K)."""
        t, s = self.group.query_ids[piece.rows], self.group.key_ids[piece.cols]
        return (t[:, None] - s).double()

    def distance(self, gap: Tensor) -> Tensor:
        """u, or |u| for a symmetric bias."""
        return gap.abs() if self.call.symmetric else gap

    def _rectangle(self, here: Tensor, there: Tensor) -> Term:
        query, key = self.group.heads(self.bias.query(here)), self.group.heads(self.bias.key(there))
        found = slots(query / self.call.scale, key, self.dtype)
        return Term(found, self.group.heads(self.bias.row_constant(here))[:, :, None], None)

    def _near(self, gap: Tensor) -> Term:
        """The bias rounded once, -∞ for hidden pairs."""
        hidden = gap < 0 if self.call.causal else torch.zeros_like(gap, dtype=torch.bool)
        bias = self.group.heads(self.bias.at(self.distance(gap).masked_fill(hidden, 0.0)))
        rounded = bias.to(compute_dtype(self.dtype))
        if not bool(rounded.isfinite().all()):
            raise TooLarge(
                f"the bias reaches {float(bias.abs().max()):.4g}, beyond what {rounded.dtype} holds; fewer "
                "positions, a bias that grows less, or a wider dtype works"
            )
        mask = rounded.masked_fill(hidden, -math.inf)
        return Term(None, 0.0, mask.expand(*self._heads, -1, -1)[:, :, None])

    def _masked(self, mask: Tensor, given: Tensor, piece: Piece) -> Term:
        """A mask with the rows and columns of the caller's."""
        for axis, part in ((2, piece.rows), (3, piece.cols)):
            if given.shape[axis] > 1:
                given = given.narrow(axis, part.start, part.stop - part.start)
        given = self.group.heads(given)[:, :, None]
        hidden = mask.masked_fill(~given, -math.inf) if given.dtype == torch.bool else mask + given
        return Term(None, 0.0, hidden)


__all__ = ["Term", "Terms"]
