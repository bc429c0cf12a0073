"""Rules that keep fast planes, divide slow ones by the factor and blend in between: YaRN and Llama 3.

    w'_k = w_k (κ_k + (1 - κ_k)/s),   κ_k = 1 kept, κ_k = 0 divided

κ_k is `kept`. Where a plane lies on the ramp is decided by balls, so every number here is exact.
"""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from .errors import BadInput
from .exact import even, exact_entry, positive
from .rounding import ceiling, clip, floor, less
from .scaling import Frequencies, length, rotary

RAMPS = ("code", "paper")


def yarn(
    rope_theta: object,
    dim: object,
    factor: object,
    original_max_position_embeddings: object,
    *,
    beta_fast: object = 32,
    beta_slow: object = 1,
    truncate: bool = True,
    ramp: str = "code",
    attention_factor: object = None,
) -> Frequencies:
    """w'_k = w_k (κ_k + (1 - κ_k)/s), cos and sin times m = 0.1 ln s + 1 (Peng et al., arXiv 2309.00071).

    factor s, original_max_position_embeddings L0 (positions), beta_fast and beta_slow (turns within L0).
    ramp "code": κ falls linearly in k between two planes (`yarn_kept`), as the authors' code and Hugging
    Face do; "paper": linearly in the number of turns, section 3.2. attention_factor: replaces m.
    """
    s, size = positive(factor, "factor"), even(dim, "head_dim")
    if ramp not in RAMPS:
        raise BadInput(f"ramp is {ramp!r}; 'code' (linear in the plane) or 'paper' (linear in turns) works")
    if ramp == "paper":
        kept = turns_kept(rope_theta, size, original_max_position_embeddings, beta_slow, beta_fast)
    else:
        kept = yarn_kept(rope_theta, size, original_max_position_embeddings, beta_fast, beta_slow, truncate)
    m = yarn_attention(s) if attention_factor is None else positive(attention_factor, "attention_factor")
    return Frequencies(_blend(rotary(rope_theta, size), kept, s), m)


def yarn_plane(
    rope_theta: object, dim: object, original_max_position_embeddings: object, turns: object
) -> sp.Expr:
    """dim · ln(L0/(2π r))/(2 ln base): the real k at which a plane makes r turns within L0 positions."""
    first = length(original_max_position_embeddings, "original_max_position_embeddings")
    base, r = positive(rope_theta, "rope_theta"), positive(turns, "turns")
    if not less(sp.S.One, base, "rope_theta"):
        raise BadInput(f"rope_theta is {base}; a base above 1 works, so that the planes slow down")
    return even(dim, "head_dim") * sp.log(first / (2 * sp.pi * r)) / (2 * sp.log(base))


def yarn_range(
    rope_theta: object,
    dim: object,
    original_max_position_embeddings: object,
    beta_fast: object = 32,
    beta_slow: object = 1,
    truncate: bool = True,
) -> tuple[sp.Expr, sp.Expr]:
    """(low, high): the planes of beta_fast and beta_slow turns, floor and ceiling if `truncate`, in [0, d-1].

    The upper limit is dim - 1 although planes end at dim/2 - 1: so the code has it.
    """
    given = rope_theta, dim, original_max_position_embeddings
    fast, slow = positive(beta_fast, "beta_fast"), positive(beta_slow, "beta_slow")
    low, high = yarn_plane(*given, fast), yarn_plane(*given, slow)
    if truncate:
        low, high = floor(low, "the plane of beta_fast"), ceiling(high, "the plane of beta_slow")
    last = sp.Integer(even(dim, "head_dim") - 1)
    low = low if less(sp.S.Zero, low, "the plane of beta_fast") else sp.S.Zero
    high = high if less(high, last, "the plane of beta_slow") else last
    if less(high, low, "the ramp"):
        raise BadInput(
            f"the ramp of yarn would fall from plane {low} to plane {high}; beta_fast > beta_slow and "
            f"2π·beta_slow < original_max_position_embeddings work"
        )
    return low, high


