"""A residual beside its budget, the comparisons it is the worst of, and the list of measurements by law."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

EXPLAIN_BELOW = 1 / 16
"""A ratio below this one needs a reason: the budget may be too generous."""

SIGNS = (
    "the budget adds the largest rounding of every operation as if all had one sign; real roundings have "
    "either sign and cancel, the more the longer the sum or the chain of calls"
)
LIBRARY = (
    "the budget must grant exp, powers, cos and sin a whole unit in the last place and add every rounding "
    "with one sign; they are nearly always right to half a unit, and roundings of either sign cancel"
)


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
    explanation: why every ratio far below 1 is right; empty where none is, or where nobody has said why.
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
    """How a law is measured: what yields its comparisons, and why residuals may be small or zero."""

    cases: Callable[..., Iterable[Case]]
    small: str
    zero: str

    def run(self, encoding: str | None, violation: bool) -> Residual | None:
        """The worst of all comparisons; None if this encoding has no kernel to measure."""
        began, worst = time.perf_counter(), {}
        for case in self.cases() if encoding is None else self.cases(encoding):
            found = (*case.worst(), case.where)
            if case.dtype not in worst or _beyond(found[0], worst[case.dtype][0]):
                worst[case.dtype] = found
        if not worst:
            return None
        ratios = {dtype: found[0] for dtype, found in worst.items()}
        dtype = max(ratios, key=lambda name: math.inf if math.isnan(ratios[name]) else ratios[name])
        ratio, value, budget, where = worst[dtype]
        seconds = time.perf_counter() - began
        return Residual(
            value, budget, ratio, f"{dtype}, {where}", self.explain(ratios), ratios, violation, seconds
        )

    def explain(self, ratios: Mapping[str, float]) -> str:
        """What there is to say about the dtypes whose ratio is far below 1; empty if some have no reason."""
        zero = [dtype for dtype, ratio in ratios.items() if ratio == 0]
        small = [dtype for dtype, ratio in ratios.items() if 0 < ratio < EXPLAIN_BELOW]
        reasons = ((zero, self.zero), (small, self.small))
        parts = [_placed(found, ratios, why) for found, why in reasons if found]
        known = not (zero and not self.zero) and not (small and not self.small)
        return " ".join(parts) if known else ""


def _placed(dtypes: Sequence[str], every: Collection[str], why: str) -> str:
    """A sentence that says in which of `every` dtypes a reason holds."""
    where = "every dtype" if len(dtypes) == len(every) else " and ".join(dtypes)
    return f"In {where} {why}."


def _beyond(ratio: float, other: float) -> bool:
    """Whether `ratio` is worse than `other`; NaN is the worst."""
    return math.isnan(ratio) or ratio > other


MEASUREMENTS: dict[str, Measurement] = {}
Cases = Callable[..., Iterable[Case]]


def measures(*laws: str, small: str = "", zero: str = "") -> Callable[[Cases], Cases]:
    """Register a function that yields cases, and takes the encoding or block where a law has several.

    laws: ids. small, zero: why a residual far below its budget, or none at all, is right for these laws.
    """

    def register(cases: Cases) -> Cases:
        for law in laws:
            if law in MEASUREMENTS:
                raise ValueError(f"law {law} is measured twice")
            MEASUREMENTS[law] = Measurement(cases, small, zero)
        return cases

    return register
