"""A bias that falls with the square of the gap, lifted into three spare slots."""

from __future__ import annotations

import sympy as sp

from ..block import Block
from ..encoding import Encoding
from ..exact import positive, whole
from ..generator import Generator
from ..kinds.generated import Bias, Generated
from .registry import register


@register(
    published="`logit = q·k/√d - r₁|t-s|^p` with `r₁ > 0`, `0 < p ≤ 2`, here `p = 2`",
    source="T.-C. Chi et al., KERPLE, arXiv 2205.09921, power kernel",
    danger="the split form (-r, -2rt, -rt²)·(s², -s, 1) cancels between numbers that grow as t²",
    example={
        "head_dim": 4,
        "coefficient": sp.Symbol("r", positive=True),
        "scale": sp.Symbol("sigma", positive=True),
    },
)
def quadratic_bias(coefficient: object, head_dim: int = 64, scale: object = None) -> Encoding:
    """logit = σ q·k - r(t-s)², so score = q·k - (r/σ)(t-s)²: even in the gap (Chi et al., arXiv 2205.09921).

    coefficient r > 0 (1/position²), exact or symbolic. scale σ: 1/sqrt(head_dim) if None, or a positive
    symbol. Lift: X = J_3(0), the query carries (-2r/σ, 0, 0), the key (0, 0, 1).
    """
    size, r = whole(head_dim, "head_dim"), positive(coefficient, "coefficient")
    sigma = 1 / sp.sqrt(size) if scale is None else positive(scale, "scale")
    bias = Bias(
        Generator.direct_sum(Block(0, size=3)),
        query=sp.ImmutableMatrix([-2 * r / sigma, 0, 0]),
        key=sp.ImmutableMatrix([0, 0, 1]),
    )
    held = Generator.direct_sum(*[Block(0)] * size)
    parameters = {"coefficient": r, "head_dim": size, "scale": sigma}
    return Generated("quadratic_bias", parameters, size, held, biases=(bias,), fixed_scale=sigma)
