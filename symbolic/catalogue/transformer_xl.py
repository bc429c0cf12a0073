"""Relative attention of Transformer-XL: sinusoids of the gap, projected and met by the query."""

from __future__ import annotations

import sympy as sp

from ..block import Block
from ..combine import direct_sum
from ..encoding import Encoding
from ..exact import even, whole
from ..generator import Generator
from ..kinds.lifted import Lifted
from .columns import reals
from .registry import register
from .turning import AS_ROPE, pairs, plane_frequencies, rates_shown, turning


@register(
    published="`score = qᵀk + qᵀW R_{t-s} + uᵀk + vᵀW R_{t-s}`, `R_p = (sin ω_i p, cos ω_i p)`",
    source="Z. Dai et al., Transformer-XL, arXiv 1901.02860, section 3.3",
    danger=AS_ROPE,
    example={"head_dim": 2},
)
def transformer_xl(
    head_dim: int, position_dim: int | None = None, rope_theta: object = 10000, frequencies: object = None
) -> Encoding:
    """score = (q+a)ᵀk + (q+b)ᵀ W R_{t-s}, R_u = (sin ω_i u …, cos ω_i u …) (Dai et al., arXiv 1901.02860).

    a, b (u and v of the paper) and W, shape (head_dim, position_dim), are free symbols: any weights. Lift:
    φ(q) = (q+a, Wᵀ(q+b)), ψ(k) = (k, R_0), X = 0 ⊕ (-ω_i J). position_dim: head_dim if None, even.
    """
    size = whole(head_dim, "head_dim")
    wide = even(size if position_dim is None else position_dim, "position_dim")
    turns = plane_frequencies(frequencies, rope_theta, wide)
    a, b = (sp.Matrix(reals(letter, size)) for letter in "ab")
    weights = sp.Matrix(size, wide, lambda i, j: sp.Symbol(f"W{i}_{j}", real=True))
    start = sp.Matrix([0] * (wide // 2) + [1] * (wide // 2))

    def published(generator, t, s, q, k):
        rates = [generator.matrix[size + i, size + j] for i, j in pairs(wide, interleaved=False)]
        sinusoid = sp.Matrix([f(rate * (t - s)) for f in (sp.sin, sp.cos) for rate in rates])
        return (q.T * k + q.T * weights * sinusoid + a.T * k + b.T * weights * sinusoid)[0, 0]

    held = Generator.direct_sum(*[Block(0)] * size)
    return Lifted(
        "transformer_xl",
        {"head_dim": size, "position_dim": wide, **rates_shown(frequencies, rope_theta, turns)},
        size,
        generator=direct_sum(held, turning(wide, pairs(wide, interleaved=False), turns)),
        query_map=lambda q: sp.Matrix.vstack(q + a, weights.T * (q + b)),
        key_map=lambda k: sp.Matrix.vstack(k, start),
        published=published,
    )
