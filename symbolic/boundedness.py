"""Which flows exp(tX) stay bounded: for all t, only forward in time, only backward, or neither.

A direct sum is bounded where each of its blocks is, and a change of basis does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import sympy as sp

from .decide import Status, Verdict, decide
from .spectral.classify import AnyBlock
from .spectral.companion import CompanionBlock
from .typeset import to_text


@dataclass(frozen=True)
class Growth:
    """Something in exp(tX) that leaves every bound: `quantity` = `closed` → `limit` as t → `direction`.

    entries: places in S⁻¹ exp(tX) S. One place: quantity is that entry. Two: the sum of their squares,
    the squared length of half a column. `verdict` decides quantity = closed. For a companion block the limit
    is the limit superior of the absolute value.
    """

    block: int
    entries: tuple[tuple[int, int], ...]
    quantity: sp.Expr
    closed: sp.Expr
    direction: sp.Expr
    limit: sp.Expr
    verdict: Verdict


@dataclass(frozen=True)
class Boundedness:
    """Whether sup ‖exp(tX)‖ is finite over all t, over t >= 0 (`forward`), over t <= 0 (`backward`)."""

    forward: bool
    backward: bool
    reason: str
    witnesses: tuple[Growth, ...]

    @property
    def all_times(self) -> bool:
        """Bounded for every t; then X is a rotation, or zero, in some basis."""
        return self.forward and self.backward

    def __str__(self) -> str:
        return self.reason


def boundedness(
    blocks: tuple[AnyBlock, ...], t: sp.Symbol, values: Mapping[sp.Symbol, sp.Expr] | None = None
) -> Boundedness:
    """The verdict for ⊕ blocks; BadInput when a symbolic decay has no known sign.

    values: what symbols stand for, which the reason says in their place.
    """
    witnesses, start = [], 0
    for index, block in enumerate(blocks):
        witnesses += [_growth(block, index, start, t, direction) for direction in _unbounded(block)]
        start += block.dim
    forward = all(w.direction is not sp.oo for w in witnesses)
    backward = all(w.direction is not -sp.oo for w in witnesses)
    told = [replace(w, closed=w.closed.xreplace(dict(values or {}))) for w in witnesses]
    return Boundedness(forward, backward, _reason(blocks, forward, backward, told), tuple(witnesses))


def _unbounded(block: AnyBlock) -> tuple[sp.Expr, ...]:
    """The directions of time in which the block leaves every bound."""
    if isinstance(block, CompanionBlock):
        at = block.half_planes
        slides = at.axis and block.size > 1
        return tuple(way for way, grows in ((sp.oo, at.right), (-sp.oo, at.left)) if grows or slides)
    if block.fate > 0:
        return (-sp.oo,)
    if block.fate < 0:
        return (sp.oo,)
    return (sp.oo, -sp.oo) if block.size > 1 else ()


def _growth(block: AnyBlock, index: int, start: int, t: sp.Symbol, direction: sp.Expr) -> Growth:
    """The fading or growing corner entry, or the first slide entry, as a length when the block turns."""
    if isinstance(block, CompanionBlock):
        return _root_growth(block, index, start, t, direction)
    width = block.dim // block.size
    column = 0 if block.fate else width
    flow = block.exp(t)
    places = tuple((row, column) for row in range(width))
    base = sp.exp(-block.decay * t) if block.fate else t
    quantity = sum(flow[place] ** 2 for place in places) if block.turns else flow[0, column]
    closed = base**2 if block.turns else base
    odd_slide = not block.fate and not block.turns and direction is -sp.oo
    return Growth(
        block=index,
        entries=tuple((start + i, start + j) for i, j in places),
        quantity=quantity,
        closed=closed,
        direction=direction,
        limit=-sp.oo if odd_slide else sp.oo,
        verdict=decide(quantity, closed),
    )


def _root_growth(block: CompanionBlock, index: int, start: int, t: sp.Symbol, direction: sp.Expr) -> Growth:
    """The upper left entry Σ e^{λt} b(λ), or t times it in the second cell where the roots lie on the axis.

    b(λ) = -p(0)/(λ p'(λ)) is not 0 at any root, so every e^{λt} is present, and an exponential polynomial
    with a root on the far side of the axis, or with t e^{iyt}, has unbounded absolute value.
    """
    at = block.half_planes
    outside = at.right if direction is sp.oo else at.left
    place = (0, 0) if outside else (0, block.degree)
    entry = block.exp(t)[place]
    side = "right" if direction is sp.oo else "left"
    why = (
        f"{outside} of {block.degree} eigenvalues lie {side} of the imaginary axis by an exact count"
        if outside
        else f"{at.axis} eigenvalues lie on the imaginary axis in a block of size {block.size}"
    )
    return Growth(
        block=index,
        entries=((start + place[0], start + place[1]),),
        quantity=entry,
        closed=entry,
        direction=direction,
        limit=sp.oo,
        verdict=Verdict(Status.PROVED, f"{why}; no coefficient of the entry vanishes"),
    )


def _reason(blocks: tuple[AnyBlock, ...], forward: bool, backward: bool, witnesses: list[Growth]) -> str:
    if forward and backward:
        if any(isinstance(block, CompanionBlock) for block in blocks):
            return "Bounded for all t: all eigenvalues lie on the imaginary axis, in blocks of size 1."
        return "Bounded for all t: every block is a hold or a turn, and neither changes a length."
    worst = next(w for w in witnesses if forward or w.direction is sp.oo)
    other = next((w for w in witnesses if w.direction is -sp.oo), worst)
    head = (
        "Bounded for t ≥ 0 only"
        if forward
        else "Bounded for t ≤ 0 only"
        if backward
        else "Unbounded both ways"
    )
    shown = [worst] if forward or backward else [worst, other]
    return f"{head}: " + "; ".join(_sentence(blocks[w.block], w) for w in shown) + "."


def _sentence(block: AnyBlock, growth: Growth) -> str:
    if isinstance(block, CompanionBlock):
        way = "∞" if growth.direction is sp.oo else "-∞"
        return (
            f"block {growth.block} (companion) has an unbounded entry as t → {way}: {growth.verdict.reason}"
        )
    what = "a squared length" if block.turns else "an entry"
    way = "∞" if growth.direction is sp.oo else "-∞"
    limit = "∞" if growth.limit is sp.oo else "-∞"
    return f"block {growth.block} ({block.kind}) has {what} {to_text(growth.closed)} → {limit} as t → {way}"
