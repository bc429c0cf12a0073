"""The family: encodings with one fixed generator on the content, and relative biases in spare slots."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import sympy as sp

from ..block import Block
from ..combine import direct_sum, generator_sum
from ..decide import Status, Verdict, group_law
from ..encoding import Encoding
from ..entries import GAP, QUERY, Identities
from ..errors import BadInput
from ..flow import verify_assembled
from ..generator import Generator
from ..spectral.classify import AnyBlock
from ..spectral.companion import CompanionBlock
from ..tree import D
from ..verdict import conjunction
from .bounds import FROM_ABOVE, IN_SIZE, Sides, in_one, named
from .summed import Addable

LONGEST_MIXED = 8  # features that a dense basis may mix before identities are decided block by block


@dataclass(frozen=True)
class Bias:
    """A relative bias held in spare slots: b(u) = queryᵀ exp(uX) key; query and key are constant columns."""

    generator: Generator
    query: sp.ImmutableMatrix
    key: sp.ImmutableMatrix

    def at(self, u: sp.Expr) -> sp.Expr:
        """b(u), which is added to the unscaled score."""
        return (self.query.T * self.generator.exp(u) * self.key)[0, 0]


@dataclass(frozen=True, eq=False, repr=False)
class Generated(Addable):
    """A generator on the content, biases in spare slots after it, optionally moved values.

    content_generator: on head_dim features. value_generator Y: if given, V(s) = exp(-sY) and O(t) = exp(tY).
    amplitude m: multiplies q and k before they move, so that M(0) = m²I; positive.
    summands: the encodings this one is the sum of.
    """

    content_generator: Generator
    biases: tuple[Bias, ...] = ()
    value_generator: Generator | None = None
    summands: tuple[Encoding, ...] = ()
    amplitude: sp.Expr = sp.S.One

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.content_generator.dim != self.head_dim:
            raise BadInput(
                f"the generator has size {self.content_generator.dim}, not head_dim {self.head_dim}"
            )

    @property
    def parts(self) -> tuple[Encoding, ...]:
        """The encodings that were added, or this one."""
        return self.summands or (self,)

    @cached_property
    def generator(self) -> Generator:
        """X on the lifted space: the content generator and, after it, those of the biases."""
        return direct_sum(self.content_generator, *(bias.generator for bias in self.biases))

    @property
    def generators(self) -> tuple[Generator, ...]:
        """(X,): one clock."""
        return (self.generator,)

    def query_lift(self, q: sp.MatrixBase) -> sp.MatrixBase:
        """φ(q) = (m q, query slots)."""
        return sp.Matrix.vstack(self._amplified(q), *(bias.query for bias in self.biases))

    def key_lift(self, k: sp.MatrixBase) -> sp.MatrixBase:
        """ψ(k) = (m k, key slots)."""
        return sp.Matrix.vstack(self._amplified(k), *(bias.key for bias in self.biases))

    def _amplified(self, x: sp.MatrixBase) -> sp.MatrixBase:
        return x if self.amplitude == 1 else self.amplitude * x

    def folded(self) -> tuple[Generated, sp.Expr]:
        """(this with M(0) = I on the content, m²): its scores for m² q are those of this one for q.

        W_q' = m² W_q absorbs what an attention factor on cos and sin does.
        """
        return replace(self, amplitude=sp.S.One), self.amplitude**2

    def query_factor(self, t: sp.Expr) -> sp.ImmutableMatrix:
        """A(t)ᵀ = exp(tX)ᵀ: the query φ(q) becomes exp(tX)ᵀ φ(q)."""
        return self.generator.exp(t).T

    def key_factor(self, s: sp.Expr) -> sp.ImmutableMatrix:
        """A(-s) = exp(-sX): the key ψ(k) becomes exp(-sX) ψ(k)."""
        return self.generator.exp(-s)

    def value_factor(self, s: sp.Expr) -> sp.ImmutableMatrix:
        """exp(-sY), or the identity."""
        return super().value_factor(s) if self.value_generator is None else self.value_generator.exp(-s)

    def output_factor(self, t: sp.Expr) -> sp.ImmutableMatrix:
        """exp(tY), or the identity."""
        return super().output_factor(t) if self.value_generator is None else self.value_generator.exp(t)

    def maps(self, t: sp.Expr, s: sp.Expr) -> dict[str, sp.MatrixBase]:
        """ "score" F(t)ᵀ G(s), and "values" O(t) V(s) where values are moved."""
        found = super().maps(t, s)
        if self.value_generator is not None:
            found["values"] = self.output_factor(t) * self.value_factor(s)
        return found

    def relative_bias(self, u: sp.Expr) -> sp.Expr:
        """The sum of the lifted biases at the gap u."""
        return sp.Add(*(bias.at(u) for bias in self.biases))

    def symbolic(self) -> tuple[Generated, dict[sp.Symbol, sp.Expr]]:
        """(this with free symbols for frequencies w0 …, decays g0 …, bias amplitudes c0 …, their values)."""
        names = FreeNames()
        content = names.generator(self.content_generator)
        biases = tuple(
            Bias(names.generator(bias.generator), bias.query.applyfunc(names.amplitude), bias.key)
            for bias in self.biases
        )
        moved = None if self.value_generator is None else names.generator(self.value_generator)
        m = self.amplitude if self.amplitude.is_Rational else names.amplitude(self.amplitude)
        free = replace(self, content_generator=content, biases=biases, value_generator=moved, amplitude=m)
        return free, names.values

    def is_relative(self) -> Verdict:
        """As for every encoding; where the entries of exp(tX) are long sums, by the equation of the flow."""
        moved = () if self.value_generator is None else (self.value_generator,)
        if not any(map(_long, (self.generator, *moved))):
            return super().is_relative()
        flow = conjunction(map(verify_flow_by_entries, (self.generator, *moved)))
        if flow.status is not Status.PROVED:
            return flow
        return replace(flow, reason=f"E(s+u)E(-s) = E(u), since E' = XE has one solution: {flow.reason}")

    def in_family(self) -> Verdict:
        """PROVED by construction: `E' = XE`, `E(0) = I` for the lifted X, and the score is φ(q)ᵀ E(t-s) ψ(k).

        Decided for free frequencies and decays. A step that is not proved is returned as it is.
        """
        free = self.symbolic()[0]
        flow = verify_flow_by_entries(free.generator)
        if flow.status is Status.PROVED and free.value_generator is not None:
            flow = verify_flow_by_entries(free.value_generator)
        if flow.status is not Status.PROVED:
            return flow
        relative = self.is_relative()
        if relative.status is not Status.PROVED:
            return relative
        return Verdict(
            status=Status.PROVED,
            reason=f"by construction, score = φ(q)ᵀ exp((t-s)X) ψ(k): {flow.reason}; {relative.reason}",
        )

    def has_group_law(self) -> Verdict:
        """A(u+v) = A(u)A(v), A(0) = I, decided for every block of X with free rates; a basis is no matter."""
        free = self.symbolic()[0]
        moved = () if free.value_generator is None else free.value_generator.blocks
        blocks = tuple(dict.fromkeys([*free.generator.blocks, *moved]))
        return conjunction(composes(block) for block in blocks)

    def is_bounded(self, domain: str = "real") -> Verdict:
        """Whether exp(uX) on content and values, and the sum of the lifted biases, stay bounded."""
        return conjunction([*self._movers_stay(domain), *self._bias(IN_SIZE, domain)])

    def is_bidirectional(self) -> Verdict:
        """Whether exp(uX) on content and values is bounded, and the sum of the biases from above."""
        return conjunction([*self._movers_stay("real"), *self._bias(FROM_ABOVE, "real")])

    def _movers_stay(self, domain: str) -> Iterator[Verdict]:
        content = stays(self.content_generator, domain)
        if not self.biases:
            yield content
        elif self.content_generator.matrix.todok():
            yield named("the content", content)
        else:
            yield Verdict(Status.PROVED, "the content is not moved")
        if self.value_generator is not None and self.value_generator != self.content_generator:
            yield named("the values", stays(self.value_generator, domain))

    def _bias(self, sides: Sides, domain: str) -> Iterator[Verdict]:
        if self.biases:
            yield in_one("the bias", [self.relative_bias(GAP)], GAP, domain, sides)

    @property
    def moves(self) -> bool:
        """Whether content or values are moved, or q and k multiplied."""
        still = self.value_generator is None and self.amplitude == 1
        return not still or bool(self.content_generator.matrix.todok())

    def merged(self, part: Encoding) -> Encoding | None:
        """One member for both, if the part is one; BadInput where the generators do not commute."""
        return self._plus(part) if isinstance(part, Generated) else None

    def split(self) -> tuple[Encoding | None, tuple[Encoding, ...]]:
        """(this without its lifted biases or None, these alone)."""
        if not self.biases or not self.moves:
            return (self, ()) if self.moves else (None, (self,) * bool(self.biases))
        names = {kind: [p.name for p in self.parts if p.moves is kind] for kind in (True, False)}
        bare = replace(self, name=" + ".join(names[True]) or self.name, biases=(), summands=())
        unmoved = replace(
            self,
            name=" + ".join(names[False]) or self.name,
            content_generator=Generator.direct_sum(*[Block(0)] * int(self.head_dim)),
            value_generator=None,
            summands=(),
            amplitude=sp.S.One,
        )
        return bare, (unmoved,)

    def _plus(self, other: Generated) -> Generated:
        """Content generators, which must commute, and biases add; the part with a bias gives the scale."""
        names = (self.name, other.name)
        summands = self.parts + other.parts
        return Generated(
            name=" + ".join(part.name for part in summands),
            parameters={part.name: part.parameters for part in summands},
            head_dim=self.head_dim,
            content_generator=generator_sum(self.content_generator, other.content_generator, names),
            biases=self.biases + other.biases,
            value_generator=_only(self, other),
            fixed_scale=_common_scale(self, other),
            summands=summands,
            amplitude=self.amplitude * other.amplitude,
        )

    @property
    def sentence(self) -> str:
        """The encoding in words, one line."""
        return " + ".join(part.sentence for part in self.summands) or super().sentence


def composes(block: AnyBlock) -> Verdict:
    if isinstance(block, CompanionBlock):
        return Verdict(Status.PROVED, "E' = XE has one solution with E(0) = I, and E(u+v)E(v)⁻¹ is one")
    return group_law(block.exp(QUERY), QUERY)


def stays(generator: Generator, domain: str) -> Verdict:
    """The verdict of `Generator.bounded` over all times or over t >= 0."""
    found = generator.bounded()
    holds = found.all_times if domain == "real" else found.forward
    return Verdict(Status.PROVED if holds else Status.REFUTED, found.reason)


def _long(generator: Generator) -> bool:
    """Whether entries of exp(tX) are sums over roots, or over many blocks that the basis mixes."""
    mixed = len(generator.basis.todok()) > generator.dim
    return generator.has_companions or (mixed and generator.dim > LONGEST_MIXED)


def verify_flow_by_entries(generator: Generator) -> Verdict:
    """Decide E(0) = I and E' = XE for E = exp(tX): every different entry, or block by block if long."""
    if _long(generator):
        return verify_assembled(generator, generator.freed()[0])
    flow, identities = generator.exp(QUERY), Identities()
    for lhs, rhs in (
        (generator.exp(0), sp.eye(generator.dim)),
        (flow.applyfunc(lambda entry: D(entry, QUERY)), generator.matrix * flow),
    ):
        verdict = identities.decide_matrices(lhs, rhs)
        if verdict.status is not Status.PROVED:
            return verdict
    return Verdict(
        status=Status.PROVED,
        reason=f"E(0) = I and E' = XE on {generator.dim}x{generator.dim} entries "
        f"({len(identities.known)} different up to names, each decided)",
    )


