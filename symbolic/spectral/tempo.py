"""How fast a block fades and turns: half-life, slowest and fastest period, as exact numbers or enclosures."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from ..balls import Enclosure, enclose
from .classify import AnyBlock
from .companion import CompanionBlock

Quantity = sp.Expr | Enclosure


@dataclass(frozen=True)
class Tempo:
    """Gaps in positions; None where there is none.

    half_life: ln 2/γ of the slowest fading part, where every part fades; slowest_period, fastest_period:
    2π/ω over the parts that turn. Exact for canonical blocks, enclosed for companion blocks.
    """

    half_life: Quantity | None
    slowest_period: Quantity | None
    fastest_period: Quantity | None


def tempo(block: AnyBlock, digits: int = 20) -> Tempo:
    """The tempo of one block; BadInput when the decay of a canonical block has no known sign."""
    if isinstance(block, CompanionBlock):
        return _enclosed(block, digits)
    period = block.period if block.turns else None
    return Tempo(block.half_life if block.fate > 0 else None, period, period)


def _enclosed(block: CompanionBlock, digits: int) -> Tempo:
    roots = block.roots(digits + 5)
    fades = block.half_planes.left == block.degree
    slowest = max((root.real for root in roots), key=lambda part: part.upper)
    turning = sorted((root.imag for root in roots if root.imag.lower > 0), key=lambda part: part.lower)
    return Tempo(
        _divided(sp.log(2), Enclosure(-slowest.upper, -slowest.lower), digits) if fades else None,
        _divided(2 * sp.pi, turning[0], digits) if turning else None,
        _divided(2 * sp.pi, turning[-1], digits) if turning else None,
    )


def _divided(number: sp.Expr, by: Enclosure, digits: int) -> Enclosure:
    """number/by for positive ends."""
    return Enclosure(enclose(number / by.upper, digits).lower, enclose(number / by.lower, digits).upper)
