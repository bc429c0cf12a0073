"""Rational points at which ball arithmetic on the original formulas confirms or refutes an equality."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import sympy as sp
from flint import acb, arb, ctx

from .balls import Evaluator, Opaque, excludes_zero, outward
from .errors import Disagreement, SingularPoint, Unsupported
from .premises import Premises
from .walk import text

EXAMINED_POINTS, EXAMINED_BITS = 3, 400
_ROUNDS = ((128, 40), (1024, 12), (6144, 4), (32768, 2))  # (bits, points)
_SHARP = 30  # bits of a difference that is told
_NICE = [
    sp.Rational(*pair) for pair in ((1, 1), (2, 1), (1, 2), (3, 1), (2, 3), (-1, 1), (3, 2), (5, 1), (1, 3))
]
_OPAQUE_VALUES = tuple(sp.Rational(7 * k * k + 3 * k + 1, 2 + k % 5) for k in range(200))

Point = dict[sp.Symbol, sp.Rational]


@dataclass(frozen=True)
class Question:
    """lhs = rhs under premises and side conditions, in the user's own trees; entry None means scalars."""

    lhs: Any
    rhs: Any
    symbols: tuple[sp.Symbol, ...]
    premises: Premises
    side_conditions: tuple[sp.Expr, ...] = ()

    @property
    def is_matrix(self) -> bool:
        """Whether the two sides are matrices."""
        return bool(getattr(self.lhs, "is_Matrix", False) or getattr(self.lhs, "is_MatrixExpr", False))


@dataclass(frozen=True)
class Counterexample:
    """A point where balls prove lhs != rhs, at an entry of matrices."""

    point: dict[sp.Expr, sp.Rational]
    entry: tuple[int, int] | None
    gap: acb

    @property
    def words(self) -> str:
        """The ball lhs - rhs, ten digits."""
        return (self.gap.real if self.gap.imag.is_zero() else self.gap).str(10)

    def certificate(self) -> dict[str, Any]:
        """Decimal ends of the part of lhs - rhs that excludes zero."""
        part = "im" if self.gap.real.contains(0) else "re"
        found = outward(self.gap.imag if part == "im" else self.gap.real, 12)
        return {"gap": [str(found.lower), str(found.upper)], "part": part}


def refute(question: Question, entry: tuple[int, int] | None) -> Counterexample | None:
    """The first point, small rationals first, where the sides are surely apart (at `entry` if given)."""
    for bits, count in _ROUNDS:
        for point in _points(question, count):
            found = _apart(question, point, entry, bits)
            if found is not None:
                return _sharpened(question, point, found)
    return None


def _sharpened(question: Question, point: Point, found: Counterexample) -> Counterexample:
    """The same counterexample with more digits of the difference, where it has few."""
    for bits, _ in _ROUNDS:
        if found.gap.rel_accuracy_bits() >= _SHARP:
            break
        found = _apart(question, point, found.entry, bits) or found
    return found


def cross_examine(question: Question) -> int:
    """Balls at random points must agree with a proof; the number of points that could be evaluated."""
    try:
        return _cross_examine(question)
    except Unsupported:
        return 0


def _cross_examine(question: Question) -> int:
    agreed = 0
    for point in _random_points(question, 40 if question.symbols else 1):
        differences = _differences(question, point, None, EXAMINED_BITS)
        if differences is None:
            continue
        for entry, difference, _ in differences:
            if excludes_zero(difference):
                raise Disagreement(
                    f"the normal forms agree but balls give {difference.str(10)} at {text(point)}, "
                    f"entry {entry}: a defect of exptx, please report it"
                )
        agreed += all(difference.is_finite() for _, difference, _ in differences)
        if agreed == EXAMINED_POINTS:
            break
    return agreed


def _apart(
    question: Question, point: Point, entry: tuple[int, int] | None, bits: int
) -> Counterexample | None:
    for where, difference, chosen in _differences(question, point, entry, bits) or ():
        if excludes_zero(difference) and _printable(difference):
            return Counterexample(point | chosen, where, difference)
    return None


def _differences(
    question: Question, point: Point, entry: tuple[int, int] | None, bits: int
) -> list[tuple[tuple[int, int] | None, acb, dict[sp.Expr, sp.Rational]]] | None:
    """(entry, lhs - rhs, values of undefined functions) in reading order; None at a singular point."""
    opaque = Opaque(_OPAQUE_VALUES)
    with ctx.workprec(bits):
        evaluator = Evaluator(point, opaque)
        try:
            if not all(excludes_zero(evaluator.value(formula)) for formula in question.side_conditions):
                return None
            if not question.is_matrix:
                pairs = [(None, evaluator.value(question.lhs) - evaluator.value(question.rhs))]
            else:
                gaps = evaluator.matrix(question.lhs) - evaluator.matrix(question.rhs)
                places = [entry] if entry else _places(gaps.nrows(), gaps.ncols())
                pairs = [(place, gaps[place]) for place in places]
        except SingularPoint:
            return None
    chosen = dict(zip(opaque.applications, _OPAQUE_VALUES, strict=False))
    return [(place, gap, chosen) for place, gap in pairs]


def _printable(value: acb) -> bool:
    """Of a size that a certificate can hold: 2^-4000 < |value| < 2^4000."""
    low, high = value.abs_lower(), value.abs_upper()
    return bool(low > arb(2) ** -4000) and bool(high < arb(2) ** 4000)


def _places(rows: int, columns: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(rows) for j in range(columns)]


def _points(question: Question, count: int) -> Iterator[Point]:
    """Small nice rationals first, then random ones of growing size; always the same sequence."""
    if not question.symbols:
        yield {}
        return
    size = len(_NICE)
    for k in range(min(count, size)):
        values = [_NICE[(i * (k + 1) + k) % size] for i in range(len(question.symbols))]
        yield _admissible(question, values)
    yield from _random_points(question, count - size)


def _random_points(question: Question, count: int) -> Iterator[Point]:
    source = random.Random(0)
    for k in range(count):
        limit = 4 + k
        values = [
            sp.Rational(source.randint(1, 3 * limit) * source.choice((1, 1, -1)), source.randint(2, limit))
            for _ in question.symbols
        ]
        yield _admissible(question, values)


def _admissible(question: Question, values: list[sp.Rational]) -> Point:
    return {x: question.premises.adjust(x, value) for x, value in zip(question.symbols, values, strict=True)}