class FreeNames:
    """Free symbols for the numbers of generators: equal numbers get the same symbol."""

    def __init__(self) -> None:
        self._symbols: dict[tuple[str, sp.Expr], sp.Symbol] = {}

    @property
    def values(self) -> dict[sp.Symbol, sp.Expr]:
        """Symbol -> the number it stands for."""
        return {symbol: value for (_, value), symbol in self._symbols.items()}

    def _name(self, letter: str, value: sp.Expr) -> sp.Expr:
        if value.is_zero or value.is_Symbol:
            return value
        if (letter, value) not in self._symbols:
            count = sum(1 for other, _ in self._symbols if other == letter)
            self._symbols[letter, value] = sp.Symbol(f"{letter}{count}", **_sign(value))
        return self._symbols[letter, value]

    def amplitude(self, value: sp.Expr) -> sp.Expr:
        """A free symbol for a non-zero bias coefficient, or for the amplitude of q and k."""
        return self._name("c", value)

    def generator(self, generator: Generator) -> Generator:
        """The generator with every frequency and every decay freed."""
        blocks = tuple(
            Block(self._name("g", block.decay), self._name("w", block.frequency), block.size)
            if isinstance(block, Block)
            else block
            for block in generator.blocks
        )
        if blocks == generator.blocks:
            return generator
        return Generator.direct_sum(*blocks, basis=generator.basis)


def _sign(value: sp.Expr) -> dict[str, bool]:
    if value.is_positive:
        return {"positive": True}
    return {"negative": True} if value.is_negative else {"real": True}


def _only(a: Generated, b: Generated) -> Generator | None:
    """The value generator of a sum; at most one part may move values."""
    if a.value_generator is not None and b.value_generator is not None:
        raise BadInput(f"{a.name} and {b.name} both move the values; at most one part may")
    return b.value_generator if a.value_generator is None else a.value_generator


def _common_scale(a: Generated, b: Generated) -> sp.Expr | None:
    """A lifted bias was divided by its scale, so it keeps it; two lifted biases must agree."""
    if a.biases and b.biases and a.scale != b.scale:
        raise BadInput(
            f"{a.name} has scale {a.scale} and {b.name} has scale {b.scale}; give both the same scale"
        )
    return (a if a.biases else b).fixed_scale if (a.biases or b.biases) else (a.fixed_scale or b.fixed_scale)
