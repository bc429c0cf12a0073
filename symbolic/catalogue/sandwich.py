"""The product of two sinusoidal vectors as a bias: no cross terms with the content."""

from __future__ import annotations

import sympy as sp

from ..block import Block
from ..encoding import Encoding
from ..exact import even, positive, whole
from ..generator import Generator
from ..kinds.generated import Bias, Generated
from .registry import register
from .turning import AS_ROPE, pairs, plane_frequencies, rates_shown, turning


@register(
    published="`logit = q·k/√d + r p_t·p_s`, `p_t·p_s = Σ_k cos(ω_k (t-s))`, `ω_k = 10000^(-2k/d̄)`",
    source=(
        "T.-C. Chi et al., Dissecting Transformer Length Extrapolation via the Lens of Receptive Field "
        "Analysis, arXiv 2212.10356; the vectors: A. Vaswani et al., arXiv 1706.03762, section 3.5"
    ),
    danger=AS_ROPE,
    example={"head_dim": 4, "position_dim": 4, "scale": sp.Symbol("sigma", positive=True)},
)
def sandwich(
    head_dim: int = 64,
    position_dim: int = 128,
    ratio: object = 1,
    scale: object = None,
    rope_theta: object = 10000,
    frequencies: object = None,
) -> Encoding:
    """logit = σ q·k + r Σ_k cos(ω_k (t-s)): sinusoidal vectors p_t, met only by each other.

    position_dim d̄, even: the vectors have d̄/2 planes. ratio r > 0: what a head multiplies the bias by, exact
    (Chi et al., arXiv 2212.10356). scale σ: 1/sqrt(head_dim) if None. Lift: X = -ω_k J, the query carries
    r p_0/σ, the key p_0.
    """
    size, wide = whole(head_dim, "head_dim"), even(position_dim, "position_dim")
    r = positive(ratio, "ratio")
    sigma = 1 / sp.sqrt(size) if scale is None else positive(scale, "scale")
    turns = plane_frequencies(frequencies, rope_theta, wide)
    start = sp.ImmutableMatrix([i % 2 for i in range(wide)])
    bias = Bias(turning(wide, pairs(wide, interleaved=True), turns), query=start * (r / sigma), key=start)
    return Generated(
        "sandwich",
        {
            "head_dim": size,
            "position_dim": wide,
            "ratio": r,
            "scale": sigma,
            **rates_shown(frequencies, rope_theta, turns),
        },
        size,
        Generator.direct_sum(*[Block(0)] * size),
        biases=(bias,),
        fixed_scale=sigma,
    )
