"""Rotations exp(Σ p_i A_i) with skew matrices that are given: relative exactly if they commute."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from ..axes import Axes
from ..encoding import Encoding
from ..errors import BadInput
from ..kinds.axes import AxesEncoding
from .registry import register

_SO3 = (
    sp.ImmutableMatrix([[0, 0, 0], [0, 0, -1], [0, 1, 0]]),
    sp.ImmutableMatrix([[0, 0, 1], [0, 0, 0], [-1, 0, 0]]),
)
_J = sp.ImmutableMatrix([[0, -1], [1, 0]])
_I = sp.ImmutableMatrix(sp.eye(2))
_COMMUTING = tuple(sp.ImmutableMatrix(sp.kronecker_product(a, b)) for a, b in ((_I, _J), (_J, _I)))


@register(
    published="`q̃ = G(p) q`, `k̃ = G(p) k` with `G(p) = exp(Σ p_i A_i)`, `A_i` skew",
    source="S. Ostmeier et al., LieRE: Lie Rotational Positional Encodings, arXiv 2406.10322; code: "
    "StanfordMIMI/LieRE",
    danger="On two or more axes the claim to be relative is false unless the learned A_i commute: the error "
    "is of second order, so it is small near the origin and grows with the coordinates.",
    example={"matrices": _SO3},
)
def liere(matrices: Sequence[object]) -> Encoding:
    """score = (G(t) q)·(G(s) k) with G(p) = exp(Σ p_i A_i); relative iff the A_i commute.

    matrices: the A_i, exact and skew, shape (head_dim, head_dim), one an axis. BadInput if one is not skew.
    """
    axes, given = _skew(matrices)
    return AxesEncoding("liere", {"matrices": given}, axes.dim, axes)


@register(
    published="`q̃ = exp(Σ p_i A_i) q`, the same for k, with skew `A_i A_j = A_j A_i`",
    source="H. Yu et al., ComRoPE: Scalable and Robust Rotary Position Embedding Parameterized by Trainable "
    "Commuting Angle Matrices, arXiv 2506.03737; C. Schenck et al., STRING, arXiv 2502.02562",
    danger="Training keeps the matrices commuting by construction only; rounding a basis breaks it.",
    example={"matrices": _COMMUTING},
)
def comrope(matrices: Sequence[object]) -> Encoding:
    """score = qᵀ exp(Σ (s_i - t_i) A_i) k with skew matrices that commute (ComRoPE, STRING).

    matrices: the A_i, exact and skew, shape (head_dim, head_dim), one an axis. BadInput if one is not skew,
    or with the commutator that is not 0.
    """
    axes, given = _skew(matrices)
    found = axes.commutation
    if not found.holds:
        i, j = found.pair or (0, 1)
        first, other = axes.matrices[i], axes.matrices[j]
        raise BadInput(
            f"matrices[{i}] and matrices[{j}] do not commute: A_{i} A_{j} - A_{j} A_{i} is "
            f"{(first * other - other * first).tolist()}, not 0; commuting matrices work, and liere takes any"
        )
    return AxesEncoding("comrope", {"matrices": given}, axes.dim, axes)


def _skew(matrices: Sequence[object]) -> tuple[Axes, tuple[sp.ImmutableMatrix, ...]]:
    """(the axes X_i = -A_i, the A_i); BadInput names an entry that makes an A_i not skew."""
    given = Axes.of(matrices, "matrices").matrices
    for a, matrix in enumerate(given):
        for (i, j), entry in sorted((matrix + matrix.T).todok().items()):
            if sp.expand(entry) != 0:
                raise BadInput(
                    f"matrices[{a}] is not skew: entries [{i}, {j}] = {matrix[i, j]} and [{j}, {i}] = "
                    f"{matrix[j, i]} do not add up to 0"
                )
    return Axes(tuple(sp.ImmutableMatrix(-matrix) for matrix in given)), given
