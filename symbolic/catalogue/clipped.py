"""Tables read off the clipped gap: vectors that meet the content (Shaw, DeBERTa)."""

from __future__ import annotations

import sympy as sp

from ..encoding import Encoding
from ..exact import whole
from ..kinds.paired import Paired
from .columns import reals
from .registry import register
from .steps import clipped


@register(
    published="`logit = q·(k + w[clip(s-t, r)])/√d`",
    source="P. Shaw et al., Self-Attention with Relative Position Representations, arXiv 1803.02155",
    danger="none in itself: every gap beyond r looks the same",
    example={"head_dim": 2, "reach": 1},
)
def shaw(head_dim: int, reach: int = 16) -> Encoding:
    """score = q·(k + w[clip(s-t, r)]), clip to [-r, r]: a learned vector for every near gap.

    reach r (positions). The table is free: symbols w0_0 … of which w{i}_{n} is feature i at clipped index
    n - r. The published values have a table of their own, which is no part of the score.
    """
    size, r = whole(head_dim, "head_dim"), whole(reach, "reach")

    def matrix(_, t, s):
        vector = _vector("w", size, r, s - t)
        return sp.Matrix.vstack(sp.eye(size).row_join(vector), sp.zeros(1, size + 1))

    return Paired("shaw", {"head_dim": size, "reach": r}, size, slots=1, matrix=matrix)


@register(
    published="`logit = (q·k + q·K[δ(t,s)] + k·Q[δ(s,t)])/√(3d)`, `δ` the clipped gap",
    source="P. He et al., DeBERTa, arXiv 2006.03654, equations 3 and 4",
    danger="the scale is 1/√(3d); a kernel with 1/√d is another model",
    example={"head_dim": 2, "reach": 1},
)
def deberta(head_dim: int, reach: int = 512) -> Encoding:
    """score = q·k + q·K[δ(t-s)] + k·Q[δ(s-t)], content to position and back; scale 1/√(3d).

    δ(u) = u + r, clipped to [0, 2r-1]. reach r (positions). The tables are free: symbols K{i}_{n} and
    Q{i}_{n} for feature i at index n.
    """
    size, r = whole(head_dim, "head_dim"), whole(reach, "reach")

    def matrix(_, t, s):
        keys, queries = (_vector(letter, size, r, u, 2 * r) for letter, u in (("K", t - s), ("Q", s - t)))
        return sp.eye(size).row_join(keys).col_join(queries.T.row_join(sp.zeros(1, 1)))

    parameters, scale = {"head_dim": size, "reach": r}, 1 / sp.sqrt(3 * size)
    return Paired("deberta", parameters, size, fixed_scale=scale, slots=1, matrix=matrix)


def _vector(letter: str, size: int, reach: int, u: sp.Expr, count: int | None = None) -> sp.Matrix:
    """The column of `size` free tables read at u, clipped from -reach on to `count` indices."""
    count = 2 * reach + 1 if count is None else count
    return sp.Matrix([clipped(u, reach, reals(f"{letter}{i}_", count)) for i in range(size)])
