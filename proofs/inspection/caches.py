"""What may go wrong between a rule and a cache of keys, one sentence each."""

from __future__ import annotations

from ...numeric.constants import nearest_float
from ...symbolic.configs.description import Alibi, Layers, Learned, Rotary, Unrotated
from ...symbolic.configs.families import CONVOLUTION, MIXERS, RECURRENT
from ...symbolic.frequencies import as_written
from ...symbolic.scaling import dynamic_stretch, ntk_base


def hazards(group: Layers) -> list[str]:
    """The sentences for the layers of one group; the first says what can be cached."""
    one = group.encoding
    if group.kind in MIXERS:
        return [_STATES[MIXERS[group.kind]]]
    if isinstance(one, Unrotated) and one.why.endswith(RECURRENT):
        return [_STATES[RECURRENT]]
    if group.both_ways:
        return ["there is none to keep: queries look ahead, so a new token changes what earlier ones see"]
    if isinstance(one, Rotary):
        return _rotary(one)
    if isinstance(one, Alibi):
        return ["keys can be cached as they are: the bias on a logit comes from the two positions alone"]
    if isinstance(one, Learned):
        return ["a cache cannot be shifted: positions entered with the input, below all layers"]
    return ["keys can be cached as they are: no position is in them"]


def _rotary(one: Rotary) -> list[str]:
    found = [_LENGTHS.get(one.rule, _fixed)(one)]
    if one.sections:
        found.append(
            "positions are not token numbers: after an image the next text position is the largest "
            "coordinate + 1, so a cache keeps that offset for each sequence"
        )
    return found


def _fixed(one: Rotary) -> str:
    return "rotated keys can be cached: their frequencies are the same for texts of every length"


def _dynamic(one: Rotary) -> str:
    first = one.trained_length or 1
    given = {key: as_written(value) for key, value in one.parameters.items()}
    base = given["rope_theta"]
    bases = [
        nearest_float(
            ntk_base(base, one.rotary_dim, dynamic_stretch(given["factor"], first, n * first)),
            name="the base",
        )
        for n in (1, 2, 4)
    ]
    grown = ", ".join(f"{base:.6g} at {n * first}" for base, n in zip(bases, (1, 2, 4), strict=True))
    return (
        f"beyond {first} positions every token changes the base ({grown}), and keys that were rotated before "
        "no longer fit: cache them unrotated, or carry them over with exptx.numeric.rerotate"
    )


def _longrope(one: Rotary) -> str:
    first = one.trained_length or 1
    if list(one.parameters["short_factor"]) == list(one.parameters["long_factor"]):
        return "short_factor and long_factor are the same list, so rotated keys can be cached"
    return (
        f"at position {first} (the {first + 1}th) frequencies change, so every cached key is stale: "
        "drop the cache there, fix one list for all texts, or carry keys over with exptx.numeric.rerotate"
    )


_STATES = {
    RECURRENT: (
        "they carry a state of fixed size in place of keys: it cannot be cut back to an earlier token, so "
        "keep a copy wherever texts will branch"
    ),
    CONVOLUTION: (
        "the last few inputs are kept in place of keys: they cannot be cut back to an earlier token, so keep "
        "a copy wherever texts will branch"
    ),
}
_LENGTHS = {"dynamic": _dynamic, "longrope": _longrope}
