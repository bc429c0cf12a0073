"""The step kinds a proof is made of: each holds its claim exactly and decides it when asked.

A step never says "true" by itself. `check` runs the exact procedure of its kind from the symbolic room and
returns a `Verdict`; `claim` writes the same objects down as JSON, so that the checker can repeat the work
without this code; `formula` hands them to the typesetter. Statement, proof and picture cannot drift apart.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

import sympy as sp

from ..symbolic.balls import ball, enclose, outward
from ..symbolic.decide import Status, Verdict, decide
from ..symbolic.tree import to_tree

Formula = tuple[Any, str, Any]


@dataclass(frozen=True)
class Source:
    """Where a cited fact stands: text precise enough to find it, and an address where there is one."""

    text: str
    url: str | None = None


@dataclass(frozen=True, kw_only=True)
class Step(ABC):
    """One step; `goal=True` marks the steps whose formulas are the statement of the law."""

    kind: ClassVar[str]
    name: str
    note: str = ""
    goal: bool = False

    @abstractmethod
    def check(self, hypotheses: frozenset[str]) -> Verdict:
        """Decide the claim."""

    @abstractmethod
    def claim(self) -> dict[str, Any]:
        """The claim as JSON, without the outcome."""

    @abstractmethod
    def formula(self) -> Formula | None:
        """(left, relation, right) for the typesetter, or None where words say it all."""

    def outcome(self, verdict: Verdict) -> dict[str, Any]:
        """What a checker needs, besides the claim, to repeat this verdict."""
        return {}

    def but(self, change: str, **changes: Any) -> Perturbation:
        """The same step with something changed, as a claim of its own."""
        return Perturbation(of=self.name, change=change, step=replace(self, goal=False, **changes))


@dataclass(frozen=True)
class Perturbation:
    """A changed step: of a proved law it must be refuted, of a refuted law (a sibling) it must be proved."""

    of: str
    change: str
    step: Step


def _assumptions(assume: tuple[Any, ...]) -> list[list[str]]:
    """`x > 0` as ["pos", "x"]."""
    names = {
        sp.StrictGreaterThan: "pos",
        sp.StrictLessThan: "neg",
        sp.GreaterThan: "nonneg",
        sp.Unequality: "ne",
    }
    return [[names[type(a)], str(a.lhs)] for a in assume]


def declared(*parts: Any) -> list[list[str]]:
    """The signs that the symbols of these expressions were declared with, as JSON assumptions."""
    symbols: set[Any] = set().union(*(getattr(p, "free_symbols", set()) for p in parts))
    out = []
    for symbol in sorted(symbols, key=str):
        if symbol.is_positive:
            out.append(["pos", str(symbol)])
        elif symbol.is_negative:
            out.append(["neg", str(symbol)])
        elif symbol.is_nonnegative:
            out.append(["nonneg", str(symbol)])
    return out


def _evidence(lhs: Any, rhs: Any, verdict: Verdict) -> dict[str, Any]:
    """The witness of a refutation as JSON: point, values of opaque functions, entry, gap."""
    witness = verdict.witness or {}
    point = {symbol: value for symbol, value in witness.items() if symbol.is_Symbol}
    calls: dict[str, list[Any]] = {}
    for call, value in sorted(((c, v) for c, v in witness.items() if not c.is_Symbol), key=str):
        arguments = [str(a.xreplace(point)) for a in call.args]
        calls.setdefault(call.func.__name__, []).append([arguments, str(value)])
    found: dict[str, Any] = {"witness": {str(x): str(value) for x, value in sorted(point.items(), key=str)}}
    if calls:
        found["functions"] = calls
    if verdict.entry is not None:
        found["entry"] = list(verdict.entry)
    return found | {"gap": _gap(lhs, rhs, verdict)}


def _gap(lhs: Any, rhs: Any, verdict: Verdict) -> list[str]:
    """Rational ends of lhs - rhs at the witness; for complex formulas those of the imaginary part follow."""
    if not any(getattr(side, "has", lambda _: False)(sp.I) for side in (lhs, rhs)):
        return verdict.certificate["gap"]
    value = ball(sp.sympify(lhs, strict=True) - sp.sympify(rhs, strict=True), verdict.witness or {}, 128)
    ends = (outward(value.real, 12), outward(value.imag, 12))
    return [str(end) for part in ends for end in (part.lower, part.upper)]


@dataclass(frozen=True, kw_only=True)
class Identity(Step):
    """lhs = rhs for all real values of the symbols (entrywise for matrices), by canonical form."""

    kind: ClassVar[str] = "identity"
    lhs: Any
    rhs: Any = sp.S.Zero
    assume: tuple[Any, ...] = ()

    def check(self, hypotheses: frozenset[str]) -> Verdict:
        return decide(self.lhs, self.rhs, assume=self.assume)

    def claim(self) -> dict[str, Any]:
        assume = declared(self.lhs, self.rhs) + _assumptions(self.assume)
        return {"kind": self.kind, "lhs": to_tree(self.lhs), "rhs": to_tree(self.rhs), "assume": assume}

    def formula(self) -> Formula:
        return self.lhs, "=", self.rhs

    def outcome(self, verdict: Verdict) -> dict[str, Any]:
        if verdict.witness is None:
            return {"nonzero": [to_tree(e) for e in verdict.side_conditions]}
        return _evidence(self.lhs, self.rhs, verdict)


@dataclass(frozen=True, kw_only=True)
class Determinant(Identity):
    """det lhs = rhs for a square matrix lhs: claimed of the determinant expanded along the first rows."""

    def expanded(self) -> Identity:
        """The claim that is decided: a sum of products of entries in place of the determinant."""
        return Identity(name=self.name, lhs=expansion(self.lhs), rhs=self.rhs, assume=self.assume)

    def check(self, hypotheses: frozenset[str]) -> Verdict:
        return self.expanded().check(hypotheses)

    def claim(self) -> dict[str, Any]:
        return self.expanded().claim()

    def formula(self) -> Formula:
        return sp.Determinant(self.lhs), "=", self.rhs

    def outcome(self, verdict: Verdict) -> dict[str, Any]:
        return self.expanded().outcome(verdict)


def expansion(matrix: sp.MatrixBase) -> sp.Expr:
    """det as Laplace's expansion along the first row, row after row, not multiplied out."""
    if matrix.rows == 1:
        return matrix[0, 0]
    terms = (
        sp.Mul((-1) ** j, entry, expansion(matrix.minor_submatrix(0, j)), evaluate=False)
        for j, entry in enumerate(matrix[0, :])
        if entry != 0
    )
    return sp.Add(*terms, evaluate=False)


