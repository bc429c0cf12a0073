"""Slots: extra coordinates of queries and keys whose product is a bias, in numbers a dtype holds exactly.

A kernel that computes σ q·k and knows no bias gets one from longer vectors: σ (q, a)·(k, b) = σ q·k + σ a·b.

What has to be accurate. Softmax ignores a constant per row, and a key at a gap u behind one that is seen has a
weight of about e^{-b}, b = -bias(u). An error ε in its logit moves the output by at most ε e^{-b}, so that an
error relative to the bias, ε = η b, costs at most η/e however large the bias is. An error relative to the
*positions* does not: one factorisation -m t + m s for all pairs has terms m·65536, which a sum in float32 gets
wrong by 2^-24 m 65536, also between neighbours (2e-3 for m = 1/2), and which float16 cannot hold at all.

No cancellation. Queries and keys are cut into rectangles and triangles (pieces.py). A rectangle has a centre c
between its keys and its queries, s <= c <= t, so that the gap is a sum of two non-negative parts,

    u = (t - c) + (c - s),     exp(uX) = exp((t-c)X) exp((c-s)X):

for a slide both terms have the same sign and are at most the bias itself, and a fade is read at t - c >= 0 and
at c - s >= 0 only, where it falls. What depends on t alone, -m(t - c), is added to the logarithm of the
normaliser in float64 instead. So Σ|terms| <= |bias| and, in any order of summation over D products,

    |error| <= γ_D (σ|q|·|k| + |bias|) + η |bias|,    γ_D = D u/(1 - D u), u = 2^-24 of the float32 sum,

the first of which an exact mask suffers as well, without the bias: its one addition costs 2^-24 |logit|.
Triangles are at most 256 tokens wide: their bias is formed in float64, rounded once and added.

Digits. A number x is split into parts x_0 + x_1 + …, each the rest rounded to the dtype's p bits, so each is
at most 2^-p of the one before. Whole numbers below 2^{pn} are n digits exactly. A product of two parts has
2p <= 24 bits in float16 and bfloat16 and is exact in float32. Of the products x_i y_j those with i + j < n are
kept, one slot each; the others are at most η = (n + 1) 2^{-pn}(1 + …) of the product:

    float16  n = 2   3·2^-22      bfloat16  n = 3   4·2^-24      float32  n = 2   3·2^-48      float64  n = 1   2·2^-53.

Scale. Both factors are multiplied by 2^{∓e} (exact), so that their largest numbers are alike: each is then at
most √2 times the square root of the largest |bias|/σ, which float16 holds up to 2^30. What underflows is at
most 2^-25 of a unit in float16: 2^-25 √(2|bias|/σ) σ in the logit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from .errors import TooLarge

PARTS = {torch.float64: 1, torch.float32: 2, torch.float16: 2, torch.bfloat16: 3}


@dataclass(frozen=True)
class Slots:
    """Columns (..., T, width) of queries and of keys, with Σ query·key = Σ_r Q_r K_r; exponents e of 2^{∓e}.

    Slot j·n + r holds the first part of Q_r against part j of K_r, for j < PARTS; the other pairs follow.
    """

    query: Tensor
    key: Tensor
    exponents: Tensor

    def leading(self, gradient: Tensor) -> Tensor:
        """∂/∂Q_r in float64, (..., T, n), from the gradient of all query slots, (..., T, width)."""
        n, parts = len(self.exponents), PARTS[self.query.dtype]
        return torch.ldexp(
            gradient[..., : n * parts].double().unflatten(-1, (parts, n)).sum(-2), -self.exponents
        )


def width(coordinates: int, dtype: torch.dtype) -> int:
    """How many slots a bias with that many factor coordinates takes in `dtype`."""
    parts = PARTS[dtype]
    return coordinates * parts * (parts + 1) // 2


def split(x: Tensor, dtype: torch.dtype, parts: int) -> list[Tensor]:
    """x_0, x_1, … in `dtype`: each the rest of float64 x rounded to nearest."""
    found = []
    for _ in range(parts):
        found.append(x.to(dtype))
        x = x - found[-1].double()
    return found


def slots(query: Tensor, key: Tensor, dtype: torch.dtype) -> Slots:
    """The slots of Σ_r Q_r(t) K_r(s): float64 (..., Tq, n) and (..., Tk, n) to columns in `dtype`.

    TooLarge where a factor is not finite, or the largest product is beyond what the dtype holds twice over.
    """
    exponents = _balance(_largest(query), _largest(key), dtype)
    parts = PARTS[dtype]
    left = split(torch.ldexp(query, -exponents), dtype, parts)
    right = split(torch.ldexp(key, exponents), dtype, parts)
    pairs = [(i, j) for i in range(parts) for j in range(parts - i)]
    return Slots(
        torch.cat([left[i] for i, _ in pairs], dim=-1),
        torch.cat([right[j] for _, j in pairs], dim=-1),
        exponents,
    )


def _largest(x: Tensor) -> Tensor:
    """max |x| of each coordinate, (n,)."""
    return x.abs().flatten(0, -2).amax(0)


def _balance(query: Tensor, key: Tensor, dtype: torch.dtype) -> Tensor:
    """e with 2^{-e} max|Q| ≈ 2^e max|K|, whole numbers."""
    product = query * key
    limit = min(torch.finfo(dtype).max / 2, math.sqrt(torch.finfo(torch.float64).max)) ** 2 / 2
    if not bool((product <= limit).all()):  # NaN is refused as well
        raise TooLarge(
            f"the bias reaches {float(product.max()):.4g} before scaling, beyond the {limit:.4g} that two numbers "
            f"of {dtype} multiply to; fewer positions, a smaller slope, or a wider dtype works"
        )
    ratio = torch.where(product > 0, query.log2() - key.log2(), 0.0)
    return (ratio / 2).round()


__all__ = ["PARTS", "Slots", "slots", "split", "width"]
