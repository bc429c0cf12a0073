"""Contextual rotary phases: rotary frequencies read at one clock of learned steps."""

from __future__ import annotations

from ..clocks import Clock
from ..encoding import Encoding
from ..exact import even
from ..kinds.clocked import Clocked
from .gates import gates, step
from .registry import register
from .turning import pairs, plane_frequencies, rates_shown, turning


@register(
    published="`q̃ = R(-Φ_t θ_p)q, k̃ = R(-Φ_s θ_p)k` on plane `p`, `Φ_t = Σ_{l<t} ω_l`, `ω_l = σ(w·x_l/16)`",
    source="model/llama-mha-grape-m-ctx.py of model-architectures/GRAPE (one phase for all planes)",
    danger="the sum is exclusive; ω starts near 0.39 and not near the 10^-3 that its comment names",
    example={"head_dim": 2},
)
def grape_m_ctx(
    head_dim: int, rope_theta: object = 10000, frequencies: object = None, phases: object = None
) -> Encoding:
    """score = q·R((Φ_t - Φ_s)θ_p)k on plane p, Φ_t - Φ_s = ω(s) + … + ω(t-1): one clock, X = +θ_p J.

    The pairs are (p, p + head_dim/2), turned clockwise. phases: the steps ω(0), ω(1), …, exact and not
    negative; free if None. Frequencies as in rope; the code learns them. Steps of 0 and 1 count segments, as
    BiPE-RoPE does beside absolute vectors (arXiv 2401.16421).
    """
    size = even(head_dim, "head_dim")
    turns = plane_frequencies(frequencies, rope_theta, size)
    clock = Clock(values=gates(phases, "phases", step), inclusive=False, forward=True)
    mover = turning(size, pairs(size, False), [-turn for turn in turns])
    parameters = {"head_dim": size, **rates_shown(frequencies, rope_theta, turns), "phases": clock.values}
    return Clocked("grape_m_ctx", parameters, size, (clock,), (mover,))
