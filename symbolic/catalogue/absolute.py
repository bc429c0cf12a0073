"""Absolute encodings: a vector that depends on the position is added to the embedding."""

from __future__ import annotations

import sympy as sp

from ..encoding import Encoding
from ..exact import even, whole
from ..kinds.formula import Formula
from .registry import register
from .turning import pairs, plane_frequencies, rates_shown, turning


@register(
    published="`score = (W_q(x + p_t))·(W_k(y + p_s))`, `p_t = (sin ω_k t, cos ω_k t)`",
    source="A. Vaswani et al., Attention Is All You Need, arXiv 1706.03762, section 3.5",
    danger="none in itself: the table is bounded",
    example={"head_dim": 4},
)
def sinusoidal(head_dim: int, rope_theta: object = 10000, frequencies: object = None) -> Encoding:
    """score = (q + p_t)·(k + p_s), p_t = (sin w_0 t, cos w_0 t, sin w_1 t, …), with W_qᵀ W_k = I.

    The table turns by itself, p_{t+k} = R(-k w) p_t on each plane, yet q·p_s and p_t·k are left
    (Vaswani et al., arXiv 1706.03762, section 3.5). F(t) = [I | p_t], shape (head_dim, head_dim + 1).
    """
    size = even(head_dim, "head_dim")
    turns = plane_frequencies(frequencies, rope_theta, size)
    rates = rates_shown(frequencies, rope_theta, turns)
    generator = turning(size, pairs(size, interleaved=True), turns)
    start = sp.ImmutableMatrix(size, 1, lambda i, _: i % 2)

    def added(ingredients, position):
        return sp.eye(size).row_join(ingredients[0].exp(position) * start)

    return Formula(
        "sinusoidal",
        {"head_dim": size, **rates},
        size,
        ingredients=(generator,),
        query=added,
        key=added,
        slots=1,
    )


@register(
    published="`score = (W_q(x + p_t))·(W_k(y + p_s))`, `p` a table",
    source="J. Gehring et al., Convolutional Sequence to Sequence Learning, arXiv 1705.03122",
    danger="no value beyond the length of the table",
    example={"head_dim": 2},
)
def learned_absolute(head_dim: int) -> Encoding:
    """score = (q + p_t)·(k + p_s) with a table p of opaque functions p0(t), p1(t), …: any table at all."""
    size = whole(head_dim, "head_dim")

    def added(_, position):
        table = [sp.Function(f"p{i}", real=True)(position) for i in range(size)]
        return sp.eye(size).row_join(sp.Matrix(table))

    return Formula("learned_absolute", {"head_dim": size}, size, query=added, key=added, slots=1)
