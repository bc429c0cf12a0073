"""Encodings whose score is a matrix of both positions, with no factor of the query's and one of the key's.

    score(t, s) = φ(q)ᵀ M(t, s) ψ(k)

φ and ψ append constant ones. With M = [[I, w], [zᵀ, b]] this is `q·k + q·w(t, s) + z(t, s)·k + b(t, s)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import sympy as sp

from ..encoding import column
from ..entries import KEY, QUERY
from ..errors import Unsupported
from ..generator import Generator
from ..verdict import Verdict
from .bounds import in_both
from .formula import Formula

PairMatrix = Callable[[tuple[Generator, ...], sp.Expr, sp.Expr], sp.MatrixBase]


@dataclass(frozen=True, eq=False, repr=False)
class Paired(Formula):
    """matrix: M as a function (ingredients, t, s) -> matrix on head_dim + slots features."""

    matrix: PairMatrix = field(kw_only=True)

    @property
    def moves(self) -> bool:
        """True: the matrix meets the content."""
        return True

    def query_factor(self, t: sp.Expr) -> sp.ImmutableMatrix:
        """Refused: the query's position alone gives no factor."""
        raise self._no_factor()

    def key_factor(self, s: sp.Expr) -> sp.ImmutableMatrix:
        """Refused: the key's position alone gives no factor."""
        raise self._no_factor()

    def _no_factor(self) -> Unsupported:
        return Unsupported(
            f"the score of {self.name} is a matrix of both positions and no product of a query factor and a "
            "key factor; .maps(t, s)['score'] has it"
        )

    def maps(self, t: sp.Expr, s: sp.Expr) -> dict[str, sp.MatrixBase]:
        """ "score": M(t, s)."""
        return {"score": sp.ImmutableMatrix(self.matrix(self.ingredients, t, s))}

    def score(self, t: object, s: object, *, q: object = None, k: object = None) -> sp.Expr:
        """φ(q)ᵀ M(t, s) ψ(k)."""
        t, s = self.position(t, "t"), self.position(s, "s")
        symbols = self.content()
        query = self.query_lift(column(q, symbols[0], "q"))
        key = self.key_lift(column(k, symbols[1], "k"))
        return (query.T * self.maps(t, s)["score"] * key)[0, 0]

    def latex(self) -> str:
        """The score as LaTeX: written out for up to four features, else with the matrix of both positions."""
        if self.head_dim in (1, 2, 3, 4):
            return super().latex()
        return r"\mathrm{score}(t, s) = \varphi(q)^{\top} M(t, s)\, \psi(k)"

    def _factors_bounded(self, domain: str) -> Iterator[Verdict]:
        """The matrix of both positions, where it is no function of the gap."""
        entries = self.maps(QUERY, KEY)["score"].todok().values()
        yield in_both("the content", entries, domain)
