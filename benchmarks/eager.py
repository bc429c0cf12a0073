"""Hand-written PyTorch, in every way that came to mind; the fastest of each kind takes part in a race.

A formulation turns one tensor. Tables are in the dtype of x, as fast eager code has them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from ..numeric.layout import split_pairs
from .budgets import Policy
from .case import Contestant, Pair, Stage, with_gradients
from .timing import fastest


@dataclass(frozen=True)
class Tables:
    """cos and sin, (batch or 1, 1, tokens, pairs), in the dtype of x; the same as a complex number."""

    cos: Tensor
    sin: Tensor
    turn: Tensor
    interleaved: bool


Fresh = Callable[[Tensor, Tables], Tensor]
Into = Callable[[Tensor, Tensor, Tables], Tensor]  # out may be x itself, for those that work in place


def concatenated(x: Tensor, t: Tables) -> Tensor:
    """cat or stack of (x0 c - x1 s, x0 s + x1 c)."""
    x0, x1 = split_pairs(x, t.interleaved)
    parts = x0 * t.cos - x1 * t.sin, x0 * t.sin + x1 * t.cos
    return torch.stack(parts, -1).flatten(-2) if t.interleaved else torch.cat(parts, -1)


def fused(x: Tensor, t: Tables) -> Tensor:
    """The same with addcmul: four operations instead of six."""
    x0, x1 = split_pairs(x, t.interleaved)
    parts = torch.addcmul(x0 * t.cos, x1, t.sin, value=-1), torch.addcmul(x0 * t.sin, x1, t.cos)
    return torch.stack(parts, -1).flatten(-2) if t.interleaved else torch.cat(parts, -1)


def multiplied(x: Tensor, t: Tables) -> Tensor:
    """(x0 + i x1)(c + i s) in float32; interleaved pairs are complex numbers as they stand."""
    wide = x.float()
    if t.interleaved:
        pairs = torch.view_as_complex(wide.unflatten(-1, (-1, 2)))
        return torch.view_as_real(pairs * t.turn).flatten(-2).to(x.dtype)
    turned = torch.complex(*split_pairs(wide, False)) * t.turn
    return torch.cat((turned.real, turned.imag), -1).to(x.dtype)


def written(x: Tensor, out: Tensor, t: Tables) -> Tensor:
    """mul and addcmul with out=."""
    x0, x1 = split_pairs(x, t.interleaved)
    y0, y1 = split_pairs(out, t.interleaved)
    torch.mul(x0, t.cos, out=y0).addcmul_(x1, t.sin, value=-1)
    torch.mul(x0, t.sin, out=y1).addcmul_(x1, t.cos)
    return out


def multiplied_into(x: Tensor, out: Tensor, t: Tables) -> Tensor:
    """The complex product with out=, of interleaved pairs."""
    pairs, turned = (torch.view_as_complex(y.unflatten(-1, (-1, 2))) for y in (x, out))
    torch.mul(pairs, t.turn, out=turned)
    return out


def overwritten(x: Tensor, out: Tensor, t: Tables) -> Tensor:
    """In place, with a copy of half of x."""
    x0, x1 = split_pairs(x, t.interleaved)
    first = x0.clone()
    x0.mul_(t.cos).addcmul_(x1, t.sin, value=-1)
    x1.mul_(t.cos).addcmul_(first, t.sin)
    return out


def by_head(turn: Into) -> Into:
    """One head after the other: what is read twice is still in the cache."""

    def run(x: Tensor, out: Tensor, t: Tables) -> Tensor:
        for head in range(x.shape[1]):
            turn(x[:, head : head + 1], out[:, head : head + 1], t)
        return out

    return run


FRESH: dict[str, Fresh] = {"cat": concatenated, "cat, addcmul": fused, "complex": multiplied}


def _into(turns: dict[str, Into], stage: Stage) -> dict[str, Into]:
    """Those that run on this dtype and pairing; where there are many tokens, whole and by head."""
    if stage.case.interleaved and stage.case.dtype == torch.float32:  # what PyTorch can view as complex
        turns = turns | {"complex": multiplied_into}
    if stage.case.tokens == 1:
        return turns
    return turns | {f"{name}, by head": by_head(turn) for name, turn in turns.items()}


def formulations(stage: Stage) -> dict[str, dict[str, Callable[[], Pair]]]:
    """form -> name -> run, for queries and keys."""
    q, k, t = stage.q, stage.k, _tables(stage)
    if stage.case.learns:
        turns = {name: partial(_both, turn, t) for name, turn in FRESH.items()}
        return {"forward + backward": {name: with_gradients(stage, turn) for name, turn in turns.items()}}
    out, here = _into({"mul, addcmul": written}, stage), _into({"mul, addcmul": overwritten}, stage)
    fresh = {name: partial(_both, turn, t, q, k) for name, turn in FRESH.items()}
    if stage.case.tokens == 1:  # little to copy, and half as many operations
        fresh |= {f"{name}, q and k joined": partial(_joined, turn, t, q, k) for name, turn in FRESH.items()}
    fresh |= {f"{name} into empty": partial(_written, turn, t, (q, k), None) for name, turn in out.items()}
    return {
        "out=": {name: partial(_written, turn, t, (q, k), stage.out) for name, turn in out.items()},
        "in place": {name: partial(_written, turn, t, stage.own, stage.own) for name, turn in here.items()},
        "fresh": fresh,
    }


def eager(stage: Stage) -> list[Contestant]:
    """The fastest formulation of each form, tried on the spot."""
    policy = Policy(stage.case.dtype, stage.case.dtype)
    found = []
    for form, runs in formulations(stage).items():
        name = fastest(runs)
        found.append(Contestant(f"eager, {form}: {name}", "eager", form, runs[name], policy))
    return found


def _tables(stage: Stage) -> Tables:
    angle = (stage.angle if stage.angle.ndim == 3 else stage.angle[None])[:, None]
    cos, sin, dtype = angle.cos(), angle.sin(), stage.case.dtype
    return Tables(
        cos.to(dtype), sin.to(dtype), torch.complex(cos.float(), sin.float()), stage.case.interleaved
    )


def _both(turn: Fresh, t: Tables, q: Tensor, k: Tensor) -> Pair:
    return turn(q, t), turn(k, t)


def _joined(turn: Fresh, t: Tables, q: Tensor, k: Tensor) -> Pair:
    return turn(torch.cat((q, k), 1), t).split((q.shape[1], k.shape[1]), 1)


def _written(turn: Into, t: Tables, xs: Pair, outs: Pair | None) -> Pair:
    outs = outs or tuple(map(torch.empty_like, xs))
    return tuple(turn(x, out, t) for x, out in zip(xs, outs, strict=True))


__all__ = ["Tables", "eager", "formulations"]
