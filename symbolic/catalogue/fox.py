"""Forgetting attention: a bias that adds up the logarithms of forget gates."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from ..block import Block
from ..clocks import Clock
from ..encoding import Encoding
from ..exact import positive, whole
from ..generator import Generator
from ..kinds.clocked import Clocked, held
from ..kinds.generated import Bias
from .gates import forgotten, gates
from .registry import register
from .turning import flag


@register(
    published="`logit = q·k/√d + D(t,s)`, `D(t,s) = log f(s+1) + ⋯ + log f(t)`",
    source=(
        "Z. Lin et al., Forgetting Transformer, arXiv 2503.02130; "
        "fla/ops/forgetting_attn/naive.py of flash-linear-attention (inclusive sums in float32)"
    ),
    danger="a sum that is one token off is another model; long sums cancel, so they are kept in float32",
    example={"head_dim": 2},
)
def fox(head_dim: int, forget: object = None, inclusive: bool = True, scale: object = None) -> Encoding:
    """logit = σ q·k + D, D = log f(s+1) + … + log f(t), added after the scale σ (1/sqrt(head_dim) if None).

    forget: the gates f(0), f(1), …, each above 0 and at most 1; free gates a(l) = -log f(l) if None.
    inclusive=False sums over s … t-1, which is another model. Lift: X = J_2(0) read at the clock
    Φ(t) = -(log f(1) + … + log f(t)), the query carries (-1/σ, 0), the key (0, 1).
    """
    size = whole(head_dim, "head_dim")
    sigma = 1 / sp.sqrt(size) if scale is None else positive(scale, "scale")
    known = gates(forget, "forget", forgotten)
    clock = Clock(values=known, inclusive=flag(inclusive, "inclusive"), forward=True)
    bias = Bias(
        Generator.direct_sum(Block(0, size=2)),
        query=sp.ImmutableMatrix([-1 / sigma, 0]),
        key=sp.ImmutableMatrix([0, 1]),
    )
    given = tuple(forget) if isinstance(forget, Sequence) else None
    parameters = {"head_dim": size, "forget": given, "inclusive": inclusive, "scale": sigma}
    return Clocked("fox", parameters, size, (clock,), (held(size),), ((0, bias),), fixed_scale=sigma)
