"""Longer contexts plane by plane: fast planes kept, slow ones interpolated, a blend between; and p-RoPE."""

from __future__ import annotations

import sympy as sp

from .. import ramps, scaling
from ..encoding import Encoding
from ..errors import BadInput
from ..exact import exact_entry, positive
from .registry import register
from .turning import flag, scaled


@register(
    published="`ω'_k = κ_k·ω_k + (1-κ_k)·ω_k/s`, `κ_k = 1 - clip((k-low)/(high-low), 0, 1)`, "
    "`cos` and `sin` times `m = 0.1·ln s + 1`",
    source="B. Peng et al., YaRN, arXiv 2309.00071; jquesnelle/yarn, LlamaYaRNScaledRotaryEmbedding.py",
    danger="the ramp of the paper and that of the code differ, and implementations disagree on `m`",
    example={"head_dim": 4, "factor": 4, "original_max_position_embeddings": 1000, "rope_theta": 100},
)
def yarn(
    head_dim: int,
    factor: object,
    original_max_position_embeddings: int,
    rope_theta: object = 10000,
    beta_fast: object = 32,
    beta_slow: object = 1,
    truncate: bool = True,
    ramp: str = "code",
    mscale: object = None,
    mscale_all_dim: object = None,
    attention_factor: object = None,
    interleaved: bool = False,
) -> Encoding:
    """Rotary with w'_k = w_k (κ_k + (1-κ_k)/s) and score m² qᵀA(t-s)k: M(0) = m²I.

    factor: s; original_max_position_embeddings: L0 (positions); beta_fast, beta_slow: turns within L0 between
    which planes are blended; truncate: round the ends of the ramp outward; ramp: "code" (linear in k) or
    "paper" (linear in the turns). mscale with mscale_all_dim, or attention_factor, replace m; exact numbers.
    """
    if attention_factor is not None and (mscale is not None or mscale_all_dim is not None):
        raise BadInput("attention_factor and mscale both fix the amplitude; give one of them")
    s = positive(factor, "factor")
    m = ramps.yarn_attention(s, mscale, mscale_all_dim) if attention_factor is None else attention_factor
    table = ramps.yarn(
        rope_theta,
        head_dim,
        s,
        original_max_position_embeddings,
        beta_fast=beta_fast,
        beta_slow=beta_slow,
        truncate=flag(truncate, "truncate"),
        ramp=ramp,
        attention_factor=m,
    )
    shown = {
        "rope_theta": positive(rope_theta, "rope_theta"),
        "factor": s,
        "original_max_position_embeddings": original_max_position_embeddings,
        "beta_fast": positive(beta_fast, "beta_fast"),
        "beta_slow": positive(beta_slow, "beta_slow"),
        "truncate": truncate,
        "ramp": ramp,
        "attention_factor": table.attention_factor,
    }
    return scaled("yarn", table, interleaved, shown)


@register(
    published="`ω'_k = (1-σ_k)·ω_k/s + σ_k·ω_k`, `σ_k = clip((L₀ω_k/2π - lo)/(hi - lo), 0, 1)`",
    source="code, not a paper: meta-llama/llama-models, models/llama3/model.py, apply_scaling; transformers, "
    "modeling_rope_utils.py, _compute_llama3_parameters",
    danger="a loader that does not know the rule leaves the plain table, which is wrong on slow planes only",
    example={"head_dim": 4, "factor": 8, "original_max_position_embeddings": 2000, "rope_theta": 10000},
)
def llama3(
    head_dim: int,
    factor: object = 8,
    original_max_position_embeddings: int = 8192,
    low_freq_factor: object = 1,
    high_freq_factor: object = 4,
    rope_theta: object = 500000,
    interleaved: bool = False,
) -> Encoding:
    """Rotary: planes of more than hi turns within L0 kept, of fewer than lo divided by s, a blend between.

    factor: s; original_max_position_embeddings: L0 (positions); low_freq_factor lo < high_freq_factor hi
    (turns). The blend is linear in the turns L0 w_k/(2π).
    """
    shown = {
        "rope_theta": positive(rope_theta, "rope_theta"),
        "factor": positive(factor, "factor"),
        "original_max_position_embeddings": original_max_position_embeddings,
        "low_freq_factor": positive(low_freq_factor, "low_freq_factor"),
        "high_freq_factor": positive(high_freq_factor, "high_freq_factor"),
    }
    table = ramps.llama3(
        rope_theta, head_dim, factor, original_max_position_embeddings, low_freq_factor, high_freq_factor
    )
    return scaled("llama3", table, interleaved, shown)


@register(
    published="`ω'_k = θ^(-2k/d)` for `k < ⌊p·d/2⌋` and `0` beyond",
    source="F. Barbero et al., Round and Round We Go! What makes Rotary Positional Encodings useful?, "
    "arXiv 2410.06205; Y. Chen et al., HoPE, arXiv 2410.21216, keeps the high frequencies only as well",
    danger="the exponent keeps the whole `d`; `partial_rotary_factor` of other rules shrinks it to `p·d`",
    example={"head_dim": 4, "proportion": sp.Rational(1, 2)},
)
def p_rope(
    head_dim: int, proportion: object, rope_theta: object = 10000, interleaved: bool = False
) -> Encoding:
    """Rotary with the lowest frequencies dropped: of head_dim/2 planes the first ⌊p·head_dim/2⌋ turn.

    proportion: p, from 0 (no position at all) to 1 (plain rotary), exact. HoPE (arXiv 2410.21216) drops slow
    planes in the same way, from where a turn is longer than the training length.
    """
    p = exact_entry(proportion, "proportion")
    table = scaling.proportional(rope_theta, head_dim, p)
    shown = {"rope_theta": positive(rope_theta, "rope_theta"), "proportion": p}
    return scaled("p_rope", table, interleaved, shown)
