"""Where queries and keys stand in a decoder that goes wrong: known mistakes, as positions of a call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from ....numeric.layout import join_pairs
from ....symbolic.catalogue.xpos import zetas
from ....symbolic.configs.description import Alibi
from ....symbolic.encoding import Encoding
from .reference import Places, proper

# (sizes of the calls so far, the last of them is meant) -> where its queries and all keys stand
Guess = Callable[[tuple[int, ...]], Places]


def _starts(sizes: tuple[int, ...]) -> list[int]:
    return [sum(sizes[:n]) for n in range(len(sizes))]


def _with(sizes: tuple[int, ...], queries: Tensor, keys: Tensor) -> Places:
    """Proper visibility, other positions."""
    return replace(proper(sum(sizes[:-1]), sizes[-1]), queries=queries, keys=keys)


def from_zero(sizes: tuple[int, ...]) -> Places:
    parts = [torch.arange(n) for n in sizes]
    return _with(sizes, parts[-1], torch.cat(parts))


def moved(by: Callable[[int, int], int]) -> Guess:
    """Calls after the first stand by(start, prompt) further on."""

    def guess(sizes: tuple[int, ...]) -> Places:
        parts = [
            torch.arange(n) + start + (by(start, sizes[0]) if c else 0)
            for c, (start, n) in enumerate(zip(_starts(sizes), sizes, strict=True))
        ]
        return _with(sizes, parts[-1], torch.cat(parts))

    return guess


def turned_again(sizes: tuple[int, ...]) -> Places:
    """A key is turned once in its own call and once more in each later one."""
    keys = [
        (torch.arange(n) + start) * (len(sizes) - c)
        for c, (start, n) in enumerate(zip(_starts(sizes), sizes, strict=True))
    ]
    return replace(proper(sum(sizes[:-1]), sizes[-1]), keys=torch.cat(keys))


def turned_while_read(sizes: tuple[int, ...]) -> Places:
    """Keys are stored turned and turned again when read, once."""
    places = proper(sum(sizes[:-1]), sizes[-1])
    return replace(places, keys=2 * places.keys)


def own_keys_unturned(sizes: tuple[int, ...]) -> Places:
    """Keys of the call itself are raw; those of the cache are turned."""
    places = proper(sum(sizes[:-1]), sizes[-1])
    keys = places.keys.clone()
    keys[sum(sizes[:-1]) :] = 0
    return replace(places, keys=keys)


def keys_unturned(sizes: tuple[int, ...]) -> Places:
    places = proper(sum(sizes[:-1]), sizes[-1])
    return replace(places, keys=torch.zeros_like(places.keys))


def queries_of_the_call(sizes: tuple[int, ...]) -> Places:
    """Queries count from 0 in every call; keys stand where they should."""
    places = proper(sum(sizes[:-1]), sizes[-1])
    return replace(places, queries=torch.arange(sizes[-1]))


def one_place(sizes: tuple[int, ...]) -> Places:
    """A bias over the new queries alone: where there is one, every gap is 0."""
    places = proper(sum(sizes[:-1]), sizes[-1])
    if sizes[-1] > 1:
        return places
    return replace(places, keys=places.queries.expand(len(places.keys)))


def own_lengths(sizes: tuple[int, ...]) -> Places:
    """Keys were turned by the frequencies of the text as it was when they came."""
    places = proper(sum(sizes[:-1]), sizes[-1])
    ends = [start + n for start, n in zip(_starts(sizes), sizes, strict=True)]
    lengths = torch.tensor([end for end, n in zip(ends, sizes, strict=True) for _ in range(n)])
    return replace(places, key_lengths=lengths)


PLACES: dict[str, Guess] = {
    "every call counts its tokens from 0: the length of the cache is not read": from_zero,
    "queries count from 0 in every call, and keys do not": queries_of_the_call,
    "after the prompt, positions are one too far": moved(lambda start, prompt: 1),
    "after the prompt, positions are one too few": moved(lambda start, prompt: -1),
    "after the prompt, its length is counted twice": moved(lambda start, prompt: prompt),
}
TURNS: dict[str, Guess] = {
    "cached keys are turned again in every later call": turned_again,
    "keys that were stored turned are turned again when they are read": turned_while_read,
    "keys of the call itself are not turned, and those of the cache are": own_keys_unturned,
    "keys are not turned": keys_unturned,
    "cached keys keep the frequencies of the shorter text they came in": own_lengths,
}
BIASES: dict[str, Guess] = {
    "the bias is built over the new queries alone: a single one sees no distance": one_place,
}


def guesses(encoding: object) -> dict[str, Guess]:
    """Those that an encoding leaves room for."""
    return {**PLACES, **(BIASES if isinstance(encoding, Alibi) else TURNS)}


# (start, count) of a call -> the position from which its scales count
Centre = Callable[[int, int], int]
CENTRES: dict[str, Centre] = {
    "the centre of the scale moves with the length of the text": lambda start, count: (start + count) // 2,
    "the scale counts from 0 in every call: the length of the cache is not read": lambda start, count: start,
}


def moved_centre(encoding: object, sizes: tuple[int, ...], centre: Centre) -> Tensor | None:
    """ζ_i^{(c - c')/512} for keys of a call with centre c under a query of the last call, with c': (Tk, d).

    None for encodings without such a scale.
    """
    if not (isinstance(encoding, Encoding) and {"centre", "scale_base"} <= encoding.parameters.keys()):
        return None
    given: Any = encoding.parameters
    pairs = zetas(given["head_dim"])
    zeta = torch.tensor([float(z) for z in pairs], dtype=torch.float64)
    both = join_pairs(zeta, zeta, bool(given["interleaved"]))
    calls = list(zip(_starts(sizes), sizes, strict=True))
    centres = torch.tensor([centre(start, n) for start, n in calls for _ in range(n)])
    exponents = (centres - centre(*calls[-1])).double() / float(given["scale_base"])
    return both ** exponents[:, None]
