"""A residual beside its budget, the comparisons it is the worst of, and the list of measurements by law."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

EXPLAIN_BELOW = 1 / 16
"""A ratio below this one needs a reason: the budget may be too generous."""


@dataclass(frozen=True)
class Case:
    """One comparison: how far the two sides of a law are apart, entry by entry, and how far they may be.

    error, budget: float64 tensors that broadcast. dtype: of the kernel's inputs, e.g. "bfloat16". where: the
    input in words.
    """

    error: Tensor
    budget: Tensor
    dtype: str
    where: str

    def worst(self) -> tuple[float, float, float]:
        """(ratio, value, budget) at the entry with the largest ratio; 0/0 counts as 0, NaN is the largest."""
        import torch

        error, budget = torch.broadcast_tensors(self.error.double(), self.budget.double())
        ratio = torch.where(error == 0, error, error / budget).flatten()
        place = int(ratio.argmax())
        return float(ratio[place]), float(error.flatten()[place]), float(budget.flatten()[place])


@dataclass(frozen=True)
class Residual:
    """The worst comparison of a law: value = measured residual, budget = the most that rounding allows.

    where: the input at which it was found. ratios: the worst value / budget by dtype. violation: the law is
    expected to fail, so the residual must exceed its budget in every dtype. seconds: time it took.
    explanation: why a ratio far below 1 is right; empty where none is.
    """

    value: float
    budget: float
    ratio: float
    where: str
    explanation: str
    ratios: Mapping[str, float]
    violation: bool
    seconds: float

    @property
    def as_expected(self) -> bool:
        """Within the budget in every dtype, or beyond it in every dtype for a violation; NaN is neither."""
        ratios = self.ratios.values()
        return all(r > 1 for r in ratios) if self.violation else all(r <= 1 for r in ratios)

    @property
    def explained(self) -> bool:
        """Every ratio is near enough to 1 to speak for itself, or there is an explanation."""
        return bool(self.explanation) or all(r >= EXPLAIN_BELOW for r in self.ratios.values())


@dataclass(frozen=True)
class Measurement:
    """How a law is measured: a function that yields its comparisons, and why the residual may be small."""

    cases: Callable[..., Iterable[Case]]
    because: str

    def run(self, encoding: str | None, violation: bool) -> Residual | None:
        """The worst of all comparisons; None if this encoding has no kernel to measure."""
        began, found = time.perf_counter(), {}
        for case in self.cases() if encoding is None else self.cases(encoding):
            worst = (*case.worst(), case.where)
            if case.dtype not in found or not worst[0] <= found[case.dtype][0]:
                found[case.dtype] = worst
        if not found:
            return None
        # NaN compares with nothing: it must win, not lose
        dtype = max(
            found, key=lambda name: found[name][0] if found[name][0] == found[name][0] else float("inf")
        )
        ratio, value, budget, where = found[dtype]
        ratios = {name: worst[0] for name, worst in found.items()}
        seconds = time.perf_counter() - began
        return Residual(value, budget, ratio, f"{dtype}, {where}", self.because, ratios, violation, seconds)


MEASUREMENTS: dict[str, Measurement] = {}


def measures(
    *laws: str, because: str = ""
) -> Callable[[Callable[..., Iterable[Case]]], Callable[..., Iterable[Case]]]:
    """Register a function that yields cases, and takes the encoding or block where a law has several.

    laws: ids. because: why residuals far below the budget are right for these laws.
    """

    def register(cases: Callable[..., Iterable[Case]]) -> Callable[..., Iterable[Case]]:
        for law in laws:
            if law in MEASUREMENTS:
                raise ValueError(f"law {law} is measured twice")
            MEASUREMENTS[law] = Measurement(cases, because)
        return cases

    return register
