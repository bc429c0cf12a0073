"""Vectors carried by `transport` beside the exact exp(tX) x, with the budget of every coordinate.

A `State` is what was computed so far and how far it may be off, so that steps can follow one another.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from ... import numeric
from ...numeric import exact
from ...symbolic.block import Block
from ...symbolic.generator import Generator
from .. import budget
from .rotated import Measured, arithmetic, exact_product


@dataclass(frozen=True)
class State:
    """found: a tensor (1, heads, 1, dim) of some dtype; error: how far each entry may be off, float64."""

    found: Tensor
    error: Tensor

    @classmethod
    def of(cls, x: Tensor) -> State:
        """A vector that is given, hence exact."""
        return cls(x, torch.zeros(x.shape, dtype=torch.float64))


@lru_cache(maxsize=512)
def generator_of(block: Block) -> Generator:
    """The generator that is this one block, in its canonical basis."""
    return Generator.direct_sum(block)


@lru_cache(maxsize=1024)
def flow(block: Block, t: float, transpose: bool = False) -> Tensor:
    """exp(tX) or its transpose, (dim, dim), every entry correctly rounded to float64."""
    matrix = exact.flow(generator_of(block), t)
    return matrix.T.contiguous() if transpose else matrix


@lru_cache(maxsize=1024)
def majorant(block: Block, t: float, transpose: bool = False) -> Tensor:
    """|exp(tX)| with |cos| and |sin| replaced by 1 on the blocks that turn, by 0 where nothing turns."""
    if not block.turns:
        return torch.zeros(block.dim, block.dim, dtype=torch.float64)
    weights = [math.exp(-float(block.decay) * t) * abs(t) ** k / math.factorial(k) for k in range(block.size)]
    toeplitz = sum(w * torch.ones(block.size - k).double().diag(k) for k, w in enumerate(weights))
    matrix = torch.kron(torch.as_tensor(toeplitz), torch.ones(2, 2).double())
    return matrix.T.contiguous() if transpose else matrix


def carry(state: State, block: Block, t: float, *, transpose: bool = False) -> State:
    """One call of `transport` at the position t; errors of the input are carried by |exp(tX)|."""
    x, dtype = state.found, state.found.dtype
    ids = torch.tensor([t], dtype=torch.int64 if isinstance(t, int) else torch.float64)
    found = numeric.transport(x, generator_of(block), ids, transpose=transpose)
    matrix, above = flow(block, t, transpose), majorant(block, t, transpose)
    size = x.double().abs()
    faded = block.decay != 0 or block.size > 1
    error = budget.sheared(
        size @ matrix.abs().T,
        size @ above.T,
        budget.fade(float(block.decay) * t, dtype) if faded else 0.0,
        budget.table_entry(float(block.frequency) * t, arithmetic(dtype)),
        (block.size if faded else 0) + 2 * block.turns,
        dtype,
    )
    rounded = (
        budget.rounded((x.double() @ matrix.T).abs(), error, dtype) if faded or block.turns else 0 * size
    )
    return State(found, state.error @ matrix.abs().T + rounded)


def against(state: State, x: Tensor, matrix: Tensor) -> Measured:
    """A computed state beside matrix @ x, which float64 is held to in fractions, the others in float64."""
    if x.dtype == torch.float64:
        return Measured(state.found, exact_product(matrix, x), state.error)
    above = x.double().abs() @ matrix.abs().T
    oracle = budget.gamma(x.shape[-1], "float64") * above if torch.any(state.error) else 0 * above
    return Measured(state.found.double(), x.double() @ matrix.T, state.error + oracle)
