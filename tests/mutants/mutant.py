"""A public bug report as a small broken implementation beside its correct twin; what must be said of both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from exptx.proofs import Diagnosis, Subject, check


@dataclass(frozen=True)
class Mutant:
    """row: its number in the table of reports, e.g. "P01". links: the public threads. what: the fault.

    broken, twin: subjects with the claims that an honest user of that software would make. codes: findings
    that make sense, one of which must occur. cause: words that the cause of one of them must contain, where
    the signature of the fault is known; None where the doctor may say "unknown". level: of the examination.
    """

    row: str
    links: tuple[str, ...]
    what: str
    broken: Subject
    twin: Subject
    codes: tuple[str, ...]
    cause: str | None = None
    level: str = "quick"

    def missed(self) -> Iterator[str]:
        """What is wrong with the verdict on the broken one; nothing where it is found for its reason."""
        found = check(self.broken, level=self.level)
        meant = [finding for finding in found.findings if finding.code in self.codes]
        if not meant:
            yield f"{self.row}: none of {', '.join(self.codes)} found, but {said(found)}"
        elif self.cause is not None and not any(self.cause in finding.cause for finding in meant):
            yield f"{self.row}: no cause has {self.cause!r}: {'; '.join(finding.cause for finding in meant)}"

    def alarms(self) -> Iterator[str]:
        """False alarms on the twin."""
        found = check(self.twin, level=self.level)
        if not found.ok:
            yield f"{self.row}, twin: {said(found)}"


@dataclass(frozen=True)
class Trap:
    """What looks like a bug and is none: it must pass. row, links, what: as in `Mutant`."""

    row: str
    links: tuple[str, ...]
    what: str
    subject: Subject
    level: str = "quick"

    def alarms(self) -> Iterator[str]:
        """False alarms."""
        found = check(self.subject, level=self.level)
        if not found.ok:
            yield f"{self.row}: {said(found)}"


@dataclass(frozen=True)
class Inexpressible:
    """A report that no Python function on a CPU can repeat, and why."""

    row: str
    links: tuple[str, ...]
    why: str


def said(found: Diagnosis) -> str:
    """The findings in one line."""
    return "; ".join(f"{f.code} ({f.cause})" for f in found.findings) or "nothing was found"
