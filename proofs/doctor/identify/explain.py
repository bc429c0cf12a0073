"""Which rule and which rounding explain the planes that were seen; candidates come from the mathematics."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ....numeric.angles import frequency_tensor
from ....numeric.rounding import unit_roundoff
from ....symbolic.configs.description import Rotary
from ...budget import single_angle_entry
from ...inspection.single import relative_errors
from ..claims import rope
from .formation import NARROW, Fit, Formation, fit, formations
from .observe import Planes, wrapped

BASES = (
    10000,
    500000,
    1000000,
    100000,
    10000000,
    160000,
    100,
    1000,
    5000000,
    8000000,
    256,
)  # of published models

RAMP = {
    "original_max_position_embeddings": "original length",
    "low_freq_factor": "low",
    "high_freq_factor": "high",
    "beta_fast": "fast",
    "beta_slow": "slow",
}


@dataclass(frozen=True)
class Candidate:
    """Frequencies in float64, the relative error of their float32 recipe, and the rule in words."""

    words: str
    waves: Tensor
    errors: Tensor


@dataclass(frozen=True)
class Explanation:
    """A candidate read at positions + offset, and how its angles were rounded."""

    candidate: Candidate
    formation: Formation
    offset: int
    fit: Fit


def claimed(encoding: Rotary, longest: int) -> Candidate:
    """The frequencies of a claim; planes that it holds are left out, since nothing turns there.

    Where a recipe writes e^(-x ln b) instead of 1/b^x, ln b and the product round too: 2u x ln b more.
    """
    waves = frequency_tensor(encoding.frequencies(longest)).to(torch.float64)
    exponents = 2 * torch.arange(len(waves), dtype=torch.float64) / encoding.rotary_dim
    logarithm = abs(math.log(float(encoding.parameters["rope_theta"])))
    errors = torch.tensor(relative_errors(encoding, longest), dtype=torch.float64)
    errors = errors + 2 * unit_roundoff("float32") * logarithm * exponents
    turning = waves != 0
    return Candidate(words_of(encoding), waves[turning], errors[turning])


def words_of(encoding: Rotary) -> str:
    """Base, rule, factor, and the length and betas that a ramp depends on."""
    given = encoding.parameters
    scaling = "" if encoding.rule == "default" else f" with {encoding.rule} scaling"
    factor = f" factor {given['factor']:g}" if scaling and "factor" in given else ""
    for name, words in RAMP.items():
        factor += f" {words} {given[name]:g}" if scaling and given.get(name) is not None else ""
    return f"base {float(given['rope_theta']):.12g}{scaling}{factor}, exponent 2i/{encoding.rotary_dim}"


def known(planes: Planes, encoding: Rotary | None, longest: int) -> Iterator[Candidate]:
    """Plain rules over the width that turns and over the head; linear ones; the claim without its scaling."""
    bases: list[Any] = list(BASES)
    if encoding is not None:
        bases.insert(0, encoding.parameters["rope_theta"])
    steps = planes.steps().abs()
    if planes.count > 1 and steps.min() > 0:
        bases.append(_fitted(steps))
    factor = round(float(1 / steps[0]), 3) if steps[0] > 0 else 1.0
    sizes = [
        n for n in dict.fromkeys((2 * planes.count, planes.dim, planes.count, 4 * planes.count)) if n % 2 == 0
    ]
    for base in dict.fromkeys(bases):  # over all sizes first: b^(-2i/r) is also (b²)^(-2i/2r)
        for size in sizes:
            yield _cut(rope(base, size), planes.count, longest)
            if factor > 1:
                given = {"rope_type": "linear", "rope_theta": base, "factor": factor}
                yield _cut(Rotary(size, size, "linear", given), planes.count, longest)


def _fitted(steps: Tensor) -> float:
    """The base that plane 1 has where plane 0 turns once a radian, to three digits."""
    return float(f"{float((steps[0] / steps[1]) ** len(steps)):.3g}")


def _cut(encoding: Rotary, count: int, longest: int) -> Candidate:
    whole = claimed(encoding, longest)
    return Candidate(whole.words, whole.waves[:count], whole.errors[:count])


def origin(planes: Planes) -> int | None:
    """The position that is read at 0: the phase at 0 over the step, where all planes agree; else None.

    Of the slowest plane, whose phase has not come round.
    """
    phase, steps = torch.atan2(planes.sin[0], planes.cos[0]), planes.steps()
    slowest = int(steps.abs().argmin()) if planes.count else 0
    offset = round(float(phase[slowest] / steps[slowest])) if planes.count and steps[slowest] != 0 else 0
    off = wrapped(phase - offset * planes.steps()).abs()
    entry = single_angle_entry(phase.abs() + planes.steps().abs())  # three phases, each off by two entries
    return offset if bool((off <= 2 * (1 + 2 * abs(offset)) * entry).all()) else None


def explain(planes: Planes, candidates: Iterable[Candidate], offset: int) -> Explanation | None:
    """The first candidate that explains every entry, with the most accurate rounding that does."""
    possible = [one for one in formations() if one.table in ("float32", held(planes))]
    for candidate in candidates:
        if len(candidate.waves) == planes.count:
            for formation in possible:
                found = compare(planes, candidate, formation, offset)
                if found.fit.outside is None:
                    return found
    return None


def held(planes: Planes) -> str:
    """The narrow format that every entry is a number of, or float32."""
    entries = torch.stack((planes.cos, planes.sin))
    for name in NARROW:
        if torch.equal(entries.to(getattr(torch, name)).to(torch.float64), entries):
            return name
    return "float32"


def compare(planes: Planes, candidate: Candidate, formation: Formation, offset: int) -> Explanation:
    """Cos and sin, turned counter-clockwise and at amplitude 1, against a candidate."""
    sign = -1.0 if planes.direction == "clockwise" else 1.0
    at = torch.tensor(planes.positions, dtype=torch.float64) + offset
    cos, sin = planes.cos / planes.amplitude, sign * planes.sin / planes.amplitude
    found = fit(formation, at, candidate.waves, candidate.errors, cos, sin)
    return Explanation(candidate, formation, offset, found)
