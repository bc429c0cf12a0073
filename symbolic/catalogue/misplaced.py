"""Rotations put in the wrong place: one side only, before the projection, in two pairings, on the values."""

from __future__ import annotations

import sympy as sp

from ..block import Block
from ..encoding import Encoding
from ..errors import BadInput
from ..exact import even, exact_entry, exact_matrix
from ..generator import Generator
from ..kinds.formula import Formula
from ..kinds.generated import Generated
from .registry import register
from .turning import AS_ROPE, plane_frequencies, rates_shown, rotation


def _query_turn(ingredients, t):
    return ingredients[0].exp(t).T


def _key_turn(ingredients, s):
    return ingredients[0].exp(-s)


@register(
    published="`q̃ = q, k̃ = R(sω)k`",
    source="no published encoding: a mistake that implementations make",
    danger=AS_ROPE,
    example={"head_dim": 4},
)
def keys_only(
    head_dim: int, rope_theta: object = 10000, interleaved: bool = False, frequencies: object = None
) -> Encoding:
    """score = q·R(s w)k: the key turns, the query does not."""
    size, generator, given = rotation(head_dim, rope_theta, None, interleaved, frequencies)
    return Formula("keys_only", given, size, ingredients=(generator,), key=_key_turn)


@register(
    published="`q̃ = W_q R(tω)x, k̃ = W_k R(sω)y`",
    source="no published encoding: a mistake that implementations make",
    danger=AS_ROPE,
    example={"head_dim": 2},
)
def before_projection(
    head_dim: int,
    rope_theta: object = 10000,
    interleaved: bool = False,
    frequencies: object = None,
    projection: object = None,
) -> Encoding:
    """score = (R(t w)x)ᵀ W (R(s w)y) for embeddings x, y: rotated before W = W_qᵀ W_k is applied.

    projection: W, shape (head_dim, head_dim), exact; free symbols W00, W01, … if None.
    """
    size, generator, given = rotation(head_dim, rope_theta, None, interleaved, frequencies)
    if projection is None:
        matrix = sp.ImmutableMatrix(size, size, lambda i, j: sp.Symbol(f"W{i}_{j}", real=True))
    else:
        matrix = exact_matrix(projection, "projection")
    if matrix.rows != size:
        raise BadInput(f"projection is {matrix.rows} x {matrix.rows}; head_dim is {size}")

    def projected(ingredients, s):
        return matrix * _key_turn(ingredients, s)

    parameters = {**given, "projection": matrix}
    return Formula(
        "before_projection", parameters, size, ingredients=(generator,), query=_query_turn, key=projected
    )


@register(
    published="`q̃` turns in planes `(2k, 2k+1)`, `k̃` in planes `(k, k+d/2)`",
    source="no published encoding: a mistake that implementations make",
    danger=AS_ROPE,
    example={"head_dim": 4},
)
def mismatched_pairings(head_dim: int, rope_theta: object = 10000, frequencies: object = None) -> Encoding:
    """The query turns in planes (2k, 2k+1), the key in planes (k, k + head_dim/2), same frequencies."""
    size = even(head_dim, "head_dim")
    if size < 4:
        raise BadInput("head_dim is 2, where both pairings are the same; at least 4 works")
    (_, query, given), (_, key, _) = (
        rotation(size, rope_theta, None, kind, frequencies) for kind in (True, False)
    )

    def key_turn(ingredients, s):
        return ingredients[1].exp(-s)

    parameters = {name: value for name, value in given.items() if name != "interleaved"}
    return Formula(
        "mismatched_pairings", parameters, size, ingredients=(query, key), query=_query_turn, key=key_turn
    )


