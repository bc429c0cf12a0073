"""Attention with a bias of the gap in memory linear in time: piece by piece, the bias in slots of q and k.

The bias is never formed for all pairs. slots.py says how accurate this is, pieces.py which pairs go together.
"""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn.functional import pad

from ..validation import compute_dtype
from .fused import Part, attend, gradients, join, logit_gradients
from .gap_bias import GapBias, Slide
from .groups import Group, groups
from .pieces import Call, pieces
from .slots import Slots, width
from .stacks import Stack, stacks
from .terms import Terms


class Longer:
    """q, k and v of a group with room for slots, all of one width as the kernel wants them.

    As they are where there are no slots and v is as wide as q.
    """

    def __init__(
        self, terms: Terms, given: list[Stack], q: Tensor, k: Tensor, v: Tensor, probe: bool
    ) -> None:
        group, head_dim = terms.group, q.shape[-1]
        self.longer = any(stack.piece.side for stack in given)
        last = head_dim + self.longer * width(terms.bias.coordinates, q.dtype)
        self.slots, self.width = slice(head_dim, last), max(head_dim, v.shape[-1])
        if self.longer:
            self.width = math.ceil(max(last + probe, v.shape[-1]) / 8) * 8
        self.q, self.k, self.v = (self.wide(x) for x in (group.heads(q), group.keys(k), group.keys(v)))
        if self.longer and terms.bias.keys_by_head and self.k.shape[1] < self.q.shape[1]:
            self.k = self.k.repeat(1, self.q.shape[1], 1, 1)
        if self.longer and probe:  # beside zeros in q, whose gradient is the sum of those of the logits
            self.k[..., last] = 1.0

    def wide(self, x: Tensor) -> Tensor:
        """x with zeros up to the common width; without a copy if it has it."""
        missing = self.width - x.shape[-1]
        return pad(x, (0, missing)) if missing else x if x.stride(-1) == 1 else x.contiguous()

    def put(self, stack: Stack, found: Slots | None) -> tuple[Tensor, Tensor, Tensor]:
        """q, k, v of the pieces, (N, M, count, …), with these slots, or with none."""
        q, k, v = stack.rows(self.q), stack.cols(self.k), stack.cols(self.v)
        if found is not None:
            q[..., self.slots], k[..., self.slots] = found.query[:, :, None], found.key[:, :, None]
        elif self.longer:
            q[..., self.slots] = 0.0
        every = (-1, q.shape[1], -1, -1, -1)
        return q, k.expand(every), v.expand(every)


class Gradients:
    """The sums over all pieces, in the dtype of the arithmetic; those of slopes in float64, (1 or B, H)."""

    def __init__(self, q: Tensor, k: Tensor, v: Tensor, slide: Slide | None) -> None:
        self.q, self.k, self.v = (torch.zeros_like(x, dtype=compute_dtype(x.dtype)) for x in (q, k, v))
        self.slopes = None if slide is None else torch.zeros_like(slide.slopes)

    def add(
        self, terms: Terms, longer: Longer, stack: Stack, gradient: Tensor, out: Tensor, log_sum: Tensor
    ) -> None:
        """Add what a stack of pieces contributes, given the rows of ∂o, o and ℓ of the whole."""
        term = terms.of(stack.piece)
        part = Part(*longer.put(stack, term.slots), term.mask, terms.call.scale)
        given = (part, gradient, out, log_sum - term.left_out)
        of_q, of_k, of_v = gradients(*given)
        group = terms.group
        into = stack.rows(group.heads(self.q))
        into += of_q[..., : self.q.shape[-1]]
        for total, own in ((self.k, of_k), (self.v, of_v)):
            into = stack.cols(group.keys(total))
            into += own[..., : total.shape[-1]].to(total.dtype).sum_to_size(into.shape)
        if self.slopes is None:
            return
        if term.slots is None:
            of_slopes = -logit_gradients(*given, terms.distance(terms.gap(stack.piece)))
        else:
            here = terms.times(stack.piece)[0]
            of_slopes = _of_slopes(term.slots, of_q[..., longer.slots.start :], here) / terms.call.scale
        into = group.heads(self.slopes)
        into += of_slopes.sum_to_size(into.shape)


def _of_slopes(found: Slots, of_slots: Tensor, here: Tensor) -> Tensor:
    """-σ Σ ∂logit (here + (c - s)) over a rectangle, here = t - c; from the query slots, then the probe."""
    own = found.query.shape[-1]
    of_query, of_row = found.leading(of_slots[..., :own])[..., 0], of_slots[..., own].double()
    return -(of_query + of_row * here).sum((-2, -1))


def attention_forward(q: Tensor, k: Tensor, v: Tensor, bias: GapBias, call: Call) -> tuple[Tensor, Tensor]:
    """(out, ℓ): softmax(scale q·k + b(t - s)) v in the dtype of q, and the logarithms of the normalisers."""
    call = replace(call, scale=_kernel_scale(call.scale, q.dtype))
    out = v.new_zeros(*q.shape[:3], v.shape[-1], dtype=compute_dtype(q.dtype))
    log_sum = q.new_full(q.shape[:3], -math.inf, dtype=torch.float64)
    for group in groups(call, bias, q, k):
        total, totals, terms = group.heads(out), group.heads(log_sum), Terms(call, bias, group, q)
        given = _stacks(group, call)
        longer = Longer(terms, given, q, k, v, probe=False)
        for stack in given:
            term = terms.of(stack.piece)
            part, part_log_sum = attend(Part(*longer.put(stack, term.slots), term.mask, call.scale))
            join(
                stack.rows(total), stack.rows(totals), part[..., : v.shape[-1]], part_log_sum + term.left_out
            )
    return out.to(q.dtype), log_sum


def attention_backward(
    gradient: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor,
    log_sum: Tensor,
    bias: GapBias,
    call: Call,
    probe: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """Gradients of q, k, v, and with `probe` of the slopes of a slide, float64, shaped as bias.slopes."""
    call = replace(call, scale=_kernel_scale(call.scale, q.dtype))
    sums = Gradients(q, k, v, bias if probe and isinstance(bias, Slide) else None)
    for group in groups(call, bias, q, k):
        terms, given = Terms(call, bias, group, q), _stacks(group, call)
        longer = Longer(terms, given, q, k, v, probe)
        whole = [longer.wide(group.heads(x)) for x in (gradient, out)] + [group.heads(log_sum)]
        for stack in given:
            sums.add(terms, longer, stack, *map(stack.rows, whole))
    return sums.q.to(q.dtype), sums.k.to(k.dtype), sums.v.to(v.dtype), sums.slopes


def _stacks(group: Group, call: Call) -> list[Stack]:
    found = pieces(group.query_ids, group.key_ids, call, group.reach)
    return stacks(group.query_ids, group.key_ids, found)


def _kernel_scale(scale: float, dtype: torch.dtype) -> float:
    """The scale as the kernel has it: rounded to the dtype of its sums."""
    return torch.tensor(scale, dtype=compute_dtype(dtype)).item()


__all__ = ["attention_backward", "attention_forward"]
