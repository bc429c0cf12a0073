"""`make mutants`: the doctor on every report and its twin, then on a set written without its rules.

Each subject is examined in one of as many processes as there are cores. Exit status 1 if a report is missed,
or anything correct raises an alarm.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path

import torch
from matrix import entries
from mutant import Inexpressible, Mutant, Trap
from second import SECOND, examined


@dataclass(frozen=True)
class Verdict:
    """missed, alarms: sentences; None for what is not examined."""

    name: str
    what: str
    missed: tuple[str, ...] | None
    alarms: tuple[str, ...] | None
    seconds: float


def first_set(place: int) -> Verdict:
    """The entry at a place of `entries()`, and its twin."""
    entry, start = entries()[place], time.monotonic()
    missed = tuple(entry.missed()) if isinstance(entry, Mutant) else None
    alarms = tuple(entry.alarms()) if isinstance(entry, (Mutant, Trap)) else None
    what = entry.why if isinstance(entry, Inexpressible) else entry.what
    return Verdict(entry.row, what, missed, alarms, time.monotonic() - start)


def second_set(place: int) -> Verdict:
    """The case at a place of the second set."""
    case, start = SECOND[place], time.monotonic()
    said = tuple(examined(case))
    missed, alarms = (said, None) if case.broken else (None, said)
    return Verdict(case.name, case.what, missed, alarms, time.monotonic() - start)


def started() -> None:
    """One thread a process."""
    torch.set_num_threads(1)


def rates(title: str, verdicts: Iterable[Verdict], owed: bool) -> bool:
    """Print what went wrong and both rates; whether no alarm was raised, and, of reports, none missed."""
    found = list(verdicts)
    broken = [v for v in found if v.missed is not None]
    right = [v for v in found if v.alarms is not None]
    wrong = [line for v in found for line in (*(v.missed or ()), *(v.alarms or ()))]
    print(f"\n{title}")
    print("\n".join(f"  {line}" for line in wrong) or "  nothing missed, no alarm")
    print(f"  broken implementations found: {sum(not v.missed for v in broken)} of {len(broken)}")
    print(f"  correct ones with an alarm:   {sum(bool(v.alarms) for v in right)} of {len(right)}")
    print(f"  median of the time for one: {sorted(v.seconds for v in found)[len(found) // 2]:.1f} s")
    return not any(v.alarms for v in found) and not (owed and any(v.missed for v in found))


def main(out: Path | None = None) -> int:
    """Both sets; out: a file for the verdicts as JSON."""
    with ProcessPoolExecutor(mp_context=get_context("spawn"), initializer=started) as pool:
        reports = list(pool.map(first_set, range(len(entries()))))
        others = list(pool.map(second_set, range(len(SECOND))))
    for v in (*reports, *others):
        state = "not on a CPU" if v.missed is v.alarms is None else "WRONG" if v.missed or v.alarms else "ok"
        print(f"{v.name:24} {state:12} {v.seconds:5.1f} s  {v.what}")
    good = rates("Public reports, each with a correct twin; and what only looks like a bug", reports, True)
    good &= rates("The second set, written without knowledge of the rules", others, False)
    if out is not None:
        out.write_text(json.dumps([asdict(v) for v in (*reports, *others)], indent=1, ensure_ascii=False))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
