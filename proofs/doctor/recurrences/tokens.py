"""Tokens of a recurrence, what they should give in float64, and how far a form may be off."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ....numeric.reference import linear_attention
from ... import budget

NORMALISERS = {
    "": "not normalised",
    "root": "divided by the root of the sum of decays",
    "sum": "divided by the sum of decays",
}


@dataclass(frozen=True)
class Tokens:
    """q, k (batch, heads, T, dk), v (batch, heads, T, dv), log_decay (heads,) or (batch, heads, T)."""

    q: Tensor
    k: Tensor
    v: Tensor
    log_decay: Tensor

    @property
    def time(self) -> int:
        """Tokens."""
        return self.q.shape[2]

    def rows(self, part: slice) -> Tokens:
        """Some rows of the batch."""
        gates = self.log_decay if self.log_decay.ndim == 1 else self.log_decay[part]
        return Tokens(self.q[part], self.k[part], self.v[part], gates)

    def until(self, time: int) -> Tokens:
        """The first tokens."""
        gates = self.log_decay if self.log_decay.ndim == 1 else self.log_decay[:, :, :time]
        return Tokens(self.q[:, :, :time], self.k[:, :, :time], self.v[:, :, :time], gates)


@dataclass(frozen=True)
class Convention:
    """scale: of every output; normaliser: "", "root" or "sum" of Σ_s e^{lag}."""

    scale: float
    normaliser: str


def tokens(time: int, heads: int, dk: int, gated: bool, dtype: str = "float32") -> Tokens:
    """Random tokens; decays of RetNet's schedule, 1 - 2^(-5-h), or a gate in (-1, 0) for every token."""
    random = torch.Generator().manual_seed(13)
    form = getattr(torch, dtype)
    q, k = (torch.randn(2, heads, time, dk, generator=random).to(form) for _ in range(2))
    v = torch.randn(2, heads, time, dk - 2 if dk > 3 else dk + 1, generator=random).to(form)
    fixed = torch.log1p(-(2.0 ** -(5.0 + torch.arange(heads))))
    return Tokens(q, k, v, -torch.rand(2, heads, time, generator=random) if gated else fixed)


def right(given: Tokens, convention: Convention) -> Tensor:
    """What the convention gives, float64."""
    out, _ = linear_attention(given.q, given.k, given.v, given.log_decay, scale=convention.scale)
    return out / _divisor(given, convention)


def _divisor(given: Tokens, convention: Convention) -> Tensor | float:
    """(…, T, 1)."""
    if not convention.normaliser:
        return 1.0
    ones = torch.ones_like(given.q[..., :1])
    sums, _ = linear_attention(ones, ones, ones, given.log_decay)
    return sums.sqrt() if convention.normaliser == "root" else sums


def allowed(given: Tokens, convention: Convention, dtype: str) -> Tensor:
    """How far each output may be off in any form, a chunk of one token the coarsest; shape of out."""
    sizes = replace(given, q=given.q.abs(), k=given.k.abs(), v=given.v.abs())
    drift = budget.step_error("recurrent", 1, dtype)
    plain = Convention(convention.scale, "")
    sums = right(sizes, plain)
    raised = right(replace(sizes, log_decay=given.log_decay.double() + drift), plain)
    roundings = budget.recurrence_roundings("parallel", given.q.shape[-1], given.time, 1)
    off = budget.recurred(sums, raised, roundings, 0.0, dtype)
    divisor = _divisor(given, convention)
    if convention.normaliser:  # the divisor is a sum of T weights; root and quotient round once each
        off = off + (budget.gamma(given.time + 4, dtype) + drift * given.time) * (sums + off)
    return budget.rounded((sums / divisor).abs(), off / divisor, dtype)
