"""Owns how measured residuals are told: numbers beside each law, and each reason once, as a numbered note."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

EXPLAIN_BELOW = 1 / 16
"""A residual this far below its budget has to be explained: the budget may be too generous."""

_REASON = re.compile(
    r"In ((?:every dtype|b?float\d+)(?:(?:, | and )b?float\d+)*)\s(.+?\.)(?=\s+In (?:every|b?float)|$)",
    re.DOTALL,
)


class ResidualLike(Protocol):
    """What torch was measured to do, beside what it may do at most; ratios by dtype."""

    @property
    def value(self) -> float: ...
    @property
    def budget(self) -> float: ...
    @property
    def ratio(self) -> float: ...
    @property
    def where(self) -> str: ...
    @property
    def explanation(self) -> str: ...
    @property
    def ratios(self) -> Mapping[str, float]: ...
    @property
    def violation(self) -> bool: ...
    @property
    def as_expected(self) -> bool: ...
    @property
    def explained(self) -> bool: ...


@dataclass(frozen=True)
class Residual:
    """One measured residual, ready to print; `alarm` where the kernel does not do what the law says.

    told: value and budget in words. reasons: why a small ratio is right, by the dtypes it is given for.
    """

    told: str
    ratio: str
    by_dtype: str
    where: str
    reasons: tuple[tuple[str, str], ...]
    violation: bool
    alarm: bool


def residual_view(residual: ResidualLike) -> Residual:
    """Numbers to a few digits; the reasons are kept where a ratio asks for one."""
    several = residual.ratios if len(residual.ratios) > 1 else {}
    small = any(ratio < EXPLAIN_BELOW for ratio in residual.ratios.values())
    unexplained = "" if residual.explained else "A budget is generous here and nobody has said why."
    return Residual(
        _told(residual),
        short(residual.ratio),
        ", ".join(f"{dtype} {short(ratio)}" for dtype, ratio in several.items()),
        residual.where,
        reasons(residual.explanation or unexplained) if small else (),
        residual.violation,
        not residual.as_expected,
    )


def _told(residual: ResidualLike) -> str:
    if residual.value == residual.budget == 0:
        return "exact: no rounding occurs"
    if residual.value == 0:
        return f"no error at all, where {short(residual.budget)} is allowed"
    times = short(residual.ratio)
    apart = f"{short(residual.value)} beside {short(residual.budget)}"
    if residual.violation:
        return f"*{times}* times the budget, as it must be where a law fails: {apart}"
    return f"*{times}* of the budget: {apart}"


def short(value: float) -> str:
    """Two digits, as `1.2·10^{-3}` where the number is far from 1."""
    if not math.isfinite(value) or value == 0 or 0.01 <= abs(value) < 1000:
        return f"{value:.0f}" if 100 <= abs(value) < 1000 else f"{value:.2g}"
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"`{mantissa}·10^{{{int(exponent)}}}`"


def reasons(explanation: str) -> tuple[tuple[str, str], ...]:
    """(dtypes, reason) for each `In float64 …` of an explanation; else the whole, for no dtype."""
    found = [(dtypes, said[:1].upper() + said[1:]) for dtypes, said in _REASON.findall(explanation)]
    return tuple(found) if found else ((("", explanation),) if explanation else ())


def numbered(residuals: Iterable[Residual | None]) -> dict[str, int]:
    """Every reason once, by its number, in order of appearance."""
    said = dict.fromkeys(text for each in residuals if each for _, text in each.reasons)
    return {text: number for number, text in enumerate(said, 1)}
