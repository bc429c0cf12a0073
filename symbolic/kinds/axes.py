"""Encodings on several axes: a position is a tuple of numbers, a generator for every coordinate.

    score(t, s) = qᵀ exp(t·X) exp(-s·X) k,   t·X = t_0 X_0 + … + t_{n-1} X_{n-1}

With commuting generators this is `qᵀ exp((t-s)·X) k`. For skew X_i = -A_i it is what turns q and k by
`exp(p·A)`, each by its own position.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import sympy as sp

from ..axes import Axes, Commutation, law_gap, named
from ..decide import Status, Verdict
from ..encoding import Encoding
from ..entries import Identities
from ..errors import BadInput
from ..generator import Generator
from ..spectral.sparse import product
from ..tree import D
from .summed import Addable

Vector = tuple[sp.Expr, ...]


@dataclass(frozen=True, eq=False, repr=False)
class AxesEncoding(Addable):
    """axes: X_0, …, X_{n-1} on head_dim features. Positions t and s are tuples of n exact numbers."""

    axes: Axes

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.axes.dim != self.head_dim:
            raise BadInput(f"the generators have size {self.axes.dim}, not head_dim {self.head_dim}")

    @property
    def generators(self) -> tuple[Generator, ...]:
        """(X_0, …, X_{n-1}), one an axis."""
        return self.axes.generators

    def query_factor(self, t: object) -> sp.ImmutableMatrix:
        """exp(t·X)ᵀ, shape (head_dim, head_dim); for axes that do not commute t must be numbers."""
        return self.axes.flow(self.position(t, "t")).T

    def key_factor(self, s: object) -> sp.ImmutableMatrix:
        """exp(-s·X), shape (head_dim, head_dim)."""
        return self.axes.flow(tuple(-x for x in self.position(s, "s")))

    def maps(self, t: object, s: object) -> dict[str, sp.MatrixBase]:
        """ "score": exp(t·X) exp(-s·X)."""
        return {"score": product(self.query_factor(t).T, self.key_factor(s))}

    def position(self, value: object, name: str) -> Vector:
        """`value` as a tuple of n exact numbers; WrongType or BadInput say so."""
        return self.axes.position(value, name)

    @cached_property
    def _symbolic(self) -> tuple[AxesEncoding, dict[sp.Symbol, sp.Expr]]:
        planes = self.axes.planes
        if planes is None:
            return self, {}
        numbers = dict.fromkeys(x for rates in planes.values() for x in rates if x and not x.free_symbols)
        names = {x: sp.Symbol(f"w{i}", real=True) for i, x in enumerate(numbers)}
        matrices = [
            {place: names.get(x[j, i], x[j, i]) * sign for i, j in planes for place, sign in _both(i, j)}
            for x in self.axes.matrices
        ]
        free = tuple(sp.ImmutableMatrix(sp.SparseMatrix(self.axes.dim, self.axes.dim, m)) for m in matrices)
        return replace(self, axes=Axes(free)), {symbol: x for x, symbol in names.items()}

    def symbolic(self) -> tuple[AxesEncoding, dict[sp.Symbol, sp.Expr]]:
        """(this with free real symbols w0 … for the numbers by which planes turn, their values)."""
        return self._symbolic

    def has_group_law(self) -> Verdict:
        """Decide exp(p·X) exp(q·X) = exp((p+q)·X): turns of planes by entries, others by commutators."""
        if self.axes.planes is None:
            return self.axes.commutation.verdict
        free, (p, q) = self.symbolic()[0].axes, self._points("pq")
        law = Identities().decide_matrices(product(free.flow(p), free.flow(q)), free.flow(_sum(p, q)))
        return replace(law, reason=f"A(p) A(q) = A(p+q) for free frequencies: {law.reason}")

    def is_relative(self) -> Verdict:
        """Decide whether scores depend on t - s only, a vector: exactly if the axes commute.

        Turns of planes are decided entry by entry with free real frequencies. A refutation has position pairs
        (s+u, s) and (u, 0) of equal gap, under s0 … and u0 …, and content at which balls tell scores apart.
        """
        found = self.axes.commutation
        if found.verdict.status is Status.REFUTED and found.positions:
            return self._refutation(found)
        if self.axes.planes is None:
            return found.verdict
        free, (s, u) = self.symbolic()[0], self._points("su")
        moved, fixed = free.maps(_sum(s, u), s)["score"], free.maps(u, (0,) * len(self.axes))["score"]
        law = Identities().decide_matrices(moved, fixed)
        return replace(law, reason=f"M(s+u, s) = M(u, 0) for free real frequencies: {law.reason}")

    def _points(self, letters: str) -> tuple[Vector, ...]:
        return tuple(named(letter, len(self.axes)) for letter in letters)

    def _refutation(self, found: Commutation) -> Verdict:
        """From A(u) A(s) ≠ A(s+u): then A(s+u) A(-s) ≠ A(u), an entry of which unit contents read off."""
        u, s = found.positions or ((), ())
        witness = found.verdict.witness or {}
        free = set().union(*(x.free_symbols for x in self.axes.matrices))
        given = {x: witness[x] for x in sorted(free, key=str)}
        numbers = [sp.ImmutableMatrix(x.xreplace(given)) for x in self.axes.matrices]
        apart = law_gap(numbers, _sum(s, u), tuple(-x for x in s))
        if apart is None:
            return found.verdict
        (row, column), gap = apart
        (q, k), names = self.content(), self._points("su")
        units = {x: sp.Integer(x in (q[row], k[column])) for x in (*q, *k)}
        values = f" with {', '.join(f'{x} = {value}' for x, value in given.items())}" if given else ""
        reason = (
            f"(t, s) = ({_sum(s, u)}, {s}) and ({u}, {(0,) * len(s)}) have the same gap, but the scores "
            f"differ by {gap} for q = e{row}, k = e{column}{values}: {found.obstruction}"
        )
        places = dict(zip([*names[0], *names[1]], [*s, *u], strict=True))
        return Verdict(Status.REFUTED, reason, places | given | units, (row, column), gap)

    def in_family(self) -> Verdict:
        """PROVED where every flow solves its equation and the axes commute, both decided exactly."""
        relative = self.is_relative()
        if relative.status is Status.REFUTED:
            return replace(relative, reason="it is not relative, and every member of the family is")
        if relative.status is not Status.PROVED:
            return relative
        flow = self._flow_verdict()
        if flow.status is not Status.PROVED:
            return flow
        reason = f"by construction, score = qᵀ exp((t-s)·X) k: {flow.reason}; {relative.reason}"
        return Verdict(Status.PROVED, reason)

    def _flow_verdict(self) -> Verdict:
        """E(0) = I and ∂E/∂p_i = X_i E for planes with free frequencies, else flow by flow."""
        if self.axes.planes is None:
            each = [generator.verify() for generator in self.generators]
            return next((x for x in each if x.status is not Status.PROVED), each[0])
        axes, (p,), identities = self.symbolic()[0].axes, self._points("p"), Identities()
        flow = axes.flow(p)
        claims = [(axes.flow((0,) * len(p)), sp.ImmutableMatrix(sp.eye(axes.dim)))]
        claims += [(_derivative(flow, x), product(m, flow)) for x, m in zip(p, axes.matrices, strict=True)]
        for lhs, rhs in claims:
            verdict = identities.decide_matrices(lhs, rhs)
            if verdict.status is not Status.PROVED:
                return verdict
        return Verdict(
            Status.PROVED,
            f"E(0) = I and ∂E/∂p_i = X_i E on {len(p)} axes ({len(identities.known)} different entries)",
        )

    def is_bounded(self, domain: str = "real") -> Verdict:
        """Decide sup ‖exp(p·X)‖ < ∞ over all p, or over p without negative entries with domain "causal"."""
        return self.axes.bounded(domain)

    def is_bidirectional(self) -> Verdict:
        """Decide whether exp(p·X) is bounded for positions of every sign on every axis."""
        return self.is_bounded()

    def shown_positions(self) -> tuple[Vector, Vector]:
        """The tuples (t0, t1, …) and (s0, s1, …); where axes do not commute, one step along two of them."""
        if self.axes.commutation.verdict.status is Status.PROVED:
            t, s = self._points("ts")
            return t, s
        one = [tuple(sp.Integer(i == axis) for i in range(len(self.generators))) for axis in (0, 1)]
        return one[0], one[1]

    def latex(self) -> str:
        """The score as LaTeX: written out for up to four features of commuting axes, else as a product."""
        if self.axes.commutation.verdict.status is Status.PROVED and self.head_dim <= 4:
            return super().latex()
        factors = r"\exp\Bigl(\sum_i t_i X_i\Bigr) \exp\Bigl(-\sum_i s_i X_i\Bigr)"
        return rf"\mathrm{{score}}(t, s) = q^{{\top}} {factors}\, k"

    def _cannot_add(self, other: object) -> Exception:
        if not isinstance(other, Encoding):
            return super()._cannot_add(other)
        mine = f"positions of {self.name} have {len(self.axes)} coordinates"
        return BadInput(
            f"{self.name} and {other.name} cannot be added: {mine}, and a sum on several axes is written as "
            "one list of generators, e.g. encoding('comrope', matrices=[...])"
        )


def _both(i: int, j: int) -> tuple[tuple[tuple[int, int], int], ...]:
    """The two entries of J in the plane (i, j)."""
    return ((j, i), 1), ((i, j), -1)


def _sum(a: Vector, b: Vector) -> Vector:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def _derivative(flow: sp.MatrixBase, x: sp.Symbol) -> sp.MatrixBase:
    return flow.applyfunc(lambda entry: D(entry, x))
