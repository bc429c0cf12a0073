"""Several axes: the flow of n generators, whether they commute, and what tells it apart where they do not.

    A(p) = exp(p_0 X_0 + … + p_{n-1} X_{n-1});   A(p) A(q) = A(p+q) for all p, q   iff   X_i X_j = X_j X_i

If they commute the exponents add; if not, the two sides differ by ½(X_i X_j - X_j X_i) at second order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import sympy as sp
from flint import ctx

from .decide import Status, Verdict, decide
from .enclosed_flow import ball_matrix
from .errors import BadInput, Unsupported, WrongType
from .exact import exact_entry, exact_matrix
from .generator import Generator
from .separate import assign
from .spectral.sparse import from_sparse, product
from .walk import shown

Position = tuple[sp.Expr, ...]
Difference = tuple[tuple[int, int], str]

DIGITS = 40
# Step sizes for a witness; a small one always works, since the second order of the difference is not 0.
STEPS = (sp.S.One, sp.S.Half, sp.Rational(1, 10), sp.Rational(1, 1000), sp.Rational(1, 10**6))


def commutation(generators: Sequence[object]) -> Commutation:
    """Decide whether X_i X_j = X_j X_i for every pair, exactly.

    generators: Generators or exact square matrices (rationals, roots, symbols) of one size, one an axis.
    Errors: WrongType for floats and what is no matrix; BadInput for sizes that differ or an empty list.
    """
    return Axes.of(generators).commutation


@dataclass(frozen=True)
class Commutation:
    """The answer of `commutation`.

    verdict      PROVED or REFUTED by exact commutators; UNDECIDED where an entry is outside what is decided
    pair         REFUTED: the first two axes (i, j), counted from 0, that do not commute
    defect       ½(X_i X_j - X_j X_i), the second order of exp(aX_i) exp(bX_j) - exp(aX_i + bX_j) at ab
    obstruction  the pair and an entry of its commutator, in words
    positions    rational p, q at which balls tell exp(p·X) exp(q·X) and exp((p+q)·X) apart
    """

    verdict: Verdict
    pair: tuple[int, int] | None = None
    defect: sp.ImmutableMatrix | None = None
    obstruction: str = ""
    positions: tuple[Position, Position] | None = None

    @property
    def holds(self) -> bool:
        """True if they commute, False if not; Undecidable is raised where that is open."""
        return self.verdict.holds

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return f"{self.verdict.status.value}: {self.verdict.reason}"


@dataclass(frozen=True)
class Axes:
    """X_0, …, X_{n-1}, exact and of one size, an axis each, as `Generator`s or as plain matrices."""

    given: tuple[Generator | sp.ImmutableMatrix, ...]

    @classmethod
    def of(cls, generators: Sequence[object], name: str = "generators") -> Axes:
        """From Generators or exact square matrices; errors, which say `name`, as in `commutation`."""
        if not isinstance(generators, Sequence) or isinstance(generators, str):
            raise WrongType(f"{name} is {shown(generators)}; a list with one square matrix an axis works")
        if not generators:
            raise BadInput(f"{name} is empty; one square matrix an axis works")
        held = tuple(
            x if isinstance(x, Generator) else exact_matrix(x, f"{name}[{i}]")
            for i, x in enumerate(generators)
        )
        sizes = [_matrix(x).rows for x in held]
        for i, size in enumerate(sizes):
            if size != sizes[0]:
                raise BadInput(
                    f"{name}[{i}] is {size} x {size} and {name}[0] is {sizes[0]} x {sizes[0]}; "
                    "matrices of one size work"
                )
        return cls(held)

    def __len__(self) -> int:
        return len(self.given)

    @cached_property
    def matrices(self) -> tuple[sp.ImmutableMatrix, ...]:
        """X_0, …, X_{n-1}, each of shape (dim, dim), in 1/position."""
        return tuple(map(_matrix, self.given))

    @cached_property
    def generators(self) -> tuple[Generator, ...]:
        """The same as Generators; refused as by `Generator(matrix)` where the type of one is open."""
        return tuple(x if isinstance(x, Generator) else Generator(x) for x in self.given)

    @property
    def dim(self) -> int:
        """Rows of every X_i."""
        return self.matrices[0].rows

    def position(self, value: object, name: str = "p") -> Position:
        """`value` as n exact coordinates; WrongType and BadInput say what a position is."""
        n = len(self)
        wanted = f"a position on {n} {'axis' if n == 1 else 'axes'} is a tuple of {n} exact numbers"
        if isinstance(value, str) or not isinstance(value, Sequence | sp.Tuple | sp.MatrixBase):
            raise WrongType(f"{name} is {shown(value)}; {wanted}")
        if len(value) != n:
            raise BadInput(f"{name} has {len(value)} coordinates; {wanted}")
        return tuple(exact_entry(x, f"{name}[{i}]") for i, x in enumerate(value))

    def combined(self, p: object) -> sp.ImmutableMatrix:
        """Σ p_i X_i."""
        return _combined(self.matrices, self.position(p))

    @cached_property
    def planes(self) -> dict[tuple[int, int], Position] | None:
        """{(i, j): what each X turns the coordinate plane i < j by, radians per position}, counter-clockwise.

        None unless every X_a is a sum of turns θJ, J = [[0, -1], [1, 0]], on the same disjoint planes.
        """
        places = {place for matrix in self.matrices for place in matrix.todok()}
        rows = [i for i, _ in places]
        if len(set(rows)) < len(rows) or any(
            matrix[i, j] != -matrix[j, i] for matrix in self.matrices for i, j in places
        ):
            return None
        return {(i, j): tuple(x[j, i] for x in self.matrices) for i, j in sorted(places) if i < j}

    def flow(self, p: object) -> sp.ImmutableMatrix:
        """exp(p·X), shape (dim, dim), exact; p may be symbolic if the axes commute.

        Turns of planes turn by the summed angle; other commuting axes give the product of their flows. If
        they do not commute, the Jordan type of Σ p_i X_i is found, for numbers p; else Unsupported.
        """
        where = self.position(p)
        if self.planes is not None:
            return _turned(self.dim, self.planes, where)
        if self.commutation.verdict.status is Status.PROVED:
            flow = sp.ImmutableMatrix(sp.eye(self.dim))
            for generator, coordinate in zip(self.generators, where, strict=True):
                flow = product(flow, generator.exp(coordinate)) if coordinate else flow
            return flow
        try:
            return Generator(_combined(self.matrices, where)).exp(1)
        except Unsupported as refusal:
            raise Unsupported(
                f"exp(p·X) at p = {where}: the axes are not known to commute, and {refusal}"
            ) from None

    @cached_property
    def commutation(self) -> Commutation:
        """Every commutator, decided exactly; the first that is not 0 answers, with its witness."""
        undecided = None
        for i, j in combinations(range(len(self)), 2):
            a, b = self.matrices[i], self.matrices[j]
            commutator = (a * b - b * a).applyfunc(sp.expand)
            for place, entry in sorted(commutator.todok().items()):
                verdict = decide(entry, 0)
                if verdict.status is Status.REFUTED:
                    return self._refuted((i, j), place, commutator, verdict)
                if verdict.status is not Status.PROVED and undecided is None:
                    reason = f"entry {place} of the commutator of axes {i} and {j}: {verdict.reason}"
                    undecided = Commutation(Verdict(verdict.status, reason, entry=place), (i, j))
        return Commutation(Verdict(Status.PROVED, _agreement(len(self)))) if undecided is None else undecided

    def _refuted(
        self, pair: tuple[int, int], place: tuple[int, int], commutator: sp.MatrixBase, verdict: Verdict
    ) -> Commutation:
        """Two axes that do not commute: the defect, and positions at which the group law fails."""
        point = dict(verdict.witness or {})
        point |= assign(set().union(*(x.free_symbols for x in self.matrices)) - set(point))
        i, j = pair
        given = f" with {', '.join(f'{x} = {value}' for x, value in point.items())}" if point else ""
        bracket = f"X_{i} X_{j} - X_{j} X_{i}"
        why = f"axes {i} and {j} do not commute: entry {place} of {bracket} is {commutator[place]}"
        reason = f"{why}; half of that is the second order of exp(p·X) exp(q·X) - exp((p+q)·X)"
        defect = sp.ImmutableMatrix(commutator / 2)
        found = self._separated(pair, point)
        if found is None:
            return Commutation(Verdict(Status.REFUTED, f"{reason}{given}", point, place), pair, defect, why)
        p, q, (entry, gap) = found
        reason = f"{reason}, whose entry {entry} is {gap} at p = {p}, q = {q}{given}"
        witness = self._named("p", p) | self._named("q", q) | point
        refuted = Verdict(Status.REFUTED, reason, witness, entry, gap)
        return Commutation(refuted, pair, defect, why, (p, q))

    def _named(self, letter: str, position: Position) -> dict[sp.Expr, sp.Expr]:
        return dict(zip(named(letter, len(self)), position, strict=True))

    def _separated(
        self, pair: tuple[int, int], point: dict[sp.Symbol, sp.Expr]
    ) -> tuple[Position, Position, Difference] | None:
        """(p, q, where and by how much) with exp(p·X) exp(q·X) ≠ exp((p+q)·X) at the point, by balls."""
        numbers = [sp.ImmutableMatrix(x.xreplace(point)) for x in self.matrices]
        for step in STEPS:
            p, q = (tuple(step if a == axis else sp.S.Zero for a in range(len(self))) for axis in pair)
            found = law_gap(numbers, p, q)
            if found:
                return p, q, found
        return None

    def bounded(self, domain: str = "real") -> Verdict:
        """Whether sup ‖exp(p·X)‖ is finite over all p ("real"), or all p >= 0 entrywise ("causal").

        Skew axes keep every length. Commuting axes are bounded together iff each is; one unbounded axis is
        enough to refute. UNDECIDED for bounded axes that neither commute nor are all skew.
        """
        if domain not in ("real", "causal"):
            raise BadInput(f"domain is {domain!r}; 'real' or 'causal' works")
        if all(_is_skew(x) for x in self.matrices):
            return Verdict(Status.PROVED, "every X_i is skew, so exp(p·X) keeps every length for all p")
        try:
            each = [generator.bounded() for generator in self.generators]
        except (BadInput, Unsupported) as refusal:
            return Verdict(Status.UNDECIDED, str(refusal))
        for i, found in enumerate(each):
            if not (found.all_times if domain == "real" else found.forward):
                return Verdict(Status.REFUTED, f"axis {i}: {found.reason}")
        where = "for all times" if domain == "real" else "for times >= 0"
        if self.commutation.verdict.status is Status.PROVED:
            reason = f"the axes commute and each is bounded {where}, so their product is"
            return Verdict(Status.PROVED, reason)
        reason = f"each axis is bounded {where}, but they are not known to commute and are not all skew"
        return Verdict(Status.UNDECIDED, reason)


def named(letter: str, axes: int) -> tuple[sp.Symbol, ...]:
    """(s0, s1, …): the real symbols for the coordinates of a position."""
    return tuple(sp.Symbol(f"{letter}{i}", real=True) for i in range(axes))


def law_gap(matrices: Sequence[sp.ImmutableMatrix], p: Position, q: Position) -> Difference | None:
    """(entry, its value in words) where balls show exp(p·X) exp(q·X) ≠ exp((p+q)·X), or None.

    matrices: the X_i, without free symbols. Arb's matrix exponential is used, which knows no Jordan type.
    """
    together = tuple(a + b for a, b in zip(p, q, strict=True))
    left, right, whole = (ball_matrix(_combined(matrices, at), DIGITS) for at in (p, q, together))
    with ctx.workprec(int(DIGITS * 3.33) + 32):
        difference = left.exp() * right.exp() - whole.exp()
        for i in range(difference.nrows()):
            for j in range(difference.ncols()):
                if not difference[i, j].contains(0):
                    return (i, j), difference[i, j].mid().str(10, radius=False)
    return None


def _matrix(given: Generator | sp.ImmutableMatrix) -> sp.ImmutableMatrix:
    return given.matrix if isinstance(given, Generator) else given


def _combined(matrices: Sequence[sp.ImmutableMatrix], p: Position) -> sp.ImmutableMatrix:
    terms: dict[tuple[int, int], list[sp.Expr]] = {}
    for coordinate, matrix in zip(p, matrices, strict=True):
        for place, entry in matrix.todok().items() if coordinate else ():
            terms.setdefault(place, []).append(coordinate * entry)
    return from_sparse(matrices[0].rows, {place: sp.Add(*parts) for place, parts in terms.items()})


def _turned(dim: int, planes: dict[tuple[int, int], Position], p: Position) -> sp.ImmutableMatrix:
    """R(Σ p_a θ_a) on every plane, 1 on the coordinates in no plane."""
    entries = {(i, i): sp.S.One for i in range(dim)}
    for (i, j), rates in planes.items():
        angle = sp.Add(*(a * b for a, b in zip(p, rates, strict=True)))
        entries[i, i] = entries[j, j] = sp.cos(angle)
        entries[j, i], entries[i, j] = sp.sin(angle), -sp.sin(angle)
    return from_sparse(dim, entries)


def _is_skew(matrix: sp.ImmutableMatrix) -> bool:
    return all(sp.expand(x) == 0 for x in (matrix + matrix.T).todok().values())


def _agreement(axes: int) -> str:
    pairs = axes * (axes - 1) // 2
    if not pairs:
        return "one axis: exp(pX) exp(qX) = exp((p+q)X) for every X"
    count = "the commutator is" if pairs == 1 else f"all {pairs} commutators are"
    return f"{count} 0, so exp(p·X) exp(q·X) = exp((p+q)·X)"
