"""Slots: coordinates of queries and keys whose product is a bias, in numbers that a dtype holds exactly.

A kernel that computes σ q·k has a bias too if vectors are longer: σ (q, a)·(k, b) = σ q·k + σ a·b.

What has to be accurate. A key whose logit lies b below the largest has a weight of at most e^{-b}. An error
η b of that logit, relative to the bias, moves the output by no more than η b e^{-b} <= η/e, however large the
bias is. An error relative to the *positions* does: one factorisation -m t + m s for all pairs has terms of
m·65536, of which a sum in float32 loses 2^-24 m·65536 = 2e-3 between neighbours (m = 1/2).

No cancellation. Queries and keys are cut into rectangles (`pieces`) with a centre c between them,
s <= c <= t, so that the gap is a sum of two parts that are not negative,

    u = (t - c) + (c - s),     exp(uX) = exp((t-c)X) exp((c-s)X).

Both terms of a slide have one sign and are at most the bias itself; a fade is read at t - c >= 0 and
c - s >= 0 only, where it falls. What depends on t alone, -m (t - c), is added in float64 to the logarithm of
the normaliser. So the magnitudes of all terms add up to at most |bias|, and in any order of summation

    |error| <= γ_D (σ Σ|q_i k_i| + |bias|) + η |bias|,    γ_D = D u/(1 - D u), u of the sum: 2^-24,

where an exact mask has γ_D σ Σ|q_i k_i| + 2u (|logit| + |bias|). Near the diagonal, in pieces of at most LEAF
queries, the bias is formed in float64, rounded once, and added as a mask of that size.

Digits. x = x_0 + x_1 + …: each part is the rest rounded to the p bits of the dtype, hence at most 2^-p of the
one before. Whole numbers below 2^{pn} are n digits, exactly. The product of two parts has 2p <= 24 bits in
half precision: float32 holds it exactly. Of the products x_i y_j those with i + j < n are kept, a slot each.
The n + 1 products with i + j = n are at most 2^{-pn} of the whole each, those beyond 2^-p of that; η is then

    float64  n = 1   2·2^-53        float32   n = 2   3·2^-48
    float16  n = 2   3·2^-22        bfloat16  n = 3   4·2^-24.

Scale. Both factors are multiplied by 2^{∓e}, exactly, which makes their largest numbers alike: at most √2 √L
for the largest product L = |bias|/σ. In float16 that is below 2^15 for L < 2^29; numbers below 2^-14 are
rounded to multiples of 2^-24, an error of at most 2^-25 √(2L) in a product.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..errors import TooLarge
from ..validation import compute_dtype

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

    TooLarge where a factor is not finite, or a product is more than the kernel's sum of them holds.
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
    most = torch.finfo(dtype).max / 4  # of a factor that is up to √2 larger than the other
    limit = min(torch.finfo(compute_dtype(dtype)).max / 2, 2 * most * most)
    if not bool((product <= limit).all()):  # NaN is refused as well
        raise TooLarge(
            f"the bias reaches {float(product.max()):.4g} before scaling, beyond the {limit:.4g} that a sum "
            f"of products of {dtype} holds; fewer positions, a smaller slope, or a wider dtype works"
        )
    ratio = torch.where(product > 0, query.log2() - key.log2(), 0.0)
    return (ratio / 2).round()


__all__ = ["PARTS", "Slots", "slots", "split", "width"]
