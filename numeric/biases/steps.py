"""Powers of an exact matrix applied to vectors: Aⁿ v for whole n, also where A is no exp(X).

A^n = Π A^{2^b} over the bits b of n. The matrices A^{2^b} are formed in balls and rounded once, so that n
roundings of A do not add up, and an A that is singular or turns a sign is one like any other.
"""

from __future__ import annotations

from functools import lru_cache

import flint
import sympy as sp
import torch
from flint import arb_mat
from torch import Tensor

from ..constants import number_ball
from ..errors import NotRounded, TooLarge

_BITS = 512
_UNIT = 2.0**-60


@lru_cache(maxsize=128)
def _doubled(matrix: sp.ImmutableMatrix, bits: int) -> tuple[tuple[tuple[float, ...], ...], ...]:
    """A, A², A⁴, …, `bits` of them, every entry rounded once; NotRounded if a ball is too wide for that."""
    with flint.ctx.workprec(_BITS):
        power, found = arb_mat([[number_ball(x) for x in row] for row in matrix.tolist()]), []
        for _ in range(bits):
            rows = [[power[i, j] for j in range(matrix.cols)] for i in range(matrix.rows)]
            width = max(float(x.rad()) for row in rows for x in row)
            if width > _UNIT * max(1.0, *(abs(float(x.mid())) for row in rows for x in row)):
                raise NotRounded(f"a power of the step matrix is not known to float64 with {_BITS} bits")
            found.append(tuple(tuple(float(x.mid()) for x in row) for row in rows))
            power = power * power
        return tuple(found)


def stepped(matrix: sp.ImmutableMatrix, column: Tensor, times: Tensor) -> Tensor:
    """Aⁿ v for every n of `times`, (T, d) float64: matrix (d, d) exact, column (d,), times (T,) whole.

    Below 0 powers of A⁻¹, which A then has to have; TooLarge where a result is beyond float64.
    """
    result = column.expand(len(times), -1)
    for power, count in ((matrix, times.clamp(min=0).long()), (None, (-times).clamp(min=0).long())):
        bits = int(count.max()).bit_length() if len(times) else 0
        doubled = _doubled(matrix.inv() if power is None else power, bits) if bits else ()
        for b, rows in enumerate(doubled):
            moved = result @ torch.tensor(rows, dtype=torch.float64, device=times.device).T
            result = torch.where((count >> b & 1 == 1)[:, None], moved, result)
    if not bool(result.isfinite().all()):
        raise TooLarge("the bias grows beyond float64 at such gaps; fewer positions work")
    return result


__all__ = ["stepped"]
