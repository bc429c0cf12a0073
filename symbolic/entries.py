"""Entry-by-entry comparison of explicit matrices, and what "depends on t - s only" means for them.

A matrix for head size 128 repeats four identities under 64 names of the frequency. Free symbols may be
renamed, so each identity is decided once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import sympy as sp

from .decide import Status, Verdict, decide

QUERY = sp.Symbol("t", real=True)
KEY = sp.Symbol("s", real=True)
GAP = sp.Symbol("u", real=True)

Maps = Callable[[sp.Expr, sp.Expr], dict[str, sp.MatrixBase]]


@dataclass
class Identities:
    """Decides `lhs = rhs`, remembering identities up to the names of symbols other than positions."""

    known: dict[tuple[sp.Expr, sp.Expr], Verdict] = field(default_factory=dict)

    def decide(self, lhs: sp.Expr, rhs: sp.Expr) -> Verdict:
        """The verdict on lhs = rhs, with its witness in the caller's symbols."""
        names = _renaming([lhs, rhs])
        pair = lhs.xreplace(names), rhs.xreplace(names)
        if pair not in self.known:
            freed = _freed(pair)
            verdict = decide(*freed)
            unsettled = freed != pair and verdict.status is not Status.PROVED
            self.known[pair] = decide(*pair) if unsettled else verdict
        verdict = self.known[pair]
        back = {new: old for old, new in names.items()}
        witness = verdict.witness and {back.get(x, x): value for x, value in verdict.witness.items()}
        return replace(verdict, witness=witness)

    def decide_matrices(self, lhs: sp.MatrixBase, rhs: sp.MatrixBase) -> Verdict:
        """All entries; the first one that is not proved is returned with its place."""
        for place in _places(lhs, rhs):
            verdict = self.decide(lhs[place], rhs[place])
            if verdict.status is not Status.PROVED:
                return replace(verdict, entry=place)
        count = len(self.known)
        return Verdict(
            status=Status.PROVED,
            reason=f"{lhs.rows}x{lhs.cols} entries, {count} different up to names, each decided",
        )


def _renaming(expressions: Iterable[sp.Expr]) -> dict[sp.Symbol, sp.Symbol]:
    """A one-to-one renaming of the symbols but t, s, u to x0, x1, … by appearance, assumptions kept."""
    names: dict[sp.Symbol, sp.Symbol] = {}
    for expression in expressions:
        for node in sp.preorder_traversal(expression):
            if node.is_Symbol and node not in (QUERY, KEY, GAP) and node not in names:
                names[node] = sp.Symbol(f"x{len(names)}", **node.assumptions0)
    return names


def _freed(sides: tuple[sp.Expr, sp.Expr]) -> tuple[sp.Expr, ...]:
    """The sides with free symbols for roots of numbers: what is proved for all values holds for these."""
    roots = {node for side in sides for node in side.atoms(sp.Pow) if not node.free_symbols}
    ordered = sorted((node for node in roots if node.is_positive), key=sp.default_sort_key)
    free = {root: sp.Dummy(f"r{i}", positive=True) for i, root in enumerate(ordered)}
    return tuple(side.xreplace(free) for side in sides)


def _places(a: sp.MatrixBase, b: sp.MatrixBase) -> list[tuple[int, int]]:
    return sorted(set(a.todok()) | set(b.todok()))


class Place(NamedTuple):
    """An entry of one of the maps."""

    which: str
    row: int
    column: int


@dataclass(frozen=True)
class Shift:
    """The verdict on relativity, and the place at which it is not PROVED."""

    verdict: Verdict
    place: Place | None = None


def shift_verdict(maps: Maps) -> Shift:
    """Decide `maps(s + u, s) = maps(u, 0)` for all real s, u: the maps depend on t - s only.

    First t = s + u is substituted; an entry from which s has gone is a function of u as it stands, opaque
    functions included. Every other entry goes to `decide`; the first that is not proved answers.
    """
    identities, gone = Identities(), 0
    moved_maps, fixed_maps = maps(KEY + GAP, KEY), maps(GAP, sp.S.Zero)
    for which, moved in moved_maps.items():
        fixed = fixed_maps[which]
        for place in _places(moved, fixed):
            if not moved[place].has(KEY):
                gone += 1
                continue
            verdict = identities.decide(moved[place], fixed[place])
            if verdict.status is not Status.PROVED:
                return Shift(replace(verdict, entry=place), Place(which, *place))
    return Shift(Verdict(status=Status.PROVED, reason=_shift_reason(gone, len(identities.known))))


def _shift_reason(gone: int, decided: int) -> str:
    parts = []
    if gone:
        parts.append(f"with t = s + u the position s is gone from {gone} entries")
    if decided:
        parts.append(f"M(s+u, s) = M(u, 0) is decided for free rates ({decided} different entries)")
    return "; ".join(parts) or "the score contains no position"
