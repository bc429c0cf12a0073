"""Biases of the gap that are no exponential polynomial: the absolute distance, a table of steps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import sympy as sp

from ..encoding import Encoding
from ..errors import BadInput
from ..exact import exact_entry, positive, whole
from ..kinds.formula import Formula
from .columns import column
from .registry import register
from .steps import steps as by_steps


@register(
    published="`logit = q·k/√d - m|t-s|`",
    source="an adaptation for keys on both sides; O. Press et al., arXiv 2108.12409, have keys behind only",
    danger="none: a bias is added, nothing is split",
    example={
        "head_dim": 4,
        "slope": sp.Symbol("m", positive=True),
        "scale": sp.Symbol("sigma", positive=True),
    },
)
def symmetric_distance(slope: object, head_dim: int = 64, scale: object = None) -> Encoding:
    """logit = σ q·k - m|t-s|, so score = q·k - (m/σ)|t-s|: the bidirectional form of a linear bias.

    slope m: exact or symbolic, not 0. scale σ: 1/sqrt(head_dim) if None.
    """
    size, m = whole(head_dim, "head_dim"), exact_entry(slope, "slope")
    if m.is_zero:
        raise BadInput("slope is 0, which is no bias; any other exact number works")
    sigma = 1 / sp.sqrt(size) if scale is None else positive(scale, "scale")
    return Formula(
        "symmetric_distance",
        {"slope": m, "head_dim": size, "scale": sigma},
        size,
        fixed_scale=sigma,
        bias_formula=lambda t, s: -m / sigma * sp.Abs(t - s),
    )


@register(
    published="`logit = q·k/√d + b[bucket(t-s)]`",
    source="C. Raffel et al., Exploring the Limits of Transfer Learning, arXiv 1910.10683 (T5); buckets of "
    "gaps come from P. Shaw et al., arXiv 1803.02155, where they hold vectors",
    danger="bucket edges computed by a logarithm in float32 may fall one off",
    example={"head_dim": 4, "edges": (1,), "values": (0, 1)},
)
def step_table(edges: Sequence, values: Sequence, head_dim: int = 64) -> Encoding:
    """score = q·k + b(t-s) with b(u) = values[i] between edges[i-1] <= u < edges[i]: buckets of gaps.

    edges: increasing exact numbers (positions); values: one more than edges, exact or symbolic, not all equal
    (Raffel et al., arXiv 1910.10683; the vectors of Shaw et al. are `shaw`).
    """
    size = whole(head_dim, "head_dim")
    steps, levels = column(edges, "edges"), column(values, "values")
    if len(levels) != len(steps) + 1:
        raise BadInput(
            f"values has {len(levels)} entries for {len(steps)} edges; one more value than edges works"
        )
    if any((b - a).is_positive is not True for a, b in pairwise(steps)):
        raise BadInput(f"edges is {list(steps)}; increasing numbers work")
    if len(set(levels)) == 1:
        raise BadInput(
            "values are all equal, which is a constant and no table; give at least two different ones"
        )

    parameters = {"edges": steps, "values": levels, "head_dim": size}
    return Formula("step_table", parameters, size, bias_formula=lambda t, s: by_steps(t - s, steps, levels))
