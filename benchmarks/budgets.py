"""What a contestant may be off by, computed from what it rounds, and how much of that it uses.

y0 = x0 c - x1 s and y1 = x0 s + x1 c, each two products and a sum. With tables of unit roundoff u_t and
arithmetic of u_a a coordinate of magnitude m = |x0 c| + |x1 s| is off by at most ((1 + u_t)(1 + u_a)² - 1) m,
by (|x0| + |x1|) τ where the entries of the table are off by τ from their angles, and once more by rounding
to the dtype of x where the arithmetic is wider.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..numeric.layout import join_pairs, split_pairs
from ..numeric.rounding import format_of, unit_roundoff

_AT_ONCE = 1 << 18  # coordinates whose float64 numbers stay in a cache


@dataclass(frozen=True)
class Policy:
    """What a contestant rounds: entries of the table, results of arithmetic, and the angles."""

    table: torch.dtype
    arithmetic: torch.dtype
    angle: torch.dtype = torch.float64


@dataclass(frozen=True)
class Oracle:
    """R x in float64 for x of (batch, heads, time, head_dim), any float dtype; a few heads at a time.

    angle: ωt in float64, (batch or 1, 1, time, planes). inverse: turned back, as gradients are.
    """

    x: Tensor
    angle: Tensor
    interleaved: bool
    inverse: bool = False

    def turned(self, heads: slice = slice(None)) -> tuple[Tensor, Tensor, Tensor]:
        """Of these heads: R x; |x0 c| + |x1 s|, and with s and c; |x0| + |x1|. Each of the shape of x."""
        x0, x1 = split_pairs(self.x[:, heads].double(), self.interleaved)
        cos, sin = self.angle.cos(), self.angle.sin()
        a, b, c, d = x0 * cos, x1 * sin, x0 * sin, x1 * cos
        exact = (a + b, d - c) if self.inverse else (a - b, c + d)
        spread = x0.abs() + x1.abs()
        pairs = exact, (a.abs() + b.abs(), c.abs() + d.abs()), (spread, spread)
        turned, majorant, spread = (join_pairs(*pair, self.interleaved) for pair in pairs)
        return turned, majorant, spread

    def used(self, result: Tensor, policy: Policy) -> float:
        """The largest share of its budget that a coordinate is off by: at most 1 if all are right."""
        few, share = max(_AT_ONCE // max(self.x[:, 0].numel(), 1), 1), 0.0
        angle = join_pairs(self.angle.abs(), self.angle.abs(), self.interleaved)
        for first in range(0, self.x.shape[1], few):
            exact, majorant, spread = self.turned(heads := slice(first, first + few))
            allowed = budget(policy, result.dtype, exact.abs(), majorant, spread, angle)
            shares = (result[:, heads].double() - exact).abs() / allowed
            share = max(share, shares.nan_to_num(nan=float("inf")).max().item())
        return share


def budget(
    policy: Policy, dtype: torch.dtype, value: Tensor, majorant: Tensor, spread: Tensor, angle: Tensor
) -> Tensor:
    """How far a coordinate of magnitude `value`, stored in `dtype`, may be off: the formula above."""
    table, arithmetic = unit_roundoff(policy.table), unit_roundoff(policy.arithmetic)
    rounded, own = unit_roundoff(policy.angle), unit_roundoff("float64")
    # Angles are formed in float64, here and there, within 2^-52 |ωt|; cos and sin are within two ulp.
    entry = (rounded + 4 * own) * angle + 4 * rounded + 4 * own
    growth = (1 + table) * (1 + arithmetic) ** 2
    off = (growth - 1) * majorant + growth * entry * spread + 2 * format_of(policy.arithmetic).half_smallest
    if unit_roundoff(dtype) > arithmetic:
        off = off + unit_roundoff(dtype) * (value + off) + format_of(dtype).half_smallest
    return off


__all__ = ["Oracle", "Policy", "budget"]
