"""The exponential of a matrix: right by several series, and wrong."""

from __future__ import annotations

import math

import torch
from exptx.proofs import Claims, Subject
from second import Case
from torch import Tensor


def one(x: Tensor) -> Tensor:
    """The identity, as many as x has."""
    return torch.eye(x.shape[-1], dtype=x.dtype).expand_as(x)


def halvings(x: Tensor) -> int:
    """How often x is halved until its norm is at most 1/2."""
    norm = float(x.detach().abs().sum(-1).max()) if x.numel() else 0.0
    return max(0, math.ceil(math.log2(norm)) + 1) if norm > 0 else 0


def series(x: Tensor, order: int) -> Tensor:
    """Taylor, by Horner."""
    total = one(x)
    for n in range(order, 0, -1):
        total = one(x) + x @ total / n
    return total


def squared(x: Tensor, times: int) -> Tensor:
    for _ in range(times):
        x = x @ x
    return x


def taylor(x: Tensor) -> Tensor:
    """Scaling and squaring in float64."""
    n = halvings(x)
    return squared(series(x.double() / 2**n, 18), n).to(x.dtype)


def pade(x: Tensor) -> Tensor:
    """The diagonal approximant of order 6 in float64."""
    n, power, wide = halvings(x), one(x).double(), x.double()
    wide = wide / 2**n
    top, bottom, c = power, power, 1.0
    for k in range(1, 7):
        c = c * (7 - k) / (k * (13 - k))
        power = power @ wide
        top, bottom = top + c * power, bottom + (-1) ** k * c * power
    return squared(torch.linalg.solve(bottom, top), n).to(x.dtype)


def built_in(x: Tensor) -> Tensor:
    return torch.linalg.matrix_exp(x.double()).to(x.dtype)


def not_scaled(x: Tensor) -> Tensor:
    """Eight terms for any norm."""
    return series(x, 8)


def one_squaring_short(x: Tensor) -> Tensor:
    n = halvings(x)
    return squared(series(x.double() / 2**n, 18), max(n - 1, 0)).to(x.dtype)


def entrywise(x: Tensor) -> Tensor:
    """exp of each entry."""
    return x.exp()


def symmetric_only(x: Tensor) -> Tensor:
    """eigh reads the lower triangle only."""
    values, vectors = torch.linalg.eigh(x)
    return vectors * values.exp()[..., None, :] @ vectors.mT


def transposed(x: Tensor) -> Tensor:
    return torch.linalg.matrix_exp(x.mT)


def few_terms(x: Tensor) -> Tensor:
    """Three terms after scaling: eight digits are out of reach."""
    n = halvings(x)
    return squared(series(x / 2**n, 3), n)


def diagonalised(x: Tensor) -> Tensor:
    """By eigenvectors, which a Jordan block does not have."""
    values, vectors = torch.linalg.eig(x)
    return (vectors * values.exp()[..., None, :] @ torch.linalg.pinv(vectors)).real


ROWS = (
    (taylor, False),
    (pade, False),
    (built_in, False),
    (not_scaled, True),
    (one_squaring_short, True),
    (entrywise, True),
    (symmetric_only, True),
    (transposed, True),
    (few_terms, True),
    (diagonalised, True),
)
CASES: list[Case] = [
    Case(f"{f.__name__}_exp", (f.__doc__ or f.__name__), Subject(f, "matrix_exp", Claims()), broken)
    for f, broken in ROWS
]
