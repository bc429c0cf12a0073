"""Longer contexts by one factor: positions interpolated, the base raised, the base raised with the length."""

from __future__ import annotations

import sympy as sp

from .. import scaling
from ..encoding import Encoding
from ..exact import even, positive, rational_power
from ..kinds.lengthwise import Lengthwise
from .registry import register
from .turning import flag, pairs, scaled

RECIPE = "a model tuned with one recipe and run with another turns every plane wrongly, without an error"


@register(
    published="`q̃ = R(tω_k/s)q, k̃ = R(sω_k/s)k`: position `p` is read as `p/s`, `ω'_k = ω_k/s`",
    source="S. Chen et al., Extending Context Window of Large Language Models via Positional Interpolation, "
    "arXiv 2306.15595",
    danger=RECIPE,
    example={"head_dim": 4, "factor": 4},
)
def position_interpolation(
    head_dim: int, factor: object, rope_theta: object = 10000, interleaved: bool = False
) -> Encoding:
    """Rotary with w'_k = w_k/s: position s·p turns as position p did.

    factor: s > 0, the new length over the old; rope_theta: the base; interleaved: planes (2k, 2k+1).
    """
    table = scaling.linear(rope_theta, head_dim, factor)
    return scaled("position_interpolation", table, interleaved, _shown(rope_theta, factor))


@register(
    published="`ω'_k = b'^(-2k/d)`, `b' = b·s^(d/(d-2))`",
    source="bloc97, NTK-aware scaled RoPE, 2023; B. Peng et al., YaRN, arXiv 2309.00071, section 3.1",
    danger="the base is the whole recipe: a config with the new base and a factor beside it applies it twice",
    example={"head_dim": 4, "factor": 4},
)
def ntk_aware(
    head_dim: int, factor: object, rope_theta: object = 10000, interleaved: bool = False
) -> Encoding:
    """Rotary with base b' = b s^{d/(d-2)}, so w'_0 = 1 and the last frequency is divided by s exactly.

    factor: s > 0; rope_theta: b; head_dim d >= 4. The frequencies are w_k s^{-2k/(d-2)}.
    """
    table = scaling.ntk_aware(rope_theta, head_dim, factor)
    return scaled("ntk_aware", table, interleaved, _shown(rope_theta, factor))


@register(
    published="`b' = b·(sL/L₀ - (s-1))^(d/(d-2))` with the current length `L > L₀`, `ω'_k = b'^(-2k/d)`",
    source="emozilla, Dynamically scaled RoPE, 2023; transformers, modeling_rope_utils.py, "
    "_compute_dynamic_ntk_parameters",
    danger="keys cached at one length do not fit queries of a longer one, and the error grows with the text",
    example={"head_dim": 4, "factor": 2, "max_position_embeddings": 4},
)
def dynamic_ntk(
    head_dim: int,
    factor: object,
    max_position_embeddings: int,
    seq_len: int | None = None,
    rope_theta: object = 10000,
    interleaved: bool = False,
) -> Encoding:
    """NTK-aware with the factor s·L/L0 - (s-1) of the current length L, and cached keys left as they are.

    A vector at position p was turned when the text had L = p + 1 positions: X = X(L), no fixed generator.
    factor: s > 0; max_position_embeddings: L0, up to which the table is the plain one. seq_len: if given,
    the one length at which everything is turned, and then the encoding is in the family.
    """
    size, s = even(head_dim, "head_dim"), positive(factor, "factor")
    first = scaling.length(max_position_embeddings, "max_position_embeddings")
    shown = {**_shown(rope_theta, s), "max_position_embeddings": first}
    if seq_len is not None:
        table = scaling.dynamic(rope_theta, size, s, first, seq_len)
        return scaled("dynamic_ntk", table, interleaved, {**shown, "seq_len": seq_len})
    scaling.ntk_base(rope_theta, size, s)

    def spectrum(length: sp.Expr) -> tuple[sp.Expr, ...]:
        stretch = 1 + s * sp.Max(0, length - first) / first
        return tuple(
            w * rational_power(stretch, sp.Rational(-2 * k, size - 2))
            for k, w in enumerate(scaling.rotary(rope_theta, size))
        )

    return Lengthwise(
        "dynamic_ntk",
        {"head_dim": size, **shown, "interleaved": interleaved},
        size,
        planes=tuple(pairs(size, flag(interleaved, "interleaved"))),
        spectrum=spectrum,
        original_length=first,
    )


def _shown(rope_theta: object, factor: object) -> dict[str, object]:
    return {"rope_theta": positive(rope_theta, "rope_theta"), "factor": positive(factor, "factor")}
