"""Retention: a turn that fades, with a decay of its own in every head."""

from __future__ import annotations

import sympy as sp

from ..encoding import Encoding
from ..exact import even, whole
from ..kinds.generated import Generated
from ..kinds.heads import PerHead
from ..scaling import endpoint_frequencies
from .registry import register
from .turning import pairs, turning


@register(
    published=(
        "`score = γ_h^(t-s) q·R((s-t)θ)k`, `γ_h = 1 - 2^(-5-h)`, `θ_k = 10000^(-k/(d/2-1))`, before the rows "
        "are normalised"
    ),
    source="Y. Sun et al., Retentive Network, arXiv 2307.08621; torchscale, `architecture/retnet.py`",
    danger=(
        "the split form e^{γs}k of head 0 overflows in float16 from s = 350 on, in bfloat16 and float32 "
        "from s = 2795 on; the row sums cancel only if the norm after them has no epsilon"
    ),
    example={"num_heads": 2, "head_dim": 4},
)
def retnet(num_heads: int, head_dim: int = 64) -> Encoding:
    """Head h fades by 1 - 2^{-5-h} a position and turns by θ: X = -γ_h I - θ_k J (arXiv 2307.08621).

    γ_h = -ln(1 - 2^{-5-h}), 1/position; θ_k = 10000^(-k/(head_dim/2 - 1)) with the endpoint 1/10000, on
    planes (2k, 2k+1). The division of a row by its sum is no part of the score. `.heads`: one per head.
    """
    count, size = whole(num_heads, "num_heads"), even(head_dim, "head_dim")
    members = tuple(_head(h, size) for h in range(count))
    return PerHead("retnet", {"num_heads": count, "head_dim": size}, size, members)


def _head(h: int, size: int) -> Generated:
    rate = -sp.log(1 - sp.Rational(1, 2 ** (5 + h)))
    turns = endpoint_frequencies(size // 2).exact
    generator = turning(size, pairs(size, interleaved=True), turns, rate)
    return Generated("retnet", {"gamma": rate, "head_dim": size}, size, generator)
