"""What emitted functions of a whole generator share: how tables are handed over, and what is said above."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import sympy as sp

from .lowered import Lowered, Run
from .lowering import DECAY, FREQUENCY
from .typeset import to_text

SHOWN = 4  # rates and entries that are written out


@dataclass(frozen=True)
class Table:
    """A table of a run: `symbol` in its statements, `name` among the arguments of the whole function.

    length: entries at one position, a block each; None for a single number, the same for all blocks.
    """

    symbol: sp.Symbol
    name: str
    length: int | None


def tables_of(lowered: Lowered) -> list[list[Table]]:
    """For every run its tables. Single numbers are shared; rows of one name are numbered."""
    times: Counter[sp.Symbol] = Counter()
    found = []
    for run in lowered.runs:
        tables = []
        for symbol, value in run.program.tables:
            if value.free_symbols & {DECAY, FREQUENCY}:
                times[symbol] += 1
                name = symbol.name if times[symbol] == 1 else f"{symbol}_{times[symbol]}"
                tables.append(Table(symbol, name, len(run.blocks)))
            else:
                tables.append(Table(symbol, symbol.name, None))
        found.append(tables)
    return found


def arguments(tables: list[list[Table]]) -> list[Table]:
    """Every table once, in the order of the runs."""
    return list({table.name: table for of_run in tables for table in of_run}.values())


def place(start: int, stride: int) -> str:
    """start + stride·i as C and Python write it."""
    if stride == 0:
        return str(start)
    times = "i" if stride == 1 else f"{stride} * i"
    return times if start == 0 else f"{times} + {start}"


def heading(lowered: Lowered, title: str) -> list[str]:
    """Lines that say what the function computes, of which blocks, and what its tables hold."""
    lines = title.splitlines()
    for run, tables in zip(lowered.runs, tables_of(lowered), strict=True):
        lines += _about(run, tables)
    if lowered.before is not None and lowered.after is not None:
        lines += [
            "x and y are canonical coordinates: x = before · features, and the result is after · y",
            f"before = {to_text(lowered.before)}",
            f"after = {to_text(lowered.after)}",
        ]
    return lines


def _about(run: Run, tables: list[Table]) -> list[str]:
    count = len(run.blocks)
    where = ", ".join(place(a, b) for a, b in zip(run.starts, run.strides, strict=True))
    many = f"{count} x {run.program.shape}" if count > 1 else run.program.shape
    noun = "coordinates" if len(run.starts) > 1 else "coordinate"
    lines = [f"{many}: {noun} {where}" + (f", i < {count}" if count > 1 else "")]
    values = dict(run.program.tables)
    meanings = [f"{table.name} = {to_text(values[table.symbol])}" for table in tables]
    used = sp.Tuple(*values.values()).free_symbols
    own = {DECAY: [block.decay for block in run.blocks], FREQUENCY: [block.frequency for block in run.blocks]}
    shown = {to_text(symbol): _some(rates) for symbol, rates in own.items() if symbol in used}
    rates = [f"{symbol} = {values}" for symbol, values in shown.items() if symbol != values]
    return lines + [f"    {', '.join(part)}" for part in (meanings, rates) if part]


def _some(rates: list[sp.Expr]) -> str:
    """All of a few rates, or the first and last; one where all are equal."""
    if len(set(rates)) == 1:
        return to_text(rates[0])
    written = [to_text(rate) for rate in rates]
    return ", ".join(written if len(written) <= SHOWN else [*written[: SHOWN - 1], "…", written[-1]])
