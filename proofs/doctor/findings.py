"""What the doctor says: findings, what holds, what could not be judged, and the one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from .codes import CODES
from .codes.code import Code


@dataclass(frozen=True)
class Finding:
    """A broken law: where first, by how much of what is allowed, and why.

    residual, budget: of that entry, in units of the output; None where the law has no number. cause: in
    words; "unknown" where no known one fits. reproduction: Python, with `subject` for the callable.
    """

    code: str
    where: str
    residual: float | None
    budget: float | None
    cause: str
    reproduction: str

    @property
    def law(self) -> Code:
        """The law, its consequence and its remedy."""
        return CODES[self.code]


@dataclass(frozen=True)
class Measured:
    """A law that holds: its residual beside its budget."""

    law: str
    residual: float
    budget: float


@dataclass(frozen=True)
class Diagnosis:
    """identity: the one sentence. unjudged: what could not be judged, and the claim that would let it.

    expected: findings that are known, and not counted. frequencies: of each plane, radians a position, and
    its error, read off phases; empty where the subject is no rotary one.
    """

    subject: str
    kind: str
    identity: str
    findings: tuple[Finding, ...]
    measured: tuple[Measured, ...]
    unjudged: tuple[str, ...]
    expected: tuple[Finding, ...] = ()
    frequencies: tuple[tuple[float, float], ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.findings


def expected(found: Diagnosis, reasons: Mapping[str, str]) -> Diagnosis:
    """Without the findings that are expected; one that is expected and did not occur is a finding."""
    missing = [code for code in reasons if all(finding.code != code for finding in found.findings)]
    known = tuple(f for f in found.findings if f.code in reasons)
    stale = tuple(
        Finding(
            "expected",
            code,
            None,
            None,
            f"expected because {reasons[code]!r}, but not found",
            "print(subject)",
        )
        for code in missing
    )
    kept = tuple(f for f in found.findings if f.code not in reasons)
    return replace(found, findings=kept + stale, expected=(*found.expected, *known))
