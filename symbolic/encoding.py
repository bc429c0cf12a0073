"""What an encoding is: lifts, factors, conventions, and the score they give.

    score(t, s) = (query_factor(t) φ(q))ᵀ (key_factor(s) ψ(k)) + bias(t, s)
    output      = Σ_s weight(t, s) · output_factor(t) value_factor(s) v_s

t is the query position, s the key position; φ and ψ append constants to q and k. For the family
`query_factor(t) = A(t)ᵀ` and `key_factor(s) = A(-s)` with `A(u) = exp(uX)`, so the score is
`φ(q)ᵀ exp((t-s)X) ψ(k)`.
The score never includes the scale: logit = scale · score.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import sympy as sp

from .decide import Status, Verdict
from .entries import shift_verdict
from .errors import BadInput, WrongType
from .exact import exact_entry
from .generator import Generator
from .separate import POSITIONS, separate


def content(head_dim: int) -> tuple[sp.ImmutableMatrix, sp.ImmutableMatrix]:
    """The columns q = (q0, q1, …) and k = (k0, k1, …) of real symbols, shape (head_dim, 1)."""
    return tuple(
        sp.ImmutableMatrix(head_dim, 1, [sp.Symbol(f"{name}{i}", real=True) for i in range(head_dim)])
        for name in "qk"
    )


@dataclass(frozen=True, eq=False, repr=False)
class Encoding(ABC):
    """The part common to all encodings; `encoding(name, ...)` builds one.

    name, parameters: as given to `encoding`, exact. head_dim: features of q and k (an int, or 2n with a
    symbol n). fixed_scale: replaces 1/sqrt(head_dim). trials: pairs (s, u) at which relativity may fail.
    Encodings are equal when name and parameters are.
    """

    name: str
    parameters: Mapping[str, object]
    head_dim: int | sp.Expr
    fixed_scale: sp.Expr | None = field(default=None, kw_only=True)
    trials: Sequence[tuple[int, int]] = field(default=POSITIONS, kw_only=True)

    def __post_init__(self) -> None:
        for key, value in self.parameters.items():
            _refuse_reserved(value, key)
        object.__setattr__(self, "parameters", MappingProxyType(dict(self.parameters)))

    @property
    def scale(self) -> sp.Expr:
        """1/sqrt(head_dim) unless a scale was given; the logit is scale · score."""
        return 1 / sp.sqrt(self.head_dim) if self.fixed_scale is None else self.fixed_scale

    @property
    def parts(self) -> tuple[Encoding, ...]:
        """The encodings that were added; one that is no sum is its own only part."""
        return (self,)

    @property
    def moves(self) -> bool:
        """Whether the content or the values are moved; what moves nothing only adds a bias."""
        return True

    def merged(self, part: Encoding) -> Encoding | None:
        """One encoding for both, which counts as one part of a sum; None where there is none."""
        return None

    def split(self) -> tuple[Encoding | None, tuple[Encoding, ...]]:
        """(what moves or None, the parts that only add a bias)."""
        return (self, ()) if self.moves else (None, (self,))

    def __add__(self, other: object) -> Encoding:
        """The sum of two encodings, of the kinds that can be added: scores add."""
        return NotImplemented

    @property
    def heads(self) -> tuple[Encoding, ...]:
        """One encoding per head; an encoding that treats all heads alike has one."""
        return (self,)

    @property
    def generators(self) -> tuple[Generator, ...]:
        """(X,) on the lifted space, one per clock; outside the family those that occur in the factors."""
        return ()

    def content(self) -> tuple[sp.ImmutableMatrix, sp.ImmutableMatrix]:
        """The columns q and k of real symbols q0 … and k0 …, shape (head_dim, 1)."""
        return content(self.head_dim)

    def query_lift(self, q: sp.MatrixBase) -> sp.MatrixBase:
        """φ(q): q with the constant slots appended, shape (lifted, 1)."""
        return q

    def key_lift(self, k: sp.MatrixBase) -> sp.MatrixBase:
        """ψ(k): k with the constant slots appended, shape (lifted, 1)."""
        return k

    @abstractmethod
    def query_factor(self, t: sp.Expr) -> sp.ImmutableMatrix:
        """F(t), shape (n, lifted): multiplies φ(q)."""

    @abstractmethod
    def key_factor(self, s: sp.Expr) -> sp.ImmutableMatrix:
        """G(s), shape (n, lifted): multiplies ψ(k)."""

    def value_factor(self, s: sp.Expr) -> sp.ImmutableMatrix:
        """V(s), shape (head_dim, head_dim): multiplies the value at s; the identity unless it is moved."""
        return sp.ImmutableMatrix(sp.eye(self.head_dim))

    def output_factor(self, t: sp.Expr) -> sp.ImmutableMatrix:
        """O(t), shape (head_dim, head_dim): multiplies the output at t; the identity unless it is moved."""
        return sp.ImmutableMatrix(sp.eye(self.head_dim))

    def bias(self, t: sp.Expr, s: sp.Expr) -> sp.Expr:
        """What is added to the score outside the factors; 0 unless the encoding is no matrix product."""
        return sp.S.Zero

    def position(self, value: object, name: str) -> Any:
        """`value` as a position, `name` in errors: an exact number; on several axes a tuple of them."""
        return exact_entry(value, name)

    def score(self, t: object, s: object, *, q: object = None, k: object = None) -> sp.Expr:
        """The unscaled score of the query at t and the key at s, for q and k (symbols q0 …, k0 … if None)."""
        t, s = self.position(t, "t"), self.position(s, "s")
        symbols = self.content()
        query = self.query_lift(column(q, symbols[0], "q"))
        key = self.key_lift(column(k, symbols[1], "k"))
        return self.pairing(t, s, query, key) + self.bias(t, s)

    def pairing(self, t: Any, s: Any, query: sp.MatrixBase, key: sp.MatrixBase) -> sp.Expr:
        """The product of a lifted query at t and a lifted key at s: (F(t) query)ᵀ (G(s) key)."""
        return ((self.query_factor(t) * query).T * (self.key_factor(s) * key))[0, 0]

    def shown_positions(self) -> tuple[Any, Any]:
        """The positions t and s at which the score is written out for a reader."""
        return sp.symbols("t s", real=True)

    def maps(self, t: sp.Expr, s: sp.Expr) -> dict[str, sp.MatrixBase]:
        """All that attention sees of the positions: "score" F(t)ᵀ G(s), and what else this encoding has.

        "bias": the bias as a 1x1 matrix; "values": O(t) V(s), where values are moved.
        """
        return {"score": self.query_factor(t).T * self.key_factor(s)}

    def symbolic(self) -> tuple[Encoding, dict[sp.Symbol, sp.Expr]]:
        """(this encoding with free symbols w0 … for frequencies and g0 … for decays, their values)."""
        return self, {}

    def is_relative(self) -> Verdict:
        """Decide whether scores and value maps depend on t - s only, for every q, k.

        Proved for free frequencies where they are positive symbols, hence for the given numbers. A refutation
        names two position pairs with equal gap, and content, at which balls prove the scores apart; the
        witness has s and u (the pairs are (s+u, s) and (u, 0)), the content and any parameters.
        """
        free = shift_verdict(self.symbolic()[0].maps)
        if free.place is None:
            return free.verdict
        # Free frequencies may fail where the given ones do not, so a refutation is found at the given ones.
        refuted = separate(self, free.place, self.trials)
        return shift_verdict(self.maps).verdict if refuted is None else refuted

    @abstractmethod
    def in_family(self) -> Verdict:
        """Decide whether score and value map have the form `φ(q)ᵀ C exp((t-s)X) B ψ(k)` with one fixed X."""

    def has_group_law(self) -> Verdict:
        """Decide A(u+v) = A(u)A(v), A(0) = I for the map A on lifted features; what is outside has no A."""
        family = self.in_family()
        if family.status is not Status.REFUTED:
            return family
        return replace(family, reason="there is no such A outside the family")

    @abstractmethod
    def is_bidirectional(self) -> Verdict:
        """Decide whether keys ahead can be used: `is_bounded`, but for the bias from above only."""

    @abstractmethod
    def is_bounded(self, domain: str = "real") -> Verdict:
        """Decide whether what multiplies the content or the values, and the bias, stay bounded.

        Over all gaps where these are functions of the gap (for a member of the family: sup ‖exp(uX)‖ with a
        least X), else over all positions of F(t) and G(s). domain "causal": gaps, or positions, >= 0.
        NOT_CHECKED only where no formula says: opaque tables, positions made of content, products in order
        of which no bound is known.
        """

    def is_cocycle(self) -> Verdict | None:
        """Decide U(t, t) = I and U(t, s) U(s, r) = U(t, r) for encodings read at clocks; None for others."""
        return None

    def is_relative_in_clocks(self) -> Verdict | None:
        """Decide whether U(t, s) depends on differences of clock readings only; None without clocks."""
        return None

    def in_family_in_clocks(self) -> Verdict | None:
        """Decide whether U(t, s) is exp of generators at differences of readings; None without clocks."""
        return self.is_relative_in_clocks()

    @property
    def sentence(self) -> str:
        """The encoding in words, one line."""
        given = ", ".join(f"{key}={_said(x)}" for key, x in self.parameters.items() if x is not None)
        return f"{self.name}({given})"

    def latex(self) -> str:
        """The score as LaTeX: written out for up to four features, else as a matrix product."""
        if self.head_dim in (1, 2, 3, 4):
            t, s = self.shown_positions()
            return rf"\mathrm{{score}}({sp.latex(t)}, {sp.latex(s)}) = {sp.latex(self.score(t, s))}"
        return r"\mathrm{score}(t, s) = \varphi(q)^{\top} F(t)^{\top} G(s)\, \psi(k)"

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex()}$"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p>{escape(self.sentence)}</p><p>$\\displaystyle {escape(self.latex())}$</p>"

    def __repr__(self) -> str:
        return self.sentence

    def _key(self) -> tuple:
        if self.parts[0] is not self:
            return tuple(part._key() for part in self.parts)
        return (self.name, tuple(self.parameters.items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Encoding) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


_RESERVED = re.compile(r"[tsu]\d*|[pqk]\d+")  # positions, gaps and content


def _refuse_reserved(value: object, name: str) -> None:
    """Parameters may not contain symbols that stand for positions or content here."""
    if isinstance(value, (list, tuple)):
        for part in value:
            _refuse_reserved(part, name)
    taken = sorted(str(x) for x in getattr(value, "free_symbols", ()) if _RESERVED.fullmatch(str(x)))
    if taken:
        raise BadInput(
            f"{name} contains the symbol {taken[0]}, which stands for a position or content here; another "
            f"name works, such as {taken[0]}_"
        )


def _said(value: object) -> str:
    """A parameter on one line: matrices and tuples as lists."""
    if isinstance(value, sp.MatrixBase):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_said, value))}]"
    return str(value)


def column(given: object, symbols: sp.ImmutableMatrix, name: str) -> sp.MatrixBase:
    """The content `given` as an exact column, or the symbols when it is None."""
    if given is None:
        return symbols
    if not isinstance(given, (Sequence, sp.MatrixBase)) or isinstance(given, str):
        raise WrongType(
            f"{name} is a {type(given).__name__}; a list of exact numbers or a column Matrix works"
        )
    if len(given) != symbols.rows:
        raise BadInput(f"{name} has {len(given)} entries; head_dim is {symbols.rows}")
    return sp.ImmutableMatrix(symbols.rows, 1, [exact_entry(x, f"{name}[{i}]") for i, x in enumerate(given)])
