"""Rotations of the tokens passed, composed along the way; where they do not commute, the order counts."""

from __future__ import annotations

import sympy as sp

from ..encoding import Encoding
from ..exact import exact_entry, whole
from ..kinds.ordered import Ordered, Tokens
from .gates import gate_rows
from .registry import register


@register(
    published="`score = q·R_{t-1} ⋯ R_s k`, values moved alike, one rotation `R_l` a token",
    source=(
        "M. Godavarti, JoFormer, arXiv 2506.08652 (only abstract and code were read, the order of the "
        "factors is chosen here); journey_transformer_per_token_angles.py of mahesh-godavarti/joformer, "
        "whose plane rotations commute"
    ),
    danger="rotations that do not commute have to be multiplied in order, and rounding adds up along the way",
    example={"head_dim": 3},
)
def joformer(head_dim: int, angles: object = None) -> Encoding:
    """score = q·R_{t-1} ⋯ R_s k; the value at s reaches t as R_{t-1} ⋯ R_s v.

    R_l turns the planes (0, 1), (1, 2), … one after the other by head_dim - 1 angles of its token, in
    radians; with head_dim 2 all commute, and the angles are those of the code with the other sign. angles:
    one list a token, exact; free if None.
    """
    size = whole(head_dim, "head_dim", 2)
    names = tuple(f"theta{i}" for i in range(size - 1))
    rows = gate_rows(angles, "angles", size - 1, exact_entry)
    given = None if angles is None else tuple(zip(*rows, strict=True))
    one, zero = sp.S.One, (sp.S.Zero,) * (size - 2)
    samples = ((one, *zero), (*zero, sp.Integer(2)))
    tokens = Tokens(names, _turns, samples, given)
    parameters = {"head_dim": size, "angles": given}
    return Ordered("joformer", parameters, size, tokens, inclusive=False, moves_values=True)


def _turns(*angles: sp.Expr) -> sp.MatrixBase:
    """R(θ_0) on (0, 1), then R(θ_1) on (1, 2), …"""
    size = len(angles) + 1
    result = sp.eye(size)
    for i, angle in enumerate(angles):
        turn = sp.eye(size)
        turn[i : i + 2, i : i + 2] = sp.Matrix(
            [[sp.cos(angle), -sp.sin(angle)], [sp.sin(angle), sp.cos(angle)]]
        )
        result = turn * result
    return result
