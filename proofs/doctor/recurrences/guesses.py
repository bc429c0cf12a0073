"""What a wrong form may have done: each known mistake, in float64."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from .tokens import Convention, Tokens, right

CHUNKS = (2, 4, 8, 16, 32, 64)


def guesses(given: Tokens, convention: Convention) -> Iterator[tuple[str, Tensor]]:
    """Every mistake and the output that it gives."""
    out = right(given, convention)
    yield "the read-out precedes the update: a token does not see itself", out - _own(given, convention)
    swapped = replace(given, q=given.k, k=given.q)
    yield "queries and keys change places: the state is read with the key", right(swapped, convention)
    yield "the read-out is by the key in place of the query", right(replace(given, q=given.k), convention)
    for normaliser in ("", "root", "sum"):
        if normaliser != convention.normaliser:
            other = right(given, Convention(convention.scale, normaliser))
            names = {"": "nothing", "root": "the root of the sum of decays", "sum": "the sum of decays"}
            yield f"it is divided by {names[normaliser]}", other
    for factor, words in ((given.q.shape[-1] ** -0.5, "1/√d"), (given.q.shape[-1] ** 0.5, "√d")):
        yield f"it is scaled by {words} more", out * factor
    yield "nothing decays", right(replace(given, log_decay=0 * given.log_decay), convention)
    if given.log_decay.ndim == 1:
        for size in CHUNKS:
            yield from _chunked(given, convention, size)
    yield "the recursion runs along the heads", _along_heads(given, convention)


def _own(given: Tokens, convention: Convention) -> Tensor:
    """scale (q_t·k_t) v_t."""
    q, k, v = given.q.double(), given.k.double(), given.v.double()
    return convention.scale * (q * k).sum(-1, keepdim=True) * v


def _chunked(given: Tokens, convention: Convention, size: int) -> Iterator[tuple[str, Tensor]]:
    """One factor of the part that comes from earlier chunks left out, or the scale."""
    if convention.normaliser or given.time <= size:
        return
    rate = given.log_decay.double()[:, None]
    t = torch.arange(given.time)
    lag = (t[:, None] - t[None]).double()
    into, left = (t % size)[:, None].double(), (size - 1 - t % size)[None].double()
    own = (t[:, None] // size) == (t[None] // size)
    seen = (lag >= 0)[None]
    scores = given.q.double() @ given.k.double().transpose(-1, -2)
    weights = torch.exp(rate[..., None] * lag) * seen
    faults = {
        "the state of a chunk lacks the decay to its end": torch.exp(rate[..., None] * (lag - left)),
        "a query lacks the decay from the end of the last chunk": torch.exp(
            rate[..., None] * (lag - into - 1)
        ),
        "the decay of a state over a chunk is left out": torch.exp(rate[..., None] * (into + 1 + left)),
    }
    for words, other in faults.items():
        mixed = torch.where(own, weights, other * seen)
        yield f"{words}, with chunks of {size}", convention.scale * (scores * mixed) @ given.v.double()
    unscaled = torch.where(own, convention.scale * weights, weights)
    yield f"the scale is on one part only, with chunks of {size}", (scores * unscaled) @ given.v.double()


def _along_heads(given: Tokens, convention: Convention) -> Tensor:
    """As if (batch, heads, time, d) were (batch, time, heads, d)."""
    heads, time = given.q.shape[1:3]
    if given.log_decay.ndim == 1:
        rates = given.log_decay.repeat(-(-time // heads))[:time]
    else:
        rates = given.log_decay.transpose(1, 2)
    turned = Tokens(
        given.q.transpose(1, 2), given.k.transpose(1, 2), given.v.transpose(1, 2), rates
    )  # fmt: skip
    return right(turned, convention).transpose(1, 2)
