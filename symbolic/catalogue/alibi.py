"""Attention with linear biases: a slope per head, lifted into two spare slots."""

from __future__ import annotations

import sympy as sp

from ..block import Block
from ..encoding import Encoding
from ..errors import BadInput
from ..exact import exact_entry, positive, whole
from ..generator import Generator
from ..kinds.generated import Bias, Generated
from ..kinds.heads import PerHead
from .registry import register


@register(
    published="`logit = q·k/√d - m(t-s)` with `m > 0`",
    source="O. Press et al., Train Short, Test Long, arXiv 2108.12409",
    danger=(
        "the split form (-m, -mt)·(-s, 1) cancels: with m = 2^-8 at (8191, 8190) it is 0 in "
        "float16 and bfloat16"
    ),
    example={
        "head_dim": 4,
        "slope": sp.Symbol("m", positive=True),
        "scale": sp.Symbol("sigma", positive=True),
    },
)
def alibi(
    num_heads: int | None = None, head_dim: int = 64, slope: object = None, scale: object = None
) -> Encoding:
    """logit = σ q·k - m(t-s), so score = q·k - (m/σ)(t-s) (Press et al., arXiv 2108.12409).

    Give num_heads for the slopes of the paper (`.heads` has one encoding per head), or one exact or symbolic
    slope m; m > 0 penalises distance, m < 0 rewards it, 0 has no lift. scale σ: 1/sqrt(head_dim)
    if None, or a positive symbol. Lift: X = J_2(0), the query carries (-m/σ, 0), the key (0, 1).
    """
    if (num_heads is None) == (slope is None):
        raise BadInput(
            "alibi takes either num_heads (the slopes of the paper) or one slope; give exactly one"
        )
    size = whole(head_dim, "head_dim")
    sigma = 1 / sp.sqrt(size) if scale is None else positive(scale, "scale")
    held = Generator.direct_sum(*[Block(0)] * size)
    if num_heads is None:
        return _one_head(exact_entry(slope, "slope"), held, sigma)
    count = whole(num_heads, "num_heads")
    members = tuple(_one_head(m, held, sigma) for m in slopes(count))
    return PerHead("alibi", {"num_heads": count, "head_dim": size, "scale": sigma}, size, members)


def _one_head(slope: sp.Expr, held: Generator, scale: sp.Expr) -> Generated:
    bias = Bias(
        Generator.direct_sum(Block(0, size=2)),
        query=sp.ImmutableMatrix([-slope / scale, 0]),
        key=sp.ImmutableMatrix([0, 1]),
    )
    biases = () if slope.is_zero else (bias,)
    parameters = {"slope": slope, "head_dim": held.dim, "scale": scale}
    return Generated("alibi", parameters, held.dim, held, biases=biases, fixed_scale=scale)


def slopes(num_heads: int) -> tuple[sp.Expr, ...]:
    """The slopes of the paper, exact. With c = 2^⌊log2 n⌋: 2^(-8(h+1)/c) for c heads, then 2^(-4(2k+1)/c).

    The second list is every other slope of 2c heads, as the paper's own code has it for n no power of two.
    """
    count = whole(num_heads, "num_heads")
    c = 1 << (count.bit_length() - 1)
    exponents = [sp.Rational(-8 * (h + 1), c) for h in range(c)]
    exponents += [sp.Rational(-4 * (2 * k + 1), c) for k in range(count - c)]
    return tuple(sp.Integer(2) ** exponent for exponent in exponents)