@dataclass(frozen=True, kw_only=True)
class Apart(Identity):
    """lhs and rhs differ somewhere: proved by a rational point at which balls keep them apart."""

    kind: ClassVar[str] = "apart"

    def check(self, hypotheses: frozenset[str]) -> Verdict:
        verdict = decide(self.lhs, self.rhs, assume=self.assume)
        swap = {Status.PROVED: Status.REFUTED, Status.REFUTED: Status.PROVED}
        return replace(verdict, status=swap.get(verdict.status, verdict.status))

    def formula(self) -> Formula:
        return self.lhs, "≠", self.rhs


@dataclass(frozen=True, kw_only=True)
class Enclosed(Step):
    """lower < expr < upper for one concrete number, by balls: enclosed, not proved for all values."""

    kind: ClassVar[str] = "enclosed"
    expr: sp.Expr
    lower: str
    upper: str

    def check(self, hypotheses: frozenset[str]) -> Verdict:
        ball = enclose(self.expr, digits=25)
        lower, upper = sp.Rational(self.lower), sp.Rational(self.upper)
        ends = f"{decimal(self.lower)} and {decimal(self.upper)}"
        if lower < ball.lower and ball.upper < upper:
            return Verdict(Status.PROVED, f"enclosed by a ball that lies between {ends}")
        if ball.upper <= lower or upper <= ball.lower:
            value = _in_short(ball.lower, ball.upper)
            return Verdict(Status.REFUTED, f"the value is {value}, not between {ends}")
        return Verdict(Status.UNDECIDED, "the enclosure straddles an end; widen the claimed interval")

    def claim(self) -> dict[str, Any]:
        return {"kind": self.kind, "expr": to_tree(self.expr), "lower": self.lower, "upper": self.upper}

    def formula(self) -> Formula:
        return self.expr, "∈", (self.lower, self.upper)


@dataclass(frozen=True, kw_only=True)
class Cited(Step):
    """A lemma from the literature. It counts only while every hypothesis it needs is one of the law's."""

    kind: ClassVar[str] = "cited"
    lemma: str
    source: Source
    needs: tuple[str, ...] = ()

    def check(self, hypotheses: frozenset[str]) -> Verdict:
        missing = [need for need in self.needs if need not in hypotheses]
        if missing:
            return Verdict(
                Status.NOT_CHECKED, f"the lemma needs the hypothesis “{missing[0]}”, which is not stated"
            )
        return Verdict(Status.PROVED, f"cited: {self.source.text}")

    def claim(self) -> dict[str, Any]:
        return {"kind": self.kind, "lemma": self.lemma, "source": self.source.text, "needs": list(self.needs)}

    def formula(self) -> None:
        return None


@dataclass(frozen=True, kw_only=True)
class Exact(Step):
    """A claim of one of the other exact kinds (sign, limit, words, induction, reindex, finite)."""

    kind: ClassVar[str] = "exact"
    of: Any = field()

    def check(self, hypotheses: frozenset[str]) -> Verdict:
        return self.of.check()

    def claim(self) -> dict[str, Any]:
        return self.of.tree()

    def formula(self) -> Formula | None:
        return self.of.formula()

    def outcome(self, verdict: Verdict) -> dict[str, Any]:
        return self.of.outcome(verdict)

    def but(self, change: str, **changes: Any) -> Perturbation:
        return Perturbation(
            of=self.name, change=change, step=replace(self, goal=False, of=replace(self.of, **changes))
        )


def decimal(number: str) -> str:
    """A rational as a decimal where it has a finite one, else as it is."""
    value = Fraction(number)
    places = next((n for n in range(60) if 10**n % value.denominator == 0), None)
    if places is None:
        return number
    digits = f"{abs(value.numerator) * 10**places // value.denominator:0{places + 1}d}"
    sign = "-" if value < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


def _in_short(lower: sp.Rational, upper: sp.Rational) -> str:
    """The number between two close ends, to eight digits; exactly where both ends round to a shorter one."""
    ends = {f"{float(end):.8g}" for end in (lower, upper)}
    return min(ends, key=len)


def conclusive(step: Step) -> bool:
    """Whether the step computes something, as against citing it."""
    return not isinstance(step, Cited)


__all__ = [
    "Apart",
    "Cited",
    "Determinant",
    "Enclosed",
    "Exact",
    "Identity",
    "Perturbation",
    "Source",
    "Step",
    "conclusive",
    "decimal",
    "expansion",
]