@register(
    published="`q̃ = B(t)q, k̃ = B(s)k`, `B(p) = exp(p[[0, μ], [μ, 0]])`",
    source="no published encoding: a mistake that implementations make",
    danger="cosh grows: cosh 10 = 11013.2…",
    example={"head_dim": 2},
)
def same_side_boost(head_dim: int = 2, rate: object = 1) -> Encoding:
    """The boost B(p) = exp(p [[0, μ], [μ, 0]]) on both sides: B(t)ᵀ B(s) = B(t+s), a sum in place of a gap.

    Planes (2k, 2k+1), all with rate μ (1/position); in the basis (1, 1), (1, -1) a growth next to a fade.
    """
    size, mu = even(head_dim, "head_dim"), exact_entry(rate, "rate")
    if mu.is_zero:
        raise BadInput("rate is 0, which is no boost; any other exact number works")
    planes = size // 2
    generator = Generator.direct_sum(
        *[Block(-mu), Block(mu)] * planes, basis=sp.diag(*[sp.Matrix([[1, 1], [1, -1]])] * planes)
    )

    def boost(ingredients, position):
        return ingredients[0].exp(position)

    parameters = {"head_dim": size, "rate": mu}
    return Formula("same_side_boost", parameters, size, ingredients=(generator,), query=boost, key=boost)


@register(
    published="`q̃ = R(tω)q, k̃ = R(sω)k, ṽ = R(sω)v`",
    source="no published encoding: a mistake that implementations make",
    danger=AS_ROPE,
    example={"head_dim": 4},
)
def rotated_values(
    head_dim: int, rope_theta: object = 10000, interleaved: bool = False, frequencies: object = None
) -> Encoding:
    """Rotary scores, but the value at s is R(s w)v and the output is left so: it knows the absolute s."""
    size, generator, given = rotation(head_dim, rope_theta, None, interleaved, frequencies)
    return Formula(
        "rotated_values",
        given,
        size,
        ingredients=(generator,),
        query=_query_turn,
        key=_key_turn,
        values=_key_turn,
    )


@register(
    published="`ṽ = R(sω)v`, output times `R(-tω)`",
    source="J. Su, the second type of rotary encoding (VO-RoPE), kexue.fm/archives/10862; T. Miyato et al., "
    "GTA, arXiv 2310.10375, which moves values alike",
    danger=AS_ROPE,
    example={"head_dim": 4},
)
def rotated_values_back(
    head_dim: int, rope_theta: object = 10000, interleaved: bool = False, frequencies: object = None
) -> Encoding:
    """Rotary scores, the value at s is R(s w)v and the output at t is turned back by R(-t w)."""
    size, generator, given = rotation(head_dim, rope_theta, None, interleaved, frequencies)
    return Generated("rotated_values_back", given, size, generator, value_generator=generator)


@register(
    published="`q̃ = q ⊙ cos + rotate_half(q) ⊙ sin` with a table that repeats each angle twice in a row",
    source="no published encoding: a mistake that implementations make",
    danger=AS_ROPE,
    example={"head_dim": 4},
)
def mismatched_table(head_dim: int, rope_theta: object = 10000, frequencies: object = None) -> Encoding:
    """Angles (w0, w0, w1, w1, …) meant for planes (2k, 2k+1), used by the rotation of planes (k, k + d/2).

    The two features of a plane turn by different angles: it is no rotation, and no map of t - s.
    """
    size = even(head_dim, "head_dim")
    if size < 4:
        raise BadInput("head_dim is 2, where both pairings are the same; at least 4 works")
    half, turns = size // 2, plane_frequencies(frequencies, rope_theta, size)
    swap = sp.Matrix(size, size, lambda i, j: int(j == i - half) - int(j == i + half))

    def turned(_, position):
        angles = [position * turns[i // 2] for i in range(size)]
        return sp.diag(*map(sp.cos, angles)) + sp.diag(*map(sp.sin, angles)) * swap

    parameters = {"head_dim": size, **rates_shown(frequencies, rope_theta, turns)}
    return Formula("mismatched_table", parameters, size, query=turned, key=turned)
