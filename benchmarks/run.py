"""All races in order, and the document that they make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import torch

from ..numeric.errors import BadChoice
from . import decide, slots
from .bars import Bar, bars
from .case import Case, Stage
from .eager import eager
from .machine import machine
from .ours import copies, kernels
from .peers import peers
from .race import FAILED, WRONG, Race, Row, race

SCHEMA = "exptx-bench/1"
HEADS, TOKENS = 32, 4096
GROWING = ("copy", "exptx, out=", "transformers eager")
GROWTH_HEADS, GROWTH = 4, tuple(512 * 2**n for n in range(8))
DTYPES = (torch.float32, torch.bfloat16)
BATCHES = (1, 64)
ROUNDS = {"prefill": 5, "decode": 25, "training": 5, "growth": 5, "slots": 5, "decide": 3}
Runner = Callable[[int], Race]  # told how many rounds


@dataclass(frozen=True)
class Outcome:
    """Everything that was found. machine: where and when."""

    machine: dict[str, Any]
    races: tuple[Race, ...]

    @property
    def bars(self) -> list[Bar]:
        """What is wanted, and whether it holds."""
        return bars(self.races)

    @property
    def ours_is_right(self) -> bool:
        """Whether everything of this project passed its check."""
        rows = [row for race in self.races for row in race.rows]
        return all(row.status not in (WRONG, FAILED) for row in rows if row.kind == "ours")


def outcome(
    groups: Sequence[str] = (),
    rounds: int | None = None,
    tokens: int = TOKENS,
    compiled: bool = True,
    progress: Callable[[str], None] = lambda name: None,
) -> Outcome:
    """Run the races of these groups, or all.

    groups: names in ROUNDS; rounds: instead of those that ROUNDS gives; tokens: of prefill, training and
    biases, and the most of growth is 16 times that; compiled: also what torch.compile makes of transformers;
    progress: is told what begins. BadChoice for an unknown group.
    """
    if unknown := [group for group in groups if group not in ROUNDS]:
        raise BadChoice(f"there is no race {unknown[0]!r}; {', '.join(ROUNDS)} work")
    where, found = machine(), []
    for group in groups or ROUNDS:
        for name, runner in _runners(group, tokens, compiled):
            progress(name)
            found.append(runner(ROUNDS[group] if rounds is None else rounds))
    return Outcome(where, tuple(found))


def _runners(group: str, tokens: int, compiled: bool) -> list[tuple[str, Runner]]:
    if group == "decide":
        return [("decide", decide.race)]
    if group == "slots":
        races = [
            (slots.title(dtype), partial(slots.race, dtype, tokens=tokens))
            for dtype in (*DTYPES, torch.float16)
        ]
        return [*races, ("memory of slots", partial(slots.memory, tokens=tokens))]
    return [(case.name, partial(rotary, case, compiled=compiled)) for case in cases(group, tokens)]


def cases(group: str, tokens: int) -> list[Case]:
    if group == "growth":
        lengths = [length * tokens // TOKENS for length in GROWTH]
        return [Case(group, torch.float32, False, 1, GROWTH_HEADS, max(n, 1)) for n in lengths]
    kinds = [(dtype, interleaved) for dtype in DTYPES for interleaved in (False, True)]
    if group == "decode":
        return [Case(group, *kind, batch, HEADS, 1) for batch in BATCHES for kind in kinds]
    return [Case(group, *kind, 1, HEADS, tokens) for kind in kinds]


def rotary(case: Case, rounds: int, compiled: bool) -> Race:
    """One race of rotary kernels."""
    stage = Stage.of(case)
    if case.group == "growth":
        few = [*copies(stage), *kernels(stage), *peers(stage, compiled=False)]
        return race(stage, [one for one in few if one.name in GROWING], rounds)
    limit = [] if case.learns else copies(stage)
    return race(stage, [*limit, *kernels(stage), *eager(stage), *peers(stage, compiled)], rounds)


def document(found: Outcome) -> dict[str, Any]:
    """As one JSON document; seconds of a call in every round, quartiles as lower, median, upper."""
    return {
        "schema": SCHEMA,
        "version": found.machine["versions"]["exptx"],
        "machine": found.machine,
        "races": [race_document(one) for one in found.races],
        "bars": [asdict(bar) for bar in found.bars],
        "right": found.ours_is_right,
    }


def race_document(one: Race) -> dict[str, Any]:
    return {**asdict(one), "rows": [_row(row) for row in one.rows]}


def _row(row: Row) -> dict[str, Any]:
    return {**asdict(row), "quartiles": asdict(row.quartiles) if row.seconds else None}


__all__ = ["ROUNDS", "SCHEMA", "TOKENS", "Outcome", "cases", "document", "outcome", "race_document", "rotary"]
