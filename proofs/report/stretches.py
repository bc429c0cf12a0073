"""Owns the numbers of the pictures of longer contexts: ratios of frequencies, scores before and after.

Frequencies are the exact ones of the symbolic room; a score is the sum of all planes at (1, 0), per plane.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

import numpy as np
import sympy as sp

from ...symbolic import ramps, scaling
from ...symbolic.scaling import Frequencies

HEAD_DIM, BASE, FIRST, FACTOR = 128, 10_000, 4096, 8
LLAMA_BASE, LLAMA_FIRST = 500_000, 8192
GROWN = (1, 2, 4, 8)  # lengths of dynamic NTK, in units of the first
BINS = 72


@dataclass(frozen=True)
class Stretch:
    """One rule: the plain table, and by name the new ones; scores are drawn for the last of them."""

    plain: Frequencies
    tables: Mapping[str, Frequencies]
    first: int = FIRST
    factor: int = FACTOR
    divided: bool = field(default=True)  # whether 1/s is a level of this rule


@dataclass(frozen=True)
class Band:
    """Lowest and highest score among the gaps of each bin; gaps: the middle of the bin, on a log axis."""

    gaps: np.ndarray
    low: np.ndarray
    high: np.ndarray


def divisors(planes: int = HEAD_DIM // 2, factor: int = FACTOR) -> list[sp.Rational]:
    """λ_k = 1 + (s-1)(k/(n-1))²: an example that rises from 1 to s."""
    return [1 + (factor - 1) * sp.Rational(k, planes - 1) ** 2 for k in range(planes)]


def _plain(base: int = BASE) -> Frequencies:
    return scaling.rotary(base, HEAD_DIM)


def _yarn() -> Stretch:
    new = {
        f"ramp of the {ramp}": ramps.yarn(BASE, HEAD_DIM, FACTOR, FIRST, ramp=ramp)
        for ramp in ("paper", "code")
    }
    return Stretch(_plain(), new)


def _dynamic() -> Stretch:
    lengths = {f"{n if n > 1 else ''}L₀": n * FIRST for n in GROWN}
    return Stretch(
        _plain(),
        {name: scaling.dynamic(BASE, HEAD_DIM, 2, FIRST, n) for name, n in lengths.items()},
        divided=False,
    )


def _shorter() -> Stretch:
    """p-RoPE and partial rotary, both with a quarter of the planes; what does not turn has frequency 0."""
    quarter = scaling.rotary(BASE, HEAD_DIM // 4).exact
    held = (sp.S.Zero,) * (3 * HEAD_DIM // 8)
    new = {
        "p-RoPE": scaling.proportional(BASE, HEAD_DIM, sp.Rational(1, 4)),
        "partial rotary": Frequencies((*quarter, *held)),
    }
    return Stretch(_plain(), new, divided=False)


def _longrope() -> Stretch:
    m = scaling.longrope_attention(FACTOR, FIRST)
    return Stretch(_plain(), {"": scaling.longrope(BASE, HEAD_DIM, divisors(), m)})


def _llama() -> Stretch:
    new = ramps.llama3(LLAMA_BASE, HEAD_DIM, FACTOR, LLAMA_FIRST, 1, 4)
    return Stretch(_plain(LLAMA_BASE), {"": new}, LLAMA_FIRST)


STRETCHES: Mapping[str, Callable[[], Stretch]] = {
    "interpolation": lambda: Stretch(_plain(), {"": scaling.linear(BASE, HEAD_DIM, FACTOR)}),
    "ntk": lambda: Stretch(_plain(), {"": scaling.ntk_aware(BASE, HEAD_DIM, FACTOR)}),
    "yarn": _yarn,
    "llama3": _llama,
    "dynamic": _dynamic,
    "longrope": _longrope,
    "p-rope": lambda: Stretch(
        _plain(), {"": scaling.proportional(BASE, HEAD_DIM, sp.Rational(3, 4))}, divided=False
    ),
    "partial": _shorter,
}
"""The rule of each picture, in the order of the page."""


@cache
def stretch(name: str) -> Stretch:
    """The rule of one picture."""
    return STRETCHES[name]()


def ratios(old: Frequencies, new: Frequencies) -> np.ndarray:
    """w'_k/w_k."""
    return np.array([float(b / a) for a, b in zip(old, new, strict=True)])


def plane_scores(table: Frequencies, longest: int) -> np.ndarray:
    """m² Σ_k cos(w_k u)/n for the gaps u = 1 … longest."""
    waves = np.array([float(w) for w in table])
    pieces = np.array_split(np.arange(1, longest + 1), 32)
    means = [np.cos(gaps[:, None] * waves).mean(1) for gaps in pieces]
    return float(table.attention_factor**2) * np.concatenate(means)


def band(scores: np.ndarray) -> Band:
    """The scores at the gaps 1, 2, … in bins of equal width on a log axis."""
    edges = np.unique(np.geomspace(1, len(scores) + 1, BINS + 1).astype(int))
    pieces = [scores[a - 1 : b - 1] for a, b in pairwise(edges)]
    middle = np.sqrt(edges[:-1] * (edges[1:] - 1.0))
    return Band(middle, np.array([p.min() for p in pieces]), np.array([p.max() for p in pieces]))


@dataclass(frozen=True)
class CachedScores:
    """Scores of the last of 8·L₀ tokens at the gaps 1, 2, …: keys turned at their own length, or at its."""

    cached: np.ndarray
    fresh: np.ndarray


def cached_scores() -> CachedScores:
    """Dynamic NTK with s = 2; the key at position p is turned at the frequencies of length p + 1."""
    last = GROWN[-1] * FIRST - 1
    plain = np.array([float(w) for w in _plain()])
    shares = -2 * np.arange(HEAD_DIM // 2) / (HEAD_DIM - 2)

    def angles(place: np.ndarray, length: np.ndarray) -> np.ndarray:
        growth = np.maximum(1, 1 + 2 * (length - FIRST) / FIRST)
        return place[:, None] * plain * growth[:, None] ** shares

    def scores(positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        lengths = positions + 1, np.full(len(positions), last + 1)
        query = angles(np.array([last]), np.array([last + 1]))
        cached, fresh = (np.cos(query - angles(positions, at)).mean(1) for at in lengths)
        return cached, fresh

    parts = [scores(positions) for positions in np.array_split(np.arange(last - 1, -1, -1), 32)]
    cached, fresh = (np.concatenate(halves) for halves in zip(*parts, strict=True))
    return CachedScores(cached, fresh)
