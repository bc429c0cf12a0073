"""Rules read off measured frequencies: base, then factor and original length from the ratios to that base."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch

from ....numeric.angles import frequency_tensor
from ....numeric.rounding import unit_roundoff
from ....symbolic.configs.description import Rotary
from ....symbolic.frequencies import as_written
from ....symbolic.scaling import endpoint_frequencies
from ..claims import rope
from .explain import BASES, Candidate, claimed

Spectrum = tuple[tuple[float, float], ...]
FACTORS = (2, 3, 4, 8, 16, 32)  # of published NTK-aware models
LENGTHS = tuple(1 << k for k in range(9, 21))  # original lengths of published YaRN models are powers of two


def measured_rules(spectrum: Spectrum, longest: int) -> Iterator[Candidate]:
    """Plain, NTK-aware, endpoint, Llama-3 and YaRN; each is still to be held against every entry."""
    count = len(spectrum)
    first, error = spectrum[0] if count > 1 else (0.0, 0.0)
    waves = [(abs(w), e) for w, e in spectrum]
    if count < 2 or waves[1][0] <= waves[1][1]:
        return
    if error < 1 - abs(first):
        yield from _linear(waves, longest)
    if abs(abs(first) - 1) > error:
        return
    yield from _one_base(waves, longest)
    for base in dict.fromkeys(_base(waves, k) for k in (1, 2) if k < count):
        if base > 1:
            yield from _ramped(waves, base, longest)


def _linear(waves: list[tuple[float, float]], longest: int) -> Iterator[Candidate]:
    """Plane 0 turns by 1/s; the others over it are those of a base."""
    (w, e), count = waves[0], len(waves)
    ratios = [(v / w, (d + e * v / w) / w) for v, d in waves]
    given = {"rope_theta": _base(ratios, 1), "factor": _roundest(1 / w, 2 * e / w**2)}
    if given["rope_theta"] > 1:
        yield claimed(_encoding("linear", count, given), longest)


def _base(waves: list[tuple[float, float]], k: int) -> float:
    """w_k^(-n/k), with n/k times the relative error of w_k; a published one or the roundest within it."""
    w, e = waves[k]
    power = len(waves) / k
    base = w**-power
    return _roundest(base, 2 * base * power * e / w)


def _roundest(value: float, error: float) -> float:
    """A published base within the error, else the number of fewest digits there."""
    for one in BASES:
        if abs(one - value) <= error:
            return float(one)
    rounded = (float(f"{value:.{digits}g}") for digits in range(1, 17))
    return next((one for one in rounded if abs(one - value) <= error), value)


def _one_base(waves: list[tuple[float, float]], longest: int) -> Iterator[Candidate]:
    """b^(-k/n) is also (b^((n-1)/n))^(-k/(n-1)): that form first where its base is a published one."""
    count = len(waves)
    w, e = waves[-1]
    end = _roundest(1 / w, 2 * e / w**2) if _resolved(w, e) else 0.0
    if end in BASES:
        values = frequency_tensor(endpoint_frequencies(count, as_written(end))).to(torch.float64)
        steps = torch.arange(count, dtype=torch.float64) / (count - 1)
        errors = unit_roundoff("float32") * (3 + 2 * math.log(end) * steps)
        yield Candidate(f"base {end:g}, exponent i/{count - 1} (as in retention)", values, errors)
    best = min((k for k in range(1, count) if waves[k][0]), key=lambda k: waves[k][1] / waves[k][0] / k)
    base = _base(waves, best)
    if base > 1:
        plain = claimed(rope(base, 2 * count), longest)
        yield Candidate(plain.words + _stretched(base, 2 * count), plain.waves, plain.errors)


def _stretched(base: float, dim: int) -> str:
    """NTK-aware scaling of base 10000 by a published factor, to the digits that the base was read to."""
    for factor in FACTORS:
        if dim > 2 and math.isclose(10000 * factor ** (dim / (dim - 2)), base, rel_tol=1e-5):
            return f", that of NTK-aware scaling factor {factor} on base 10000"
    return ""


def _ramped(waves: list[tuple[float, float]], base: float, longest: int) -> Iterator[Candidate]:
    """The ratio of the slowest resolved plane is 1/s; every other is κ + (1 - κ)/s, κ kept by a ramp."""
    count = len(waves)
    plain = [base ** (-k / count) for k in range(count)]
    seen = [k for k, (w, e) in enumerate(waves) if _resolved(w, e)]
    w, e = waves[seen[-1]] if seen else (1.0, 0.0)
    factor = _roundest(plain[seen[-1]] / w, 2 * plain[seen[-1]] * e / w**2) if seen else 1.0
    if factor <= 1.001:
        return
    kept = {k: (waves[k][0] / plain[k] - 1 / factor) / (1 - 1 / factor) for k in seen}
    given = {"rope_theta": base, "factor": factor}
    lengths = sorted(2 * math.pi / plain[k] * (1 + 3 * x) for k, x in kept.items() if 0.02 < x < 0.98)
    if lengths and lengths[-1] < 1.05 * lengths[0]:
        middle = lengths[len(lengths) // 2]
        length = next((x for x in LENGTHS if abs(x - middle) <= 0.02 * x), round(middle))
        ramp = {"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": length}
        yield claimed(_encoding("llama3", count, {**given, **ramp}), longest)
    for length in LENGTHS:
        ramp = _yarn_kept(base, count, length)
        if max(abs(x - ramp[k]) for k, x in kept.items()) < 0.05:
            named = {"original_max_position_embeddings": length}
            yield claimed(_encoding("yarn", count, {**given, **named}), longest)


def _resolved(wave: float, error: float) -> bool:
    """Whether a ratio to it means something: what it leads to is held against every entry afterwards."""
    return error < 0.01 * wave


def _encoding(rule: str, count: int, given: dict) -> Rotary:
    return Rotary(2 * count, 2 * count, rule, {"rope_type": rule, **given})


def _yarn_kept(base: float, count: int, length: int) -> list[float]:
    """The share a plane keeps, with betas 32 and 1, in floating point: to choose a length, not to judge."""
    low, high = (count * math.log(length / (2 * math.pi * turns)) / math.log(base) for turns in (32, 1))
    start, end = max(math.floor(low), 0), min(math.ceil(high), 2 * count - 1)
    width = end - start or 0.001
    return [1 - min(max((k - start) / width, 0), 1) for k in range(count)]
