"""Owns the table of all verdicts: laws without cases in a list, laws with cases in grids."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .data import Book, Entry, Law, case_name

MOST_COLUMNS = 14
"""A grid with more cases than these is written with the cases as rows and the laws as columns."""


@dataclass(frozen=True)
class Row:
    """One law, or one case, in the summary table; a cell is a proof, or nothing."""

    name: str
    cells: tuple[Entry | None, ...]
    law: Law | None = None


@dataclass(frozen=True)
class Table:
    """The summary of laws about cases, or of those that are not; `names`: the columns in words."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    names: tuple[str, ...] = ()

    @property
    def turned(self) -> Table:
        """The same cells with cases as rows and laws as columns."""
        rows = tuple(
            Row(name, tuple(row.cells[place] for row in self.rows)) for place, name in enumerate(self.names)
        )
        return Table(
            tuple(row.law.id for row in self.rows if row.law), rows, tuple(row.name for row in self.rows)
        )


def summary(story: Book) -> list[Table]:
    """Laws without cases first, then a grid for each family of laws that share cases (blocks, encodings)."""
    single = tuple(
        Row(law.title, law.entries, law) for law in story.laws if law.entries[0].proof.encoding is None
    )
    families: list[tuple[dict[str, None], list[Law]]] = []
    for law in (law for law in story.laws if law.entries[0].proof.encoding is not None):
        columns, members = dict.fromkeys(str(entry.proof.encoding) for entry in law.entries), [law]
        for family in [family for family in families if family[0].keys() & columns.keys()]:
            families.remove(family)
            columns, members = family[0] | columns, family[1] + members
        families.append((columns, members))
    called = {entry.proof.encoding: case_name(entry.proof) for entry in reversed(story.entries)}
    grids = [
        Table(tuple(columns), tuple(_row(law, columns) for law in laws), tuple(called[x] for x in columns))
        for columns, laws in families
    ]
    readable = (grid.turned if len(grid.columns) > MOST_COLUMNS else grid for grid in grids)
    return [table for table in (Table((), single), *readable) if table.rows]


def _row(law: Law, columns: Iterable[str]) -> Row:
    by_case = {entry.proof.encoding: entry for entry in law.entries}
    return Row(law.title, tuple(by_case.get(name) for name in columns), law)
