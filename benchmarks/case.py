"""What all contestants share: the kind of a race, queries, keys, tables and memory; and who takes part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

from ..numeric.angles import exact_angles, frequency_tensor
from ..numeric.layout import join_pairs
from ..symbolic.frequencies import frequencies
from .budgets import Oracle, Policy

BASE = 10_000
HEAD_DIM = 128
Pair = tuple[Tensor, ...]  # queries and keys; and their gradients


@dataclass(frozen=True)
class Case:
    """A kind of race. group: "prefill", "decode", "training" or "growth"; tokens: of each sequence."""

    group: str
    dtype: torch.dtype
    interleaved: bool
    batch: int
    heads: int
    tokens: int

    @property
    def name(self) -> str:
        """Such as "prefill, float32, half-split"."""
        dtype = str(self.dtype).removeprefix("torch.")
        batch = f", batch {self.batch}" if self.group == "decode" else ""
        tokens = f", {self.tokens} tokens" if self.group == "growth" else ""
        return f"{self.group}{batch}{tokens}, {dtype}, {'interleaved' if self.interleaved else 'half-split'}"

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Of queries, and of keys: (batch, heads, tokens, head_dim)."""
        return self.batch, self.heads, self.tokens, HEAD_DIM

    @property
    def learns(self) -> bool:
        """Whether gradients of queries and keys are asked for, too."""
        return self.group == "training"


@dataclass(frozen=True)
class Contestant:
    """Someone who turns queries and keys, and the rules it is held to.

    kind: "limit" (a copy), "ours", "eager" (hand-written) or "peer". form: "out=", "in place", "fresh" or
    "forward + backward". run: gives (q, k), or with gradients (q, k, dq, dk). policy: what it rounds; None
    for those that only copy. back: what it rounds in gradients, if that is something else.
    """

    name: str
    kind: str
    form: str
    run: Callable[[], Pair]
    policy: Policy | None = None
    back: Policy | None = None


@dataclass(frozen=True)
class Absent:
    """Someone who does not take part, and why."""

    name: str
    kind: str
    reason: str


@dataclass(frozen=True)
class Stage:
    """The memory of one race: the same numbers for all, prepared before anybody is timed."""

    case: Case
    q: Tensor = field(repr=False)
    k: Tensor = field(repr=False)
    angle: Tensor = field(repr=False)  # ωt, float64: (tokens, pairs), or (batch, tokens, pairs)

    @staticmethod
    def of(case: Case) -> Stage:
        """Random numbers, and positions from 0 on; of decoding sequences, each somewhere else."""
        generator = torch.Generator().manual_seed(0)
        q, k = (torch.randn(case.shape, generator=generator).to(case.dtype) for _ in range(2))
        ids = torch.arange(case.tokens)
        if case.group == "decode":
            ids = torch.arange(case.batch)[:, None] * 61 % 4096 + 100
        angle = exact_angles(frequency_tensor(frequencies(BASE, HEAD_DIM)), ids)
        return Stage(case, q, k, angle)

    @cached_property
    def table(self) -> Pair:
        """(cos, sin) in float32, half width."""
        return self.angle.cos().float(), self.angle.sin().float()

    @cached_property
    def out(self) -> Pair:
        """Memory to write results into."""
        return torch.zeros_like(self.q), torch.zeros_like(self.k)

    @cached_property
    def own(self) -> Pair:
        """Copies of queries and keys, to be turned in place again and again: their lengths stay."""
        return self.q.clone(), self.k.clone()

    @cached_property
    def leaves(self) -> Pair:
        """Queries and keys that need a gradient."""
        return tuple(x.detach().requires_grad_() for x in (self.q, self.k))

    @cached_property
    def incoming(self) -> Pair:
        """Gradients of a loss with respect to the results."""
        generator = torch.Generator().manual_seed(1)
        return tuple(torch.randn(x.shape, generator=generator).to(x) for x in (self.q, self.k))

    @cached_property
    def wide(self) -> Tensor:
        """ωt in float64 for every coordinate, (batch or 1, tokens, head_dim)."""
        angle = self.angle if self.angle.ndim == 3 else self.angle[None]
        return join_pairs(angle, angle, self.case.interleaved)

    def refill(self) -> None:
        """Make what is turned in place equal to the queries and keys again."""
        for own, x in zip(self.own, (self.q, self.k), strict=True):
            own.copy_(x)

    def clear(self) -> None:
        """Leave nothing of earlier results in the memory for results."""
        for out in self.out:
            out.fill_(torch.nan)

    def oracles(self) -> tuple[Oracle, ...]:
        """What results are compared with: of q, k, and of their gradients, which turn back."""
        angle = (self.angle if self.angle.ndim == 3 else self.angle[None])[:, None]
        pairing = self.case.interleaved
        turned = [Oracle(x, angle, pairing) for x in (self.q, self.k)]
        if self.case.learns:
            turned += [Oracle(x, angle, pairing, inverse=True) for x in self.incoming]
        return tuple(turned)


def with_gradients(stage: Stage, turn: Callable[[Tensor, Tensor], Pair]) -> Callable[[], Pair]:
    """(q, k, dq, dk): forward, and backward from the stage's gradients."""

    def run() -> Pair:
        y = turn(*stage.leaves)
        return (*y, *torch.autograd.grad(y, stage.leaves, stage.incoming))

    return run


__all__ = ["Absent", "Case", "Contestant", "Pair", "Stage", "with_gradients"]
