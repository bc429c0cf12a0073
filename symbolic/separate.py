"""Refuting relativity: two position pairs with equal gap, and content, that ball arithmetic tells apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import sympy as sp
from flint import acb
from sympy.core.function import AppliedUndef

from .admit import admit
from .balls import ball, excludes_zero
from .decide import Status, Verdict
from .entries import GAP, KEY, Place
from .errors import BadInput, Unsupported

# (s, u): the pairs (s + u, s) and (u, 0); small ones first, so that a witness can be checked by hand. The
# last ones are for what changes beyond a length: thresholds, windows, clamps.
POSITIONS = ((1, 0), (1, 1), (2, 1), (1, 2), (2, 3), (-1, 1), (-1, 2), (100, 3), (1000, 3), (10**6, 3))
CALL_BITS = 256
READ_BITS = (128, 512, 2048, 8192, 16384)
SECOND = 10  # the number of the prime, 31, that the second choice of values begins with
TEN_DIGITS = 36  # bits, with a guard


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


def separate(
    encoding: Positional, place: Place, positions: Iterable[tuple[int, int]] = POSITIONS
) -> Verdict | None:
    """REFUTED, with a witness at the given entry of one of the maps; None if none is found.

    positions: pairs (s, u) to try, which compare (s + u, s) with (u, 0).
    """
    for key, gap in positions:
        moved = encoding.maps(sp.Integer(key + gap), sp.Integer(key))[place.which]
        fixed = encoding.maps(sp.Integer(gap), sp.S.Zero)[place.which]
        for probe in _probes(encoding, place):
            found = apart(probe.read(moved) - probe.read(fixed))
            if found:
                return replace(_refutation(key, gap, probe, *found), entry=(place.row, place.column))
    return None


def apart(difference: sp.Expr) -> tuple[dict[sp.Expr, sp.Rational], str] | None:
    """(values of symbols and undefined functions, the number in words) where balls exclude zero, or None.

    Applications of one function get different values only where balls prove their arguments different.
    """
    if difference.is_zero:
        return None
    free = difference.free_symbols
    # The second choice is for what agrees by the accident of the first: a frequency that is 2.
    choices = (assign(free, first) for first in ((0, SECOND) if free else (0,)))
    found = (_apart_at(difference, values) for values in choices if _defined(difference, values))
    return next(filter(None, found), None)


def _apart_at(
    difference: sp.Expr, values: dict[sp.Symbol, sp.Rational]
) -> tuple[dict[sp.Expr, sp.Rational], str] | None:
    """The same with given values of the symbols."""
    number = difference.xreplace(values)
    try:
        calls = _call_values(number, len(values))
        words = _nonzero(admit(number.xreplace(calls), "the difference"))
    except (BadInput, Unsupported):  # a pole among them
        return None
    return None if words is None else (values | calls, words)


def _nonzero(number: sp.Expr) -> str | None:
    """Ten digits of a number that balls tell from 0; it may be too large or small to be written out."""
    for bits in READ_BITS:
        found = ball(number, {}, bits)
        if found.imag.is_zero() and excludes_zero(found) and found.real.rel_accuracy_bits() >= TEN_DIGITS:
            return found.real.mid().str(10, radius=False)
    return None


def _defined(formula: sp.Expr, values: dict[sp.Symbol, sp.Rational]) -> bool:
    """No logarithm and no root of a negative number stands in the formula at these values."""
    roots = [power.base for power in formula.atoms(sp.Pow) if not power.exp.is_integer]
    logs = [log.args[0] for log in formula.atoms(sp.log)]
    return not any(x.xreplace(values).is_negative for x in roots + logs)


def _call_values(number: sp.Expr, taken: int) -> dict[sp.Expr, sp.Rational]:
    """A prime for every group of applications that may be one and the same, after the `taken` first ones."""
    groups: list[list[tuple[sp.Expr, tuple[acb, ...]]]] = []
    for call in sorted(number.atoms(AppliedUndef), key=str):
        arguments = tuple(ball(argument, {}, CALL_BITS) for argument in call.args)
        near = [group for group in groups if any(_may_agree(call, arguments, *other) for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append([other for group in near for other in group] + [(call, arguments)])
    return {
        call: sp.Integer(sp.prime(taken + index + 1))
        for index, group in enumerate(groups)
        for call, _ in group
    }


def _may_agree(call: sp.Expr, arguments: tuple[acb, ...], other: sp.Expr, known: tuple[acb, ...]) -> bool:
    """Whether balls leave it open that two applications are the same."""
    if call.func != other.func or len(arguments) != len(known):
        return False
    return all(a.overlaps(b) for a, b in zip(arguments, known, strict=True))


def assign(free: Iterable[sp.Symbol], first: int = 0) -> dict[sp.Symbol, sp.Rational]:
    """Small distinct values for parameters, of their signs: the primes from a first, in order of name."""
    ordered = enumerate(sorted(free, key=str), first)
    return {x: sp.Integer(sp.prime(i + 1)) * (-1 if x.is_negative else 1) for i, x in ordered}


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
