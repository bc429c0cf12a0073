"""Reads canonical blocks off a matrix that already is a direct sum of them, laid along the diagonal."""

from __future__ import annotations

import sympy as sp

from .block import Block
from .errors import Unsupported


def blocks_on_the_diagonal(matrix: sp.ImmutableMatrix) -> tuple[tuple[Block, ...], tuple[int, ...]]:
    """Blocks and signs s with `matrix = diag(s) (⊕ blocks) diag(s)`; Unsupported for any other matrix.

    The signs are 1 except in planes that turn clockwise ([[-γ, ω], [-ω, -γ]], ω > 0), where they are 1, -1.
    """
    blocks: list[Block] = []
    signs: list[int] = []
    for start, stop in _pieces(matrix):
        block, flip = _recognise(matrix[start:stop, start:stop], start)
        blocks.append(block)
        signs += [1, -1] * (block.dim // 2) if flip else [1] * block.dim
    return tuple(blocks), tuple(signs)


def _pieces(matrix: sp.ImmutableMatrix) -> list[tuple[int, int]]:
    """The finest cut of 0..n into intervals with no non-zero entry between different ones."""
    reach = list(range(matrix.rows))
    for i, j in matrix.todok():
        low = min(i, j)
        reach[low] = max(reach[low], i, j)
    cuts, start, far = [], 0, 0
    for i in range(matrix.rows):
        far = max(far, reach[i])
        if far == i:
            cuts.append((start, i + 1))
            start = i + 1
    return cuts


def _recognise(piece: sp.ImmutableMatrix, at: int) -> tuple[Block, bool]:
    size = piece.rows
    for block, flip in _candidates(piece):
        signs = sp.diag(*[1, -1] * (size // 2)) if flip else sp.eye(size)
        if signs * block.matrix * signs == piece:
            return block, flip
    raise Unsupported(
        f"matrix rows {at} to {at + size - 1} are not a canonical block J_m(-γ) or C_m(γ, ω); general "
        "matrices are not classified yet: give Generator.direct_sum(Block(...), ..., basis=S) instead"
    )


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
