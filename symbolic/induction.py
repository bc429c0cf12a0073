"""Statements for every n: a recursion, a claim on its values, base and step decided with n as a symbol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy import S

from .admit import admit_scalar, admit_together, check_symbol
from .balls import enclose
from .decide import Status, Verdict, decide
from .errors import BadInput, Unsupported, WrongType
from .premises import Premises
from .recursion import Obligation, Recursion, check_formulas, pair, scalar_pairs
from .sign_rules import signs_of
from .signs import CLAIMS, check_sign, premises_tree
from .tree import to_tree
from .walk import free_symbols, text

_RUN = 7  # values of n on which a doubtful claim is tried out
_NONNEGATIVE = CLAIMS["+0"]


@dataclass(frozen=True)
class Induction:
    """The claim `a_n = f(n, …)` (or `>=`) for all whole n >= start, where the state obeys a recursion.

    index          a real symbol n
    start          whole number
    state          {a: (a at start, a at n+1 from the state at n)}, at once; a may be an ImmutableMatrix
    claim          {a: f} with f in n, parameters, and the state symbols that are not claimed
    relation       "==" or ">="
    assume         relations x > 0, x < 0, x >= 0, Ne(x, 0) on parameters, beside what they declare

    A symbol that only occurs in the recursion is new at every step. Proved when base and step are: identities
    by `decide`, inequalities by sign rules with a slack a = f + h, h >= 0. Refuted by running the recursion
    from start to an n <= start + 6 where the claim is false; a step that fails alone refutes nothing.
    """

    index: sp.Symbol
    start: int
    state: Mapping[Any, tuple[Any, Any]]
    claim: Mapping[Any, Any]
    relation: str = "=="
    assume: Sequence[Any] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.index, sp.Symbol):
            raise WrongType(f"index is {self.index!r}; a real symbol such as Symbol('n', real=True) works")
        check_symbol(self.index, "index")
        if isinstance(self.start, bool) or not isinstance(self.start, (int, sp.Integer)):
            raise WrongType(f"start is {self.start!r}; a whole number works")
        if self.relation not in ("==", ">="):
            raise BadInput(f"relation is {self.relation!r}; '==' or '>=' works")
        object.__setattr__(self, "start", int(self.start))
        object.__setattr__(self, "state", {a: pair(*p) for a, p in scalar_pairs(self.state, "state", 2)})
        object.__setattr__(
            self, "claim", {a: admit_scalar(f, "claim") for a, (f,) in scalar_pairs(self.claim, "claim", 1)}
        )
        object.__setattr__(self, "assume", tuple(self.assume))
        admit_together((self.index, *self.state, *self._formulas, *self.assume), "the claim")
        check_formulas(self.index, self.state, self.claim)
        self._check_assumptions()
        premises_tree(self.premises)

    @property
    def premises(self) -> Premises:
        """What is known of the parameters."""
        return Premises.of(self.assume, self._parameters)

    def _check_assumptions(self) -> None:
        fixed = {self.index, *self.state}
        for symbol, _ in self.premises.signs:
            if symbol in fixed:
                raise BadInput(
                    f"assume speaks of {symbol}; parameters and new symbols only may be assumed of"
                )

    @property
    def _parameters(self) -> set[sp.Symbol]:
        """Every symbol but the index and the state."""
        return free_symbols(*self._formulas) - {self.index, *self.state}

    @property
    def _formulas(self) -> list[sp.Expr]:
        return [*(e for both in self.state.values() for e in both), *self.claim.values()]

    def tree(self) -> dict:
        """The claim as JSON: index, start, relation, state, claim, assume."""
        return {
            "kind": "induction",
            "index": self.index.name,
            "start": str(self.start),
            "relation": self.relation,
            "state": {a.name: {"first": to_tree(f), "next": to_tree(g)} for a, (f, g) in self.state.items()},
            "claim": {a.name: to_tree(f) for a, f in self.claim.items()},
            "assume": premises_tree(self.premises),
        }

    def formula(self) -> tuple[Any, str, Any]:
        """(a, "=" or "≥", f), columns where several symbols are claimed."""
        relation = "=" if self.relation == "==" else "≥"
        if len(self.claim) == 1:
            ((a, f),) = self.claim.items()
            return a, relation, f
        return sp.ImmutableMatrix(list(self.claim)), relation, sp.ImmutableMatrix(list(self.claim.values()))

    def outcome(self, verdict: Verdict) -> dict:
        """What a checker needs besides the claim."""
        return dict(verdict.certificate)

    def check(self) -> Verdict:
        """Decide base and step; if one fails, run the recursion for a counterexample."""
        recursion = Recursion(self.index, self.start, self.state, self.claim)
        for duty in recursion.obligations(slack=self.relation == ">="):
            try:
                verdict = self._decide(duty)
            except BadInput as error:
                return Verdict(Status.UNDECIDED, f"the {duty.place} for {duty.symbol} has no value: {error}")
            if verdict.status is not Status.PROVED:
                why = f"the {duty.place} for {duty.symbol} is {verdict.status.value}: {verdict.reason}"
                return self._counterexample(recursion, why)
        return Verdict(Status.PROVED, "base and step hold")

    def _decide(self, duty: Obligation) -> Verdict:
        """Whether actual = claimed, or actual - claimed >= 0, with every divisor non-zero by its sign."""
        premises = Premises.of(self.assume, free_symbols(duty.actual, duty.claimed))
        if self.relation == ">=":
            return check_sign(duty.actual - duty.claimed, _NONNEGATIVE, premises)
        verdict = decide(duty.actual, duty.claimed, assume=self.assume)
        for divisor in verdict.side_conditions if verdict.status is Status.PROVED else ():
            if 0 in signs_of(divisor, premises):
                return Verdict(
                    Status.UNDECIDED, f"the divisor {text(divisor)} may vanish; assume signs of its symbols"
                )
        return verdict

    def _counterexample(self, recursion: Recursion, why: str) -> Verdict:
        """REFUTED at the first n at which the claim is false, else UNDECIDED."""
        try:
            for duty in recursion.values(_RUN):
                verdict = self._decide(duty)
                if verdict.status is Status.REFUTED:
                    return self._refuted(duty, verdict)
        except (BadInput, Unsupported) as error:
            why = f"{why}; running the recursion stops: {error}"
        return Verdict(Status.UNDECIDED, f"{why}; no counterexample among the first {_RUN} values")

    def _refuted(self, duty: Obligation, verdict: Verdict) -> Verdict:
        premises = self.premises
        chosen = {x: premises.adjust(x, S.One) for x in self._parameters}
        point = {**chosen, **{x: v for x, v in (verdict.witness or {}).items() if x in chosen}}
        gap = enclose(duty.actual - duty.claimed, digits=8, at=point)
        witness = {self.index: sp.Integer(duty.place), **{x: point[x] for x in sorted(point, key=str)}}
        ends = [str(gap.lower), str(gap.upper)]
        return Verdict(
            Status.REFUTED,
            f"false for {duty.symbol} at " + ", ".join(f"{x} = {value}" for x, value in witness.items()),
            witness=witness,
            gap=f"[{ends[0]}, {ends[1]}]",
            certificate={
                "witness": {x.name: str(value) for x, value in witness.items()},
                "symbol": duty.symbol.name,
                "gap": ends,
            },
        )


__all__ = ["Induction"]
