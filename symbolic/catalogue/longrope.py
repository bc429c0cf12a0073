"""LongRoPE: a searched divisor for every plane, frozen or switched when the text outgrows its training."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from .. import scaling
from ..encoding import Encoding
from ..errors import BadInput
from ..exact import positive
from ..kinds.lengthwise import Lengthwise
from .registry import register
from .turning import flag, pairs, scaled

SOURCE = "Y. Ding et al., LongRoPE, arXiv 2402.13753"


@register(
    published="`ω'_k = ω_k/λ_k`, `cos` and `sin` times `m = sqrt(1 + ln s/ln L₀)`",
    source=SOURCE,
    danger="the divisors come with a checkpoint; one list too short or from another model fails silently",
    example={"head_dim": 4, "divisors": [1, 4], "factor": 4, "original_max_position_embeddings": 4096},
)
def longrope(
    head_dim: int,
    divisors: Sequence,
    factor: object,
    original_max_position_embeddings: int,
    rope_theta: object = 10000,
    attention_factor: object = None,
    interleaved: bool = False,
) -> Encoding:
    """Rotary with w'_k = w_k/λ_k and score m² qᵀA(t-s)k, one list of divisors λ for every length.

    divisors: one exact number a plane; factor: s, the new length over L0; original_max_position_embeddings:
    L0 (positions); attention_factor: replaces m.
    """
    m = _amplitude(factor, original_max_position_embeddings, attention_factor)
    table = scaling.longrope(rope_theta, head_dim, divisors, m)
    shown = _shown(rope_theta, factor, original_max_position_embeddings, m, divisors=divisors)
    return scaled("longrope", table, interleaved, shown)


@register(
    published="`ω'_k = ω_k/λ_k` with the short divisors while `L ≤ L₀` and the long ones beyond",
    source=SOURCE + "; transformers, modeling_rope_utils.py, _compute_longrope_parameters",
    danger="at the switch every cached key has the wrong frequencies; the cache has to be dropped there",
    example={
        "head_dim": 4,
        "short_factor": [1, 1],
        "long_factor": [1, 4],
        "factor": 4,
        "original_max_position_embeddings": 4,
    },
)
def longrope_switching(
    head_dim: int,
    short_factor: Sequence,
    long_factor: Sequence,
    factor: object,
    original_max_position_embeddings: int,
    seq_len: int | None = None,
    rope_theta: object = 10000,
    attention_factor: object = None,
    interleaved: bool = False,
) -> Encoding:
    """LongRoPE as it is run: short divisors up to L0 positions, then long ones, cached keys left as they are.

    A vector at position p was turned when the text had p + 1 positions: X = X(length), no fixed generator.
    short_factor, long_factor: one exact number a plane, not the same lists; factor and the rest as in
    `longrope`. seq_len: if given, the one length at which everything is turned, and then the encoding is in
    the family.
    """
    m = _amplitude(factor, original_max_position_embeddings, attention_factor)
    short, long = (scaling.longrope(rope_theta, head_dim, x, m) for x in (short_factor, long_factor))
    if short == long:
        raise BadInput("short_factor and long_factor are the same, so nothing switches; 'longrope' works")
    lists = {"short_factor": short_factor, "long_factor": long_factor}
    first = scaling.length(original_max_position_embeddings, "original_max_position_embeddings")
    shown = _shown(rope_theta, factor, first, m, **lists)
    if seq_len is not None:
        table = long if scaling.length(seq_len, "seq_len") > first else short
        return scaled("longrope_switching", table, interleaved, {**shown, "seq_len": seq_len})

    def spectrum(length: sp.Expr) -> tuple[sp.Expr, ...]:
        return tuple(sp.Piecewise((a, length <= first), (b, True)) for a, b in zip(short, long, strict=True))

    size = 2 * len(short)
    return Lengthwise(
        "longrope_switching",
        {"head_dim": size, **shown, "interleaved": interleaved},
        size,
        planes=tuple(pairs(size, flag(interleaved, "interleaved"))),
        spectrum=spectrum,
        original_length=first,
        amplitude=m,
    )


def _amplitude(factor: object, original: object, given: object) -> sp.Expr:
    """m, unless an attention factor is given."""
    if given is not None:
        return positive(given, "attention_factor")
    return scaling.longrope_attention(factor, original)


def _shown(rope_theta, factor, original, amplitude, **lists: Sequence) -> dict[str, object]:
    """The parameters as they are shown; lists have passed `scaling.longrope`."""
    return {
        "rope_theta": positive(rope_theta, "rope_theta"),
        "factor": positive(factor, "factor"),
        **{
            name: tuple(positive(x, f"{name}[{k}]") for k, x in enumerate(given))
            for name, given in lists.items()
        },
        "original_max_position_embeddings": original,
        "attention_factor": amplitude,
    }
