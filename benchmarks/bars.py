"""What is wanted of the kernels: ratios of times within one run, each held or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .race import Race, Row
from .timing import Quartiles, ratio

HELD, NOT_HELD, NOT_MEASURED = "held", "not held", "not measured"
OUT, IN_PLACE, FRESH, LEARNING = "exptx, out=", "exptx, in place", "exptx, fresh", "exptx"
HF = "transformers eager"
BEST_OURS, BEST_EAGER = "fastest exptx", "fastest eager"


@dataclass(frozen=True)
class Wanted:
    """above / below, medians of the ratio in every round, at most or at least a limit."""

    above: str
    below: str
    at_most: float | None = None
    at_least: float | None = None


@dataclass(frozen=True)
class Bar:
    """What is wanted of a race, what was found, and "held", "not held" or "not measured"."""

    race: str
    wanted: Wanted
    found: Quartiles | None
    status: str


PREFILL = (Wanted(OUT, "copy", at_most=1.3), Wanted(IN_PLACE, "copy", at_most=1.15))
FRESH_LIMIT = {"float32": 1.15, "bfloat16": 1.25}
BESIDE_HF = (Wanted(HF, OUT, at_least=12), Wanted(HF, FRESH, at_least=4))
DECODE = (Wanted(BEST_OURS, BEST_EAGER, at_most=1),)
TRAINING = (Wanted(HF, LEARNING, at_least=3.5),)
SLOTS = (Wanted("mask built", "slots", at_least=4), Wanted("mask prebuilt", "slots", at_least=1.4))
DECIDE = (Wanted("sympy.simplify", "decide", at_least=50),)


def wanted(race: Race) -> tuple[Wanted, ...]:
    """What is wanted of this race."""
    half = race.name.endswith("half-split")
    if race.group == "prefill":
        limit = next(value for dtype, value in FRESH_LIMIT.items() if dtype in race.name)
        return (*PREFILL, Wanted(FRESH, "clone", at_most=limit), *BESIDE_HF * half)
    if not race.rows:
        return ()
    others = {"decode": DECODE, "training": TRAINING * half, "slots": SLOTS, "decide": DECIDE}
    return others.get(race.group, ())


def bars(races: Sequence[Race]) -> list[Bar]:
    """Every bar of every race."""
    return [judged(race, one) for race in races for one in wanted(race)]


def judged(race: Race, one: Wanted) -> Bar:
    """Whether the median of the ratio, round by round, is where it is wanted."""
    above, below = _row(race, one.above), _row(race, one.below)
    if above is None or below is None:
        return Bar(race.name, one, None, NOT_MEASURED)
    found = ratio(above.seconds, below.seconds)
    held = (one.at_most is None or found.median <= one.at_most) and (
        one.at_least is None or found.median >= one.at_least
    )
    return Bar(race.name, one, found, HELD if held else NOT_HELD)


def _row(race: Race, name: str) -> Row | None:
    if name == BEST_OURS:
        return race.fastest("ours")
    return race.fastest("eager") if name == BEST_EAGER else race.find(name)


__all__ = ["HELD", "NOT_HELD", "NOT_MEASURED", "Bar", "Wanted", "bars", "judged", "wanted"]
