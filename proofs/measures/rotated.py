"""Vectors turned by the rotary kernel beside the exact ones, with the budget of every coordinate.

Exact tables come from ball arithmetic, correctly rounded to float64; the few float64 operations made with
them here are part of the budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import torch
from torch import Tensor

from ... import numeric
from ...numeric import exact
from ...numeric.layout import join_pairs, split_pairs
from ...symbolic.frequencies import Frequencies
from .. import budget

DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
FAR = 2**20


def name_of(dtype: torch.dtype) -> str:
    """'bfloat16' for torch.bfloat16."""
    return str(dtype).removeprefix("torch.")


def arithmetic(dtype: torch.dtype) -> torch.dtype:
    """The dtype of the tables and of the arithmetic for inputs of `dtype`."""
    return torch.float64 if dtype == torch.float64 else torch.float32


def drawn(shape: Sequence[int], dtype: torch.dtype, seed: int) -> Tensor:
    """Normal numbers, the same in every run."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


@dataclass(frozen=True)
class Measured:
    """What a kernel gave, what is exact, and how far the first may be from the second; float64."""

    found: Tensor
    known: Tensor
    error: Tensor


@lru_cache(maxsize=256)
def exact_table(waves: Frequencies, positions: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """(cos, sin), (time, pairs), correctly rounded to float64."""
    return exact.rotary_table(waves, list(positions), dtype=torch.float64)


def turned(
    x: Tensor, waves: Frequencies, ids: Tensor, *, interleaved: bool = False, inverse: bool = False
) -> Measured:
    """x (batch, heads, time, 2 * pairs) turned at positions ids (time,), with the coordinates' budgets."""
    kind = arithmetic(x.dtype)
    cos, sin = numeric.rotary_table(waves, ids, dtype=kind)
    found = numeric.rotary_embedding(x, cos, sin, interleaved=interleaved, inverse=inverse)
    c, s = exact_table(waves, tuple(ids.tolist()))
    drift = [budget.table_entry(angles(waves, ids), kind, value=entry.abs()) for entry in (c, s)]
    return turned_by(x, found, (c, -s if inverse else s), drift, interleaved)


def angles(waves: Frequencies, ids: Tensor) -> Tensor:
    """|ωt|, (time, pairs), as a float64 magnitude."""
    return ids.double().abs()[..., None] * torch.tensor([float(w) for w in waves], dtype=torch.float64)


def turned_by(
    x: Tensor, found: Tensor, table: Sequence[Tensor], drift: Sequence[Tensor], interleaved: bool
) -> Measured:
    """x turned by exact entries cos, sin (time, pairs), whose copies in the kernel are off by `drift`."""
    (c, s), (dc, ds) = ([entry.double() for entry in pair] for pair in (table, drift))
    x0, x1 = split_pairs(x.double(), interleaved)
    known = join_pairs(x0 * c - x1 * s, x0 * s + x1 * c, interleaved)
    near = join_pairs(x0 * c, x0 * s, interleaved).abs()
    far = join_pairs(x1 * s, x1 * c, interleaved).abs()
    off = join_pairs(x0.abs() * dc + x1.abs() * ds, x0.abs() * ds + x1.abs() * dc, interleaved)
    # the drift is given entry by entry, so nothing is left to spread over the plane
    error = budget.rotated_coordinate(known.abs(), near, far, off, 1.0, x.dtype)
    return Measured(found.double(), known, error + budget.gamma(3, "float64") * (near + far))


def score(q: Measured, k: Measured) -> Measured:
    """q·k over the features, summed in float64: what is measured are the vectors, not the sum."""
    length = q.known.shape[-1]
    error = budget.score(q.known.abs(), k.known.abs(), q.error, k.error, 2 * length, "float64")
    return Measured((q.found * k.found).sum(-1), (q.known * k.known).sum(-1), error)


def squared_length(x: Measured) -> Measured:
    """‖x‖²: Σ 2|x|e + e² and the two float64 sums."""
    squares = (x.known.abs() + x.error) ** 2
    error = (squares - x.known**2).sum(-1) + 2 * budget.gamma(x.known.shape[-1] + 1, "float64") * squares.sum(
        -1
    )
    return Measured(x.found.square().sum(-1), x.known.square().sum(-1), error)


def exact_product(matrix: Tensor, x: Tensor) -> Tensor:
    """matrix @ v for every vector v of x (..., d), multiplied out in fractions and rounded once; float64."""
    rows = [[(j, Fraction(entry)) for j, entry in enumerate(row) if entry] for row in matrix.tolist()]
    sums = []
    for vector in x.reshape(-1, x.shape[-1]).tolist():
        exact_vector = [Fraction(entry) for entry in vector]
        sums.append([float(sum(a * exact_vector[j] for j, a in row)) for row in rows])
    return torch.tensor(sums, dtype=torch.float64).reshape(*x.shape[:-1], len(rows))
