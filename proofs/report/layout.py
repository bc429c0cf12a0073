"""Owns the lines of a formula: which of its pieces stand side by side in a column of a given width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Pieces = tuple[tuple[str, ...], ...]
INDENT = 1.0
"""How far the second and later lines stand in, in ems."""


def lines(left: Pieces, right: Pieces, widths: Mapping[str, float], room: float) -> list[str]:
    """The lines of `left right`, none wider than `room` unless a single part is; widths in ems, by part.

    Both sides on a line of their own where they fit, else as much on each line as fits.
    """
    sides = [[part for piece in side for part in piece] for side in (left, right)]
    totals = [sum(widths[part] for part in side) for side in sides]
    if sides[1] and totals[0] <= room and totals[1] <= room - INDENT:
        return [" ".join(side) for side in sides]
    return _filled(left, right, widths, room)


def _filled(left: Pieces, right: Pieces, widths: Mapping[str, float], room: float) -> list[str]:
    """As much on each line as fits; the relation begins a line where the left side fills several."""
    done: list[list[str]] = [[]]
    used = 0.0
    for side in (left, right):
        broken = len(done) > 1
        for place, piece in enumerate(_cut(side, widths, room)):
            width = sum(widths[part] for part in piece)
            if done[-1] and (used + width > room or (broken and side is right and place == 0)):
                done.append([])
                used = INDENT
            done[-1] += piece
            used += width
    return [" ".join(line) for line in done]


def _cut(side: Pieces, widths: Mapping[str, float], room: float) -> list[Sequence[str]]:
    """Pieces as they are where they fit, in their parts where they do not."""
    cut: list[Sequence[str]] = []
    for piece in side:
        fits = sum(widths[part] for part in piece) <= room - INDENT
        cut += [piece] if fits else [(part,) for part in piece]
    return cut


def equation(rows: Sequence[str]) -> str:
    """A display equation of typst with these lines, all but the first a little further in."""
    first, *rest = rows
    if not rest:
        return f"$ {first} $"
    return f"$ & {first} " + " ".join(f"\\ & quad {_spaced(row)}" for row in rest) + " $"


def _spaced(row: str) -> str:
    """A sign at the head of a line stands apart from its term; a factor there gets a dot."""
    if row.startswith("("):
        return f"dot.op {row}"
    sign, _, term = row.partition(" ")
    return f"{sign} space.med {term}" if sign in ("+", "-") else row
