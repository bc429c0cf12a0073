"""FIRE: a learned function of the distance, measured against the length of the text so far."""

from __future__ import annotations

import sympy as sp

from ..encoding import Encoding
from ..exact import positive, whole
from ..kinds.formula import Formula
from ..separate import POSITIONS
from .registry import register


@register(
    published="`logit = q·k/√d + f(ψ(t-s) / ψ(max(L, t)))`, `ψ(x) = log(cx + 1)`",
    source="S. Li et al., Functional Interpolation for Relative Positions, arXiv 2310.04418",
    danger="keys that were scored at an earlier t have other biases now: nothing of it can be cached",
    example={"head_dim": 2, "c": 1, "threshold": 8},
)
def fire(head_dim: int = 64, c: object = 1, threshold: object = 8, scale: object = None) -> Encoding:
    """logit = σ q·k + f(ψ(t-s)/ψ(max(L, t))) with ψ(x) = log(cx+1), for t >= s >= 0.

    f: an opaque function, which the paper learns as a small network. c (1/positions) and threshold L
    (positions): positive, exact or symbolic. scale σ: 1/sqrt(head_dim) if None.
    """
    size = whole(head_dim, "head_dim")
    rate, least = positive(c, "c"), positive(threshold, "threshold")
    sigma = 1 / sp.sqrt(size) if scale is None else positive(scale, "scale")

    def bias(t: sp.Expr, s: sp.Expr) -> sp.Expr:
        inner = sp.log(rate * (t - s) + 1) / sp.log(rate * sp.Max(least, t) + 1)
        return sp.Function("f", real=True)(inner) / sigma

    parameters = {"head_dim": size, "c": rate, "threshold": least, "scale": sigma}
    beyond = [(int(least), 3)] if least.is_Integer else []
    return Formula(
        "fire", parameters, size, fixed_scale=sigma, bias_formula=bias, trials=(*beyond, *POSITIONS)
    )
