"""GRAPE with path-integral additive biases: edge potentials summed from the key to the query."""

from __future__ import annotations

import sympy as sp

from ..encoding import Encoding
from ..exact import even, positive
from ..kinds.contextual import Contextual, summed
from .registry import register
from .turning import pairs, plane_frequencies


@register(
    published="`logit = q·k/√d + Σ_{l=s+1..t} a g(p_t·R_l p_l/d)`, `g = log σ`, `R_l` a rotation by `l`",
    source="GRAPE: model-architectures/GRAPE, `model/llama-mha-grape-ap-v1.py`",
    danger="the bias is a full table of pairs; the code normalises p_l and leaves p_t as it is",
    example={"head_dim": 2},
)
def grape_ap(head_dim: int, slope: object = 1, frequencies: object = None, scale: object = None) -> Encoding:
    """logit = σ q·k + Σ_{l=s+1..t} a g(p_t·R_l p_l / d): R_l turns one side only, by the absolute l.

    g the logarithm of the logistic function; p_l = x(l), any features of the token at l; R_l is clockwise by
    l w_j in plane (j, j + d/2). slope a > 0, exact or symbolic. frequencies: radians a position, one a plane;
    all 1 if None, as in the code. scale σ: 1/sqrt(head_dim) if None.
    """
    size, a = even(head_dim, "head_dim"), positive(slope, "slope")
    turns = plane_frequencies([1] * (size // 2) if frequencies is None else frequencies, 1, size)
    sigma = 1 / sp.sqrt(size) if scale is None else positive(scale, "scale")
    planes = list(zip(pairs(size, interleaved=False), turns, strict=True))

    def rule(q, k, x, t, s):
        def edge(position):
            met = (_met(x(t), x(position), i, j, w * position) for (i, j), w in planes)
            return sp.log(1 + sp.exp(-sp.Add(*met) / size))

        return q.dot(k) - a / sigma * summed(edge, s + 1, t)

    parameters = {"head_dim": size, "slope": a, "frequencies": turns, "scale": sigma}
    return Contextual("grape_ap", parameters, size, fixed_scale=sigma, rule=rule)


def _met(p: sp.MatrixBase, y: sp.MatrixBase, i: int, j: int, angle: sp.Expr) -> sp.Expr:
    """The part of p·R y in plane (i, j), R clockwise."""
    c, s = sp.cos(angle), sp.sin(angle)
    return p[i] * (y[i] * c + y[j] * s) + p[j] * (y[j] * c - y[i] * s)
