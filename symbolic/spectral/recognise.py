"""Recognises a matrix that is one canonical block, clockwise turns included."""

from __future__ import annotations

import sympy as sp

from ..block import Block


def recognise(piece: sp.ImmutableMatrix) -> tuple[Block, list[int]] | None:
    """The one canonical block with `piece = diag(s) block diag(s)`, and the signs s; None if there is none.

    The signs are 1 except in planes that turn clockwise ([[-γ, ω], [-ω, -γ]], ω > 0), where they are 1, -1.
    """
    size = piece.rows
    for block, flip in _candidates(piece):
        signs = [1, -1] * (size // 2) if flip else [1] * size
        change = sp.diag(*signs)
        if change * block.matrix * change == piece:
            return block, signs
    return None


def _candidates(piece: sp.ImmutableMatrix) -> list[tuple[Block, bool]]:
    """What the block must be if it is one: read off the upper left corner."""
    decay, size = -piece[0, 0], piece.rows
    if size == 1 or piece[1, 0] == 0:
        return [(Block(decay, 0, size), False)]
    turn = piece[1, 0]
    if size % 2 == 0 and turn.is_positive:
        return [(Block(decay, turn, size // 2), False)]
    if size % 2 == 0 and turn.is_negative:
        return [(Block(decay, -turn, size // 2), True)]
    return []
