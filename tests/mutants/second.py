"""The second set: broken implementations and correct variants, written without the doctor's rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from exptx.proofs import Subject, check
from mutant import said


@dataclass(frozen=True)
class Case:
    """what: the fault, or what is unusual about a correct one. broken: whether a finding is owed."""

    name: str
    what: str
    subject: Subject
    broken: bool
    level: str = "quick"


def examined(case: Case) -> Iterator[str]:
    """What is wrong with the verdict; nothing where it is right."""
    found = check(case.subject, level=case.level)
    if case.broken and found.ok:
        yield f"{case.name}: nothing was found"
    if not case.broken and not found.ok:
        yield f"{case.name}: {said(found)}"


SECOND: list[Case] = [
    case
    for path in sorted(Path(__file__).parent.glob("second_*.py"))
    for case in import_module(path.stem).CASES
]
