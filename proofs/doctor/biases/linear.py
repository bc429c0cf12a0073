"""The line in a bias: its slope in each head, what is allowed beside it, and the name of the slopes."""

from __future__ import annotations

import torch
from torch import Tensor

from ...budget import slope_bias
from ..claims import Claims
from .matrix import Biases, gaps, seen, visible
from .rules import allowed as slope_allowed
from .rules import conventions, explained, faults, spec


def expected(claims: Claims, heads: int) -> Tensor | None:
    """The claimed slopes, float64; None where none are claimed for so many heads."""
    rule = spec(claims)
    if rule is None or bool(rule.values(heads).isnan().any()):
        return None
    return rule.values(heads)


def allowed(slopes: Tensor, bias: Tensor, table: str) -> Tensor:
    """How far -m|t - s| may be off, shaped as the bias."""
    rows, keys = bias.shape[-2:]
    query = (keys - rows + torch.arange(rows).double())[:, None]
    key = torch.arange(keys).double()
    wide = slope_allowed(len(slopes), slopes.abs(), table)
    reach = torch.maximum(query + key, 2.0 * (keys - 1) - query - key)
    gap = (query - key).abs()
    return slope_bias(wide[:, None, None], slopes.abs()[:, None, None], gap, reach, table)


def identified(found: Biases, claims: Claims) -> Tensor | None:
    """m of each head where every row of the square is one line, else None; negative where it rises."""
    here, gap = seen(found.square), gaps(found.square)
    last = found.square.shape[-1] - 1
    slopes = -here[:, last, 0] / last
    if not bool(slopes.isfinite().all()) or bool((slopes == 0).all()):
        return None
    off = (here + slopes[:, None, None] * gap.abs()).abs()
    # the slope that is read off is itself off by the entry it is read from, over the longest gap
    room = allowed(slopes, found.square, claims.table)
    room = room + room[:, last, :1, None] * gap.abs() / last
    return slopes if bool((off <= room)[visible(found.square, claims.causal)].all()) else None


def named(line: Tensor, claims: Claims, read: float = 0.0) -> str:
    """The slopes that a line has, by their rule where one gives them, or gives √d times them.

    read: how far a slope may be off for being read off what is returned.
    """
    for divisor, words in ((1.0, ""), (claims.head_dim**0.5, ", divided by √d")):
        found = {len(line): divisor * line.abs()}
        told = spec(claims)
        rules = [rule for rule in (told, *conventions(found), *faults()) if rule is not None]
        why = explained(found, rules, claims.table, divisor * read)
        if why is not None:
            rounded = "" if why[1] is None else f", slopes rounded to {why[1]}"
            return f"{why[0].words} for {len(line)} heads{words}{rounded}"
    return f"slopes {', '.join(f'{float(m):.6g}' for m in line.abs())}, by no known rule"
