"""Encodings given by factors or by a bias formula: negative cases, and what is relative but outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import sympy as sp
from sympy.core.function import AppliedUndef

from ..decide import Status, Verdict, decide
from ..encoding import Encoding
from ..entries import GAP
from ..errors import BadInput, Unsupported
from ..generator import Generator
from ..realization import NotRealizable, realize
from ..realizing.above import bounded_above
from ..verdict import conjunction
from .generated import FreeNames

Factor = Callable[[tuple[Generator, ...], sp.Expr], sp.MatrixBase]
BiasFormula = Callable[[sp.Expr, sp.Expr], sp.Expr]


@dataclass(frozen=True, eq=False, repr=False)
class Formula(Encoding):
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
        """Whether the bias is bounded above, and every entry of the factor in size, for all gaps.

        Where the score is no function of the gap: whether F(t) and G(s) are bounded for all positions.
        """
        relative = self.is_relative()
        if relative.status is not Status.PROVED:
            return self._factors_bounded(relative)
        entries = self._entries()
        sizes = {which: found for which, found in entries.items() if which != "bias"}
        return conjunction(
            [*_sizes(sizes, "real"), *(bounded_above(b, GAP) for b in entries.get("bias", ()))]
        )

    def _factors_bounded(self, relative: Verdict) -> Verdict:
        if self.bias_formula is not None:
            return _no_question(relative, "the bias is no function of the gap")
        factors = (self.query_factor(GAP), self.key_factor(GAP))
        entries = dict.fromkeys(entry for factor in factors for entry in factor.todok().values())
        if any(entry.atoms(AppliedUndef) for entry in entries):
            return Verdict(Status.NOT_CHECKED, "a table of free values has the bound that they have")
        return conjunction(_sizes({"factor": tuple(entries)}, "real"))

    def is_bounded(self, domain: str = "real") -> Verdict:
        """Whether every entry of the maps is bounded: the modes of a least X are those of the entries."""
        family = self.in_family()
        if family.status is not Status.PROVED:
            return _no_question(family, "there is no X")
        return conjunction(_sizes(self._entries(), domain))


def realizable(maps: Mapping[str, tuple[sp.Expr, ...]]) -> Verdict:
    """PROVED if every entry is an exponential polynomial of the gap, REFUTED by one that is none."""
    count = 0
    for which, entries in maps.items():
        for entry in entries:
            if entry.atoms(AppliedUndef):
                why = f"{entry} is an opaque function; some are exponential polynomials and some are not"
                return Verdict(status=Status.UNDECIDED, reason=why)
            try:
                found: object = realize(entry, GAP)
            except Unsupported as problem:
                return Verdict(status=Status.UNDECIDED, reason=str(problem))
            except BadInput:
                if decide(entry, 0).status is not Status.PROVED:
                    raise
                continue  # 0 for all gaps, which every X gives
            if isinstance(found, NotRealizable):
                return _outside(which, found)
            count += 1
    return Verdict(
        status=Status.PROVED,
        reason=f"the score depends on the gap only, and each of {count} different entries is cᵀ exp(uX) v",
    )


def _outside(which: str, found: NotRealizable) -> Verdict:
    cited = f" ({found.cited})" if found.cited else ""
    evidence = f"; {found.witness.sentence}" if found.witness else ""
    point = found.witness.data.get("point") if found.witness else None
    return Verdict(
        status=Status.REFUTED,
        reason=f"its {which} is no exponential polynomial of the gap: {found.reason}{cited}{evidence}",
        witness=point,
        side_conditions=found.conditions,
    )


def _sizes(maps: Mapping[str, tuple[sp.Expr, ...]], domain: str) -> Iterator[Verdict]:
    """Each entry and its negative bounded above."""
    for entry in (entry for entries in maps.values() for entry in entries):
        yield bounded_above(entry, GAP, domain)
        yield bounded_above(-entry, GAP, domain)


def _no_question(verdict: Verdict, why: str) -> Verdict:
    """NOT_CHECKED where the premise is refuted, else what is known of it."""
    if verdict.status is Status.REFUTED:
        return Verdict(status=Status.NOT_CHECKED, reason=why)
    return verdict
