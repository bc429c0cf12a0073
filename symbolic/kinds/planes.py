"""A symbolic number of planes: the score as a sum, and relativity by induction on the planes summed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import sympy as sp

from ..decide import Status, Verdict, decide
from ..entries import GAP, KEY
from ..errors import Unsupported
from ..exact import exact_entry
from .generated import Generated
from .summed import Addable

INDEX = sp.Symbol("j", integer=True, nonnegative=True)
FREQUENCY = sp.IndexedBase("w", positive=True)


@dataclass(frozen=True, eq=False, repr=False)
class PlaneSum(Addable):
    """n planes, n a symbol, each an encoding of two features with its own free frequency w[j].

    plane: the encoding of one plane, with `symbol` as its frequency. interleaved: plane j is (2j, 2j+1), else
    (j, j+n). frequency: what w[j] stands for, in terms of j and n.
    """

    plane: Generated
    symbol: sp.Symbol
    interleaved: bool
    frequency: sp.Expr

    @property
    def planes(self) -> sp.Expr:
        """n."""
        return self.head_dim / 2

    def content(self) -> tuple[sp.IndexedBase, sp.IndexedBase]:
        """q and k as indexed families q[i], k[i], 0 <= i < 2n."""
        return sp.IndexedBase("q", real=True), sp.IndexedBase("k", real=True)

    def term(self, t: sp.Expr, s: sp.Expr) -> sp.Expr:
        """The score of plane j."""
        first, second = (2 * INDEX, 2 * INDEX + 1) if self.interleaved else (INDEX, INDEX + self.planes)
        q, k = self.content()
        features = [q[first], q[second], k[first], k[second]]
        symbols = [x for column in self.plane.content() for x in column]
        names = dict(zip(symbols, features, strict=True)) | {self.symbol: FREQUENCY[INDEX]}
        return self.plane.score(t, s).xreplace(names)

    def score(self, t: object, s: object, *, q: object = None, k: object = None) -> sp.Sum:
        """Σ_j of the score of plane j, over 0 <= j < n; q and k stay symbols."""
        if q is not None or k is not None:
            raise Unsupported(
                f"{self.name} with {self.planes} planes keeps q and k symbolic; give a concrete head_dim"
            )
        return sp.Sum(self.term(exact_entry(t, "t"), exact_entry(s, "s")), (INDEX, 0, self.planes - 1))

    def _no_matrix(self) -> Unsupported:
        return Unsupported(
            f"{self.name} with {self.planes} planes has no explicit matrices; give a concrete head_dim, "
            "or ask one plane: .plane"
        )

    @property
    def generators(self) -> tuple:
        """Refused: the generator is -w[j] J on plane j; ask `.plane`."""
        raise self._no_matrix()

    def query_factor(self, t: sp.Expr) -> sp.ImmutableMatrix:
        """Refused: ask `.plane`."""
        raise self._no_matrix()

    def key_factor(self, s: sp.Expr) -> sp.ImmutableMatrix:
        """Refused: ask `.plane`."""
        raise self._no_matrix()

    def value_factor(self, s: sp.Expr) -> sp.ImmutableMatrix:
        """Refused: ask `.plane`."""
        raise self._no_matrix()

    def output_factor(self, t: sp.Expr) -> sp.ImmutableMatrix:
        """Refused: ask `.plane`."""
        raise self._no_matrix()

    def is_relative(self) -> Verdict:
        """By induction on the number N of planes summed: no plane gives 0; plane N adds a relative term.

        The step is decided for one plane with fresh content and a free frequency.
        """
        empty = sp.Sum(self.term(KEY + GAP, KEY), (INDEX, 0, -1)).doit()
        base = decide(empty, 0)
        if base.status is not Status.PROVED:
            return base
        step = decide(self.plane.score(KEY + GAP, KEY), self.plane.score(GAP, 0))
        if step.status is not Status.PROVED:
            return step
        return replace(
            step,
            reason=f"by induction on the planes summed, for every {self.planes}: the empty sum is 0, and the "
            "next plane adds a term with score(s+u, s) = score(u, 0), decided for free content and frequency",
        )

    def in_family(self) -> Verdict:
        """The plane is in the family; exp of a direct sum is the direct sum of the exps, for every n."""
        one = self.plane.in_family()
        if one.status is not Status.PROVED:
            return one
        reason = f"each plane: {one.reason}; {self.planes} planes by direct sum, {self.is_relative().reason}"
        return replace(one, reason=reason)

    def has_group_law(self) -> Verdict:
        """That of one plane: a direct sum composes plane by plane."""
        return self.plane.has_group_law()

    def is_bidirectional(self) -> Verdict:
        """That of one plane."""
        return self.plane.is_bidirectional()

    def is_bounded(self, domain: str = "real") -> Verdict:
        """That of one plane: the norm of a direct sum is the largest of its parts."""
        return self.plane.is_bounded(domain)

    def symbolic(self) -> tuple[PlaneSum, dict[sp.Expr, sp.Expr]]:
        """(this, whose frequencies w[j] are free already, {w[j]: what it stands for})."""
        return self, {FREQUENCY[INDEX]: self.frequency}

    def latex(self) -> str:
        """The sum as LaTeX."""
        t, s = sp.symbols("t s", real=True)
        return rf"\mathrm{{score}}(t, s) = {sp.latex(self.score(t, s))}"
