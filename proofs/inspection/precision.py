"""How far angles are off at the end of a context, by the format of frequencies, positions or angles."""

from __future__ import annotations

from typing import Any

import flint

from ...numeric.constants import number_ball
from ...numeric.rounding import FORMATS, Format, round_correctly, round_dyadic, unit_roundoff
from ...symbolic.configs.description import Rotary
from ...symbolic.scaling import Frequencies
from .single import U, relative_errors

Document = dict[str, Any]
NARROW = ("bfloat16", "float16")
ABOVE = {"bfloat16": 3.4e38, "float16": 65504.0}  # the largest finite numbers


def precision(encoding: Rotary, found: Frequencies, rates: list[float], context: int) -> Document:
    """Radians of the worst plane at position context - 1; `bound` where it is one, else the value itself."""
    last = context - 1
    return {
        "position": last,
        "float64": 2 * unit_roundoff("float64") * max(rates) * last,
        "float32": _float32(encoding, rates, context),
        "positions": {name: positions(last, name) for name in ("float32", *NARROW)},
        "frequencies": {name: _worst(_rounded_rates(found, last, name)) for name in NARROW},
        "angles": {name: _worst(_rounded_angles(found, last, name)) for name in ("float32", *NARROW)},
    }


def _float32(encoding: Rotary, rates: list[float], context: int) -> Document:
    """The recipe of transformers: each frequency by its own error, then one rounding of the product."""
    errors = relative_errors(encoding, context)
    return _worst([(e + U) * (1 + U) * w * (context - 1) for e, w in zip(errors, rates, strict=True)])


def positions(last: int, name: str) -> Document:
    """What the format makes of the last position, and how many of 0 … last stay apart."""
    target = FORMATS[name]
    read = round_dyadic(last, 0, name)
    if read > ABOVE.get(name, read):
        return {"read": None, "distinct": _below(int(ABOVE[name]), target), "whole": 1 << target.precision}
    return {"read": read, "distinct": _below(int(read), target), "whole": 1 << target.precision}


def _below(largest: int, target: Format) -> int:
    """How many numbers of the format are whole numbers from 0 to `largest`, itself one of them."""
    half = 1 << (target.precision - 1)
    if largest < 2 * half:
        return largest + 1
    exponent = largest.bit_length() - target.precision
    return 2 * half + (exponent - 1) * half + (largest >> exponent) - half + 1


def _rounded_rates(found: Frequencies, last: int, name: str) -> list[float]:
    """|fl(ω) - ω| · last of every plane."""
    return [abs(_off(w, 1, name)) * last for w in found]


def _rounded_angles(found: Frequencies, last: int, name: str) -> list[float]:
    """|fl(ω · last) - ω · last| of every plane: everything exact until the angle is stored."""
    return [abs(_off(w, last, name)) for w in found]


def _off(w: Any, times: int, name: str) -> float:
    """fl(w · times) - w · times."""
    if w.is_zero or times == 0:
        return 0.0
    stored = round_correctly(lambda: number_ball(w, "a frequency") * times, name)
    with flint.ctx.workprec(192):
        return float(flint.arb(stored) - number_ball(w, "a frequency") * times)


def _worst(errors: list[float]) -> Document:
    """The largest, and its plane."""
    largest = max(errors)
    return {"radians": largest, "plane": errors.index(largest)}
