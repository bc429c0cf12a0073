"""What a contestant may be off by, computed from what it rounds, and how much of that it uses.

y0 = x0 c - x1 s and y1 = x0 s + x1 c, each two products and a sum. With tables of unit roundoff u_t and
arithmetic of u_a a coordinate of magnitude m = |x0 c| + |x1 s| is off by at most ((1 + u_t)(1 + u_a)² - 1) m,
by (|x0| + |x1|) τ where the entries of the table are off by τ from their angles, and once more by rounding
to the dtype of x where the arithmetic is wider.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from ..numeric.layout import join_pairs, split_pairs
from ..numeric.rounding import format_of, unit_roundoff


@dataclass(frozen=True)
class Policy:
    """What a contestant rounds: entries of the table, results of arithmetic, and the angles."""

    table: torch.dtype
    arithmetic: torch.dtype
    angle: torch.dtype = torch.float64


@dataclass(frozen=True)
class Oracle:
    """R x in float64, and the magnitudes that budgets are made of; all of the shape of x.

    majorant: |x0 c| + |x1 s|; spread: |x0| + |x1|; angle: |ωt|, broadcast over heads; known: budgets so far.
    """

    exact: Tensor
    majorant: Tensor
    spread: Tensor
    angle: Tensor
    known: dict[tuple[Policy, torch.dtype], Tensor] = field(default_factory=dict, repr=False)

    @staticmethod
    def of(x: Tensor, angle: Tensor, interleaved: bool, inverse: bool = False) -> Oracle:
        """x: (batch, heads, time, head_dim), any float dtype; angle: ωt in float64, broadcast to its planes.

        inverse: turn back, as gradients do.
        """
        x0, x1 = split_pairs(x.double(), interleaved)
        cos, sin = angle.cos(), -angle.sin() if inverse else angle.sin()
        parts = x0 * cos, x1 * sin, x0 * sin, x1 * cos
        spread, angle = x0.abs() + x1.abs(), angle.abs()
        return Oracle(
            exact=join_pairs(parts[0] - parts[1], parts[2] + parts[3], interleaved),
            majorant=join_pairs(*_sums(parts), interleaved),
            spread=join_pairs(spread, spread, interleaved),
            angle=join_pairs(angle, angle, interleaved),
        )

    def budget(self, policy: Policy, dtype: torch.dtype) -> Tensor:
        """How far each coordinate of a result in `dtype` may be off."""
        if (policy, dtype) not in self.known:
            self.known[policy, dtype] = self._budget(policy, dtype)
        return self.known[policy, dtype]

    def _budget(self, policy: Policy, dtype: torch.dtype) -> Tensor:
        table, arithmetic = unit_roundoff(policy.table), unit_roundoff(policy.arithmetic)
        rounded, own = unit_roundoff(policy.angle), unit_roundoff("float64")
        # Angles are formed in float64, here and there, within 2^-52 |ωt|; cos and sin are within two ulp.
        entry = (rounded + 4 * own) * self.angle + 4 * rounded + 4 * own
        off = ((1 + table) * (1 + arithmetic) ** 2 - 1) * self.majorant
        off += (1 + table) * (1 + arithmetic) ** 2 * entry * self.spread
        off += 2 * format_of(policy.arithmetic).half_smallest
        if unit_roundoff(dtype) > arithmetic:
            off += unit_roundoff(dtype) * (self.exact.abs() + off) + format_of(dtype).half_smallest
        return off

    def used(self, result: Tensor, policy: Policy) -> float:
        """The largest share of its budget that a coordinate is off by: at most 1 if all are right."""
        share = (result.double() - self.exact).abs() / self.budget(policy, result.dtype)
        return share.nan_to_num(nan=float("inf")).max().item()


def _sums(parts: tuple[Tensor, ...]) -> tuple[Tensor, Tensor]:
    """(|a| + |b|, |c| + |d|)."""
    a, b, c, d = (part.abs() for part in parts)
    return a + b, c + d


__all__ = ["Oracle", "Policy"]
