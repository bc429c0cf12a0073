"""What `decide` answers: a status that is never a guess, with its reason and its evidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import sympy as sp

from .errors import BadInput, Undecidable


class Status(Enum):
    """The four outcomes of a check."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    NOT_CHECKED = "not_checked"


@dataclass(frozen=True)
class Verdict:
    """The outcome of a check.

    status           PROVED, REFUTED, UNDECIDED or NOT_CHECKED
    reason           one sentence
    witness          for a refutation: symbol -> rational, where balls prove the sides apart
                     (values chosen for undefined functions stand under their application)
    entry            for matrices: (row, column) of the first differing entry in reading order
    gap              lhs - rhs at the witness, as a ball in words
    side_conditions  formulas that must not vanish for the statement to make sense
    certificate      small JSON-able evidence
    """

    status: Status
    reason: str
    witness: dict[sp.Expr, sp.Rational] | None = None
    entry: tuple[int, int] | None = None
    gap: str | None = None
    side_conditions: tuple[sp.Expr, ...] = ()
    certificate: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.status, Status):
            raise BadInput(f"status is {self.status!r}; it must be a Status")
        for name in ("witness", "certificate"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, dict(value))

    __hash__ = None

    @property
    def holds(self) -> bool:
        """True if proved, False if refuted; anything else raises Undecidable with the reason."""
        if self.status is Status.PROVED:
            return True
        if self.status is Status.REFUTED:
            return False
        raise Undecidable(f"{self.status.value.replace('_', ' ')}: {self.reason}")

    def __bool__(self) -> bool:
        return self.holds


def conjunction(verdicts: Iterable[Verdict]) -> Verdict:
    """PROVED if all are; else the first refutation, or where there is none the first that is not proved."""
    found = list(verdicts)
    for status in (Status.REFUTED, Status.UNDECIDED, Status.NOT_CHECKED):
        for verdict in found:
            if verdict.status is status:
                return verdict
    reasons = "; ".join(dict.fromkeys(verdict.reason for verdict in found))
    return Verdict(status=Status.PROVED, reason=reasons or "there is nothing to decide")
