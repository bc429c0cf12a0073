"""The relative position bias of Swin: a learned number for every gap in a window of an image."""

from __future__ import annotations

import sympy as sp

from ..encoding import Encoding
from ..exact import positive, whole
from ..kinds.grid import GridBias
from .columns import reals
from .registry import register
from .steps import clipped


@register(
    published="`logit = q·k/√d + B[Δy + M - 1, Δx + M - 1]`, `Δ = t - s` within a window of `M × M`",
    source="Z. Liu et al., Swin Transformer, arXiv 2103.14030, section 3.2",
    danger="the table has the size of one window; another window size needs a new or an interpolated table",
    example={"head_dim": 2, "window": 2},
)
def swin(head_dim: int, window: int = 7, scale: object = None) -> Encoding:
    """logit = σ q·k + B[Δy, Δx] for positions (y, x) of one window: a free symbol b{i}_{j} for every gap.

    window M (positions): gaps run from 1-M to M-1 on either axis; beyond, where the published attention has
    no pairs, the index is clipped. scale σ: 1/sqrt(head_dim) if None.
    """
    size, m = whole(head_dim, "head_dim"), whole(window, "window", 2, 32)
    sigma = 1 / sp.sqrt(size) if scale is None else positive(scale, "scale")
    rows = [[b / sigma for b in reals(f"b{i}_", 2 * m - 1)] for i in range(2 * m - 1)]

    def table(gap: tuple[sp.Expr, ...]) -> sp.Expr:
        return clipped(gap[0], m - 1, [clipped(gap[1], m - 1, row) for row in rows])

    parameters = {"head_dim": size, "window": m, "scale": sigma}
    return GridBias("swin", parameters, size, 2, table, fixed_scale=sigma)
