"""The three forms of linear attention on decays alone: token by token, chunk by chunk, and all pairs.

    S_t = d_t S_{t-1} + k_t v_tᵀ,     y_t = q_tᵀ S_t = Σ_{s<=t} q_tᵀ (d_t ⋯ d_{s+1}) k_s v_sᵀ.

States are (batch, heads, dk, dv). A stretch of many chunks at a time is in memory, and where gradients are
wanted it is computed again on the way back; so time and memory grow like T, except for all pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad
from torch.utils.checkpoint import checkpoint

from ..transforms import transforming
from .decays import Decays, Factor, carried, halved, two_terms, weighed_scores
from .inputs import Moment, Tokens

STRETCH = 2048
"""Tokens that are worked on at once."""


def recurrent(tokens: Tokens, state: Tensor) -> tuple[Tensor, Tensor]:
    """Token by token."""
    parts = []
    for piece in tokens.split(_sizes(tokens.time, STRETCH)):
        out, state = _again(_steps, piece, state)
        parts.append(out)
    return torch.cat(parts, dim=2), state


def _steps(tokens: Tokens, state: Tensor) -> tuple[Tensor, Tensor]:
    now = tokens.ready()
    q, k, v = (x.unbind(2) for x in (now.q.unsqueeze(-2), now.k.unsqueeze(-1), now.v.unsqueeze(-2)))
    factors, rows = _factors(now.step.unsqueeze(-1), len(q), tokens.dtype), []
    for query, key, value, factor in zip(q, k, v, factors, strict=True):
        state = carried(state, factor, key * value)
        rows.append(query @ state)
    return torch.cat(rows, dim=2), state


def chunked(tokens: Tokens, state: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """Chunk by chunk: a small table of scores in each, one state from each to the next."""

    def chunks(piece: Tokens, width: int, state: Tensor) -> tuple[Tensor, Tensor]:
        out, states = _chunks(piece, width, {0: state})
        return out, states[-1]

    parts = []
    for piece, width in _pieces(tokens, size):
        out, state = _again(chunks, piece, width, state)
        parts.append(out)
    return torch.cat(parts, dim=2), state


def state_after(tokens: Tokens, state: Tensor, size: int) -> Tensor:
    """The state that `chunked` ends with, without its outputs."""

    def chunks(piece: Tokens, width: int, state: Tensor) -> Tensor:
        _, k, v, decays = _in_chunks(piece.ready(), width)
        return _states(k, v, decays, {0: state})[1][-1]

    for piece, width in _pieces(tokens, size):
        state = _again(chunks, piece, width, state)
    return state


def packed(tokens: Tokens, states: Tensor, size: int, bounds: list[int]) -> tuple[Tensor, Tensor]:
    """Chunk by chunk, for sequences one after the other; no chunk holds tokens of two of them.

    states: (sequences, heads, dk, dv), before and after. bounds: where each begins, and where the last ends.
    """
    order, first, last = _grid(bounds, size)
    places = torch.tensor(order, device=states.device)
    before, after, parts, start = states.split(1), list(states.split(1)), [], 0
    state = before[0]
    for piece in tokens.gathered(places).split(_sizes(len(order), max(size, STRETCH // size * size))):
        stop = start + piece.time // size
        fresh = {n - start: before[s] for n, s in first.items() if start <= n < stop}
        out, found = _again(_chunks, piece, size, {0: state, **fresh})
        after = [found[n - start] if start <= n < stop else x for n, x in zip(last, after, strict=True)]
        state, start = found[-1], stop
        parts.append(out)
    return torch.cat(parts, dim=2).index_select(2, (places >= 0).nonzero()[:, 0]), torch.cat(after)


def _grid(bounds: list[int], size: int) -> tuple[list[int], dict[int, int], list[int]]:
    """Tokens in chunks, -1 where one is not full; {first chunk: its sequence}; last chunks, -1 for none."""
    order: list[int] = []
    first, last = {}, []
    for sequence, (start, stop) in enumerate(pairwise(bounds)):
        if stop > start:
            first[len(order) // size] = sequence
        order += [*range(start, stop), *[-1] * (-(stop - start) % size)]
        last.append(len(order) // size - 1 if stop > start else -1)
    return order, first, last


def parallel(tokens: Tokens, state: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """All pairs, a block of queries at a time: quadratic in T, and no state from block to block.

    Keys before a block meet its queries at its start, which lies between any two of them.
    """
    whole, parts, dtype = tokens.ready(), [], tokens.dtype
    reach, since = whole.step[:, :, :0], torch.ones_like(whole.step[:, :, :1])
    start = 0
    for piece in tokens.split(_sizes(tokens.time, size)):
        q, k, v, decays = _in_chunks(piece.ready(), size)
        seen = q * decays.from_start.to(dtype)
        keys = (whole.k[:, :, :start] * reach.to(dtype)).unsqueeze(2)
        earlier = (seen @ keys.mT) @ whole.v[:, :, None, :start]
        given = (seen * since.unsqueeze(2).to(dtype)) @ state.unsqueeze(2)
        out = _scores(q, k, decays) @ v + earlier + given
        parts.append(out.squeeze(2)[:, :, : piece.time])
        moved, own = decays.whole[:, :, 0], decays.to_end[:, :, 0, : piece.time]
        reach, since, start = torch.cat((reach * moved, own), dim=2), since * moved, start + piece.time
    final = (whole.k * reach.to(dtype)).mT @ whole.v + since.to(dtype).mT * state
    return torch.cat(parts, dim=2), final


def _chunks(tokens: Tokens, size: int, fresh: Mapping[int, Tensor]) -> tuple[Tensor, list[Tensor]]:
    """Outputs of chunks of one size, and the states after each; fresh: {chunk: a given state before it}."""
    q, k, v, decays = _in_chunks(tokens.ready(), size)
    before, after = _states(k, v, decays, fresh)
    out = _scores(q, k, decays) @ v + (q * decays.from_start.to(q.dtype)) @ torch.stack(before, dim=2)
    return out.flatten(2, 3)[:, :, : tokens.time], after


def _in_chunks(moment: Moment, size: int) -> tuple[Tensor, Tensor, Tensor, Decays]:
    """q, k, v as (batch, heads, chunks, size, d), and decays; the last chunk is filled up with nothing."""
    time, step = moment.q.shape[2], moment.step
    missing = -time % size
    if step.shape[2] == 1 and not missing:
        step = step.unsqueeze(2).expand(-1, -1, -1, size, -1)
    else:
        step = pad(step.expand(-1, -1, time, -1), (0, 0, 0, missing), value=1.0).unflatten(2, (-1, size))
    q, k, v = (pad(x, (0, 0, 0, missing)).unflatten(2, (-1, size)) for x in (moment.q, moment.k, moment.v))
    return q, k, v, halved(step)


def _scores(q: Tensor, k: Tensor, decays: Decays) -> Tensor:
    """The weighed scores of a chunk: one table of decays for all features where they share it."""
    if decays.from_start.shape[-1] > 1:
        return weighed_scores(q, k, decays)
    one = torch.ones_like(decays.from_start, dtype=q.dtype)
    return (q @ k.mT) * weighed_scores(one, one, decays)


def _states(
    k: Tensor, v: Tensor, decays: Decays, fresh: Mapping[int, Tensor]
) -> tuple[list[Tensor], list[Tensor]]:
    """The states before and after every chunk."""
    added = ((k * decays.to_end.to(k.dtype)).mT @ v).unbind(2)
    state, before, after = fresh[0], [], []
    factors = _factors(decays.whole.mT, len(added), k.dtype)
    for n, (new, factor) in enumerate(zip(added, factors, strict=True)):
        state = fresh.get(n, state)
        before.append(state)
        state = carried(state, factor, new)
        after.append(state)
    return before, after


def _factors(step: Tensor, count: int, dtype: torch.dtype) -> list[Factor]:
    """Factors for `count` steps in turn, each in two terms; step (1 or B, H, 1 or count, dk or 1, 1)."""
    high, low = two_terms(step, dtype)
    highs = high.unbind(2)
    lows = [None] * len(highs) if low is None else low.unbind(2)
    factors = list(zip(highs, lows, strict=True))
    return factors if len(factors) == count else factors * count


def _sizes(time: int, width: int) -> list[int]:
    """time as widths and a rest."""
    return [width] * (time // width) + [time % width] * (time % width > 0)


def _pieces(tokens: Tokens, size: int) -> list[tuple[Tokens, int]]:
    """Stretches of whole chunks, and a last shorter chunk, each with its chunk size, a power of two."""
    rest = tokens.time % size
    sizes = _sizes(tokens.time - rest, max(size, STRETCH // size * size))
    widths = [size] * len(sizes)
    if rest:
        sizes, widths = [*sizes, rest], [*widths, 1 << (rest - 1).bit_length()]
    return list(zip(tokens.split(sizes), widths, strict=True))


def _again(work: Callable[..., Any], *given: Any) -> Any:
    """work(*given), done again for gradients instead of being remembered."""
    if not torch.is_grad_enabled() or transforming():  # transforms follow no hooks of saved tensors
        return work(*given)
    return checkpoint(work, *given, use_reentrant=False, preserve_rng_state=False)


__all__ = ["chunked", "packed", "parallel", "recurrent", "state_after"]
