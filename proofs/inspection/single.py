"""How far the float32 frequencies of transformers may be off: its recipes, with an error at every rounding.

Each operation rounds by at most u = 2^-24 relative to its result, a power by one ulp, 2u; a Python number is
rounded where it meets a tensor, unless float32 holds it. `Within` carries value and error through a formula.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from ...numeric.constants import nearest_float
from ...numeric.rounding import unit_roundoff
from ...symbolic.configs.description import Rotary
from ...symbolic.frequencies import as_written

U = unit_roundoff("float32")
_SECOND_ORDER = 1 + 2.0**-10  # products of errors, each far below it
_DOUBLE = 2.0**-50  # of base and amplitude, a few operations in float64


@dataclass(frozen=True)
class Within:
    """A float32 number: |computed - value| <= error."""

    value: float
    error: float

    def __add__(self, other: Within) -> Within:
        return _rounded(self.value + other.value, self.error + other.error)

    def __sub__(self, other: Within) -> Within:
        return _rounded(self.value - other.value, self.error + other.error)

    def __mul__(self, other: Within) -> Within:
        error = self.error * abs(other.value) + other.error * abs(self.value)
        return _rounded(self.value * other.value, error * _SECOND_ORDER)

    def __truediv__(self, other: Within) -> Within:
        value = self.value / other.value
        error = (self.error + abs(value) * other.error) / abs(other.value)
        return _rounded(value, error * _SECOND_ORDER)


def _rounded(value: float, error: float) -> Within:
    return Within(value, error + U * (abs(value) + error))


def single(value: float) -> Within:
    """A Python number as float32 holds it."""
    held = struct.unpack("f", struct.pack("f", value))[0]
    return Within(value, 0.0 if held == value else U * abs(value))


ONE = Within(1.0, 0.0)


def relative_errors(encoding: Rotary, seq_len: int) -> list[float]:
    """|w_float32 - w| / w of each turning plane at most, 0 where a plane is held; at a length of text."""
    given = {key: as_written(value) for key, value in encoding.parameters.items()}
    base = single(nearest_float(given["rope_theta"], name="rope_theta"))
    found = _RULES[encoding.rule](base, encoding, given, seq_len)
    return [w.error / w.value if w.value else 0.0 for w in found]


def _power(base: Within, k: int, dim: int) -> Within:
    """base^(2k/dim): the exponent rounds once and counts ln base times."""
    exponent = single(2 * k / dim)
    value = base.value**exponent.value
    drift = exponent.value * base.error / base.value + abs(math.log(base.value)) * exponent.error
    return Within(value, value * (drift + 2 * U + _DOUBLE) * _SECOND_ORDER if k else 0.0)


def _plain(base: Within, dim: int, count: int | None = None) -> list[Within]:
    return [ONE / _power(base, k, dim) for k in range(dim // 2 if count is None else count)]


def _default(base: Within, encoding: Rotary, _given: Mapping, _length: int) -> list[Within]:
    return _plain(base, encoding.rotary_dim)


def _linear(base: Within, encoding: Rotary, given: Mapping, _length: int) -> list[Within]:
    factor = single(float(given["factor"]))
    return [w / factor for w in _plain(base, encoding.rotary_dim)]


def _proportional(base: Within, encoding: Rotary, given: Mapping, _length: int) -> list[Within]:
    live = int(given.get("partial_rotary_factor", 1) * encoding.head_dim // 2)
    factor = single(float(given.get("factor", 1)))
    held = [Within(0.0, 0.0)] * (encoding.head_dim // 2 - live)
    return [w / factor for w in _plain(base, encoding.head_dim, live)] + held


def _dynamic(base: Within, encoding: Rotary, given: Mapping, length: int) -> list[Within]:
    """The stretch f L/L0 - (f - 1) cancels, so its error counts by f L/L0; a text's length is a tensor."""
    first, factor, dim = encoding.max_position_embeddings or 1, float(given["factor"]), encoding.rotary_dim
    if length <= first:
        return _plain(base, dim)
    f, reached = single(factor), Within(float(length), 0.0 if length <= 2**24 else U * length)
    stretch = f * reached / Within(float(first), U * first) - single(factor - 1)
    value = stretch.value ** (dim / (dim - 2))
    power = Within(value, value * (dim / (dim - 2) * stretch.error / stretch.value * _SECOND_ORDER + 4 * U))
    return _plain(base * power, dim)


