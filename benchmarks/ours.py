"""Contestants of this project, and the limit: copying queries and keys without turning them."""

from __future__ import annotations

from collections.abc import Callable

import torch

from ..numeric.rotary import rotary_embedding, rotary_embedding_qk
from .budgets import Policy
from .case import Contestant, Pair, Stage, with_gradients

POLICY = Policy(table=torch.float32, arithmetic=torch.float32)  # and one rounding of the result


def copies(stage: Stage) -> list[Contestant]:
    """Into memory that is there, and into memory that the system has to give."""

    def copy() -> Pair:
        return tuple(y.copy_(x) for x, y in zip((stage.q, stage.k), stage.out, strict=True))

    return [
        Contestant("copy", "limit", "out=", copy),
        Contestant("clone", "limit", "fresh", lambda: (stage.q.clone(), stage.k.clone())),
    ]


def kernels(stage: Stage) -> list[Contestant]:
    """Every way to call the kernel."""
    case, (cos, sin) = stage.case, stage.table

    def into(xs: Pair, outs: Pair) -> Pair:
        pairing = case.interleaved
        return tuple(
            rotary_embedding(x, cos, sin, interleaved=pairing, out=out)
            for x, out in zip(xs, outs, strict=True)
        )

    def fresh(q: torch.Tensor, k: torch.Tensor) -> Pair:
        return rotary_embedding_qk(q, k, cos, sin, interleaved=case.interleaved)

    if case.learns:
        return [_ours("exptx", "forward + backward", with_gradients(stage, fresh))]
    qk = (stage.q, stage.k)
    return [
        _ours("exptx, out=", "out=", lambda: into(qk, stage.out)),
        _ours("exptx, in place", "in place", lambda: into(stage.own, stage.own)),
        _ours("exptx, fresh", "fresh", lambda: fresh(*qk)),
        _ours(
            "exptx, fresh without huge pages",
            "fresh",
            lambda: into(qk, tuple(map(torch.empty_like, qk))),
        ),
    ]


def _ours(name: str, form: str, run: Callable[[], Pair]) -> Contestant:
    return Contestant(name, "ours", form, run, POLICY)


__all__ = ["POLICY", "copies", "kernels"]
