"""What wrong frequencies may be instead: each known mistake, computed from the mathematics of the claim."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from ....numeric.angles import frequency_tensor
from ....symbolic.configs.description import Rotary
from ....symbolic.configs.read import read_config
from ....symbolic.errors import ExptxError
from ..claims import rope

Guess = tuple[str, Tensor]  # the mistake in words, and the frequencies that it gives, float64


def guesses(encoding: Rotary, seq_len: int, config: Mapping[str, Any]) -> Iterator[Guess]:
    """Every mistake that this encoding leaves room for, at a length of text."""
    base, factor = encoding.parameters["rope_theta"], encoding.parameters.get("factor", 1.0)
    if encoding.rule != "default":
        yield "the scaling is not applied", _plain(encoding, base)
    yield from _sizes(encoding, base, config)
    for words, changed in _rules(encoding, base, factor):
        yield from _of(words, changed, seq_len)
    if encoding.rule == "yarn":
        yield from _yarn(encoding, seq_len, base, factor)
    if encoding.rule == "llama3":
        yield "the weights of the blend are swapped, in wavelengths", _swapped(encoding, base, factor)
    if encoding.rule == "dynamic" and encoding.max_position_embeddings:
        yield from _dynamic(encoding, seq_len, base, factor)
    if encoding.rule == "longrope":
        yield from _of("the factors are those of long texts", encoding, 10**9)
        yield from _of("the factors are those of short texts", encoding, 1)
    for other in _others(config, encoding):
        yield from _of("the frequencies are those of another layer type", other, seq_len)


def _of(words: str, encoding: Rotary, seq_len: int) -> Iterator[Guess]:
    try:
        yield words, frequency_tensor(encoding.frequencies(seq_len)).to(torch.float64)
    except ExptxError:  # what the numbers of the claim leave no room for
        return


def _plain(encoding: Rotary, base: Any) -> Tensor:
    return frequency_tensor(rope(base, encoding.rotary_dim).frequencies()).to(torch.float64)


def _sizes(encoding: Rotary, base: Any, config: Mapping[str, Any]) -> Iterator[Guess]:
    """Other widths and denominators."""
    width, head = encoding.rotary_dim, encoding.head_dim
    whole = replace(encoding, rotary_dim=head)
    if width != head:
        yield from _of("the whole head turns: the share that turns is not read", whole, 1)
        full = frequency_tensor(rope(base, head).frequencies()).to(torch.float64)
        yield f"exponents are 2i/{head}, of the whole head", full[: width // 2]
        twice = width * width // head
        if twice >= 2 and twice % 2 == 0:
            yield from _of("the share that turns is taken twice", replace(encoding, rotary_dim=twice), 1)
    hidden, count = config.get("hidden_size"), config.get("num_attention_heads")
    if hidden and count and (hidden // count) % 2 == 0 and hidden // count != head:
        other = frequency_tensor(rope(base, hidden // count).frequencies()).to(torch.float64)
        yield "head_dim is taken to be hidden_size / num_attention_heads", other
    if width % 4 == 0:
        yield from _of(
            "half of the features that should turn do", replace(encoding, rotary_dim=width // 2), 1
        )


def _rules(encoding: Rotary, base: Any, factor: Any) -> Iterator[tuple[str, Rotary]]:
    """The numbers of the claim under another rule."""
    length = encoding.trained_length or 8192
    shared = {"rope_theta": base, "factor": factor if factor > 1 else 8.0}
    llama = {**shared, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    given = {
        "linear": shared,
        "llama3": {**llama, "original_max_position_embeddings": length},
        "yarn": {**shared, "original_max_position_embeddings": length},
    }
    for rule, numbers in given.items():
        if rule != encoding.rule:
            parameters = {"rope_type": rule, **numbers}
            changed = replace(encoding, rule=rule, parameters=parameters, mscales=None)
            yield f"the schedule is that of {rule}", changed


def _yarn(encoding: Rotary, seq_len: int, base: Any, factor: Any) -> Iterator[Guess]:
    """Planes that should stay as they are, from the NTK base; every plane divided."""
    d = encoding.rotary_dim
    plain = _plain(encoding, base)
    stretched = frequency_tensor(encoding.frequencies(seq_len)).to(torch.float64)
    kept = (stretched / plain - 1 / factor) / (1 - 1 / factor) if factor > 1 else torch.ones_like(plain)
    ntk = _plain(encoding, base * factor ** (d / (d - 2))) if d > 2 else plain
    yield "planes that should stay come from the NTK base", kept * ntk + (1 - kept) * plain / factor


def _swapped(encoding: Rotary, base: Any, factor: Any) -> Tensor:
    """Llama-3 with the blend weight (λ - λ_high)/(λ_low - λ_high) on the frequency that is not scaled."""
    given = encoding.parameters
    plain = _plain(encoding, base)
    waves = 2 * math.pi / plain
    long = given["original_max_position_embeddings"] / given["low_freq_factor"]
    short = given["original_max_position_embeddings"] / given["high_freq_factor"]
    smooth = (waves - short) / (long - short)
    blended = smooth * plain + (1 - smooth) * plain / factor
    scaled = torch.where(waves > long, plain / factor, blended)
    return torch.where(waves < short, plain, scaled)


def _dynamic(encoding: Rotary, seq_len: int, base: Any, factor: Any) -> Iterator[Guess]:
    """Other lengths, and steps of powers of two, in b (fL/L0 - f + 1)^(d/(d-2))."""
    longest, d = encoding.max_position_embeddings or 1, encoding.rotary_dim
    words = "the length is taken to be factor times the model's, whatever the text's is"
    yield from _of(words, encoding, int(factor * longest))
    yield from _of("the base does not grow with the text", encoding, 1)
    steps = 2.0 ** math.ceil(math.log2(max(seq_len / longest, 1.0)) + 1) - 1
    if d > 2:
        grown = _plain(encoding, base * max(steps, 1.0) ** (d / (d - 2)))
        yield "the stretch is rounded up to a power of two", grown


def _others(config: Mapping[str, Any], encoding: Rotary) -> Iterator[Rotary]:
    try:
        groups = read_config(dict(config)).groups
    except ExptxError:
        return
    for group in groups:
        if isinstance(group.encoding, Rotary) and group.encoding != encoding:
            yield group.encoding
