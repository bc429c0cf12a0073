"""Gated linear attention: every feature fades at a clock of its own."""

from __future__ import annotations

from collections.abc import Sequence

from ..block import Block
from ..clocks import Clock
from ..encoding import Encoding
from ..exact import whole
from ..generator import Generator
from ..kinds.clocked import Clocked
from .gates import forgotten, gate_rows
from .registry import register


@register(
    published="`S_t = Diag(α_t) S_{t-1} + k_t v_tᵀ`, `o_t = S_tᵀ q_t`; RWKV-6 (Finch), HGRN2 alike",
    source="S. Yang et al., Gated Linear Attention Transformers, arXiv 2312.06635; fla/ops/gla/naive.py; "
    "B. Peng et al., Eagle and Finch, arXiv 2404.05892 (RWKV-6, which reads its own token with a bonus)",
    danger="in-chunk factors e^{+a} overflow float32 when the decays of a chunk add up to more than 88.7",
    example={"head_dim": 2},
)
def gla(head_dim: int, forget: object = None) -> Encoding:
    """score = Σ_i q_i k_i α_i(s+1) ⋯ α_i(t): X_i = -1 on feature i alone, head_dim clocks.

    forget: one list a token with head_dim gates α, each above 0 and at most 1; free gates
    a_i(l) = -log α_i(l) if None. RWKV-6 has this state and reads it before its
    own token fades it and is written.
    """
    size = whole(head_dim, "head_dim")
    values = gate_rows(forget, "forget", size, forgotten)
    clocks = tuple(Clock(f"a{i}", f"tau{i}", values=given, forward=True) for i, given in enumerate(values))
    movers = tuple(Generator.direct_sum(*(Block(int(i == j)) for j in range(size))) for i in range(size))
    given = tuple(tuple(row) for row in forget) if isinstance(forget, Sequence) else None
    return Clocked("gla", {"head_dim": size, "forget": given}, size, clocks, movers)
