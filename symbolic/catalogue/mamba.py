"""State-space layers of the Mamba family: a scalar decay at its clock, and turns at clocks of their own."""

from __future__ import annotations

import sympy as sp

from ..block import Block
from ..clocks import Clock
from ..encoding import Encoding
from ..exact import even, exact_entry, whole
from ..generator import Generator
from ..kinds.clocked import Clocked
from .gates import gate_rows, gates, step
from .registry import register
from .turning import flag, pairs, rotary_size, turning


@register(
    published="`h_t = e^{-a_t} h_{t-1} + B_t x_tᵀ`, `y_t = C_tᵀ h_t`, `a_t = Δ_t |A| > 0`; the `Δ_t` before "
    "`B_t x_tᵀ` is taken into it",
    source="T. Dao, A. Gu, Transformers are SSMs, arXiv 2405.21060",
    danger="in-chunk factors e^{+a} overflow float32 when the decays of a chunk add up to more than 88.7",
    example={"head_dim": 2},
)
def mamba2(head_dim: int, decay: object = None) -> Encoding:
    """score = exp(-(a(s+1) + … + a(t))) q·k: X = -I at one clock; q, k are C, B, and there is no scale.

    decay: the gates a(0), a(1), …, exact and not negative, a(l) = Δ_l |A|; free gates if None. The Δ_t that
    multiplies the input is absorbed in B_t x_t.
    """
    size = whole(head_dim, "head_dim")
    clock = Clock(values=gates(decay, "decay", step), forward=True)
    fade = Generator.direct_sum(*[Block(1)] * size)
    parameters = {"head_dim": size, "decay": clock.values}
    return Clocked("mamba2", parameters, size, (clock,), (fade,), fixed_scale=sp.S.One)


@register(
    published=(
        "`score = e^{-(Φ_0(t)-Φ_0(s))} q·R(Φ_p(s)-Φ_p(t))k` on plane `p`, "
        "`Φ_0 = Σ Δ|A|`, `Φ_p = Σ π tanh(θ_p)Δ`"
    ),
    source="arXiv 2603.15569 (Mamba-3); mamba_ssm/modules/mamba3.py of state-spaces/mamba",
    danger="angles are kept modulo 2π; decay and angles are separate gates, so no one time step moves both",
    example={"head_dim": 2},
)
def mamba3(
    head_dim: int,
    rotary_dim: int | None = None,
    interleaved: bool = True,
    decay: object = None,
    angles: object = None,
) -> Encoding:
    """score = exp(-(Φ_0(t) - Φ_0(s))) q·k, each plane turned by its own angle: one decay clock, one a plane.

    q, k are C, B after normalisation and biases; there is no scale, and the trapezoidal rule, which mixes the
    keys at s - 1 and s, is left out. rotary_dim: how many leading features turn, all if None (the code turns
    half). decay: gates a(0), a(1), …, not negative; angles: one list a token, an angle a plane in radians, of
    either sign; free gates if None. The sign of the angles is a convention of theirs.
    """
    size = even(head_dim, "head_dim")
    planes = pairs(rotary_size(rotary_dim, size), flag(interleaved, "interleaved"))
    values = gate_rows(angles, "angles", len(planes), exact_entry)
    fading = Clock(values=gates(decay, "decay", step), forward=True)
    turns = [Clock(f"b{p}", f"phi{p}", values=given) for p, given in enumerate(values)]
    fade = Generator.direct_sum(*[Block(1)] * size)
    movers = [fade, *(turning(size, [plane], [sp.S.One]) for plane in planes)]
    parameters = {
        "head_dim": size,
        "rotary_dim": rotary_dim,
        "interleaved": interleaved,
        "decay": fading.values,
        "angles": None if angles is None else values,
    }
    return Clocked("mamba3", parameters, size, (fading, *turns), tuple(movers), fixed_scale=sp.S.One)
