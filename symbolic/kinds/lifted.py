"""Content maps before the generator: score = φ(q)ᵀ exp((t-s)X) ψ(k) with φ, ψ that see no position."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import sympy as sp
from sympy.core.function import AppliedUndef

from ..decide import Status, Verdict, decide
from ..encoding import column
from ..entries import GAP, KEY
from ..generator import Generator
from ..realizing.above import bounded_above
from ..verdict import conjunction
from .generated import FreeNames, composes, stays, verify_flow_by_entries
from .summed import Addable

ContentMap = Callable[[sp.MatrixBase], sp.MatrixBase]
Published = Callable[[Generator, sp.Expr, sp.Expr, sp.MatrixBase, sp.MatrixBase], sp.Expr]


@dataclass(frozen=True, eq=False, repr=False)
class Lifted(Addable):
    """One fixed generator on lifted features, reached from q and k by exact maps, linear or not.

    generator: X, on n features. query_map, key_map: φ and ψ, columns of head_dim entries -> columns of n.
    published: the score as its source writes it, a function of (X, t, s, q, k) that takes the rates from X;
    every proof first decides that it is φ(q)ᵀ exp((t-s)X) ψ(k).
    """

    generator: Generator
    query_map: ContentMap
    key_map: ContentMap
    published: Published

    @property
    def generators(self) -> tuple[Generator, ...]:
        """(X,): one clock."""
        return (self.generator,)

    def query_lift(self, q: sp.MatrixBase) -> sp.MatrixBase:
        """φ(q), shape (n, 1)."""
        return self.query_map(q)

    def key_lift(self, k: sp.MatrixBase) -> sp.MatrixBase:
        """ψ(k), shape (n, 1)."""
        return self.key_map(k)

    def query_factor(self, t: sp.Expr) -> sp.ImmutableMatrix:
        """exp(tX)ᵀ, which multiplies φ(q)."""
        return self.generator.exp(t).T

    def key_factor(self, s: sp.Expr) -> sp.ImmutableMatrix:
        """exp(-sX), which multiplies ψ(k)."""
        return self.generator.exp(-s)

    def score(self, t: object, s: object, *, q: object = None, k: object = None) -> sp.Expr:
        """The unscaled score as published, for q and k (symbols q0 …, k0 … if None)."""
        t, s = self.position(t, "t"), self.position(s, "s")
        symbols = self.content()
        columns = column(q, symbols[0], "q"), column(k, symbols[1], "k")
        return self.published(self.generator, t, s, *columns)

    def symbolic(self) -> tuple[Lifted, dict[sp.Symbol, sp.Expr]]:
        """(this with free symbols for frequencies w0 … and decays g0 …, their values)."""
        names = FreeNames()
        return replace(self, generator=names.generator(self.generator)), names.values

    @cached_property
    def agreement(self) -> Verdict:
        """Decide published score = φ(q)ᵀ exp((t-s)X) ψ(k) for all positions, content and rates."""
        free, (q, k) = self.symbolic()[0], self.content()
        lifted = free.pairing(KEY + GAP, KEY, free.query_lift(q), free.key_lift(k))
        return decide(free.score(KEY + GAP, KEY), lifted)

    def is_relative(self) -> Verdict:
        """Whether the published score, proved equal to that of the lift, depends on t - s only."""
        return self._if_agreed([super().is_relative()])

    def in_family(self) -> Verdict:
        """PROVED when `E' = XE`, `E(0) = I` and the published score is φ(q)ᵀ E(t-s) ψ(k)."""
        return self._if_agreed([verify_flow_by_entries(self.symbolic()[0].generator), super().is_relative()])

    def _if_agreed(self, verdicts: list[Verdict]) -> Verdict:
        """All of them, and the agreement; a lift that is not the published score decides nothing."""
        if self.agreement.status is not Status.PROVED:
            why = f"the lift is not shown to give the published score: {self.agreement.reason}"
            return Verdict(Status.UNDECIDED, why)
        agreed = replace(self.agreement, reason="the published score is φ(q)ᵀ exp((t-s)X) ψ(k), decided")
        return conjunction([agreed, *verdicts])

    def has_group_law(self) -> Verdict:
        """A(u+v) = A(u)A(v) and A(0) = I for A = exp(uX), decided for every block with free rates."""
        return conjunction(map(composes, dict.fromkeys(self.symbolic()[0].generator.blocks)))

    def is_bounded(self, domain: str = "real") -> Verdict:
        """Whether exp(uX), on the lifted features, stays bounded over all u or over u >= 0."""
        return stays(self.generator, domain)

    def is_bidirectional(self) -> Verdict:
        """Whether exp(uX) stays bounded, or else the score has an upper bound over all gaps u."""
        steady = stays(self.generator, "real")
        if steady.status is Status.PROVED:
            return steady
        score = self.symbolic()[0].score(GAP, sp.S.Zero)
        calls = {
            call: _stand_in(call, i) for i, call in enumerate(sorted(score.atoms(AppliedUndef), key=str))
        }
        return bounded_above(sp.expand(score.xreplace(calls)), GAP)


def _stand_in(call: sp.Expr, index: int) -> sp.Symbol:
    """A symbol for the value of an undefined function of the content, with its sign."""
    return sp.Symbol(f"f{index}", positive=True) if call.is_positive else sp.Symbol(f"f{index}", real=True)
