"""Orthogonal maps of the position: any skew generator, also that of a learned orthogonal matrix."""

from __future__ import annotations

from itertools import combinations_with_replacement

import sympy as sp

from ..encoding import Encoding
from ..errors import BadInput
from ..exact import even, exact_matrix
from ..generator import Generator
from ..kinds.generated import Generated
from .columns import column
from .registry import register
from .turning import AS_ROPE, pairs, plane_frequencies, rates_shown, turning


@register(
    published="`q̃ = exp(tL)q, k̃ = exp(sL)k`, `Lᵀ = -L`",
    source=(
        "C. Schenck et al., Learning the RoPEs (STRING), arXiv 2502.02562, and H. Yu et al., ComRoPE, "
        "arXiv 2506.03737, on one axis"
    ),
    danger=AS_ROPE,
    example={"matrix": ((0, 1, 2), (-1, 0, 2), (-2, -2, 0))},
)
def skew(matrix: object) -> Encoding:
    """score = qᵀ exp((s-t)L) k for any skew L: X = -L, rotary in planes that L chooses.

    matrix: L, shape (head_dim, head_dim), exact, with Lᵀ = -L (arXiv 2502.02562, 2506.03737).
    """
    given = exact_matrix(matrix, "matrix")
    for i, j in combinations_with_replacement(range(given.rows), 2):
        if sp.expand(given[i, j] + given[j, i]) != 0:
            raise BadInput(
                f"matrix is not skew: the entries [{i}, {j}] = {given[i, j]} and [{j}, {i}] = {given[j, i]} "
                "do not add to 0; ape takes any matrix and uses A - Aᵀ"
            )
    return Generated("skew", {"matrix": given}, given.rows, Generator(-given))


@register(
    published="`score = qᵀ W^(t-s) k`, `W = exp(A - Aᵀ)` orthogonal",
    source="K. Kogkalidis et al., Algebraic Positional Encodings, arXiv 2312.16045, sequences",
    danger="powers of W formed by repeated products drift from orthogonality",
    example={"matrix": ((0, 1), (0, 0))},
)
def ape(matrix: object) -> Encoding:
    """score = qᵀ W^{t-s} k with the orthogonal W = exp(A - Aᵀ), continued to all real gaps: X = A - Aᵀ.

    matrix: A, shape (head_dim, head_dim), exact, any (Kogkalidis et al., arXiv 2312.16045).
    """
    given = exact_matrix(matrix, "matrix")
    return Generated("ape", {"matrix": given}, given.rows, Generator(given - given.T))


@register(
    published="`q̃ = Λ^t P q, k̃ = Λ^s P k`, `P = I - 2vvᵀ/(v·v)`, `Λ = R(ω_k)` on plane `k`",
    source="Z. Qin et al., Linearized Relative Positional Encoding, arXiv 2307.09270",
    danger=AS_ROPE,
    example={"head_dim": 4},
)
def lrpe(
    head_dim: int, reflection: object = None, rope_theta: object = 10000, frequencies: object = None
) -> Encoding:
    """score = (Λ^t P q)·(Λ^s P k): rotary after a reflection P that is learned, X = P(-ω_k J)P.

    reflection: v, head_dim exact numbers, not all 0; (1, …, 1) if None. Planes (2k, 2k+1) of Pq turn by
    rope_theta^(-2k/head_dim) or the explicit frequencies (Qin et al., arXiv 2307.09270).
    """
    size = even(head_dim, "head_dim")
    v = sp.Matrix([1] * size if reflection is None else column(reflection, "reflection", size))
    length = sp.expand(v.dot(v))
    if length.is_zero is not False:
        raise BadInput(
            f"reflection has the squared length {length}, not known to differ from 0; (1, …, 1) works"
        )
    turns = plane_frequencies(frequencies, rope_theta, size)
    plain = turning(size, pairs(size, interleaved=True), turns)
    mirror = sp.eye(size) - 2 * v * v.T / length
    generator = Generator.direct_sum(*plain.blocks, basis=sp.ImmutableMatrix(mirror * plain.basis))
    rates = rates_shown(frequencies, rope_theta, turns)
    return Generated("lrpe", {"head_dim": size, "reflection": tuple(v), **rates}, size, generator)
