"""Owns the numbers of the precision picture: how wrong a table of cosines is, by how its angles were formed.

Every way is compared with ball arithmetic at the exact frequencies, so no way is its own judge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from flint import arb, ctx, fmpq

HEAD_DIM, ROPE_THETA = 128, 10_000
POSITIONS = tuple(sorted({max(1, round(2 ** (k / 2)) - 1) for k in range(41)}))
_BITS = 128


def bfloat16(x: np.ndarray) -> np.ndarray:
    """x (float32) rounded to the nearest bfloat16, ties to even, kept in float32."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return rounded.astype(np.uint32).view(np.float32)


def _float32_angles(position: int, w: np.ndarray) -> np.ndarray:
    """Everything in float32, the frequencies too, as is usual."""
    exponents = np.arange(0, HEAD_DIM, 2, dtype=np.float32) / np.float32(HEAD_DIM)
    return np.float32(position) * (np.float32(1) / np.float32(ROPE_THETA) ** exponents)


def _bfloat16_angles(position: int, w: np.ndarray) -> np.ndarray:
    factor = bfloat16(np.array([position], np.float32))
    return bfloat16(factor * bfloat16(w.astype(np.float32)))


def _float64_angles(position: int, w: np.ndarray) -> np.ndarray:
    return np.float64(position) * w


WAYS: dict[str, Callable[[int, np.ndarray], np.ndarray]] = {
    "bfloat16 angles": _bfloat16_angles,
    "float32 angles": _float32_angles,
    "float64 angles": _float64_angles,
}


def worst_errors(way: str, positions: Sequence[int] = POSITIONS) -> list[float]:
    """For each position the largest error of cos and sin over all planes of a head of 128, base 10000."""
    angles = WAYS[way]
    w = np.array([float(ROPE_THETA ** (-2 * k / HEAD_DIM)) for k in range(HEAD_DIM // 2)])
    errors = []
    for position in positions:
        angle = angles(position, w)
        table = np.stack([np.cos(angle), np.sin(angle)]).astype(np.float32).astype(np.float64)
        errors.append(float(np.abs(table - _exact(position)).max()))
    return errors


@cache
def _exact(position: int) -> np.ndarray:
    """cos and sin of every plane at one position, from narrow balls; shape (2, planes)."""
    before, ctx.prec = ctx.prec, _BITS
    try:
        angles = [position * arb(ROPE_THETA) ** arb(fmpq(-2 * k, HEAD_DIM)) for k in range(HEAD_DIM // 2)]
        return np.array([[float(a.cos()) for a in angles], [float(a.sin()) for a in angles]])
    finally:
        ctx.prec = before