def yarn_kept(
    rope_theta: object,
    dim: object,
    original_max_position_embeddings: object,
    beta_fast: object = 32,
    beta_slow: object = 1,
    truncate: bool = True,
) -> tuple[sp.Expr, ...]:
    """κ_k = 1 - clip((k - low)/(high - low), 0, 1); where low = high the code puts 1/1000 for the width."""
    low, high = yarn_range(rope_theta, dim, original_max_position_embeddings, beta_fast, beta_slow, truncate)
    width = high - low or sp.Rational(1, 1000)
    planes = range(even(dim, "head_dim") // 2)
    return tuple(1 - clip((k - low) / width, f"the ramp at plane {k}") for k in planes)


def yarn_attention(factor: object, mscale: object = None, mscale_all_dim: object = None) -> sp.Expr:
    """m = g(1), or g(mscale)/g(mscale_all_dim) when both are given; g(c) = 0.1 c ln s + 1 for s > 1, else 1.

    One without the other is read in two ways: Hugging Face ignores it, DeepSeek's own code takes
    mscale = 1 and mscale_all_dim = 0 for the absent one. BadInput where the two differ.
    """
    s = positive(factor, "factor")
    numerator, denominator = (
        None if x is None else exact_entry(x, name)
        for x, name in ((mscale, "mscale"), (mscale_all_dim, "mscale_all_dim"))
    )
    both = bool(numerator) and bool(denominator)
    ours = yarn_growth(s, numerator) / yarn_growth(s, denominator) if both else yarn_growth(s, sp.S.One)
    other = yarn_growth(s, sp.S.One if numerator is None else numerator) / yarn_growth(
        s, denominator or sp.S.Zero
    )
    if ours != other:
        raise BadInput(
            f"mscale is {numerator} and mscale_all_dim is {denominator}: Hugging Face then uses {ours}, "
            f"DeepSeek's code {other}; give both, both not 0, or attention_factor"
        )
    return ours


def yarn_growth(factor: sp.Expr, c: sp.Expr) -> sp.Expr:
    """g(c) = 0.1 c ln s + 1 for s > 1, else 1."""
    return 1 + c * sp.log(factor) / 10 if less(sp.S.One, factor, "factor") else sp.S.One


def llama3(
    rope_theta: object,
    dim: object,
    factor: object,
    original_max_position_embeddings: object,
    low_freq_factor: object,
    high_freq_factor: object,
) -> Frequencies:
    """w'_k = w_k (κ_k + (1 - κ_k)/s), κ_k = clip((r_k - lo)/(hi - lo), 0, 1), r_k = L0 w_k/(2π) turns.

    Planes with wavelength 2π/w_k < L0/hi are kept, those with > L0/lo divided. Source: Grattafiori et al.,
    arXiv 2407.21783; the code of Llama 3.1 and Hugging Face's `_compute_llama3_parameters`.
    """
    s = positive(factor, "factor")
    kept = turns_kept(
        rope_theta, dim, original_max_position_embeddings, low_freq_factor, high_freq_factor,
        names=("low_freq_factor", "high_freq_factor"),
    )  # fmt: skip
    return Frequencies(_blend(rotary(rope_theta, dim), kept, s))


def turns_kept(
    rope_theta: object,
    dim: object,
    original_max_position_embeddings: object,
    slow: object,
    fast: object,
    names: tuple[str, str] = ("beta_slow", "beta_fast"),
) -> tuple[sp.Expr, ...]:
    """κ_k = clip((r_k - slow)/(fast - slow), 0, 1), r_k = L0 w_k/(2π): linear in the turns within L0.

    slow = fast is a step: κ_k = 1 above it and 0 below, as Llama 4 has it.
    """
    first = length(original_max_position_embeddings, "original_max_position_embeddings")
    low, high = positive(slow, names[0]), positive(fast, names[1])
    turns = [first * w / (2 * sp.pi) for w in rotary(rope_theta, dim)]
    if low == high:
        return tuple(sp.Integer(less(low, r, f"the turns of plane {k}")) for k, r in enumerate(turns))
    if not less(low, high, f"{names[0]} and {names[1]}"):
        raise BadInput(f"{names[0]} is {low} and {names[1]} is {high}; {names[0]} ≤ {names[1]} works")
    return tuple(clip((r - low) / (high - low), f"the turns of plane {k}") for k, r in enumerate(turns))


def _blend(plain: Frequencies, kept: Sequence[sp.Expr], s: sp.Expr) -> tuple[sp.Expr, ...]:
    return tuple(w * (c + (1 - c) / s) for w, c in zip(plain, kept, strict=True))
