"""KERPLE: a logarithm or a power of the distance is taken off the logit."""

from __future__ import annotations

import sympy as sp

from ..encoding import Encoding
from ..errors import BadInput
from ..exact import exact_entry, positive, whole
from ..kinds.formula import Formula
from .registry import register

_SOURCE = "T.-C. Chi et al., KERPLE, arXiv 2205.09921; megatron/mpu/layers.py of its code"
_R1, _R2 = sp.symbols("r1 r2", positive=True)
_SIGMA = sp.Symbol("sigma", positive=True)


@register(
    published="`logit = q·k/√d - r₁ log(1 + r₂|t-s|)` with `r₁, r₂ > 0`",
    source=_SOURCE,
    danger="none in itself: a bias is added, nothing is split; in bfloat16 far gaps become one",
    example={"head_dim": 4, "r1": _R1, "r2": _R2, "scale": _SIGMA},
)
def kerple_log(r1: object, r2: object, head_dim: int = 64, scale: object = None) -> Encoding:
    """logit = σ q·k - r1 log(1 + r2|t-s|), so score = q·k - (r1/σ) log(1 + r2|t-s|).

    r1, r2: positive, exact or symbolic (r2 in 1/positions). scale σ: 1/sqrt(head_dim) if None.
    """
    size, a, b = whole(head_dim, "head_dim"), positive(r1, "r1"), positive(r2, "r2")
    sigma = 1 / sp.sqrt(size) if scale is None else positive(scale, "scale")
    parameters = {"r1": a, "r2": b, "head_dim": size, "scale": sigma}
    return Formula(
        "kerple_log",
        parameters,
        size,
        fixed_scale=sigma,
        bias_formula=lambda t, s: -a / sigma * sp.log(1 + b * sp.Abs(t - s)),
    )


@register(
    published="`logit = q·k/√d - r₁|t-s|^p` with `r₁ > 0`, `0 < p ≤ 2`",
    source=_SOURCE,
    danger="none in itself: a bias is added, nothing is split; in bfloat16 far gaps become one",
    example={"head_dim": 4, "r1": _R1, "power": sp.Rational(1, 2), "scale": _SIGMA},
)
def kerple_power(r1: object, power: object, head_dim: int = 64, scale: object = None) -> Encoding:
    """logit = σ q·k - r1 |t-s|^p, so score = q·k - (r1/σ)|t-s|^p.

    r1: positive, exact or symbolic. power p: a rational with 0 < p <= 2; 2 alone makes it a member over all
    real gaps; 1 is ALiBi for u >= 0. scale σ: 1/sqrt(head_dim) if None.
    """
    size, a, p = whole(head_dim, "head_dim"), positive(r1, "r1"), exact_entry(power, "power")
    if not (p.is_Rational and 0 < p <= 2):
        raise BadInput(f"power is {p}; a rational number with 0 < power <= 2 works, e.g. Rational(1, 2)")
    sigma = 1 / sp.sqrt(size) if scale is None else positive(scale, "scale")
    parameters = {"r1": a, "power": p, "head_dim": size, "scale": sigma}
    return Formula(
        "kerple_power",
        parameters,
        size,
        fixed_scale=sigma,
        bias_formula=lambda t, s: -a / sigma * sp.Abs(t - s) ** p,
    )
