"""Refuting relativity: two position pairs with equal gap, and content, that ball arithmetic tells apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import sympy as sp
from sympy.core.function import AppliedUndef

from .balls import enclose
from .decide import Status, Verdict
from .entries import GAP, KEY, Place

# (s, u): the pairs (s + u, s) and (u, 0); small ones first, so that a witness can be checked by hand.
POSITIONS = ((1, 0), (1, 1), (2, 1), (1, 2), (2, 3), (-1, 1), (-1, 2), (100, 3))


class Positional(Protocol):
    """What is needed of an encoding here."""

    def content(self) -> tuple[sp.MatrixBase, sp.MatrixBase]: ...
    def query_lift(self, q: sp.MatrixBase) -> sp.MatrixBase: ...
    def key_lift(self, k: sp.MatrixBase) -> sp.MatrixBase: ...
    def maps(self, t: sp.Expr, s: sp.Expr) -> dict[str, sp.MatrixBase]: ...


@dataclass(frozen=True)
class Probe:
    """Content to try at one entry of one map: the number read off, its symbols' values, and how to say it."""

    left: sp.MatrixBase
    right: sp.MatrixBase
    values: dict[sp.Symbol, sp.Rational]
    words: str

    def read(self, matrix: sp.MatrixBase) -> sp.Expr:
        """leftᵀ matrix right."""
        rows, columns = self.left.todok(), self.right.todok()
        return sp.Add(
            *(
                rows[i, 0] * entry * columns[j, 0]
                for (i, j), entry in matrix.todok().items()
                if (i, 0) in rows and (j, 0) in columns
            )
        )


def separate(encoding: Positional, place: Place) -> Verdict | None:
    """REFUTED, with a witness at the given entry of one of the maps; None if none is found."""
    for key, gap in POSITIONS:
        moved = encoding.maps(sp.Integer(key + gap), sp.Integer(key))[place.which]
        fixed = encoding.maps(sp.Integer(gap), sp.S.Zero)[place.which]
        for probe in _probes(encoding, place):
            found = apart(probe.read(moved) - probe.read(fixed))
            if found:
                return replace(_refutation(key, gap, probe, *found), entry=(place.row, place.column))
    return None


def apart(difference: sp.Expr) -> tuple[dict[sp.Expr, sp.Rational], str] | None:
    """(values of symbols and undefined functions, the number in words) where balls exclude zero, or None."""
    if difference.is_zero:
        return None
    opaque = {call: sp.Symbol(str(call), real=True) for call in difference.atoms(AppliedUndef)}
    expression = difference.xreplace(opaque)
    values = assign(expression.free_symbols)
    found = enclose(expression, 15, values)
    if 0 in found:
        return None
    calls = {symbol: call for call, symbol in opaque.items()}
    shown = {calls.get(symbol, symbol): value for symbol, value in values.items()}
    return shown, str(sp.N((found.lower + found.upper) / 2, 10))


def assign(free: Iterable[sp.Symbol]) -> dict[sp.Symbol, sp.Rational]:
    """Small distinct values for parameters, respecting declared signs: 2, 3, 5, … in order of name."""
    ordered = sorted(free, key=str)
    return {x: sp.Integer(sp.prime(i + 1)) * (-1 if x.is_negative else 1) for i, x in enumerate(ordered)}


def _probes(encoding: Positional, place: Place) -> Iterator[Probe]:
    """Unit content at the entry, with either sign, since constant slots add terms of their own."""
    (q, k), (which, row, column) = encoding.content(), place
    if which != "score":
        size = 1 if which == "bias" else q.rows
        words = "any content" if which == "bias" else f"output feature {row} of a value that is e{column}"
        yield Probe(_unit(size, row), _unit(size, column), {}, words)
        return
    for q_sign in (1, -1):
        for k_sign in (1, -1):
            left, right = q_sign * _unit(q.rows, row), k_sign * _unit(k.rows, column)
            values = dict(zip([*q, *k], [*left, *right], strict=True))
            words = f"q = {_say(left)}, k = {_say(right)}"
            yield Probe(encoding.query_lift(left), encoding.key_lift(right), values, words)


def _unit(size: int, index: int) -> sp.Matrix:
    """The unit column e_index, or the zero column when the index is a constant slot beyond it."""
    return sp.Matrix(size, 1, lambda i, _: int(i == index))


def _say(column: sp.MatrixBase) -> str:
    """ "e0", "-e3" or "0"."""
    return "".join(f"{'-' if x < 0 else ''}e{i}" for (i, _), x in column.todok().items()) or "0"


def _refutation(key: int, gap: int, probe: Probe, values: dict, difference: str) -> Verdict:
    places = {KEY: sp.Integer(key), GAP: sp.Integer(gap)}
    given = f" with {', '.join(f'{x} = {value}' for x, value in values.items())}" if values else ""
    reason = (
        f"(t, s) = ({key + gap}, {key}) and ({gap}, 0) have the same gap, but what they give differs by "
        f"{difference} for {probe.words}{given}"
    )
    witness = {**places, **values, **probe.values}
    return Verdict(status=Status.REFUTED, reason=reason, witness=witness, gap=difference)
