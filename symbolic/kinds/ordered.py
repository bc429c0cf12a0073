"""Encodings that multiply one matrix a token, in order: a cocycle, and nothing more unless they commute.

    score(t, s) = qᵀ U(t, s) k,   U(t, s) = H_t ⋯ H_{s+1}   inclusive,   H_{t-1} ⋯ H_s   exclusive

Positions are whole numbers with t >= s. A singular factor has no inverse: then there is a query-and-key
product for every pair, but no factor of the key alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import sympy as sp

from ..balls import enclose
from ..clocks import any_product_is_a_cocycle, order_free
from ..decide import Status, Verdict, decide
from ..entries import Identities, Place
from ..errors import BadInput
from ..exact import whole
from ..separate import separate
from ..spectral.sparse import product
from ..spectral.spectrum import in_field
from .summed import Addable

Numbers = tuple[sp.Expr, ...]
REACH = ((1, 1), (2, 1), (1, 2), (2, 2))  # (s, u) at which equal gaps are compared
FARTHEST = 10**6  # a position
LONGEST = 256  # factors that are multiplied


class Loss(NamedTuple):
    """c w wᵀ, a part of I - HᵀH; c is the product of the factors, each >= 0 where the premise holds."""

    factors: tuple[sp.Expr, ...]
    column: sp.MatrixBase

    @property
    def matrix(self) -> sp.MatrixBase:
        """c w wᵀ."""
        return sp.Mul(*self.factors) * self.column * self.column.T


@dataclass(frozen=True)
class Tokens:
    """The matrices of the tokens.

    names: what the numbers of a token are called, opaque functions of the token. matrix: H from these
    numbers, square. samples: numbers that the encoding admits, among them two whose matrices do not commute
    and a singular one, where there are such. given: the numbers of the tokens 0, 1, … if they are known.
    losses: from the numbers, the parts that I - HᵀH is claimed to be the sum of, where the premise holds.
    """

    names: tuple[str, ...]
    matrix: Callable[..., sp.MatrixBase]
    samples: tuple[Numbers, ...] = ()
    given: tuple[Numbers, ...] | None = None
    losses: Callable[..., Sequence[Loss]] | None = None
    premise: str = ""

    def __post_init__(self) -> None:
        for numbers in (*self.samples, *(self.given or ())):
            if len(numbers) != len(self.names):
                raise BadInput(f"a token has {len(numbers)} numbers; {', '.join(self.names)} work")

    def symbols(self, token: int) -> Numbers:
        """The opaque numbers of a token."""
        return tuple(sp.Function(name, real=True)(sp.Integer(token)) for name in self.names)

    def free_symbols(self, token: int) -> Numbers:
        """Free symbols in place of opaque numbers, as `decide` takes them."""
        return tuple(sp.Symbol(f"{name}_{token}", real=True) for name in self.names)

    def free(self, token: int) -> sp.ImmutableMatrix:
        """H of free symbols."""
        return self.of(self.free_symbols(token))

    def factor(self, token: int) -> sp.ImmutableMatrix:
        """H of a token: of its given numbers, or of opaque ones."""
        if self.given is None:
            return self.of(self.symbols(token))
        if not 0 <= token < len(self.given):
            last = len(self.given) - 1
            raise BadInput(f"token {token} is not among the given ones; 0 to {last} are, say as positions")
        return self.of(self.given[token])

    def of(self, numbers: Numbers) -> sp.ImmutableMatrix:
        """H of these numbers."""
        return sp.ImmutableMatrix(self.matrix(*numbers))

    @property
    def known(self) -> tuple[sp.ImmutableMatrix, ...]:
        """The matrices of the given tokens, else of the samples."""
        return tuple(self.of(numbers) for numbers in (self.given or self.samples))

    def cycled(self, count: int) -> Tokens:
        """The first two samples in turn as the numbers of the first tokens."""
        return replace(self, given=tuple(self.samples[i % 2] for i in range(count)))


@dataclass(frozen=True, eq=False, repr=False)
class Ordered(Addable):
    """One matrix a token, multiplied from the key to the query, later tokens on the left.

    tokens: the matrices, of size head_dim. inclusive: the query's own token counts and the key's does not, or
    the other way round. moves_values: the value at s reaches t as U(t, s)v.
    """

    tokens: Tokens
    inclusive: bool = True
    moves_values: bool = False

    def position(self, value: object, name: str) -> sp.Integer:
        """`value` as a whole number."""
        return sp.Integer(whole(value, name, 0, FARTHEST))

    def shown_positions(self) -> tuple[sp.Integer, sp.Integer]:
        """One token apart, where the product is one matrix."""
        return sp.S.One, sp.S.Zero

    def evolution(self, t: int, s: int) -> sp.ImmutableMatrix:
        """U(t, s), shape (head_dim, head_dim), for whole t >= s."""
        if t < s:
            raise BadInput(f"t is {t} and s is {s}; the product runs from the key on, so t >= s works")
        if t - s > LONGEST:
            raise BadInput(f"t - s is {t - s}; at most {LONGEST} factors are multiplied out")
        first, last = (s + 1, t) if self.inclusive else (s, t - 1)
        result = sp.ImmutableMatrix(sp.eye(self.head_dim))
        for token in range(first, last + 1):
            result = product(self.tokens.factor(token), result)
        return result

    def maps(self, t: sp.Expr, s: sp.Expr) -> dict[str, sp.MatrixBase]:
        """ "score": U(t, s), and "values": the same, where values are moved."""
        moved = self.evolution(int(t), int(s))
        return {"score": moved, "values": moved} if self.moves_values else {"score": moved}

    def pairing(self, t: Any, s: Any, query: sp.MatrixBase, key: sp.MatrixBase) -> sp.Expr:
        """queryᵀ U(t, s) key."""
        return (query.T * self.evolution(int(t), int(s)) * key)[0, 0]

    def query_factor(self, t: sp.Expr) -> sp.ImmutableMatrix:
        """U(t, 0)ᵀ."""
        return self.evolution(int(self.position(t, "t")), 0).T

    def key_factor(self, s: sp.Expr) -> sp.ImmutableMatrix:
        """U(s, 0)⁻¹; BadInput where a factor may be singular: then no factor of the key alone exists."""
        verdict = self.has_key_side()
        if verdict.status is not Status.PROVED:
            raise BadInput(f"{self.name} has no key factor: {verdict.reason}; score(t, s) works without it")
        whole_way = self.evolution(int(self.position(s, "s")), 0)
        if self._turns():
            return whole_way.T
        return sp.ImmutableMatrix(in_field(whole_way).inv().to_Matrix())

    def is_cocycle(self) -> Verdict:
        """U(t, t) = I and U(t, s)U(s, r) = U(t, r), for any factors whatever."""
        return any_product_is_a_cocycle()

    def is_relative(self) -> Verdict:
        """Decide whether scores depend on t - s only: refuted by two equal gaps with factors that differ.

        The witness has s and u, content, and the numbers of the tokens. Proved for given tokens all alike.
        """
        if self.tokens.given is not None:
            return self._equal_steps()
        tried = self.tokens.cycled(6)
        shown = replace(self, tokens=tried)
        for s, u in REACH:
            found = _first_gap(shown, s, u)
            if found is not None:
                return self._with_numbers(found, tried, s + u)
        return Verdict(Status.UNDECIDED, "no two equal gaps were found at which the samples differ")

    def _equal_steps(self) -> Verdict:
        passed = self.tokens.known[1:] if self.inclusive else self.tokens.known[:-1]
        if len(passed) < 2:
            reason = f"{len(self.tokens.known)} tokens make no two steps; give at least 3 to compare"
            return Verdict(Status.UNDECIDED, reason)
        first, *others = passed
        for s, factor in enumerate(others, start=1):
            if factor != first:
                found = _first_gap(self, s, 1)
                return Identities().decide_matrices(factor, first) if found is None else found
        return Verdict(Status.PROVED, "all factors that occur are the same, so U(t,s) is a power of one")

    def _with_numbers(self, found: Verdict, tried: Tokens, last: int) -> Verdict:
        """The refutation with what the tokens up to `last` were taken to be."""
        given = tried.given or ()
        numbers = {
            name: value
            for token in range(0 if not self.inclusive else 1, last + (1 if self.inclusive else 0))
            for name, value in zip(tried.symbols(token), given[token], strict=True)
        }
        said = ", ".join(f"{name} = {value}" for name, value in numbers.items())
        return replace(found, reason=f"{found.reason}, with {said}", witness=(found.witness or {}) | numbers)

    def in_family(self) -> Verdict:
        """REFUTED where not relative; for powers of one H it is open, whether H has a real logarithm."""
        relative = self.is_relative()
        if relative.status is Status.REFUTED:
            reason = f"a member of the family depends on t - s only, this one does not: {relative.reason}"
            return replace(relative, reason=reason)
        if relative.status is not Status.PROVED:
            return relative
        return Verdict(Status.UNDECIDED, f"whether the factor is exp(X) is not decided: {relative.reason}")

    def is_relative_in_clocks(self) -> Verdict:
        """Decide whether U depends on how often each factor was passed only, whatever the order.

        Any clock adds up the same when two tokens change places; refuted by two that do not commute.
        """
        verdict = order_free(self.tokens.known)
        if verdict.status is Status.REFUTED:
            reason = f"every clock reads the same after both orders, but {verdict.reason}"
            return replace(verdict, reason=reason)
        if verdict.status is not Status.PROVED or self.tokens.given is not None:
            return verdict
        free = order_free([self.tokens.free(1), self.tokens.free(2)])
        if free.status is Status.PROVED:
            return replace(free, reason="any two factors commute, decided for free numbers of the tokens")
        return Verdict(Status.UNDECIDED, "the samples commute; free factors were not shown to")

    def has_key_side(self) -> Verdict:
        """Decide whether every factor has an inverse, so that U(t, s) = U(t, 0) U(s, 0)⁻¹ splits.

        Refuted by a singular factor: then U is a semigroup, and no key can be cached once for all queries.
        """
        if self._turns():
            return Verdict(Status.PROVED, "HᵀH = I for every token, decided for free numbers")
        for number, factor in enumerate(self.tokens.known):
            if decide(_determinant(factor)).status is Status.PROVED:
                numbers = (self.tokens.given or self.tokens.samples)[number]
                said = ", ".join(f"{n} = {x}" for n, x in zip(self.tokens.names, numbers, strict=True))
                reason = f"the factor with {said} is singular: it has no inverse, U is only a semigroup"
                return Verdict(Status.REFUTED, reason)
        if self.tokens.given is None:
            return Verdict(
                Status.UNDECIDED, "no sample is singular; free factors were not shown to be regular"
            )
        return Verdict(Status.PROVED, f"none of {len(self.tokens.known)} given factors is singular")

    def _turns(self) -> bool:
        """Whether HᵀH = I for the tokens at hand."""
        unit = sp.ImmutableMatrix(sp.eye(self.head_dim))

        def keeps(h: sp.MatrixBase) -> bool:
            return Identities().decide_matrices(product(h.T, h), unit).status is Status.PROVED

        known = all(map(keeps, self.tokens.known))
        return known and (self.tokens.given is not None or keeps(self.tokens.free(1)))

    def is_bidirectional(self) -> Verdict:
        """PROVED for rotations; REFUTED by a factor that has no inverse, or whose determinant is not ±1.

        Ahead of the query the inverses act; where |det H| is not 1, the powers of H or those of its inverse
        have determinants that leave every bound. NOT_CHECKED where no bound of the products is known.
        """
        if self._turns():
            return Verdict(Status.PROVED, "HᵀH = I for every token: products and inverses keep every length")
        side = self.has_key_side()
        if side.status is Status.REFUTED:
            return replace(side, reason=f"no map for a key ahead of the query: {side.reason}")
        for factor in self.tokens.known:
            size = _determinant(factor)
            if decide(size**2, 1).status is Status.REFUTED:
                reason = f"a factor has determinant {size}: its powers grow in one direction"
                return Verdict(Status.REFUTED, reason)
        return Verdict(Status.NOT_CHECKED, "no bound of the products is known; all determinants are ±1")

    def is_bounded(self, domain: str = "real") -> Verdict:
        """Decide whether U(t, s) is bounded for all tokens, keys ahead as well; "causal": for t >= s."""
        return self.shrinks() if domain == "causal" else self.is_bidirectional()

    def shrinks(self) -> Verdict:
        """PROVED where no factor makes a vector longer: I - HᵀH = Σ c w wᵀ, decided, with every c >= 0.

        NOT_CHECKED where no such sum is known; for given tokens also where a c is not known to be >= 0.
        """
        if self._turns():
            return Verdict(Status.PROVED, "HᵀH = I for every token, so no factor changes a length")
        if self.tokens.losses is None:
            return Verdict(Status.NOT_CHECKED, "no bound of the products is known")
        numbers = self.tokens.free_symbols(1)
        factor, unit = self.tokens.of(numbers), sp.ImmutableMatrix(sp.eye(self.head_dim))
        lost = sum((loss.matrix for loss in self.tokens.losses(*numbers)), sp.zeros(*unit.shape))
        found = Identities().decide_matrices(unit - product(factor.T, factor), sp.ImmutableMatrix(lost))
        if found.status is not Status.PROVED:
            return found
        for token, known in enumerate(self.tokens.given or ()):
            if not all(_not_negative(c) for loss in self.tokens.losses(*known) for c in loss.factors):
                reason = f"no bound is known: token {token} is not known to have {self.tokens.premise}"
                return Verdict(Status.NOT_CHECKED, reason)
        why = f"for {self.tokens.premise} no factor makes a vector longer: I - HᵀH is a sum of c·w·wᵀ, c ≥ 0"
        return replace(found, reason=f"{why}, decided for free numbers")

    def latex(self) -> str:
        """The score as LaTeX, a product of factors."""
        ends = r"H_t \cdots H_{s+1}" if self.inclusive else r"H_{t-1} \cdots H_s"
        return rf"\mathrm{{score}}(t, s) = q^{{\top}} {ends}\, k"


def _not_negative(value: sp.Expr) -> bool:
    return bool(value.is_nonnegative) or (value.is_number and enclose(value).lower >= 0)


def _determinant(factor: sp.MatrixBase) -> sp.Expr:
    """det H over the field of its entries."""
    domain = in_field(factor)
    return domain.domain.to_sympy(domain.det())


def _first_gap(encoding: Ordered, s: int, u: int) -> Verdict | None:
    """A refutation at (s + u, s) and (u, 0), at the first entry that tells them apart."""
    moved, fixed = encoding.evolution(s + u, s), encoding.evolution(u, 0)
    for row, column in sorted(set(moved.todok()) | set(fixed.todok())):
        if moved[row, column] != fixed[row, column]:
            found = separate(encoding, Place("score", row, column), [(s, u)])
            if found is not None:
                return found
    return None
