"""What was found, as text for a terminal and as the tables of the README."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .bars import HELD, Bar
from .race import TIMED, Race, Row
from .run import Outcome
from .timing import Quartiles, ratio

PRINTED = {
    "prefill": "q and k of (1, 32, 4096, 128)",
    "training": "the same, forward + backward",
    "decode": "one new token",
    "growth": "q and k of (1, 8, tokens, 128)",
    "slots": "ALiBi on (1, 8, 4096, 64)",
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
    verdict = f"Wanted of ratios in one run: {_summary(found.bars)}" + ":" * bool(missed)
    parts.append(
        "\n".join([verdict + "." * (not missed), "", *(f"- {_bar(bar)}" for bar in missed)]).rstrip()
    )
    return "\n\n".join([*parts, "\n".join(_machine(found.machine))])


def _table(found: Outcome, group: str) -> str:
    races = [race for race in found.races if race.group == group and race.rows]
    names = dict.fromkeys(_general(row) for race in races for row in race.rows)
    cells = [[_cell(race, name) for race in races] for name in names]
    head = [PRINTED[group], *(_column(race) for race in races)]
    lines = [
        head,
        ["---", *["--:"] * len(races)],
        *([name, *row] for name, row in zip(names, cells, strict=True)),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _general(row: Row) -> str:
    """The name without the formulation, which is another one in every race."""
    return row.name.partition(":")[0] if row.kind == "eager" else row.name


def _column(race: Race) -> str:
    """What tells a race from its neighbours."""
    return ", ".join(race.name.split(", ")[1:])


def _cell(race: Race, name: str) -> str:
    row = next((row for row in race.rows if _general(row) == name), None)
    if row is None:
        return ""
    return seconds(row.quartiles.median) if row.status == TIMED else f"{row.status}: {row.reason}"


__all__ = ["markdown", "race_text", "seconds", "text"]
