"""The frequency of each plane with its error, from phases at growing positions and from no rule."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ....numeric.rounding import unit_roundoff
from ...budget import single_angle_entry
from .explain import held
from .observe import Planes, wrapped


def spectrum(planes: Planes) -> tuple[tuple[float, float], ...]:
    """(w, error) a plane, radians a position, counter-clockwise positive: |true - w| <= error.

    The step from position 0 to 1 gives w in (-π, π]. A later position t gives it again within 1/t of the
    error of a phase, up to whole turns, which the estimate so far counts as long as its error times t leaves
    less than half a turn. Intervals are cut with one another; where one misses the rest, angles do not grow
    evenly there (they were rounded, or clipped), and what came before it stands. A phase of entries within b
    is within asin(√2 b) <= 2b.
    """
    phase = torch.atan2(planes.sin, planes.cos)
    middle, error = planes.steps(), torch.full((planes.count,), math.pi, dtype=torch.float64)
    low, high = middle - error, middle + error
    going = torch.ones(planes.count, dtype=torch.bool)
    for index, t in list(enumerate(planes.positions))[1:]:
        noise = _noise(planes, t * middle.abs() + phase[0].abs()) + _noise(planes, phase[0].abs())
        going &= (t * error + noise < math.pi) | (t == 1)
        turned = t * middle + wrapped(phase[index] - phase[0] - t * middle)
        lower, upper = torch.maximum(low, (turned - noise) / t), torch.minimum(high, (turned + noise) / t)
        going &= lower <= upper
        low, high = torch.where(going, lower, low), torch.where(going, upper, high)
        middle, error = (low + high) / 2, (high - low) / 2
    return tuple(zip(middle.tolist(), error.tolist(), strict=True))


def _noise(planes: Planes, angle: Tensor) -> Tensor:
    """How far a phase may be off: the product, cos and sin, and the format that holds them, all rounded."""
    stored = unit_roundoff(held(planes))
    return 2 * (single_angle_entry(angle, frequency_roundings=0) + stored)
