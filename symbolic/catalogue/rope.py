"""Rotary encoding: every plane of features turns at its own frequency."""

from __future__ import annotations

import sympy as sp

from ..encoding import Encoding
from ..errors import BadInput
from ..exact import positive
from ..kinds.generated import Generated
from ..kinds.planes import INDEX, PlaneSum
from .registry import register
from .turning import rotation


@register(
    published="`q̃ = R(tω_k)q, k̃ = R(sω_k)k` on plane `k`, `ω_k = θ^(-2k/d)`",
    source="J. Su et al., RoFormer, arXiv 2104.09864, section 3.2.2",
    danger="an angle formed in float32 is off by up to about 2^-23·|ωt| radians, 0.1 on the fastest plane at "
    "position 2^20 (2.5e-2 to 7e-2 of a cosine seen there, d = 64 to 128); in bfloat16 position 257 is 256",
    example={"head_dim": 4},
)
def rope(
    head_dim: int | sp.Expr,
    rope_theta: object = 10000,
    rotary_dim: int | None = None,
    interleaved: bool = False,
    frequencies: object = None,
) -> Encoding:
    """q and k at position p turn by R(p w_k), so X = -w_k J on plane k (Su et al., arXiv 2104.09864).

    rope_theta: the base; rotary_dim: how many leading features turn; interleaved: planes (2k, 2k+1) and not
    (k, k + rotary_dim/2); frequencies: explicit radians per position, one a plane, in place of the base.
    head_dim 2*n with a positive integer symbol n gives the sum over n planes with free frequencies.
    """
    if isinstance(head_dim, sp.Expr) and head_dim.free_symbols:
        return _any_number_of_planes(head_dim, rope_theta, rotary_dim, interleaved, frequencies)
    size, generator, parameters = rotation(head_dim, rope_theta, rotary_dim, interleaved, frequencies)
    return Generated("rope", parameters, size, generator)


def _any_number_of_planes(head_dim, rope_theta, rotary_dim, interleaved, frequencies) -> Encoding:
    """n planes with free frequencies w[j], which stand for rope_theta^(-j/n)."""
    planes = head_dim / 2
    if not (planes.is_Symbol and planes.is_integer and planes.is_positive):
        raise BadInput(f"head_dim is {head_dim}; 2*n with n = Symbol('n', integer=True, positive=True) works")
    if rotary_dim is not None or frequencies is not None:
        raise BadInput(
            "rotary_dim and frequencies need a concrete head_dim; with 2*n planes they stay symbolic"
        )
    omega = sp.Symbol("omega", positive=True)
    size, generator, parameters = rotation(2, rope_theta, None, interleaved, [omega])
    return PlaneSum(
        "rope",
        {"head_dim": head_dim, "rope_theta": positive(rope_theta, "rope_theta"), "interleaved": interleaved},
        head_dim,
        plane=Generated("rope", parameters, size, generator),
        symbol=omega,
        interleaved=interleaved,
        frequency=positive(rope_theta, "rope_theta") ** (-INDEX / planes),
    )
