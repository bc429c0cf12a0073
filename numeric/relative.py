"""The well-known one-line relative test, with a tolerance that grows with the angle, and its blind spots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from .errors import BadTensor
from .rounding import unit_roundoff


@dataclass(frozen=True)
class RelativeTest:
    """What `relative_test` found: `passed`, and the numbers behind it.

    score, shifted: (heads,) float64, at (t, s) and at (t + shift, s + shift); difference: the largest
    |score - shifted| of a head; tolerance: the rounding error that two correct scores may differ by.
    """

    score: Tensor
    shifted: Tensor
    difference: float
    tolerance: float

    @property
    def passed(self) -> bool:
        """Whether the scores agree within the tolerance; NaN never does."""
        return self.difference <= self.tolerance


def relative_test(
    apply: Callable[[Tensor, Tensor], Tensor],
    head_dim: int,
    *,
    t: int = 5,
    s: int = 2,
    shift: int = 100,
    heads: int = 4,
    dtype: torch.dtype = torch.float32,
    angle_dtype: torch.dtype = torch.float64,
    max_frequency: float = 1.0,
    seed: int = 0,
) -> RelativeTest:
    """Compare (apply q)·(apply k) at positions (t, s) and (t + shift, s + shift) for random q, k.

    The dot product must not change when both positions move by the same amount. What passes is *relative*;
    it need not be the encoding that was meant. Its blind spots, all of which pass just as well:

    - the identity (no rotation at all);
    - any wrong base, since only the frequencies change;
    - the wrong sign, since turning backwards is as relative as turning forwards;
    - a doubled angle, or any other rescaled position;
    - a wrong pairing, if queries and keys share it.

    So compare one rotated vector, and one score with t < s, with values computed by hand as well.

    apply(x, position_ids): rotates x (1, heads, 1, head_dim) of `dtype` at position_ids (1, 1), an integer
    tensor. angle_dtype: the precision in which `apply` forms its angles; max_frequency: its largest frequency
    in radians per position. heads, seed: how many random pairs, float32 normal, cast to `dtype`. BadTensor if
    head_dim is no positive whole number; nothing else is checked, and what `apply` raises passes through.

    Tolerance: the angle ωt is off by 2u_a|ωt|, cos, sin and the arithmetic by 4u, the output by u_o; so each
    coordinate by ε(|x0| + |x1|) with ε = 2u_a|ωt| + 4u + u_o, a vector by 2ε‖x‖, and a score by
    (4ε(1 + ε) + γ_d)‖q‖‖k‖ with γ_d for the sum of d products. Two scores are compared, hence twice that.
    (A correct kernel with float32 angles fails any fixed tolerance at large positions: its angle is off.)
    """
    if isinstance(head_dim, bool) or not isinstance(head_dim, int) or head_dim < 1:
        raise BadTensor(f"head_dim is {head_dim!r}; a positive whole number works")
    generator = torch.Generator().manual_seed(seed)
    q, k = (torch.randn(1, heads, 1, head_dim, generator=generator).to(dtype) for _ in range(2))
    score, shifted = (_score(apply, (q, t + moved), (k, s + moved)) for moved in (0, shift))
    largest = max_frequency * max(map(abs, (t, s, t + shift, s + shift)))
    size = float((q.double().norm(dim=-1) * k.double().norm(dim=-1)).max())
    return RelativeTest(
        score,
        shifted,
        float((score - shifted).abs().max()),
        _tolerance(largest, head_dim, dtype, angle_dtype) * size,
    )


def _score(apply: Callable[[Tensor, Tensor], Tensor], *placed: tuple[Tensor, int]) -> Tensor:
    """(apply q)·(apply k) of every head, in float64."""
    q, k = (apply(x, torch.tensor([[place]])).to(torch.float64) for x, place in placed)
    return (q * k).sum(dim=(0, 2, 3))


def _tolerance(angle: float, head_dim: int, dtype: torch.dtype, angle_dtype: torch.dtype) -> float:
    """2 (4ε(1 + ε) + γ_d), per unit of ‖q‖‖k‖."""
    u = unit_roundoff("float64" if dtype == torch.float64 else "float32")
    plane = 2 * unit_roundoff(angle_dtype) * angle + 4 * u + unit_roundoff(dtype)
    double = unit_roundoff("float64")  # the dot product is taken in float64
    return 2 * (4 * plane * (1 + plane) + head_dim * double / (1 - head_dim * double))


__all__ = ["RelativeTest", "relative_test"]
