"""`transport` with several blocks and in a basis of its own, against the laws of sums and of bases."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import sympy as sp
import torch
from torch import Tensor

from ... import numeric
from ...numeric import exact
from ...symbolic.block import Block
from ...symbolic.generator import Generator
from .. import budget
from .flowed import State, against, flow, majorant
from .places import number
from .residual import SIGNS, Case, measures
from .rotated import DTYPES, arithmetic, drawn, name_of, squared_length

R = sp.Rational
BLOCKS = (Block(R(1, 10), R(3, 7)), Block(0, size=2), Block(R(1, 5)))
SHEAR = sp.ImmutableMatrix(5, 5, lambda i, j: R(int(i == j)) + R(int(j == i + 1), 3))
ELLIPSE = Generator.direct_sum(Block(0, 3), basis=sp.ImmutableMatrix([[1, 2], [0, 1]]))
"""[[6, -15], [3, -6]]: a turn of frequency 3 along an ellipse."""


@lru_cache(maxsize=64)
def matrix_at(generator: Generator, t: int) -> Tensor:
    """exp(tX), float64."""
    return exact.flow(generator, t)


def above(generator: Generator, t: int) -> Tensor:
    """|S| |exp(tB)| |S⁻¹| with |cos| and |sin| replaced by 1."""
    parts = [majorant(b, t) if b.turns else flow(b, t).abs() for b in generator.blocks]
    basis, inverse = (number(sp.ImmutableMatrix(m)).abs() for m in (generator.basis, generator.inverse_basis))
    return basis @ torch.block_diag(*parts) @ inverse


def carry(state: State, generator: Generator, t: int) -> State:
    """One call of `transport`; errors of the input are carried by |exp(tX)|."""
    x, dtype = state.found, state.found.dtype
    fastest = max(float(b.frequency) + abs(float(b.decay)) for b in generator.blocks)
    drift = budget.table_entry(fastest * t, arithmetic(dtype))
    matrix = matrix_at(generator, t)
    error = budget.transported(x.double().abs() @ above(generator, t).T, generator.dim, drift, dtype)
    rounded = budget.rounded((x.double() @ matrix.T).abs(), error, dtype)
    found = numeric.transport(x, generator, torch.tensor([t]))
    return State(found, state.error @ matrix.abs().T + rounded)


def path(generator: Generator, times: tuple[int, ...], what: str) -> Iterator[Case]:
    """Transport by every time of `times` in turn, against exp of their sum."""
    for dtype in DTYPES:
        x = drawn((1, 64, 1, generator.dim), dtype, 31)
        state = State.of(x)
        for t in times:
            state = carry(state, generator, t)
        found = against(state, x, matrix_at(generator, sum(times)))
        yield Case((found.found - found.known).abs(), found.error, name_of(dtype), f"{what} {list(times)}")


@measures("direct-sum", small=SIGNS)
def direct_sum() -> Iterator[Case]:
    """A damped turn, a slide and a fade side by side."""
    for t in (1, 7, -3):
        yield from path(Generator.direct_sum(*BLOCKS), (t,), "blocks side by side, positions")


@measures("change-of-basis", small=SIGNS)
def change_of_basis() -> Iterator[Case]:
    """The same blocks in a sheared basis."""
    for t in (1, 7, -3):
        yield from path(Generator.direct_sum(*BLOCKS, basis=SHEAR), (t,), "sheared blocks, positions")


@measures("flow-group-law", small=SIGNS)
def flow_group_law() -> Iterator[Case]:
    """Two calls against one, for a generator that is neither diagonal nor orthogonal."""
    for times in ((3, 2), (7, -3)):
        yield from path(Generator.direct_sum(*BLOCKS, basis=SHEAR), times, "sheared blocks, positions")


@measures("bounded-up-to-basis", small=SIGNS)
def bounded_up_to_basis() -> Iterator[Case]:
    """xᵀPx after the turn along the ellipse minus before: the squared length in the basis of the turn."""
    inverse = number(sp.ImmutableMatrix(ELLIPSE.inverse_basis))
    for dtype in DTYPES:
        x = drawn((1, 64, 1, 2), dtype, 32)
        for t in (1, 10, 1000):
            state = carry(State.of(x), ELLIPSE, t)
            straight = State(state.found.double() @ inverse.T, state.error @ inverse.abs().T)
            after = squared_length(against(straight, x, inverse @ matrix_at(ELLIPSE, t)))
            before = (x.double() @ inverse.T).square().sum(-1)
            yield Case((after.found - before).abs(), after.error, name_of(dtype), f"position {t}")
