"""Rotary planes that fade each at its own rate, scaled from a common centre."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from ..block import Block
from ..encoding import Encoding
from ..exact import even, exact_entry, positive
from ..generator import Generator
from ..kinds.generated import Generated
from .registry import register
from .turning import rotation


@dataclass(frozen=True, eq=False, repr=False)
class Centred(Generated):
    """A member of the family whose two factors count positions from the same `centre`."""

    centre: sp.Expr = sp.S.Zero

    def query_factor(self, t: sp.Expr) -> sp.ImmutableMatrix:
        """A(t - c)ᵀ."""
        return super().query_factor(t - self.centre)

    def key_factor(self, s: sp.Expr) -> sp.ImmutableMatrix:
        """A(c - s)."""
        return super().key_factor(s - self.centre)


@register(
    published=(
        "`q̃ = ζ^((t-c)/512) R(tω)q, k̃ = ζ^(-(s-c)/512) R(sω)k`, `ζ_i = (2i + 0.4d)/(1.4d)` on plane `i`"
    ),
    source=(
        "Y. Sun et al., A Length-Extrapolatable Transformer, arXiv 2212.10554; torchscale, "
        "`component/xpos_relative_position.py`"
    ),
    danger=(
        "with c = 0 and d = 64 the scaled key overflows in float16 from s = 4533 on, in float32 from "
        "s = 36261 on; a cache must keep one centre"
    ),
    example={"head_dim": 4, "centre": sp.Symbol("c", real=True)},
)
def xpos(
    head_dim: int,
    centre: object = 0,
    scale_base: object = 512,
    rope_theta: object = 10000,
    interleaved: bool = True,
) -> Encoding:
    """score = Σ_i ζ_i^{(t-s)/512} q_i·R((s-t)ω_i)k_i: X = (ln ζ_i/512)I - ω_i J on plane i.

    ζ_i = (2i + 0.4 head_dim)/(1.4 head_dim) < 1 (Sun et al., arXiv 2212.10554). centre c (positions), exact
    or symbolic: common to queries and keys, it drops out. scale_base: the 512, in positions, > 0.
    """
    size = even(head_dim, "head_dim")
    base, middle = positive(scale_base, "scale_base"), exact_entry(centre, "centre")
    size, plain, _ = rotation(size, rope_theta, None, interleaved)
    fades = [-sp.log(zeta) / base for zeta in zetas(size)]
    blocks = (Block(fade, block.frequency) for fade, block in zip(fades, plain.blocks, strict=True))
    parameters = {
        "head_dim": size,
        "centre": middle,
        "scale_base": base,
        "rope_theta": exact_entry(rope_theta, "rope_theta"),
        "interleaved": interleaved,
    }
    return Centred("xpos", parameters, size, Generator.direct_sum(*blocks, basis=plain.basis), centre=middle)


def zetas(head_dim: int) -> tuple[sp.Rational, ...]:
    """ζ_i = (2i + 0.4d)/(1.4d), what plane i of d features fades by over 512 positions."""
    return tuple(sp.Rational(20 * i + 4 * head_dim, 14 * head_dim) for i in range(head_dim // 2))
