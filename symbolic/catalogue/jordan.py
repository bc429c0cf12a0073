"""Turns coupled to a slide: rotary planes stacked into one Jordan block each."""

from __future__ import annotations

import sympy as sp

from ..block import Block
from ..encoding import Encoding
from ..errors import BadInput
from ..exact import exact_entry, positive, rational_power, whole
from ..generator import Generator
from ..kinds.generated import Generated
from .columns import column
from .registry import register


@register(
    published="`score = qᵀ A(t-s) k`, `A(u) = e^{-γu} exp(ηuN) ⊗ R(uω)`; `q̃ = A(-t)^{-T} q, k̃ = A(-s)k`",
    source="Jordan-RoPE, arXiv 2605.04217; ybzhang-nxu/jordan_rope, `positional.py`, the exact mode",
    danger="the shear grows as u^(m-1); a clamp on the exponent γ|t|, as the code has at 30, ends relativity",
    example={"head_dim": 4, "gamma": sp.Symbol("gamma", positive=True)},
)
def jordan_rope(
    head_dim: int,
    gamma: object,
    order: int = 2,
    shear: object = 1,
    rope_theta: object = 10000,
    frequencies: object = None,
) -> Encoding:
    """Kernels u^r e^{-γu} cos ωu and sin ωu, r < m: X = I ⊗ C + ηN ⊗ I on 2m features (arXiv 2605.04217).

    C = [[-γ, -ω], [ω, -γ]]. order m: planes in one block; gamma (1/position); shear η > 0; the blocks have
    ω_b = rope_theta^(-2b/head_dim), or explicit positive frequencies, one a block. The query gets the
    contragredient A(t)ᵀ, the key A(-s). head_dim must be a multiple of 2m.
    """
    m, size = whole(order, "order"), whole(head_dim, "head_dim", 2)
    if size % (2 * m):
        raise BadInput(f"head_dim is {size}, no multiple of {2 * m}, the size of a block of order {m}")
    rate, eta, count = exact_entry(gamma, "gamma"), positive(shear, "shear"), size // (2 * m)
    theta = positive(rope_theta, "rope_theta")
    if frequencies is None:
        turns = tuple(rational_power(theta, sp.Rational(-2 * b, size)) for b in range(count))
    else:
        given = column(frequencies, "frequencies", count)
        turns = tuple(positive(w, f"frequencies[{b}]") for b, w in enumerate(given))
    basis = sp.diag(*[eta**-level for _ in turns for level in range(m) for _ in range(2)])
    generator = Generator.direct_sum(*(Block(rate, w, m) for w in turns), basis=basis)
    rates = {"rope_theta": theta} if frequencies is None else {"frequencies": turns}
    parameters = {"head_dim": size, "gamma": rate, "order": m, "shear": eta, **rates}
    return Generated("jordan_rope", parameters, size, generator)
