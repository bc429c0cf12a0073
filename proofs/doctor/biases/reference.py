"""Attention by a form in float64: weights, what is allowed beside them, and faults to compare with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ... import budget
from ..claims import Claims
from .form import Form, scales, turns
from .rules import allowed as slope_allowed


@dataclass(frozen=True)
class Attention:
    """form: of the logits. tiled: whether head h reads key head h % kv_heads. causal: what is hidden."""

    form: Form
    causal: bool
    tiled: bool = False

    def keys(self, k: Tensor, heads: int) -> Tensor:
        """The keys, or values, that each query head reads."""
        count = heads // len(k)
        return k.repeat(count, 1, 1) if self.tiled else k.repeat_interleave(count, 0)

    def weights(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        """softmax of the logits, and how far each lies below the largest of its row; (H, T, T)."""
        ids = torch.arange(q.shape[1])
        gap = (ids[:, None] - ids).double()
        logits = self.form.scale * self.form.product(q, self._read(q, k), ids, ids)
        if self.form.slopes is not None:
            distance = gap if self.causal else gap.abs()
            logits = logits - self.form.slopes[:, None, None] * distance
        if self.causal:
            logits = torch.where(gap < 0, -torch.inf, logits)
        weights = logits.softmax(-1)
        return weights, torch.where(weights > 0, logits.amax(-1, keepdim=True) - logits, 0.0)

    def allowed(self, q: Tensor, k: Tensor, claims: Claims) -> Tensor:
        """How far a right weight may be off: `attention_output` with unit vectors for values."""
        weights, gaps = self.weights(q, k)
        ids, dtype = torch.arange(q.shape[1]), claims.arithmetic
        error = self.form.allowed(q, self._read(q, k), ids, ids, dtype)
        if self.form.slopes is not None:
            slopes = self.form.slopes
            off = slope_allowed(len(slopes), slopes.abs(), claims.table)[:, None, None]
            t, s = ids.double()[:, None], ids.double()
            gap, reach = (t - s).abs(), torch.maximum(t + s, 2.0 * (len(ids) - 1) - t - s)
            error = error + budget.slope_bias(off, slopes.abs()[:, None, None], gap, reach, claims.table)
        values = torch.eye(weights.shape[-1], dtype=torch.float64)
        return budget.rounded(
            weights, budget.attention_output(weights, gaps, values, error, dtype), claims.dtype
        )

    def _read(self, q: Tensor, k: Tensor) -> Tensor:
        return self.keys(k, len(q))


def faults(right: Attention, claims: Claims) -> Iterator[tuple[str, Attention]]:
    """What goes wrong, each as the attention it gives."""
    form = right.form
    yield "kv heads tiled instead of repeated: head h reads h % kv_heads", replace(right, tiled=True)
    for words, value in scales(form, claims):
        yield words, replace(right, form=replace(form, scale=value))
    if form.slopes is not None:
        for words, factor in bias_faults(form):
            yield words, replace(right, form=replace(form, slopes=factor * form.slopes))
    if form.waves:
        for words, one in turns(form):
            yield words, replace(right, form=one)


def bias_faults(form: Form) -> Iterator[tuple[str, float]]:
    """What goes wrong with the size of a bias, as its factor."""
    yield "no bias at all", 0.0
    yield "the bias grows with distance: the minus is missing", -1.0
    yield "the bias is divided by √d together with the scores", form.plain
    yield "the bias is added after the scale, where it is claimed to be divided by √d too", 1 / form.plain
