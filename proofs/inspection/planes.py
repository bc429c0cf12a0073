"""Facts about the planes of one rotary encoding: how far they turn, and what a rule did to each of them."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from ...numeric.constants import nearest_float
from ...symbolic.configs.description import Rotary
from ...symbolic.frequencies import as_written
from ...symbolic.rounding import less
from ...symbolic.scaling import Frequencies, rotary


def floats(found: Frequencies) -> list[float]:
    """Each frequency as its nearest float64."""
    return [nearest_float(w, name=f"frequency {k}") for k, w in enumerate(found)]


def plain(encoding: Rotary) -> Frequencies:
    """The frequencies of the base alone, without the rule."""
    size = encoding.head_dim if encoding.rule == "proportional" else encoding.rotary_dim
    return rotary(as_written(encoding.parameters["rope_theta"]), size)


def short_of_a_turn(found: Frequencies, length: int) -> list[int]:
    """The turning planes with ω·length < 2π: over so many positions they never come round."""
    return [
        k
        for k, w in enumerate(found)
        if not w.is_zero and less(length * w, 2 * sp.pi, f"the turns of plane {k}")
    ]


def held(found: Frequencies) -> list[int]:
    """The planes with ω = 0, which never turn."""
    return [k for k, w in enumerate(found) if w.is_zero]


def ramp(encoding: Rotary, found: Frequencies) -> dict[str, list[int]]:
    """The planes that a rule with a ramp keeps, blends, and divides by the factor s."""
    base = plain(encoding)
    s = as_written(encoding.parameters.get("factor", _ratio(encoding)))
    parts: dict[str, list[int]] = {"kept": [], "blended": [], "divided": []}
    for k, (w, v) in enumerate(zip(found, base, strict=True)):
        parts["kept" if w == v else "divided" if w == v / s else "blended"].append(k)
    return parts


def _ratio(encoding: Rotary) -> sp.Rational:
    """The factor where the config has none: the model's length over the original one."""
    return sp.Rational(encoding.max_position_embeddings or 1, encoding.trained_length or 1)


def spans(indices: Sequence[int]) -> str:
    """0–28, 31, 40–63: runs of consecutive numbers."""
    runs: list[list[int]] = []
    for i in indices:
        if runs and i == runs[-1][-1] + 1:
            runs[-1] = [runs[-1][0], i]
        else:
            runs.append([i])
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
