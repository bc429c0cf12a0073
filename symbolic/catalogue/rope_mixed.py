"""Mixed axes: every plane of features turns by a linear form of the two coordinates."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from ..encoding import Encoding
from ..errors import BadInput, WrongType
from ..exact import even, exact_entry
from ..kinds.axes import AxesEncoding
from ..walk import shown
from .axial import on_axes
from .registry import register
from .turning import flag


@register(
    published="`q̃_j = R(x fx_j + y fy_j) q_j`, the same for k, with learned `fx`, `fy`",
    source="B. Heo et al., Rotary Position Embedding for Vision Transformer, arXiv 2403.13298, mixed "
    "learnable frequencies; code: naver-ai/rope-vit, models/vit_rope.py, compute_mixed_cis",
    danger="Learned frequencies may grow, and one beyond π a step aliases; angles need float32 (the source "
    "switches autocast off).",
    example={"head_dim": 2, "fx": [sp.Symbol("f_x", positive=True)], "fy": [sp.Symbol("f_y", positive=True)]},
)
def rope_mixed(
    head_dim: int, fx: Sequence[object], fy: Sequence[object], interleaved: bool = True
) -> Encoding:
    """Positions (x, y): plane j turns by the angle fx[j] x + fy[j] y.

    fx, fy: radians per position, exact numbers or real symbols of any sign, 0 included, one a plane.
    interleaved: planes (2k, 2k+1), else (k, k + head_dim/2). WrongType for floats.
    """
    size = even(head_dim, "head_dim")
    rates = [_rates(x, name, size // 2) for name, x in (("fx", fx), ("fy", fy))]
    parameters = {"head_dim": size, "fx": rates[0], "fy": rates[1], "interleaved": interleaved}
    axes = on_axes(size, rates, flag(interleaved, "interleaved"))
    return AxesEncoding("rope_mixed", parameters, size, axes)


def _rates(given: object, name: str, planes: int) -> tuple[sp.Expr, ...]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise WrongType(f"{name} is {shown(given)}; a list with one exact number a plane works")
    if len(given) != planes:
        raise BadInput(f"{name} has {len(given)} entries; head_dim {2 * planes} makes {planes} planes")
    return tuple(exact_entry(x, f"{name}[{j}]") for j, x in enumerate(given))
