"""What was found, as text for a terminal and as the tables of the README."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .bars import HELD, Bar
from .race import ABSENT, TIMED, Race, Row
from .run import Outcome
from .timing import Quartiles, ratio

COMMAND = "exptx bench --markdown"
PRINTED = {
    "prefill": "q and k",
    "training": "the same with gradients",
    "decode": "one new token",
    "growth": "longer and longer",
    "slots": "ALiBi",
}


def text(found: Outcome) -> str:
    """Every race with all its rows, then the bars."""
    parts = ["\n".join(_machine(found.machine)), *map(race_text, found.races)]
    if found.bars:
        parts.append("\n".join(_bar(bar) for bar in found.bars))
        parts.append(_summary(found.bars))
    if not found.ours_is_right:
        parts.append("WRONG RESULTS: a kernel of exptx did not pass its check; see above")
    return "\n\n".join(parts)


def _machine(where: dict[str, Any]) -> list[str]:
    versions = ", ".join(f"{name} {version}" for name, version in where["versions"].items())
    return [
        f"{where['date']}, {where['processor']}, {where['cores']} cores, {where['threads']} threads, "
        f"load {where['load']} before",
        f"{where['system']}, huge pages: {where['huge_pages']}, C compiler: {where['compiler']}",
        versions,
    ]


def race_text(race: Race) -> str:
    head = f"{race.name}: {' x '.join(map(str, race.shape))}"
    base = race.timed()[0] if race.timed() else None
    return "\n".join([head, *(f"  {race.note}",) * bool(race.note), *(_row(row, base) for row in race.rows)])


def _row(row: Row, base: Row | None) -> str:
    if row.status != TIMED or base is None:
        return f"  {row.name:<44} {row.status}: {row.reason}"
    found = row.quartiles
    times = f"{seconds(found.median):>9}  [{seconds(found.lower)} … {seconds(found.upper)}]"
    return f"  {row.name:<44} {times:<36} {ratio(row.seconds, base.seconds).median:8.2f} x {base.name}"


def seconds(value: float) -> str:
    """Three figures and a unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}" if value / size < 999.5 else f"{value / size:.0f} {unit}"
    return f"{value / 1e-9:.3g} ns"


def _bar(bar: Bar) -> str:
    one = bar.wanted
    limit = f"at most {one.at_most:g}" if one.at_most is not None else f"at least {one.at_least:g}"
    return f"{bar.status:<13} {bar.race}: {one.above} / {one.below} {_found(bar.found)} ({limit})"


def _found(value: Quartiles | None) -> str:
    return "" if value is None else f"= {value.median:.3g} [{value.lower:.3g} … {value.upper:.3g}]"


def _summary(bars: Sequence[Bar]) -> str:
    return f"{sum(bar.status == HELD for bar in bars)} of {len(bars)} held"


def markdown(found: Outcome) -> str:
    """Tables of medians, a row a contestant and a column a race; what was wanted; where and when."""
    parts = [_table(found, group) for group in PRINTED if any(r.group == group for r in found.races)]
    missed = [bar for bar in found.bars if bar.status != HELD]
    said = [f"Wanted of ratios in one run: {_summary(found.bars)}.", *(f"- {_bar(bar)}" for bar in missed)]
    where = ". ".join([f"Printed by `{COMMAND}`", *_machine(found.machine)])
    return "\n\n".join([*parts, "\n".join(said), f"{where}."])


def _table(found: Outcome, group: str) -> str:
    races = [race for race in found.races if race.group == group and race.rows]
    words = [race.name.split(", ")[1:] for race in races]
    shared = [word for word in words[0] if all(word in others for others in words)]
    title = ", ".join([PRINTED[group], *shared * (len(races) > 1), _shapes(races)])
    head = [
        title,
        *(", ".join(word for word in one if word not in shared or len(races) == 1) for one in words),
    ]
    names = dict.fromkeys(_general(row) for race in races for row in race.rows)
    lines = [head, ["---", *["--:"] * len(races)]]
    lines += [[name, *(_cell(race, name) for race in races)] for name in names]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _shapes(races: Sequence[Race]) -> str:
    """The shape, with a word where it differs: (1, 4, tokens, 128)."""
    names = ("batch", "heads", "tokens", "features")
    sizes = [set(one) for one in zip(*(race.shape for race in races), strict=True)]
    shown = (str(*size) if len(size) == 1 else name for size, name in zip(sizes, names, strict=True))
    return f"({', '.join(shown)})"


def _general(row: Row) -> str:
    """The name without the formulation, which is another one in every race."""
    return row.name.partition(":")[0] if row.kind == "eager" else row.name


def _cell(race: Race, name: str) -> str:
    row = next((row for row in race.rows if _general(row) == name), None)
    if row is None:
        return ""
    if row.status == TIMED:
        return seconds(row.quartiles.median)
    return row.reason if row.status == ABSENT else f"{row.status}: {row.reason}"


__all__ = ["markdown", "race_text", "seconds", "text"]
