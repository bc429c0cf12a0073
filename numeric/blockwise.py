"""Attention with a bias of the gap in memory linear in time: piece by piece, the bias in slots of q and k.

The bias is never formed for all pairs. slots.py says how accurate this is, pieces.py which pairs go together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import pad

from .fused import attend, gradients, join, logit_gradients
from .gap_bias import GapBias, Slide
from .groups import Group, groups
from .pieces import Piece, pieces
from .slots import Slots, slots, width
from .validation import compute_dtype


@dataclass(frozen=True)
class Call:
    """What all pieces share.

    query_ids: (1 or B, Tq); key_ids: (1 or B, Tk), int64 or float64; symmetric: b(|u|); mask: booleans or
    floats, (1 or B, 1 or H, 1 or Tq, 1 or Tk), or None.
    """

    query_ids: Tensor
    key_ids: Tensor
    causal: bool
    symmetric: bool
    scale: float
    mask: Tensor | None


@dataclass(frozen=True)
class Term:
    """The bias of a piece: slots and what they leave out, (N or 1, M or 1, S), or a mask (N, M, S, K)."""

    slots: Slots | None
    left_out: Tensor | float
    mask: Tensor | None


class Terms:
    """The bias of every piece of a group."""

    def __init__(self, call: Call, bias: GapBias, group: Group, q: Tensor) -> None:
        self.call, self.bias, self.group, self.dtype = call, bias, group, q.dtype
        self.heads = group.heads(q).shape[:2]
        self._last: tuple[Tensor, Tensor] | None = None

    def of(self, piece: Piece) -> Term:
        """Slots for a rectangle, a mask for what is near."""
        if piece.side == 0:
            return Term(None, 0.0, self._mask(piece).expand(*self.heads, -1, -1))
        here, there = self.times(piece)
        query, key = self.group.heads(self.bias.query(here)), self.group.heads(self.bias.key(there))
        found = slots(query / self.call.scale, key, self.dtype)
        return Term(found, self.group.heads(self.bias.row_constant(here)), None)

    def times(self, piece: Piece) -> tuple[Tensor, Tensor]:
        """t - c and c - s in float64; both are negative for keys ahead, unless the bias is of |t - s|."""
        sign = piece.side if self.call.symmetric else 1
        t, s = self.group.query_ids[piece.rows], self.group.key_ids[piece.cols]
        return sign * (t - piece.centre).double(), sign * (piece.centre - s).double()

    def gap(self, piece: Piece) -> Tensor:
        """u in float64, (S, K)."""
        t, s = self.group.query_ids[piece.rows], self.group.key_ids[piece.cols]
        return (t[:, None] - s).double()

    def distance(self, gap: Tensor) -> Tensor:
        """u, or |u| for a symmetric bias."""
        return gap.abs() if self.call.symmetric else gap

    def _mask(self, piece: Piece) -> Tensor:
        """The bias of what is near, rounded once, (N or 1, M or 1, S, K); -∞ for hidden pairs."""
        gap = self.gap(piece)
        if self._last is None or not torch.equal(gap, self._last[0]):  # alike all along evenly spaced tokens
            self._last = gap, self._formed(gap)
        formed, given = self._last[1], self.call.mask
        if given is None:
            return formed
        for axis, part in ((2, piece.rows), (3, piece.cols)):
            given = given if given.shape[axis] == 1 else given.narrow(axis, part.start, part.stop - part.start)
        given = self.group.heads(given)
        return formed.masked_fill(~given, -math.inf) if given.dtype == torch.bool else formed + given

    def _formed(self, gap: Tensor) -> Tensor:
        hidden = gap < 0 if self.call.causal else torch.zeros_like(gap, dtype=torch.bool)
        bias = self.bias.at(self.distance(gap).masked_fill(hidden, 0.0))
        return self.group.heads(bias).masked_fill(hidden, -math.inf).to(compute_dtype(self.dtype))


class Longer:
    """q, k and v of a group with room for slots, all of one width as the kernel wants them."""

    def __init__(self, terms: Terms, q: Tensor, k: Tensor, v: Tensor, probe: bool = False) -> None:
        group, head_dim = terms.group, q.shape[-1]
        self.slots = slice(head_dim, head_dim + width(terms.bias.coordinates, q.dtype))
        self.width = math.ceil(max(self.slots.stop + probe, v.shape[-1]) / 8) * 8
        self.q, self.k, self.v = (self.wide(x) for x in (group.heads(q), group.keys(k), group.keys(v)))
        if terms.bias.keys_by_head and self.k.shape[1] < self.q.shape[1]:
            self.k = self.k.repeat(1, self.q.shape[1], 1, 1)
        if probe:  # a slot of zeros in q: its gradient is the sum of those of the logits
            self.k[..., self.slots.stop] = 1.0

    def wide(self, x: Tensor) -> Tensor:
        """x with zeros up to the common width."""
        return pad(x, (0, self.width - x.shape[-1]))

    def put(self, piece: Piece, found: Slots | None) -> tuple[Tensor, Tensor, Tensor]:
        """q, k, v of the piece, (N, M, …), with these slots, or with none."""
        q, k, v = self.q[:, :, piece.rows], self.k[:, :, piece.cols], self.v[:, :, piece.cols]
        q[..., self.slots] = 0.0 if found is None else found.query
        if found is not None:
            k[..., self.slots] = found.key
        return q, *(x.expand(-1, q.shape[1], -1, -1) for x in (k, v))


class Gradients:
    """The sums over all pieces, in the dtype of the arithmetic; those of slopes in float64, (1 or B, H)."""

    def __init__(self, q: Tensor, k: Tensor, v: Tensor, slide: Slide | None) -> None:
        self.q, self.k, self.v = (torch.zeros_like(x, dtype=compute_dtype(x.dtype)) for x in (q, k, v))
        self.slopes = None if slide is None else torch.zeros_like(slide.slopes)

    def add(
        self, terms: Terms, longer: Longer, piece: Piece, gradient: Tensor, out: Tensor, log_sum: Tensor
    ) -> None:
        """Add what one piece contributes, given the rows of ∂o, o and ℓ of the whole."""
        term = terms.of(piece)
        inputs = longer.put(piece, term.slots)
        given = (gradient, *inputs, out, log_sum - term.left_out, term.mask, terms.call.scale)
        of_q, of_k, of_v = gradients(*given)
        group = terms.group
        group.heads(self.q)[:, :, piece.rows] += of_q[..., : self.q.shape[-1]]
        for total, part in ((self.k, of_k), (self.v, of_v)):
            into = group.keys(total)[:, :, piece.cols]
            into += part[..., : total.shape[-1]].to(total.dtype).sum_to_size(into.shape)
        if self.slopes is None:
            return
        if term.slots is None:
            of_slopes = -(logit_gradients(*given) * terms.distance(terms.gap(piece))).sum((-2, -1))
        else:
            of_slopes = _of_slopes(terms, piece, term.slots, of_q[..., longer.slots.start :])
        into = group.heads(self.slopes)
        into += of_slopes.sum_to_size(into.shape)


def _of_slopes(terms: Terms, piece: Piece, found: Slots, of_slots: Tensor) -> Tensor:
    """-Σ ∂logit ((t - c) + (c - s)) over a rectangle, (N, M): from the query slots, then from the probe."""
    scale, (here, _) = terms.call.scale, terms.times(piece)
    own = found.query.shape[-1]
    of_query, of_row = found.leading(of_slots[..., :own])[..., 0], of_slots[..., own].double()
    return -(of_query + of_row * here).sum(-1) / scale


class Blockwise(torch.autograd.Function):
    """softmax(scale q·k + b(t - s)) v of a `Call`; gradients of q, k, v, and of the slopes of a slide."""

    @staticmethod
    def forward(
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, slopes: Tensor | None, bias: GapBias, call: Call
    ) -> Tensor:
        out = v.new_zeros(*q.shape[:3], v.shape[-1], dtype=compute_dtype(q.dtype))
        log_sum = q.new_full(q.shape[:3], -math.inf, dtype=torch.float64)
        for group in groups(call.query_ids, call.key_ids, q, k):
            terms = Terms(call, bias, group, q)
            longer = Longer(terms, q, k, v)
            into = group.heads(out), group.heads(log_sum)
            for piece in pieces(group.query_ids, group.key_ids, call.causal, call.mask is None):
                term = terms.of(piece)
                part, part_log_sum = attend(*longer.put(piece, term.slots), term.mask, call.scale)
                join(
                    *(x[:, :, piece.rows] for x in into),
                    part[..., : v.shape[-1]],
                    part_log_sum + term.left_out,
                )
        out = out.to(q.dtype)
        ctx.save_for_backward(q, k, v, out, log_sum)
        ctx.bias, ctx.call, ctx.slopes = bias, call, slopes
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, out, log_sum = ctx.saved_tensors
        probe = ctx.needs_input_grad[3]
        sums = Gradients(q, k, v, ctx.bias if probe else None)
        for group in groups(ctx.call.query_ids, ctx.call.key_ids, q, k):
            terms = Terms(ctx.call, ctx.bias, group, q)
            longer = Longer(terms, q, k, v, probe)
            whole = [longer.wide(group.heads(x)) for x in (gradient, out)] + [group.heads(log_sum)]
            for piece in pieces(group.query_ids, group.key_ids, ctx.call.causal, ctx.call.mask is None):
                sums.add(terms, longer, piece, *(x[:, :, piece.rows] for x in whole))
        slopes = sums.slopes.reshape(ctx.slopes.shape).to(ctx.slopes.dtype) if probe else None
        return sums.q.to(q.dtype), sums.k.to(k.dtype), sums.v.to(v.dtype), slopes, None, None


__all__ = ["Blockwise", "Call"]
