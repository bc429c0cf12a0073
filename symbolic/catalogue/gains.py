"""A gain per channel after the rotation: relative when its products agree on every plane, and only then."""

from __future__ import annotations

import sympy as sp

from ..encoding import Encoding
from ..errors import BadInput
from ..kinds.formula import Formula
from .columns import column, reals
from .registry import register
from .turning import pairs, rotation

PUBLISHED = "`q̃ = g_q ⊙ R(tω)q, k̃ = g_k ⊙ R(sω)k`"
SOURCE = "gains of an RMS norm after the rotation: model-architectures/GRAPE, `model/llama-mha-rope.py`"


@register(
    published=f"{PUBLISHED}, `g_q g_k` equal within each plane",
    source=SOURCE,
    danger="training moves gains freely: the products stay equal only if they are tied",
    example={"head_dim": 4},
)
def tied_gains(
    head_dim: int,
    query_gains: object = None,
    key_gains: object = None,
    rope_theta: object = 10000,
    interleaved: bool = False,
    frequencies: object = None,
) -> Encoding:
    """score = (g_q ⊙ R(tω)q)·(g_k ⊙ R(sω)k), the products g_q g_k equal on both features of a plane.

    query_gains: head_dim exact numbers, free symbols g0, g1, … if None; key_gains: those of the partner in
    the plane if None, which makes the products equal. Then diag(g_q g_k) commutes with the rotation.
    """
    turn = rotation(head_dim, rope_theta, None, interleaved, frequencies)
    return _gained("tied_gains", True, turn, query_gains, key_gains)


@register(
    published=PUBLISHED,
    source=SOURCE,
    danger="the score at gap 0 swings between the products of a plane as the position moves",
    example={"head_dim": 2, "query_gains": (2, 1)},
)
def untied_gains(
    head_dim: int,
    query_gains: object = None,
    key_gains: object = None,
    rope_theta: object = 10000,
    interleaved: bool = False,
    frequencies: object = None,
) -> Encoding:
    """score = (g_q ⊙ R(tω)q)·(g_k ⊙ R(sω)k), the products g_q g_k unequal on some plane: not relative.

    query_gains: head_dim exact numbers, free symbols g0, g1, … if None; key_gains: all 1 if None. With
    products e1, e2 the derivative along t - s = const is -ω(e1-e2)[[sin, cos], [cos, -sin]] at ω(s+t).
    """
    turn = rotation(head_dim, rope_theta, None, interleaved, frequencies)
    return _gained("untied_gains", False, turn, query_gains, key_gains)


def _gained(name: str, tied: bool, turn: tuple, query: object, key: object) -> Formula:
    """F(t) = diag(g_q)R(tω), G(s) = diag(g_k)R(sω), checked to be tied or not; turn: (head_dim, X, given)."""
    size, generator, given = turn
    planes = pairs(size, given["interleaved"])
    partner = {i: j for plane in planes for i, j in (plane, plane[::-1])}
    left = reals("g", size) if query is None else column(query, "query_gains", size)
    default = tuple(left[partner[i]] if tied else sp.S.One for i in range(size))
    right = default if key is None else column(key, "key_gains", size)
    apart = [p for p in planes if sp.expand(left[p[0]] * right[p[0]] - left[p[1]] * right[p[1]]) != 0]
    if tied and apart:
        i, j = apart[0]
        raise BadInput(
            f"the gains of features {i} and {j}, one plane, have products {left[i] * right[i]} and "
            f"{left[j] * right[j]}; equal products work, and untied_gains takes others"
        )
    if not tied and not apart:
        raise BadInput("the products of the gains agree on every plane; tied_gains takes these")

    def query_factor(ingredients, t):
        return sp.diag(*left) * ingredients[0].exp(t).T

    def key_factor(ingredients, s):
        return sp.diag(*right) * ingredients[0].exp(-s)

    parameters = {**given, "query_gains": left, "key_gains": right}
    return Formula(name, parameters, size, ingredients=(generator,), query=query_factor, key=key_factor)
