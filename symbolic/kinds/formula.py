"""Encodings given by factors or by a bias formula: negative cases, and what is relative but outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import sympy as sp

from ..decide import Status, Verdict
from ..entries import GAP, KEY, QUERY
from ..generator import Generator
from ..verdict import conjunction
from .bounds import FROM_ABOVE, IN_SIZE, Sides, in_both, in_one
from .entrywise import realizable
from .generated import FreeNames
from .summed import Addable

Factor = Callable[[tuple[Generator, ...], sp.Expr], sp.MatrixBase]
BiasFormula = Callable[[sp.Expr, sp.Expr], sp.Expr]


@dataclass(frozen=True, eq=False, repr=False)
class Formula(Addable):
    """An encoding of which nothing is assumed: its factors are functions of the ingredients and the position.

    ingredients: generators that the factors use. query, key, values, output: F, G, V, O as functions
    (ingredients, position) -> matrix, the identity if None. slots: constant ones appended to q and to k.
    bias_formula: b(t, s), added to the score.
    """

    ingredients: tuple[Generator, ...] = ()
    query: Factor | None = None
    key: Factor | None = None
    values: Factor | None = None
    output: Factor | None = None
    slots: int = 0
    bias_formula: BiasFormula | None = None

    @property
    def generators(self) -> tuple[Generator, ...]:
        """The generators that occur in the factors; the encoding itself has none."""
        return self.ingredients

    @property
    def moves(self) -> bool:
        """Whether there is anything but a bias."""
        return bool(self.slots) or any((self.query, self.key, self.values, self.output))

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
        """PROVED when relative and every entry of the maps is an exponential polynomial of the gap.

        Then M(u) = C exp(uX) B, the realizations of its entries side by side. An entry that is none refutes.
        """
        relative = self.is_relative()
        if relative.status is Status.REFUTED:
            return replace(relative, reason="it is not relative, and every member of the family is")
        if relative.status is not Status.PROVED:
            return relative
        return realizable(self._entries())

    def _entries(self) -> dict[str, tuple[sp.Expr, ...]]:
        """The different entries of M(u), and of the other maps, as functions of the gap."""
        maps = self.maps(GAP, sp.S.Zero)
        return {which: tuple(dict.fromkeys(matrix.todok().values())) for which, matrix in maps.items()}

    def is_bidirectional(self) -> Verdict:
        """Whether what multiplies the content is bounded in size, and the bias from above."""
        return self._bounded(FROM_ABOVE, "real")

    def is_bounded(self, domain: str = "real") -> Verdict:
        """Whether what multiplies the content, and the bias, are bounded in size."""
        return self._bounded(IN_SIZE, domain)

    def _bounded(self, sides: Sides, domain: str) -> Verdict:
        """Over all gaps where the score is a function of them, else over all positions of F, G, V and O."""
        relative = self.is_relative()
        if relative.status is Status.REFUTED:
            return conjunction([*self._factors_bounded(domain), *self._bias_bounded(sides, domain)])
        if relative.status is not Status.PROVED:
            return relative
        entries = self._entries()
        bias = entries.pop("bias", None)
        found = [in_one(_PARTS[which], given, GAP, domain) for which, given in entries.items()]
        return conjunction(
            [*found, *([] if bias is None else [in_one("the bias", bias, GAP, domain, sides)])]
        )

    def _factors_bounded(self, domain: str) -> Iterator[Verdict]:
        """What multiplies the content where no gap does: the factors, each of its own position."""
        factors = {
            "the query factor": (self.query_factor(QUERY), QUERY),
            "the key factor": (self.key_factor(KEY), KEY),
        }
        if self.values is not None:
            factors["the value factor"] = (self.value_factor(KEY), KEY)
        if self.output is not None:
            factors["the output factor"] = (self.output_factor(QUERY), QUERY)
        for what, (factor, x) in factors.items():
            yield in_one(what, factor.todok().values(), x, domain)

    def _bias_bounded(self, sides: Sides, domain: str) -> Iterator[Verdict]:
        if self.bias_formula is not None:
            yield in_both("the bias", [self.bias(QUERY, KEY)], domain, sides)


_PARTS = {"score": "the content", "values": "the values"}
