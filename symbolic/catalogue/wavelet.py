"""Wavelets of the gap: Ricker windows of several widths and places, met by the query."""

from __future__ import annotations

import sympy as sp

from ..encoding import Encoding
from ..errors import BadInput
from ..exact import whole
from ..kinds.paired import Paired
from .registry import register


@register(
    published="`logit = q·(k + p(t-s))/√d`, `p_i(u) = ψ((u - b)/a)/√a`, `ψ` the Ricker wavelet",
    source="Y. Oka et al., Wavelet-based Positional Representation for Long Context, arXiv 2502.02004",
    danger="far from its window a wavelet underflows to 0",
    example={"head_dim": 2, "scales": 2},
)
def wavelet(head_dim: int, scales: int = 2) -> Encoding:
    """score = q·(k + p(t-s)): feature i has its own width a = 1, 2, 4, … and shift b = 0, 1, … (positions).

    ψ(x) = 2/(√3 π^(1/4)) (1 - x²) e^(-x²/2). scales: the number of widths; head_dim is a multiple of it, and
    each width has head_dim/scales shifts.
    """
    size, count = whole(head_dim, "head_dim"), whole(scales, "scales")
    if size % count:
        raise BadInput(
            f"head_dim is {size}, no multiple of scales {count}; each width has equally many shifts"
        )
    windows = [(sp.Integer(2) ** j, b) for j in range(count) for b in range(size // count)]

    def matrix(_, t, s):
        vector = sp.Matrix([_ricker((t - s - b) / a) / sp.sqrt(a) for a, b in windows])
        return sp.Matrix.vstack(sp.eye(size).row_join(vector), sp.zeros(1, size + 1))

    return Paired("wavelet", {"head_dim": size, "scales": count}, size, slots=1, matrix=matrix)


def _ricker(x: sp.Expr) -> sp.Expr:
    return 2 / (sp.sqrt(3) * sp.pi ** sp.Rational(1, 4)) * (1 - x**2) * sp.exp(-(x**2) / 2)
