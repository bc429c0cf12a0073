"""The decision: canonical forms prove, balls at a rational point refute, everything else is undecided."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import sympy as sp
from sympy import S

from .admit import admit_pair
from .balls import ball, excludes_zero
from .errors import BadInput, Unsupported
from .matrices import is_matrix, read_matrix, shape
from .premises import Premises
from .reader import Ratio, Reader
from .tree import At, D
from .verdict import Status, Verdict
from .walk import applications, free_symbols, text
from .witness import EXAMINED_BITS, Question, cross_examine, refute

__all__ = ["Status", "Verdict", "decide", "group_law", "verify_flow"]

Entry = tuple[int, int]
WHOLE = 10_000  # characters that a condition is put in order by


def decide(lhs: Any, rhs: Any = 0, *, assume: Iterable[Any] = ()) -> Verdict:
    """Whether lhs = rhs for all real values of the symbols where both sides are defined.

    lhs, rhs: sympy expressions, or explicit matrices of one shape, or unevaluated MatMul, MatAdd, MatPow,
        Transpose of explicit matrices; rhs = 0 also stands for the zero matrix. Unevaluated Derivative
        and Subs inside are carried out exactly.
    assume: relations x > 0, x < 0, x >= 0, x <= 0, Ne(x, 0) on single symbols; they and the symbols' own
        declarations restrict the points that may serve as witness.
    Decidable: polynomials over Q in real symbols times exp(P), P with Gaussian-rational coefficients plus
        rational multiples of iπ; exp, sin, cos, tan, sinh, cosh, tanh, square roots of positive rationals,
        π as a transcendental, quotients. Outside, the verdict is UNDECIDED with what to write instead,
        unless balls refute the equality.
    Errors: WrongType for floats (also deep inside), strings, truth values; BadInput for shapes that differ,
        symbols that are not real, a denominator that is identically zero.
    Source: linear independence of exp(P) over algebraic functions (Lindemann-Weierstrass).
    """
    left, right = _sides(lhs, rhs)
    symbols = tuple(sorted(free_symbols(left, right), key=lambda symbol: symbol.name))
    question = Question(left, right, symbols, Premises.of(assume, symbols))
    try:
        return _decide(question)
    except Unsupported as outside:
        return _outside(question, str(outside))
    except RecursionError:
        return _outside(question, "too large for the exact procedure: the expression is nested too deeply")


def verify_flow(X: sp.MatrixBase, E: sp.MatrixBase, t: sp.Symbol) -> Verdict:
    """E(0) = I and E' = X E, exactly; by uniqueness of linear flows E is then exp(tX).

    X: constant square matrix; E: matrix of the same shape in t. Errors: those of `decide`.
    """
    X, E = _square(X, "X"), _square(E, "E")
    start = decide(At(E, t, 0), sp.eye(E.rows))
    if start.status is not Status.PROVED:
        return _named(start, "E(0) = I")
    return _named(decide(D(E, t), sp.MatMul(X, E)), "E(0) = I and E' = X E", "E' = X E")


def group_law(E: sp.MatrixBase, t: sp.Symbol) -> Verdict:
    """E(a) E(b) = E(a + b) for all real a, b, exactly.

    E: square matrix in t; a and b are fresh symbols that appear in a witness. Errors: those of `decide`.
    """
    E = _square(E, "E")
    taken = {symbol.name for symbol in free_symbols(E)}
    a, b = (sp.Symbol(_fresh(name, taken), real=True) for name in "ab")
    verdict = decide(sp.MatMul(At(E, t, a), At(E, t, b)), At(E, t, a + b))
    return _named(verdict, f"E({a}) E({b}) = E({a} + {b})")


def _square(matrix: Any, name: str) -> sp.ImmutableDenseMatrix:
    if not isinstance(matrix, sp.MatrixBase) or matrix.rows != matrix.cols:
        raise BadInput(f"{name} must be an explicit square Matrix, not {text(matrix)}")
    return matrix.as_immutable()


def _fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _named(verdict: Verdict, statement: str, failing: str | None = None) -> Verdict:
    shown = statement if verdict.status is Status.PROVED else failing or statement
    return replace(verdict, reason=f"{shown}: {verdict.reason}")


def _sides(lhs: Any, rhs: Any) -> tuple[Any, Any]:
    left, right = admit_pair(lhs, rhs)
    if is_matrix(left) and right is S.Zero:
        right = sp.zeros(*shape(left, "lhs")).as_immutable()
    if is_matrix(left) != is_matrix(right):
        raise BadInput("one side is a matrix and the other is not; give two of one kind")
    if is_matrix(left) and shape(left, "lhs") != shape(right, "rhs"):
        raise BadInput(
            f"lhs has shape {shape(left, 'lhs')} and rhs has shape {shape(right, 'rhs')}; they must agree"
        )
    return left, right


def _decide(question: Question) -> Verdict:
    reader = Reader.of(question.lhs, question.rhs)
    if is_matrix(question.lhs):
        entry, difference, counts = _first_difference(reader, question)
    else:
        left, right = reader.read(question.lhs), reader.read(question.rhs)
        entry, difference = None, reader.subtract(left, right)
        counts = {"terms": [left.numerator.size(), right.numerator.size(), difference.numerator.size()]}
    question = replace(question, side_conditions=_conditions(difference, question.premises))
    if reader.is_zero(difference):
        return _proved(question, counts)
    return _refuted(question, entry, counts | {"surviving": text(reader.surviving(difference))})


def _first_difference(reader: Reader, question: Question) -> tuple[Entry | None, Ratio, dict[str, Any]]:
    """The first entry in reading order whose difference is not zero, or zero with all side conditions."""
    left, right = read_matrix(reader, question.lhs), read_matrix(reader, question.rhs)
    zero = Ratio(reader.ring.zero)
    nonzero: frozenset[sp.Expr] = frozenset()
    counts = {"entries": [sum(map(len, left)), sum(map(len, right))]}
    for i, (row, other) in enumerate(zip(left, right, strict=True)):
        for j in sorted(row.keys() | other.keys()):
            difference = reader.subtract(row.get(j, zero), other.get(j, zero))
            if not reader.is_zero(difference):
                return (i, j), difference, counts
            nonzero |= difference.nonzero
    return None, Ratio(reader.ring.zero, (), nonzero), counts


def _conditions(difference: Ratio, premises: Premises) -> tuple[sp.Expr, ...]:
    """The denominators that neither the premises nor, for constants, balls already show to be non-zero."""
    open_ = [f for f in difference.nonzero if not premises.nonzero(f) and not _nonzero_constant(f)]
    return tuple(sorted(open_, key=lambda formula: text(formula, WHOLE)))


def _nonzero_constant(formula: sp.Expr) -> bool:
    if formula.free_symbols or applications(formula):
        return False
    return excludes_zero(ball(formula, {}, EXAMINED_BITS))


def _proved(question: Question, certificate: dict[str, Any]) -> Verdict:
    points = cross_examine(question)
    seen = f"balls agree at {points} random rational points" if question.symbols else "balls agree"
    seen = seen if points else "no point could be evaluated by balls"
    certificate = certificate | {"examined": {"points": points, "bits": EXAMINED_BITS}}
    return Verdict(
        Status.PROVED,
        f"the canonical forms agree; {seen}",
        side_conditions=question.side_conditions,
        certificate=certificate,
    )


def _refuted(
    question: Question, entry: Entry | None, certificate: dict[str, Any], reason: str = ""
) -> Verdict:
    try:
        found = refute(question, entry)
    except (Unsupported, BadInput, RecursionError):
        found = None
    if found is None:
        reason = reason or (
            "the canonical forms differ, but no rational point was found at which balls prove it; π beside "
            "constants exp(a), and sides that differ by more than 2^4000 or less than 2^-4000, are outside"
        )
        return Verdict(
            Status.UNDECIDED, reason, side_conditions=question.side_conditions, certificate=certificate
        )
    where = ", ".join(f"{x} = {value}" for x, value in found.point.items()) or "the constants themselves"
    place = f" in entry {found.entry}" if found.entry else ""
    return Verdict(
        Status.REFUTED,
        f"at {where} the sides differ{place} by {found.words}",
        witness=found.point,
        entry=found.entry,
        gap=found.words,
        side_conditions=question.side_conditions,
        certificate=certificate | found.certificate(),
    )


def _outside(question: Question, reason: str) -> Verdict:
    """Outside the class nothing is proved; balls may still refute."""
    return _refuted(question, None, {"outside": reason}, reason)
