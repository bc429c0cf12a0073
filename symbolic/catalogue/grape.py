"""Group representational encodings: a turn in one plane of any direction, and slopes that content sets."""

from __future__ import annotations

import sympy as sp

from ..block import Block
from ..combine import direct_sum
from ..encoding import Encoding
from ..errors import BadInput
from ..exact import positive, whole
from ..generator import Generator
from ..kinds.generated import Generated
from ..kinds.lifted import Lifted
from .columns import column
from .registry import register
from .turning import AS_ROPE

SOURCE = "Y. Zhang et al., Group Representational Position Encoding, arXiv 2512.07805"
DANGER = "as alibi: the split form cancels between numbers that grow as t"
EXAMPLE = {
    "head_dim": 2,
    "slope": sp.Symbol("w", positive=True),
    "scale": sp.Symbol("sigma", positive=True),
}
GATES = {letter: sp.Function(f"lambda_{letter}", positive=True) for letter in "qk"}


@register(
    published="`q̃ = G(t)q, k̃ = G(s)k`, `G(p) = exp(pωL)`, `L = abᵀ - baᵀ`",
    source=f"{SOURCE}, multiplicative form of rank 2",
    danger=f"{AS_ROPE}; the closed form divides by √(|a|²|b|² - (a·b)²), which vanishes for parallel a and b",
    example={"a": (1, 2, 2), "b": (2, 0, 1)},
)
def grape_m(a: object, b: object, rate: object = 1) -> Encoding:
    """score = qᵀ exp((s-t)ωL) k, L = abᵀ - baᵀ: a turn by ω√(|a|²|b|² - (a·b)²) in the plane of a and b.

    a, b: head_dim exact numbers each, not parallel; rate ω > 0. X = -ωL, zero outside that plane
    (Zhang et al., arXiv 2512.07805).
    """
    first = column(a, "a")
    left, right = sp.Matrix(first), sp.Matrix(column(b, "b", len(first)))
    speed, plane = positive(rate, "rate"), left * right.T - right * left.T
    if all(sp.expand(entry) == 0 for entry in plane):
        raise BadInput("a and b are parallel, so that abᵀ - baᵀ is 0 and nothing turns; other vectors work")
    parameters = {"a": tuple(left), "b": tuple(right), "rate": speed}
    return Generated("grape_m", parameters, len(left), Generator(-speed * plane))


@register(
    published="`logit = q·k/√d - ω(t-s) λ(q)`, `λ(q) = softplus(v·q/√d)`",
    source=f"{SOURCE}; `model/llama-mha-grape-a-querygated.py`",
    danger=DANGER,
    example=EXAMPLE,
)
def grape_a_q(head_dim: int = 64, slope: object = 1, scale: object = None) -> Encoding:
    """logit = σ q·k - w(t-s) λ_q(q): the query sets the slope. Lift: (-wλ_q/σ, 0) and (0, 1), X = J_2(0).

    λ_q: any positive function of the query, kept opaque. slope w > 0 (1/position). scale σ: 1/sqrt(head_dim)
    if None (Zhang et al., arXiv 2512.07805).
    """
    return _gated("grape_a_q", head_dim, slope, scale, "q")


@register(
    published="`logit = q·k/√d - ω(t-s) λ(k)`, `λ(k) = softplus(u·k/√d)`",
    source=f"{SOURCE}; `model/llama-mha-grape-a-keygated.py`",
    danger=DANGER,
    example=EXAMPLE,
)
def grape_a_k(head_dim: int = 64, slope: object = 1, scale: object = None) -> Encoding:
    """logit = σ q·k - w(t-s) λ_k(k): the key sets the slope. Lift: (-w/σ, 0) and (0, λ_k), X = J_2(0).

    λ_k: any positive function of the key, kept opaque. slope w > 0 (1/position). scale σ: 1/sqrt(head_dim)
    if None (Zhang et al., arXiv 2512.07805).
    """
    return _gated("grape_a_k", head_dim, slope, scale, "k")


@register(
    published="`logit = q·k/√d - ω(t-s)(λ(q) + λ(k))`, `λ(q) = softplus(v·q/√d)`, `λ(k) = softplus(u·k/√d)`",
    source=f"{SOURCE}; `model/llama-mha-grape-a-querykeygated.py`",
    danger=DANGER,
    example=EXAMPLE,
)
def grape_a_qk(head_dim: int = 64, slope: object = 1, scale: object = None) -> Encoding:
    """logit = σ q·k - w(t-s)(λ_q(q) + λ_k(k)): a generator that is fixed, J_2(0) ⊗ I_2, after a lift.

    λ_q, λ_k: any positive functions of query and key, kept opaque. slope w > 0 (1/position). Lift:
    -w/σ (λ_q, 1) meets (1, λ_k). scale σ: 1/sqrt(head_dim) if None (Zhang et al., arXiv 2512.07805).
    """
    return _gated("grape_a_qk", head_dim, slope, scale, "qk")


def _gated(name: str, head_dim: object, slope: object, scale: object, letters: str) -> Lifted:
    """One J_2(0) a gate: the query carries (-w/σ · gate, 0), the key (0, gate), 1 where it has none."""
    size, w = whole(head_dim, "head_dim"), positive(slope, "slope")
    sigma = 1 / sp.sqrt(size) if scale is None else positive(scale, "scale")

    def query_map(q):
        gates = [GATES["q"](*q) if letter == "q" else sp.S.One for letter in letters]
        return sp.Matrix([*q, *(slot for gate in gates for slot in (-w / sigma * gate, 0))])

    def key_map(k):
        gates = [GATES["k"](*k) if letter == "k" else sp.S.One for letter in letters]
        return sp.Matrix([*k, *(slot for gate in gates for slot in (0, gate))])

    def published(_, t, s, q, k):
        columns = {"q": q, "k": k}
        rate = sp.Add(*(GATES[letter](*columns[letter]) for letter in letters))
        return (q.T * k)[0, 0] - w / sigma * (t - s) * rate

    held = Generator.direct_sum(*[Block(0)] * size)
    slides = [Generator.direct_sum(Block(0, size=2)) for _ in letters]
    return Lifted(
        name,
        {"head_dim": size, "slope": w, "scale": sigma},
        size,
        fixed_scale=sigma,
        generator=direct_sum(held, *slides),
        query_map=query_map,
        key_map=key_map,
        published=published,
    )
