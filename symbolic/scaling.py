"""Rules for the rotary spectrum: the base, and what long-context recipes make of it, one factor a plane.

    w_k = rope_theta^(-2k/dim),   k = 0 … dim/2 - 1,   radians per position

Every rule maps exact parameters to exact `Frequencies`. Recipes that blend plane by plane are in `ramps`.
Sources: Su et al., RoFormer, arXiv 2104.09864; and with each rule. Names as in Hugging Face's
`rope_parameters` (`modeling_rope_utils.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import sympy as sp

from .errors import BadInput, WrongType
from .exact import even, exact_entry, positive, rational_power, whole
from .rounding import floor, less
from .walk import shown

LONGEST = 10**12  # positions; a length beyond it is a slip


@dataclass(frozen=True)
class Frequencies:
    """`exact`: a sympy number or expression a plane, positive, or 0 where a plane is held.

    `attention_factor` m multiplies cos and sin, so that scores carry m². `longest`: in a text of more
    positions the rule has other frequencies; None where they serve every length. It is no part of equality.
    """

    exact: tuple[sp.Expr, ...]
    attention_factor: sp.Expr = sp.S.One
    longest: int | None = field(default=None, compare=False)

    def __len__(self) -> int:
        return len(self.exact)

    def __iter__(self):
        return iter(self.exact)


def rotary(rope_theta: object, dim: object) -> Frequencies:
    """w_k = rope_theta^(-2k/dim) for an even number `dim` of rotated features."""
    size, base = even(dim, "head_dim"), positive(rope_theta, "rope_theta")
    return Frequencies(tuple(rational_power(base, sp.Rational(-2 * k, size)) for k in range(size // 2)))


def endpoint_frequencies(count: object, base: object = 10000) -> Frequencies:
    """w_k = base^(-k/(count-1)), k = 0 … count-1: the last one is 1/base, which rotary tables never reach.

    The angles of retention, 1/10000^linspace(0, 1, d/2) (Sun et al., arXiv 2307.08621; torchscale,
    `retnet.py`). One frequency alone is 1.
    """
    planes, theta = whole(count, "count"), positive(base, "base")
    return Frequencies(
        tuple(rational_power(theta, sp.Rational(-k, max(planes - 1, 1))) for k in range(planes))
    )


def linear(rope_theta: object, dim: object, factor: object) -> Frequencies:
    """Position interpolation, w'_k = w_k/s (Chen et al., arXiv 2306.15595)."""
    return _scaled(rotary(rope_theta, dim), [1 / positive(factor, "factor")] * (even(dim, "head_dim") // 2))


def ntk_base(rope_theta: object, dim: object, factor: object) -> sp.Expr:
    """base' = base · s^(dim/(dim-2)): the base whose last frequency is w_last/s."""
    return positive(rope_theta, "rope_theta") * _stretch(dim, positive(factor, "factor"), "dim")


def ntk_aware(rope_theta: object, dim: object, factor: object) -> Frequencies:
    """w'_k = base'^(-2k/dim) = w_k s^(-2k/(dim-2)): w'_0 = 1 and w'_last = w_last/s exactly.

    Source: bloc97, "NTK-aware scaled RoPE" (2023); Peng et al., arXiv 2309.00071, section 3.1. dim >= 4.
    """
    size, s = _two_planes(dim), positive(factor, "factor")
    return _scaled(
        rotary(rope_theta, size), [rational_power(s, sp.Rational(-2 * k, size - 2)) for k in range(size // 2)]
    )


def dynamic_stretch(factor: object, original_length: object, seq_len: object) -> sp.Expr:
    """s·L/L0 - (s - 1) for the current length L >= L0, and 1 up to L0."""
    s, first = positive(factor, "factor"), length(original_length, "max_position_embeddings")
    longest = max(first, length(seq_len, "seq_len"))
    return 1 + s * sp.Rational(longest - first, first)


def dynamic(
    rope_theta: object, dim: object, factor: object, original_length: object, seq_len: object
) -> Frequencies:
    """NTK-aware with the factor s·L/L0 - (s - 1) of the current length L; the plain table up to L0.

    original_length: L0, the length of training; seq_len: L, both in positions. The table changes with L, so
    keys cached at one length do not fit queries of another. Source: emozilla, "Dynamically scaled RoPE"
    (2023); Hugging Face's `_compute_dynamic_ntk_parameters`.
    """
    first, now = length(original_length, "max_position_embeddings"), length(seq_len, "seq_len")
    table = ntk_aware(rope_theta, dim, dynamic_stretch(factor, first, now))
    return replace(table, longest=max(first, now))


def longrope(
    rope_theta: object, dim: object, divisors: Sequence, attention_factor: object = sp.S.One
) -> Frequencies:
    """w'_k = w_k/λ_k for one λ_k a plane: short_factor or long_factor (Ding et al., arXiv 2402.13753)."""
    plain = rotary(rope_theta, dim)
    if isinstance(divisors, str) or not isinstance(divisors, Sequence):
        raise WrongType(
            f"the factors of longrope are {shown(divisors)}; a list with one number a plane works"
        )
    if len(divisors) != len(plain):
        raise BadInput(
            f"longrope has {len(divisors)} factors; {2 * len(plain)} features make {len(plain)} planes"
        )
    shares = [1 / positive(x, f"factors[{k}]") for k, x in enumerate(divisors)]
    return _scaled(plain, shares, positive(attention_factor, "attention_factor"))


def longrope_attention(factor: object, original_max_position_embeddings: object) -> sp.Expr:
    """m = sqrt(1 + ln s/ln L0) for s > 1, else 1."""
    s = positive(factor, "factor")
    first = length(original_max_position_embeddings, "original_max_position_embeddings")
    if not less(sp.S.One, s, "factor"):
        return sp.S.One
    if first == 1:
        raise BadInput("original_max_position_embeddings is 1, whose logarithm is 0; a longer length works")
    return sp.sqrt(1 + sp.log(s) / sp.log(first))


def proportional(rope_theta: object, dim: object, proportion: object, factor: object = 1) -> Frequencies:
    """p-RoPE: w'_k = w_k/s for k < ⌊p·dim/2⌋ and 0 beyond; the exponent keeps the full dim.

    The lowest frequencies are dropped, not squeezed: `partial_rotary_factor` of other rules shrinks the
    denominator instead. Source: Barbero et al., arXiv 2410.06205; factor s: Hugging Face's `proportional`.
    """
    plain, p = rotary(rope_theta, dim), exact_entry(proportion, "partial_rotary_factor")
    live = floor(p * len(plain), "partial_rotary_factor · head_dim/2")
    if not 0 <= live <= len(plain):
        raise BadInput(f"partial_rotary_factor is {p}; a number from 0 to 1 works")
    s = positive(factor, "factor")
    return _scaled(plain, [1 / s if k < live else sp.S.Zero for k in range(len(plain))])


def length(value: object, name: str) -> int:
    """A number of positions."""
    return whole(value, name, 1, LONGEST)


def _stretch(dim: object, factor: sp.Expr, name: str) -> sp.Expr:
    size = _two_planes(dim)
    return rational_power(factor, sp.Rational(size, size - 2))


def _two_planes(dim: object) -> int:
    """An even number of features, at least 4: with one plane there is no base to change."""
    size = even(dim, "head_dim")
    if size < 4:
        raise BadInput("head_dim is 2, one plane, whose frequency is 1 for every base; at least 4 works")
    return size


def _scaled(
    plain: Frequencies, shares: Sequence[sp.Expr], attention_factor: sp.Expr = sp.S.One
) -> Frequencies:
    return Frequencies(tuple(w * c for w, c in zip(plain, shares, strict=True)), attention_factor)
