"""All reports in one list: every file rows_*.py of this folder; the numbers that must appear once each."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from mutant import Inexpressible, Mutant, Trap

REPORTS = {  # letter of the area -> the numbers of its public reports
    "P": (1, 2, 3, 5, 7, 9, 10, 12, 13),
    "L": (1, 2, 4, 6, 7, 8, 10),
    "R": (1, 2, 3, 4, 6, 7, 9),
    "F": (1, 2, 4, 5, 6, 7, 8, 11, 13),
    "S": (1, 2, 3, 6, 7, 8, 10, 11, 13, 15, 16, 17, 19, 20, 23, 24, 26, 27),
    "K": (1, 2, 4, 7, 8, 9, 10, 12, 13, 15, 16, 18, 20, 21),
    "T": (1, 3, 6, 7, 8, 9, 10, 11, 13),
    "B": (1, 3, 5, 6, 7),
    "M": (1, 3, 4, 5, 6, 7, 9),
    "A": (1, 2, 4, 6, 7, 9, 11, 12, 14, 15),
    "D": (1, 2, 4, 5, 6, 8, 9, 10, 13, 14, 16, 18),
    "O": (1, 3, 4, 5, 6, 7, 8, 10, 12, 13, 15, 17, 18),
    "N": (1, 3, 4),
}
TRAPS = (1, 2, 3, 4, 5, 7, 9)  # X: what looks like a bug and is none

Entry = Mutant | Trap | Inexpressible


def names() -> list[str]:
    """Every number, as "P01"; traps as "X1"."""
    rows = [f"{letter}{number:02d}" for letter, numbers in REPORTS.items() for number in numbers]
    return rows + [f"X{number}" for number in TRAPS]


def entries() -> list[Entry]:
    """Every entry of every file, in the order of the numbers."""
    order = {name: place for place, name in enumerate(names())}
    return sorted(_found(), key=lambda entry: order.get(entry.row, len(order)))


def _found() -> Iterator[Entry]:
    for path in sorted(Path(__file__).parent.glob("rows_*.py")):
        module = import_module(path.stem)
        for kind in ("MUTANTS", "TRAPS", "INEXPRESSIBLE"):
            yield from getattr(module, kind, ())
