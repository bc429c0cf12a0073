"""Floating-point formats, unit roundoffs, and correct rounding of an exact or enclosed number.

A format keeps p significant bits, so rounding to nearest moves a normal number by at most the unit
roundoff u = 2^-p relative to itself, and a subnormal one by at most half the smallest positive number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import flint

from .errors import BadDtype, NotRounded, TooLarge

_FIRST_PRECISION, _LAST_PRECISION = 128, 1 << 15


@dataclass(frozen=True)
class Format:
    """A binary format: p significant bits, and the exponent of its smallest positive number."""

    precision: int
    lowest: int

    @property
    def unit_roundoff(self) -> float:
        """u = 2^-p."""
        return math.ldexp(1.0, -self.precision)

    @property
    def half_smallest(self) -> float:
        """Largest error of rounding a subnormal number (0.0 in float64, where it is not representable)."""
        return math.ldexp(1.0, self.lowest - 1)


FORMATS = {
    "float64": Format(53, -1074),
    "float32": Format(24, -149),
    "bfloat16": Format(8, -133),
    "float16": Format(11, -24),
}


def format_of(dtype: object) -> Format:
    """The format of a torch dtype or of its name; BadDtype for anything else."""
    name = str(dtype).removeprefix("torch.")
    if name not in FORMATS:
        raise BadDtype(f"dtype is {dtype}; one of {', '.join(FORMATS)} works")
    return FORMATS[name]


def unit_roundoff(dtype: object) -> float:
    """u = 2^-p of a torch dtype or of its name, e.g. 2^-8 for bfloat16."""
    return format_of(dtype).unit_roundoff


def round_dyadic(mantissa: int, exponent: int, dtype: object) -> float:
    """mantissa · 2^exponent rounded to nearest, ties to even, in `dtype` (returned as a Python float)."""
    target, magnitude = format_of(dtype), abs(mantissa)
    drop = max(magnitude.bit_length() - target.precision, target.lowest - exponent, 0)
    kept, rest = divmod(magnitude, 1 << drop)
    twice = 2 * rest
    kept += twice > 1 << drop or (drop > 0 and twice == 1 << drop and kept % 2 == 1)
    try:
        return math.ldexp(-kept if mantissa < 0 else kept, exponent + drop)
    except OverflowError as error:
        raise TooLarge(f"a number beyond 2^{exponent + drop} has no float; smaller numbers work") from error


def round_ball(ball: flint.arb, dtype: object) -> float | None:
    """The one value of `dtype` to which every point of the ball rounds, or None if there are several."""
    if not ball.is_finite():
        return None
    low, high = (
        round_dyadic(int(mantissa), int(exponent), dtype)
        for mantissa, exponent in (ball.lower().man_exp(), ball.upper().man_exp())
    )
    return low if low == high else None


def round_correctly(enclose: Callable[[], flint.arb], dtype: object, bits: int = 0) -> float:
    """The correctly rounded value of the real number that `enclose()` encloses at the ambient precision.

    `enclose` is called at 128 + bits bits and then at twice as many until both ends of the ball round
    alike; `bits` is what the caller knows will be lost, e.g. log2 of a large angle. NotRounded if 2^15
    bits do not suffice, which happens only where the number is itself a rounding boundary.
    """
    precision = _FIRST_PRECISION + bits
    while precision <= _LAST_PRECISION + bits:
        with flint.ctx.workprec(precision):
            value = round_ball(enclose(), dtype)
        if value is not None:
            return value
        precision *= 2
    raise NotRounded(f"the value lies on a rounding boundary of {dtype} to {precision // 2} bits")
