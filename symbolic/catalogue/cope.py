"""Contextual position encoding: a position is a count of tokens that a gate lets pass."""

from __future__ import annotations

import sympy as sp

from ..encoding import Encoding
from ..exact import whole
from ..kinds.contextual import Contextual, summed
from .registry import register


@register(
    published="`logit = q·(k_s + e[p])`, `p = Σ_{l=s..t} σ(q·k_l)`, `e` interpolated between whole numbers",
    source="O. Golovneva et al., Contextual Position Encoding, arXiv 2405.18719",
    danger="p depends on the query, so its table look-up is new for every pair; nothing of it can be cached",
    example={"head_dim": 2, "positions": 3},
)
def cope(head_dim: int, positions: int = 64) -> Encoding:
    """score = q·(k + e[p]), p the sum of the gates σ(q·x(l)) of the keys x(l) from the key to the query.

    σ is the logistic function; the key at s counts, and so does the one at t. positions N: p is clipped to N,
    and e[p] is linear between e[⌊p⌋] and e[⌈p⌉], where e_i(n) is feature i of any table, n = 0 … N.
    """
    size, last = whole(head_dim, "head_dim"), whole(positions, "positions")

    def rule(q, k, x, t, s):
        p = _gate(q.dot(k)) + summed(lambda position: _gate(q.dot(x(position))), s + 1, t)
        rows = [q.dot(_row(size, n)) * _hat(p, n, last) for n in range(last + 1)]
        return q.dot(k) + sp.Add(*rows)

    return Contextual("cope", {"head_dim": size, "positions": last}, size, rule=rule)


def _gate(x: sp.Expr) -> sp.Expr:
    return 1 / (1 + sp.exp(-x))


def _row(size: int, n: int) -> sp.Matrix:
    return sp.Matrix([sp.Function(f"e{i}", real=True)(sp.Integer(n)) for i in range(size)])


def _hat(p: sp.Expr, n: int, last: int) -> sp.Expr:
    """The weight of row n at p >= 0: max(0, 1 - |p - n|), and 1 from the last row on."""
    if n == 0:
        return (1 - p + sp.Abs(p - 1)) / 2
    if n == last:
        return (1 + sp.Abs(p - n + 1) - sp.Abs(p - n)) / 2
    return (sp.Abs(p - n + 1) - 2 * sp.Abs(p - n) + sp.Abs(p - n - 1)) / 2
