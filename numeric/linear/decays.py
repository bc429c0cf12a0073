"""Decay inside a chunk: products of steps e^{log decay} in [0, 1], never a quotient, never e^{+γs}.

Halve a chunk of 2^m tokens again and again: a key j and a later query i are parted by exactly one border, and

    e^{lag(i, j)} = (steps from the border up to i) · (steps after j up to the border).

Both products are at most 1. A step of exactly 0 forgets what came before it and is nowhere divided by, and no
difference of long sums cancels. Steps and their products are float64, so that 2^12 steps of 1 - 2^-12 are not
4096 times the same rounding; a factor is rounded once, where it meets a key or a query.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

Factor = tuple[Tensor, Tensor | None]
"""A factor as the sum of two numbers, where one is not enough."""


@dataclass(frozen=True)
class Decays:
    """The factors of chunks of C tokens, float64, n of them a token (1, or one a feature of a key).

    borders: for halves of length h = 1, 2, …, C/2: from the border to a query, (…, C/2h, h, n), and from a
    key to the border, likewise. from_start: steps 1 … i, (…, C, n); to_end: steps j + 1 … C, (…, C, n).
    """

    borders: tuple[tuple[Tensor, Tensor], ...]
    from_start: Tensor
    to_end: Tensor

    @property
    def whole(self) -> Tensor:
        """All C steps, (…, 1, n)."""
        return self.from_start[..., -1:, :]


def halved(step: Tensor) -> Decays:
    """The factors of chunks whose steps are (…, C, n), float64 in [0, 1]; C a power of two."""
    start = step.unsqueeze(-2)
    end, borders = torch.ones_like(start), []
    while start.shape[-3] > 1:
        left, right = start.unflatten(-3, (-1, 2)).unbind(-3)
        early, late = end.unflatten(-3, (-1, 2)).unbind(-3)
        borders.append((right, early))
        start = torch.cat((left, left[..., -1:, :] * right), dim=-2)
        end = torch.cat((early * right[..., -1:, :], late), dim=-2)
    return Decays(tuple(borders), start.squeeze(-3), end.squeeze(-3))


def weighed_scores(q: Tensor, k: Tensor, decays: Decays) -> Tensor:
    """Σ_n q_in e^{lag_n(i, j)} k_jn for j <= i, and 0 for j > i: (…, C, C) from q, k (…, C, n)."""
    table = (q * k).sum(-1)[..., None, None]
    for to_query, to_border in decays.borders:
        half = table.shape[-1]
        later = q.unflatten(-2, (-1, 2, half))[..., 1, :, :] * to_query.to(q.dtype)
        earlier = k.unflatten(-2, (-1, 2, half))[..., 0, :, :] * to_border.to(q.dtype)
        first, second = table.unflatten(-3, (-1, 2)).unbind(-3)
        lower = torch.cat((later @ earlier.mT, second), dim=-1)
        table = torch.cat((pad(first, (0, half)), lower), dim=-2)
    return table.squeeze(-3)


def two_terms(factor: Tensor, dtype: torch.dtype) -> Factor:
    """A float64 factor as the sum of two numbers of `dtype`: its rounding, and what that left over.

    A state that is multiplied by one rounded factor at every step is off by the same rounding every time;
    with both terms it is not. The rest is a constant to autograd: the sum moves as the factor does.
    """
    high = factor.to(dtype)
    if dtype == torch.float64:
        return high, None
    return high, (factor.detach() - high.detach()).to(dtype)


def carried(state: Tensor, factor: Factor, added: Tensor) -> Tensor:
    """state · factor + added, the factor in two terms."""
    high, low = factor
    return torch.addcmul(added if low is None else torch.addcmul(added, state, low), state, high)


__all__ = ["Decays", "carried", "halved", "two_terms", "weighed_scores"]
