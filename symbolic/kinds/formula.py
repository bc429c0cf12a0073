"""Encodings given by factors or by a bias formula: negative cases, and what is relative but outside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import sympy as sp
from sympy.core.function import AppliedUndef

from ..decide import Status, Verdict, decide
from ..encoding import Encoding
from ..entries import GAP
from ..generator import Generator
from ..separate import apart
from .generated import FreeNames

Factor = Callable[[tuple[Generator, ...], sp.Expr], sp.MatrixBase]
BiasFormula = Callable[[sp.Expr, sp.Expr], sp.Expr]

IDENTITY_THEOREM = (
    "an exponential polynomial is a power series that converges everywhere, and two such series that agree "
    "on an interval agree everywhere (Rudin, Principles of Mathematical Analysis, 3rd ed., Theorem 8.5)"
)


@dataclass(frozen=True, eq=False, repr=False)
class Formula(Encoding):
    """An encoding of which nothing is assumed: its factors are functions of the ingredients and the position.

    ingredients: generators that the factors use. query, key, values, output: F, G, V, O as functions
    (ingredients, position) -> matrix, the identity if None. slots: constant ones appended to q and to k.
    bias_formula: b(t, s), added to the score. settled_after: a number a such that b, as a function of the
    gap, is one exponential polynomial for all gaps > a.
    """

    ingredients: tuple[Generator, ...] = ()
    query: Factor | None = None
    key: Factor | None = None
    values: Factor | None = None
    output: Factor | None = None
    slots: int = 0
    bias_formula: BiasFormula | None = None
    settled_after: sp.Expr = sp.S.Zero

    @property
    def generators(self) -> tuple[Generator, ...]:
        """The generators that occur in the factors; the encoding itself has none."""
        return self.ingredients

    def _factor(self, factor: Factor | None, position: sp.Expr) -> sp.ImmutableMatrix:
        if factor is None:
            return sp.ImmutableMatrix(sp.eye(self.head_dim))
        return sp.ImmutableMatrix(factor(self.ingredients, position))

    def query_lift(self, q: sp.MatrixBase) -> sp.MatrixBase:
        """φ(q): q and the constant ones."""
        return sp.Matrix.vstack(q, sp.ones(self.slots, 1))

    def key_lift(self, k: sp.MatrixBase) -> sp.MatrixBase:
        """ψ(k): k and the constant ones."""
        return sp.Matrix.vstack(k, sp.ones(self.slots, 1))

    def query_factor(self, t: sp.Expr) -> sp.ImmutableMatrix:
        """F(t), shape (head_dim, lifted)."""
        return self._factor(self.query, t)

    def key_factor(self, s: sp.Expr) -> sp.ImmutableMatrix:
        """G(s), shape (head_dim, lifted)."""
        return self._factor(self.key, s)

    def value_factor(self, s: sp.Expr) -> sp.ImmutableMatrix:
        """V(s), shape (head_dim, head_dim)."""
        return self._factor(self.values, s)

    def output_factor(self, t: sp.Expr) -> sp.ImmutableMatrix:
        """O(t), shape (head_dim, head_dim)."""
        return self._factor(self.output, t)

    def bias(self, t: sp.Expr, s: sp.Expr) -> sp.Expr:
        """b(t, s), which no product of factors gives."""
        return sp.S.Zero if self.bias_formula is None else self.bias_formula(t, s)

    def maps(self, t: sp.Expr, s: sp.Expr) -> dict[str, sp.MatrixBase]:
        """ "score" F(t)ᵀ G(s), "bias" b(t, s) and "values" O(t) V(s) as far as they occur."""
        found = super().maps(t, s)
        if self.bias_formula is not None:
            found["bias"] = sp.ImmutableMatrix([[self.bias(t, s)]])
        if self.values is not None or self.output is not None:
            found["values"] = self.output_factor(t) * self.value_factor(s)
        return found

    def symbolic(self) -> tuple[Formula, dict[sp.Symbol, sp.Expr]]:
        """(this with free symbols w0 … for the frequencies of its ingredients, their values)."""
        names = FreeNames()
        free = replace(self, ingredients=tuple(map(names.generator, self.ingredients)))
        return free, names.values

    def in_family(self) -> Verdict:
        """REFUTED when not relative, or when the bias is one exponential polynomial on an interval only.

        A member's score φ(q)ᵀ C exp((t-s)X) B ψ(k) is, for fixed content, an exponential polynomial of t - s.
        """
        relative = self.is_relative()
        if relative.status is Status.REFUTED:
            reason = f"a member of the family depends on t - s only, this one does not: {relative.reason}"
            return replace(relative, reason=reason)
        if relative.status is not Status.PROVED:
            return relative
        return outside_by_analyticity(self.bias(GAP, sp.S.Zero), self.settled_after)


def outside_by_analyticity(bias: sp.Expr, settled_after: sp.Expr) -> Verdict:
    """REFUTED, with a gap u, when b(u) is one exponential polynomial p(u) for all u > a but not everywhere.

    For q = k = 0 the score of a member is an exponential polynomial; agreeing with p on u > a it would be p.
    """
    if bias.atoms(AppliedUndef):
        return Verdict(
            status=Status.UNDECIDED,
            reason=f"{bias} is an opaque function; some are exponential polynomials and some are not",
        )
    beyond = sp.Symbol("v", positive=True)
    tail = bias.subs(GAP, settled_after + beyond).xreplace({beyond: GAP - settled_after})
    recognised = decide(tail, tail)
    if recognised.status is not Status.PROVED:
        return replace(recognised, reason=f"for u > {settled_after} the bias is {tail}: {recognised.reason}")
    for point in _points(settled_after):
        found = apart((bias - tail).subs(GAP, point))
        if found:
            values, gap = found
            reason = (
                f"for u > {settled_after} the bias is {tail}; a member would equal that for every u, since "
                f"{IDENTITY_THEOREM}; but at u = {point} the two differ by {gap}"
            )
            return Verdict(status=Status.REFUTED, reason=reason, witness={GAP: point, **values}, gap=gap)
    return Verdict(
        status=Status.UNDECIDED,
        reason=f"no gap was found at which the bias differs from {tail}; it may be that everywhere",
    )


def _points(settled_after: sp.Expr) -> list[sp.Expr]:
    """Gaps below a at which to compare: whole steps, then halves."""
    return [settled_after - step for step in (1, 2, 3, sp.Rational(1, 2), sp.Rational(3, 2), 10, 100)]
