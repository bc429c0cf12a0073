"""Hyperbolic turns: boosts in place of rotations, one direction for queries and the opposite one for keys."""

from __future__ import annotations

import sympy as sp

from ..block import Block
from ..encoding import Encoding
from ..errors import BadInput
from ..exact import even, exact_entry
from ..generator import Generator
from ..kinds.generated import Generated
from .registry import register


@register(
    published="`q̃ = B(t)q, k̃ = B(-s)k`, `B(p) = [[cosh μp, sinh μp], [sinh μp, cosh μp]]`",
    source="C. Dai et al., HoPE, arXiv 2509.05218: its boosts without further damping",
    danger="cosh grows: cosh 10 = 11013.2…, so that B(t) and B(-s) overflow where B(t-s) is small",
    example={"head_dim": 2, "rate": sp.Symbol("mu", positive=True)},
)
def boost(head_dim: int = 2, rate: object = 1) -> Encoding:
    """score = qᵀ B(t-s) k with B(p) = exp(p [[0, μ], [μ, 0]]): relative, and unbounded both ways.

    Planes (2k, 2k+1), all with rate μ (1/position), not 0; in the basis (1, 1), (1, -1) a growth next to a
    fade. The same boost on both sides is `same_side_boost`.
    """
    size = even(head_dim, "head_dim")
    generator, mu = boosting(size, rate)
    return Generated("boost", {"head_dim": size, "rate": mu}, size, generator)


def boosting(head_dim: int, rate: object) -> tuple[Generator, sp.Expr]:
    """(X, μ): X is [[0, μ], [μ, 0]] on the planes (2k, 2k+1), as a fade and a growth."""
    mu, planes = exact_entry(rate, "rate"), head_dim // 2
    if mu.is_zero:
        raise BadInput("rate is 0, which is no boost; any other exact number works")
    if not (mu.is_positive or mu.is_negative):
        raise BadInput(f"rate is {mu}, whose sign is not known; declare it, e.g. Symbol('mu', positive=True)")
    basis = sp.diag(*[sp.Matrix([[1, 1], [1, -1]])] * planes)
    return Generator.direct_sum(*[Block(-mu), Block(mu)] * planes, basis=basis), mu
