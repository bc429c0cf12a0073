"""Additive biases: ALiBi slopes, and a bias that is linear in the gap or in the distance."""

from __future__ import annotations

import torch
from torch import Tensor

from ..errors import BadTensor


def alibi_slopes(num_heads: int, *, dtype: torch.dtype = torch.float32) -> Tensor:
    """The positive slopes m_h of ALiBi (1/position), shape (num_heads,), on the CPU, of `dtype`.

    With c the largest power of two <= num_heads: m_h = 2^(-8(h+1)/c) for h < c, then 2^(-4(2k+1)/c) for the
    other heads, k = 0, 1, …. Source: Press et al., arXiv 2108.12409, and its reference code for head counts
    that are not powers of two. BadTensor if num_heads is not a positive whole number.
    """
    if isinstance(num_heads, bool) or not isinstance(num_heads, int) or num_heads < 1:
        raise BadTensor(f"num_heads is {num_heads!r}; a positive whole number works")
    full = 1 << (num_heads.bit_length() - 1)
    exponents = [-8 * (h + 1) / full for h in range(full)]
    exponents += [-4 * (2 * k + 1) / full for k in range(num_heads - full)]
    return torch.tensor([2.0**e for e in exponents], dtype=torch.float64).to(dtype)


def linear_bias(slopes: Tensor, gap: Tensor, dtype: torch.dtype) -> Tensor:
    """-m u, formed in float64 from exact gaps and rounded once: (H or 1,) or (B, H) times (B, Tq, Tk)."""
    rows = slopes.to(torch.float64).reshape(-1 if slopes.ndim == 2 else 1, slopes.shape[-1], 1, 1)
    return -(rows * gap[:, None]).to(dtype)


__all__ = ["alibi_slopes", "linear_bias"]
