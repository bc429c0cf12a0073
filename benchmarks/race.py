"""A race: who is right is timed, who is wrong or missing is said to be so."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch

from .budgets import Oracle
from .case import Absent, Contestant, Stage
from .timing import Quartiles, interleaved

TIMED, WRONG, FAILED, ABSENT = "timed", "wrong", "failed", "absent"


@dataclass(frozen=True)
class Row:
    """What became of one contestant. status: "timed", "wrong", "failed" (it raises) or "absent".

    name, kind, form: as of the contestant; reason: of what is not timed. used: the largest share of its error
    budget, for those who have one. seconds: a call, one a round.
    """

    name: str
    kind: str
    form: str
    status: str
    reason: str = ""
    used: float | None = None
    seconds: tuple[float, ...] = ()

    @property
    def quartiles(self) -> Quartiles:
        """Of its seconds; only of what was timed."""
        return Quartiles.of(self.seconds)


@dataclass(frozen=True)
class Race:
    """What was raced, on tensors of which shape, and what became of everyone. note: more that was found."""

    group: str
    name: str
    shape: tuple[int, ...]
    rows: tuple[Row, ...]
    note: str = ""

    def find(self, name: str) -> Row | None:
        """The row of that name if it was timed."""
        return next((row for row in self.timed() if row.name == name), None)

    def timed(self, kind: str | None = None) -> list[Row]:
        """Rows with times, of one kind or of all."""
        return [row for row in self.rows if row.status == TIMED and kind in (None, row.kind)]

    def fastest(self, kind: str) -> Row | None:
        """The row of least median, of one kind."""
        return min(self.timed(kind), key=lambda row: row.quartiles.median, default=None)


def race(stage: Stage, contestants: Sequence[Contestant | Absent], rounds: int) -> Race:
    """Every contestant is checked; those who are right are timed together."""
    case, oracles = stage.case, stage.oracles()
    rows = [_checked(one, stage, oracles) for one in contestants]
    del oracles
    runs = {one.name: one.run for one in contestants if isinstance(one, Contestant)}
    return Race(case.group, case.name, case.shape, timed(rows, runs, rounds))


def timed(rows: Sequence[Row], runs: Mapping[str, Callable[[], object]], rounds: int) -> tuple[Row, ...]:
    """The rows with their seconds; of those that are wrong or missing nothing is run again."""
    ready = {row.name: runs[row.name] for row in rows if row.status == TIMED}
    seconds = interleaved(ready, rounds)
    return tuple(replace(row, seconds=tuple(seconds.get(row.name, ()))) for row in rows)


def _checked(one: Contestant | Absent, stage: Stage, oracles: Sequence[Oracle]) -> Row:
    if isinstance(one, Absent):
        return Row(one.name, one.kind, "", ABSENT, one.reason)
    row = Row(one.name, one.kind, one.form, TIMED)
    try:
        if one.form == "in place":
            stage.refill()
        elif one.form == "out=":
            stage.clear()
        results = one.run()
    except Exception as error:  # whatever another library raises is its own affair, and is printed
        said = (str(error).strip().splitlines() or [""])[0]
        return replace(row, status=FAILED, reason=f"{type(error).__name__}: {said}"[:200])
    wanted = [(stage.q.shape, stage.q.dtype)] * len(oracles)
    if (found := [(y.shape, y.dtype) for y in results]) != wanted:
        return replace(row, status=WRONG, reason=f"gives {found}")
    if one.policy is None:
        equal = all(torch.equal(x, y) for x, y in zip(results, (stage.q, stage.k), strict=True))
        return row if equal else replace(row, status=WRONG, reason="is no copy")
    policies = (one.policy, one.policy, *(one.back or one.policy,) * 2)
    shares = (o.used(y, policy) for o, y, policy in zip(oracles, results, policies, strict=False))
    return judged(row, max(shares))


def judged(row: Row, used: float) -> Row:
    """The row of a contestant that uses this share of its error budget."""
    if used <= 1:
        return replace(row, used=used)
    return replace(row, status=WRONG, reason=f"off by {used:.3g} times its error budget", used=used)


__all__ = ["ABSENT", "FAILED", "TIMED", "WRONG", "Race", "Row", "judged", "race", "timed"]
