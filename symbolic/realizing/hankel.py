"""Hankel matrices of exponential polynomials: their determinant in closed form, which certifies an order.

    H = [b^{(i+j)}(0)] or [b(i+j)],   det H = Π_i ± ℓ_i^{m_i} · Π_{i<j} (λ_i - λ_j)^{2 m_i m_j}

over the nodes λ_i of size m_i with leading coefficient ℓ_i, for H = Vᵀ D V with a confluent Vandermonde
matrix V and triangular Hankel blocks D. Where det H is not 0 no realisation has an order below its size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import sympy as sp
from sympy import S

from .modes import Mode
from .nonvanishing import factored


@dataclass(frozen=True)
class Node:
    """λ = re of size m, or the pair re ± i·im; lead: ℓ, or |ℓ|² for a pair; norm: |λ|²."""

    re: sp.Expr
    im: sp.Expr
    size: int
    lead: sp.Expr
    norm: sp.Expr

    @property
    def dim(self) -> int:
        """Rows of its block."""
        return self.size if self.real else 2 * self.size

    @property
    def real(self) -> bool:
        """Whether it is a single real number."""
        return self.im is S.Zero


def node(mode: Mode) -> Node:
    """The node of a mode for derivatives at 0: ℓ = (m-1)!·(leading coefficient)."""
    a, b, scale = mode.cosines[-1], mode.sines[-1], sp.factorial(mode.size - 1)
    if mode.frequency.is_zero:
        return Node(mode.rate, S.Zero, mode.size, scale * a, mode.rate**2)
    norm = mode.rate**2 + mode.frequency**2
    return Node(mode.rate, mode.frequency, mode.size, scale**2 * (a**2 + b**2) / 4, norm)


def step_node(mode: Mode, sign: int = 1) -> Node:
    """The node of a mode at whole steps: μ = ±e^{ρ ± iω}, ℓ = (m-1)!·(leading coefficient)·μ^{m-1}."""
    slow, size = node(mode), sign * sp.exp(mode.rate)
    turn = (sp.cos(mode.frequency), sp.sin(mode.frequency))
    if slow.real:
        return replace(slow, re=size, lead=slow.lead * size ** (mode.size - 1), norm=size**2)
    lead = slow.lead * size ** (2 * mode.size - 2)
    return Node(size * turn[0], size * turn[1], mode.size, lead, size**2)


def without_constant(nodes: Sequence[Node], fixed: int) -> list[Node]:
    """The nodes of the derivative (fixed = 0) or of the difference (fixed = 1): constants are gone."""
    kept = []
    for n in nodes:
        if n.real and n.re == fixed:
            kept += [replace(n, size=n.size - 1)] if n.size > 1 else []
        else:
            kept.append(replace(n, lead=n.lead * (n.re - fixed if n.real else _from(sp.Integer(fixed), n))))
    return kept


def determinant(nodes: Sequence[Node]) -> sp.Expr:
    """det H as a product of its factors."""
    result = S.One
    for n in nodes:
        if n.real:
            result *= (-1) ** (n.size * (n.size - 1) // 2) * factored(n.lead) ** n.size
        else:
            result *= factored(n.lead) ** n.size * (-4 * n.im**2) ** (n.size**2)
    for a, b in combinations(nodes, 2):
        result *= _distance(a, b) ** (2 * a.size * b.size)
    return result


def annihilator(nodes: Sequence[Node], x: sp.Symbol) -> sp.Expr:
    """Π (x - λ_i)^{m_i}: p(D) b = 0, or p(shift) b = 0 for nodes of steps."""
    return sp.Mul(*(((x - n.re) if n.real else (x - n.re) ** 2 + n.im**2) ** n.size for n in nodes))


def _distance(a: Node, b: Node) -> sp.Expr:
    """The product of all λ - μ between two nodes, up to a sign that is squared away."""
    gap = a.re - b.re
    if a.real and b.real:
        return gap
    if a.real or b.real:
        return _from(a.re, b) if a.real else _from(b.re, a)
    return sp.Mul(*(gap**2 + (a.im + s * b.im) ** 2 for s in (1, -1)))


def _from(x: sp.Expr, pair: Node) -> sp.Expr:
    """|x - λ|² for a real x."""
    return x**2 - 2 * x * pair.re + pair.norm


__all__ = ["Node", "annihilator", "determinant", "node", "step_node", "without_constant"]
