"""Matrices on which exponentials go wrong: turns, slides, defective and stiff ones, extreme sizes."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor


def named() -> Iterator[tuple[str, Tensor]]:
    """(words, X), float64."""

    def of(rows: list[list[float]]) -> Tensor:
        return torch.tensor(rows, dtype=torch.float64)

    yield "zero", torch.zeros(2, 2, dtype=torch.float64)
    for angle in (0.05, 0.5, 3.0, 40.0):
        yield f"a turn by {angle}", of([[0.0, -angle], [angle, 0.0]])
    yield "a slide", of([[0.0, 1.0], [0.0, 0.0]])
    yield "a long slide", of([[0.0, 7.0, 0.0], [0.0, 0.0, 7.0], [0.0, 0.0, 0.0]])
    yield "a defective fade", of([[-0.5, 1.0], [0.0, -0.5]])
    yield (
        "a defective turn",
        of([[0.0, -1.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, -1.0], [0.0, 0.0, 1.0, 0.0]]),
    )
    yield "a fade by 30", of([[-30.0, 0.0], [0.0, -1.0]])
    yield "a growth by 20", of([[20.0, 0.0], [0.0, -20.0]])
    yield "unequal rows and columns", of([[0.0, 0.0, 0.0], [6.0, 0.0, 0.0], [6.0, 0.0, 0.0]])
    yield "an oblique shear", of([[1.0, 50.0], [0.0, -1.0]])
    yield "entries of 1e-108", of([[-1.0, 5.129e-108], [0.0, -1.0 - 5.339e-108]])
    yield "a stable triangle", of([[-1.0, 1e-3, 2.0], [0.0, -2.0, 1e3], [0.0, 0.0, -50.0]])
    yield "an irreducible cubic", of([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, -3.0, 1.0]])
    random = torch.Generator().manual_seed(17)
    for size in (1, 3, 6):
        yield f"random of size {size}", torch.randn(size, size, generator=random, dtype=torch.float64)
    yield "random, times 1/1000", torch.randn(3, 3, generator=random, dtype=torch.float64) / 1000
    yield "random, times 6", 6 * torch.randn(3, 3, generator=random, dtype=torch.float64)
