"""A few exact values as decimal strings, from balls of more digits than are written."""

from __future__ import annotations

import flint
import sympy as sp

from ....numeric.constants import number_ball
from ....symbolic.configs.description import Rotary
from ..claims import Claims

DIGITS, BITS = 30, 400


def written(ball: flint.arb) -> str:
    """Correct to the last digit but one."""
    return ball.str(DIGITS, radius=False)


def wave(encoding: Rotary, longest: int, plane: int) -> str:
    """The frequency of a plane, radians a position."""
    with flint.ctx.workprec(BITS):
        return written(number_ball(encoding.frequencies(longest).exact[plane]))


def turn(frequency: sp.Expr, position: int, x0: float, x1: float) -> tuple[str, str]:
    """x0 cos - x1 sin and x0 sin + x1 cos at position times frequency."""
    with flint.ctx.workprec(BITS):
        angle = number_ball(frequency) * position
        cos, sin = angle.cos(), angle.sin()
        a, b = flint.arb(x0), flint.arb(x1)
        return written(a * cos - b * sin), written(a * sin + b * cos)


def sample(claims: Claims, kind: str) -> dict[str, str]:
    """Values by words, for a reader with a calculator."""
    if kind in ("slopes", "bias") or claims.rotary is None:
        return {}
    encoding, found = claims.rotary, claims.rotary.frequencies(claims.longest)
    last = len(found.exact) - 1
    given = {
        f"frequency of plane {i}": wave(encoding, claims.longest, i)
        for i in dict.fromkeys((0, 1, last))
        if i <= last
    }
    for plane in dict.fromkeys((0, last)):
        for position in (1, claims.longest - 1):
            cos, sin = turn(found.exact[plane], position, 1.0, 0.0)
            given[f"cos, position {position}, plane {plane}"] = cos
            given[f"sin, position {position}, plane {plane}"] = sin
    return given


def one() -> str:
    """A vector to check by hand: d = 4, w = (1, 1/100), x = (1, 2, 3, 4), both pairings, two positions."""
    waves = (sp.Integer(1), sp.Rational(1, 100))
    pairings = {"interleaved": ((0, 1), (2, 3)), "half-split": ((0, 2), (1, 3))}
    lines = ["x = (1, 2, 3, 4), frequencies (1, 1/100): base 10000; y = R(position · w) x"]
    for name, planes in pairings.items():
        for position in (1, 3):
            y = [""] * 4
            for frequency, (a, b) in zip(waves, planes, strict=True):
                y[a], y[b] = turn(frequency, position, a + 1.0, b + 1.0)
            lines += [f"{name}, position {position}:", *(f"  y{i} = {value}" for i, value in enumerate(y))]
    return "\n".join(lines)