def _yarn(base: Within, encoding: Rotary, given: Mapping, _length: int) -> list[Within]:
    dim, factor = encoding.rotary_dim, single(_factor(encoding, given))
    first = float(given["original_max_position_embeddings"])
    low, high = (
        dim * math.log(first / (float(given.get(key, turns)) * 2 * math.pi)) / (2 * math.log(base.value))
        for key, turns in (("beta_fast", 32), ("beta_slow", 1))
    )
    if encoding.nested or given.get("truncate", True):
        low, high = float(math.floor(low)), float(math.ceil(high))
    low, high = max(low, 0.0), min(high, dim - 1.0)
    width = high - low if high > low else 0.001
    found = []
    for k in range(dim // 2):
        power = _power(base, k, dim)
        place = (Within(float(k), 0.0) - single(low)) / single(width)
        ramp = Within(min(max(place.value, 0.0), 1.0), place.error)
        if (
            abs(place.value - ramp.value) >= place.error
        ):  # clamped, or on an end without error: 0 or 1 exactly
            ramp = Within(ramp.value, 0.0)
        found.append(_blend(ONE / (factor * power), ONE / power, ramp))
    return found


def _blend(divided: Within, kept: Within, ramp: Within) -> Within:
    """divided·(1 - (1 - ramp)) + kept·(1 - ramp), which rounds nothing where the ramp is 0 or 1."""
    if ramp.error == 0 and ramp.value in (0, 1):
        return divided if ramp.value else kept
    share = ONE - ramp
    return divided * (ONE - share) + kept * share


def _llama3(base: Within, encoding: Rotary, given: Mapping, _length: int) -> list[Within]:
    """Near an end of the ramp either branch may be taken; the blend's error covers both, which meet there.

    Where both ends are one the rule jumps, and planes are taken to be on their side of it.
    """
    first = Within(float(given["original_max_position_embeddings"]), 0.0)
    slow, fast = single(float(given["low_freq_factor"])), single(float(given["high_freq_factor"]))
    factor = single(float(given["factor"]))
    found = []
    for w in _plain(base, encoding.rotary_dim):
        turns = first / (single(2 * math.pi) / w)
        if slow.value == fast.value:
            found.append(w if turns.value > slow.value else w / factor)
            continue
        smooth = (turns - slow) / single(fast.value - slow.value)
        near = Within(min(max(smooth.value, 0.0), 1.0), smooth.error)
        if abs(smooth.value - near.value) > 2 * smooth.error:
            found.append(w if smooth.value > 1 else w / factor)
        else:
            found.append((ONE - near) * w / factor + near * w)
    return found


def _longrope(base: Within, encoding: Rotary, given: Mapping, length: int) -> list[Within]:
    long = length > int(given["original_max_position_embeddings"])
    divisors = given["long_factor" if long else "short_factor"]
    dim = encoding.rotary_dim
    return [ONE / (single(float(x)) * _power(base, k, dim)) for k, x in enumerate(divisors)]


def _factor(encoding: Rotary, given: Mapping) -> float:
    ratio = (encoding.max_position_embeddings or 1) / (encoding.trained_length or 1)
    return float(given.get("factor", ratio))


_RULES = {
    "default": _default,
    "linear": _linear,
    "dynamic": _dynamic,
    "yarn": _yarn,
    "llama3": _llama3,
    "longrope": _longrope,
    "proportional": _proportional,
}
