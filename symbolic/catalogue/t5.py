"""The relative bias of T5: a learned number for every bucket of distances."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from ..encoding import Encoding
from ..errors import BadInput
from ..exact import whole
from ..kinds.formula import Formula
from .registry import register
from .steps import bucket_starts, levels, steps
from .turning import flag


@register(
    published="`logit = q·k + b[bucket(s-t)]`, no `1/√d`",
    source=(
        "C. Raffel et al., Exploring the Limits of Transfer Learning, arXiv 1910.10683; "
        "transformers, models/t5/modeling_t5.py"
    ),
    danger="bucket edges come from a logarithm in float32, which may fall one off where it is whole",
    example={"head_dim": 2, "num_buckets": 4, "max_distance": 8},
)
def t5(
    head_dim: int,
    num_buckets: int = 32,
    max_distance: int = 128,
    bidirectional: bool = False,
    values: Sequence | None = None,
) -> Encoding:
    """logit = q·k + b[bucket]: small distances have a bucket each, larger ones share, the last has the rest.

    num_buckets: all of them; bidirectional gives half to keys ahead (s > t), else those share bucket 0.
    max_distance: where the last bucket would start by the logarithmic rule (positions). values: one number a
    bucket, free symbols b0, b1, … if None. Between whole gaps the bias is a step. Answers are about this
    formula at all gaps, keys ahead included, also where bidirectional is False.
    """
    size = whole(head_dim, "head_dim")
    two_sided = flag(bidirectional, "bidirectional")
    total = whole(num_buckets, "num_buckets", 4 if two_sided else 2)
    if two_sided and total % 2:
        raise BadInput(f"num_buckets is {total}, which is odd; bidirectional buckets come in two halves")
    count = total // 2 if two_sided else total
    most = whole(max_distance, "max_distance", count // 2 + 1, 10**9)
    starts, table = bucket_starts(count, most), levels(values, "values", "b", total)
    behind, ahead = table[:count], table[count:]

    def bias(t: sp.Expr, s: sp.Expr) -> sp.Expr:
        u = t - s
        pieces = [(b, u <= -start if start else u < 0) for b, start in zip(ahead, starts, strict=False)]
        return sp.Piecewise(*reversed(pieces), (steps(u, starts[1:], behind), True))

    parameters = {
        "head_dim": size,
        "num_buckets": total,
        "max_distance": most,
        "bidirectional": two_sided,
        "values": None if values is None else table,
    }
    return Formula("t5", parameters, size, fixed_scale=sp.S.One, bias_formula=bias)
