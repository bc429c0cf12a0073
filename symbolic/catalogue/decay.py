"""Scores that fade with the gap: alone, and together with a turn."""

from __future__ import annotations

import sympy as sp

from ..block import Block
from ..encoding import Encoding
from ..exact import exact_entry, whole
from ..generator import Generator
from ..kinds.generated import Generated
from .registry import register
from .turning import AS_ROPE, rotation


@register(
    published="`score = e^{-γ(t-s)} q·k`",
    source="Y. Sun et al., Retentive Network, arXiv 2307.08621 (its decay without the turn)",
    danger=(
        "the split form e^{γs}k overflows: with γ = 1/10 in float16 from s = 111 on, in float32 "
        "from s = 888 on"
    ),
    example={"head_dim": 4, "gamma": sp.Symbol("gamma", positive=True)},
)
def decay(head_dim: int, gamma: object) -> Encoding:
    """score = e^{-γ(t-s)} q·k: X = -γI. γ > 0 fades, γ < 0 grows (Sun et al., arXiv 2307.08621)."""
    size, rate = whole(head_dim, "head_dim"), exact_entry(gamma, "gamma")
    return Generated(
        "decay", {"head_dim": size, "gamma": rate}, size, Generator.direct_sum(*[Block(rate)] * size)
    )


@register(
    published="`score = e^{-γ(t-s)} q·R((s-t)ω)k` on each plane",
    source="Y. Sun et al., Retentive Network, arXiv 2307.08621",
    danger=f"the split form e^{{γs}}k overflows; {AS_ROPE}",
    example={"head_dim": 4, "gamma": sp.Symbol("gamma", positive=True)},
)
def damped_rope(
    head_dim: int,
    gamma: object,
    rope_theta: object = 10000,
    interleaved: bool = False,
    frequencies: object = None,
) -> Encoding:
    """A turn that fades: X = -γI - w_k J on plane k (the retention of Sun et al., arXiv 2307.08621)."""
    rate = exact_entry(gamma, "gamma")
    size, generator, given = rotation(head_dim, rope_theta, None, interleaved, frequencies, rate)
    parameters = {"head_dim": size, "gamma": rate, **given}
    return Generated("damped_rope", parameters, size, generator)
