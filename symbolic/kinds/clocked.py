"""Encodings read at clocks: fixed generators that commute, each at the sum of its own gates.

    score(t, s) = φ(q)ᵀ U(t, s) ψ(k),   U(t, s) = exp(Σ_r (Φ_r(t) - Φ_r(s)) X_r)

Not a function of t - s, unless the gates are constant; of the differences of the readings Φ_r it is one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import sympy as sp

from ..block import Block
from ..clocks import TOKEN, Clock, is_cocycle, joint_flow, one_clock
from ..combine import direct_sum
from ..decide import Status, Verdict
from ..encoding import Encoding
from ..entries import GAP, Identities
from ..errors import BadInput
from ..generator import Generator
from ..separate import Place, separate
from ..spectral.sparse import product
from ..verdict import conjunction
from .bounds import FROM_ABOVE, IN_SIZE, Sides, in_one
from .generated import Bias, FreeNames, stays
from .summed import Addable


@dataclass(frozen=True, eq=False, repr=False)
class Clocked(Addable):
    """A content generator and a clock for every r, and biases in spare slots, each read at one of the clocks.

    clocks: Φ_1, …, Φ_m. movers: X_1, …, X_m on head_dim features, which commute. biases: pairs (r, bias), the
    bias a function of the advance of clock r. Positions are exact numbers or symbols; where the gates of a
    clock are given, positions are the tokens that they are given for.
    """

    clocks: tuple[Clock, ...]
    movers: tuple[Generator, ...]
    biases: tuple[tuple[int, Bias], ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.clocks or len(self.clocks) != len(self.movers):
            raise BadInput(
                f"{len(self.clocks)} clocks and {len(self.movers)} generators; give one clock each"
            )
        for mover in self.movers:
            if mover.dim != self.head_dim:
                raise BadInput(f"a generator has size {mover.dim}, not head_dim {self.head_dim}")

    @property
    def moves(self) -> bool:
        """Whether a generator on the content is not 0."""
        return any(mover.matrix.todok() for mover in self.movers)

    @cached_property
    def generators(self) -> tuple[Generator, ...]:
        """X_1, …, X_m on the lifted space, one a clock."""
        return tuple(self._lifted(r) for r in range(len(self.clocks)))

    def _lifted(self, r: int) -> Generator:
        """X_r: on the content, and after it the slots that its clock moves."""
        slots = (bias.generator if r == at else held(bias.generator.dim) for at, bias in self.biases)
        return direct_sum(self.movers[r], *slots)

    def query_lift(self, q: sp.MatrixBase) -> sp.MatrixBase:
        """φ(q) = (q, query slots)."""
        return sp.Matrix.vstack(q, *(bias.query for _, bias in self.biases))

    def key_lift(self, k: sp.MatrixBase) -> sp.MatrixBase:
        """ψ(k) = (k, key slots)."""
        return sp.Matrix.vstack(k, *(bias.key for _, bias in self.biases))

    def query_factor(self, t: sp.Expr) -> sp.ImmutableMatrix:
        """exp(Σ_r Φ_r(t) X_r)ᵀ."""
        return joint_flow(self.generators, [clock.read(t) for clock in self.clocks]).T

    def key_factor(self, s: sp.Expr) -> sp.ImmutableMatrix:
        """exp(-Σ_r Φ_r(s) X_r)."""
        return joint_flow(self.generators, [-clock.read(s) for clock in self.clocks])

    def evolution(self, t: sp.Expr, s: sp.Expr) -> sp.ImmutableMatrix:
        """U(t, s), shape (lifted, lifted); at whole numbers in the gates between, else in opaque readings."""
        if t.is_Integer and s.is_Integer:
            advances = [clock.advance(int(t), int(s)) for clock in self.clocks]
        else:
            advances = [clock.read(t) - clock.read(s) for clock in self.clocks]
        return joint_flow(self.generators, advances)

    def pairing(self, t: sp.Expr, s: sp.Expr, query: sp.MatrixBase, key: sp.MatrixBase) -> sp.Expr:
        """queryᵀ U(t, s) key."""
        return (query.T * self.evolution(t, s) * key)[0, 0]

    def maps(self, t: sp.Expr, s: sp.Expr) -> dict[str, sp.MatrixBase]:
        """ "score": U(t, s)."""
        return {"score": self.evolution(t, s)}

    def symbolic(self) -> tuple[Clocked, dict[sp.Symbol, sp.Expr]]:
        """(this with free symbols w0 …, g0 …, c0 … where rates and biases are not rational, their values)."""
        return self._freed

    @cached_property
    def _freed(self) -> tuple[Clocked, dict[sp.Symbol, sp.Expr]]:
        names = FreeNames()
        movers = tuple(mover if _rational(mover) else names.generator(mover) for mover in self.movers)
        biases = tuple(
            (r, Bias(names.generator(bias.generator), bias.query.applyfunc(names.amplitude), bias.key))
            for r, bias in self.biases
        )
        return replace(self, movers=movers, biases=biases), names.values

    def shown_positions(self) -> tuple[Any, Any]:
        """t and s; where the gates are given, the last token and the first."""
        known = [len(clock.values) for clock in self.clocks if clock.values is not None]
        return (sp.Integer(min(known) - 1), sp.S.Zero) if known else super().shown_positions()

    def is_relative(self) -> Verdict:
        """Decide whether scores depend on t - s only: opaque gates refute it, given ones are compared.

        The witness is two position pairs of equal gap, content, and the gates passed between.
        """
        return self._in_positions

    @cached_property
    def _in_positions(self) -> Verdict:
        if all(clock.values is None for clock in self.clocks):
            return Encoding.is_relative(self)
        return self._equal_steps()

    def _equal_steps(self) -> Verdict:
        """U(s+1, s) = U(1, 0) for every token: exactly then U(t, s), a product of steps, depends on t - s."""
        last = min(len(clock.values) for clock in self.clocks if clock.values is not None) - 1
        first = self.evolution(sp.S.One, sp.S.Zero) if last else sp.ImmutableMatrix(sp.eye(self.head_dim))
        for s in range(1, last):
            step = self.evolution(sp.Integer(s + 1), sp.Integer(s))
            verdict = _same(step, first)
            if verdict.entry is not None:
                found = separate(self, Place("score", *verdict.entry), [(s, 1)])
                return verdict if found is None else found
        return Verdict(Status.PROVED, f"the steps between the {last + 1} given tokens are all the same")

    def in_family(self) -> Verdict:
        """PROVED for gates that make every step the same, so U(t, s) = exp((t-s)X); else REFUTED."""
        relative = self.is_relative()
        if relative.status is Status.REFUTED:
            reason = f"a member of the family depends on t - s only, this one does not: {relative.reason}"
            return replace(relative, reason=reason)
        return relative

    def is_cocycle(self) -> Verdict:
        """U(t, t) = I and U(t, s)U(s, r) = U(t, r), decided for free readings of the clocks."""
        return is_cocycle(self.symbolic()[0].generators)

    def is_relative_in_clocks(self) -> Verdict:
        """F(t)ᵀ G(s) = U(t, s) for free readings, so that only their differences count."""
        free = replace(self.symbolic()[0], clocks=tuple(replace(c, values=None) for c in self.clocks))
        t, s = sp.symbols("t s", real=True)
        readings = {c.read(x): sp.Symbol(f"{c.reading}_{x}", real=True) for c in free.clocks for x in (t, s)}
        split = product(free.query_factor(t).T, free.key_factor(s)).xreplace(readings)
        verdict = Identities().decide_matrices(split, free.evolution(t, s).xreplace(readings))
        if verdict.status is not Status.PROVED:
            return verdict
        which = "the clock" if len(self.clocks) == 1 else f"{len(self.clocks)} clocks"
        return replace(verdict, reason=f"F(t)ᵀG(s) = U(t,s) for free readings of {which}: {verdict.reason}")

    def needs_one_clock(self) -> Verdict:
        """Decide from the gates whether one clock does for all generators; refuted by tokens where it fails.

        Opaque gates are independent, so that more than one clock of independent generators is refuted.
        """
        known = [len(clock.values) for clock in self.clocks if clock.values is not None]
        if known:
            gates = [[clock.at(token) for token in range(min(known))] for clock in self.clocks]
        else:
            gates = [sp.Function(clock.gate, real=True)(TOKEN) for clock in self.clocks]
        return one_clock(gates, self.generators)

    def is_bounded(self, domain: str = "real") -> Verdict:
        """Decide whether factors and biases are bounded over all readings; "causal": clocks forward.

        Only clocks whose gates are not negative are known to move forward, the others run both ways; those
        whose given gates are all 0 stand still.
        """
        return self._bounded(IN_SIZE, domain)

    def is_bidirectional(self) -> Verdict:
        """Decide whether factors are bounded, and biases from above, over all readings: keys ahead too."""
        return self._bounded(FROM_ABOVE, "real")

    def _bounded(self, sides: Sides, domain: str) -> Verdict:
        found = []
        for r, (clock, mover) in enumerate(zip(self.clocks, self.movers, strict=True)):
            if clock.stands:
                continue
            way = domain if clock.forward else "real"
            if mover.matrix.todok():
                found.append(_at_clock(r, stays(mover, way)))
            if biases := [bias.at(GAP) for at, bias in self.biases if at == r]:
                found.append(_at_clock(r, in_one("the bias", [sp.Add(*biases)], GAP, way, sides)))
        return conjunction(found or [Verdict(Status.PROVED, "no clock moves anything")])


def held(size: int) -> Generator:
    """X = 0 on `size` features."""
    return Generator.direct_sum(*[Block(0)] * size)


def _rational(generator: Generator) -> bool:
    """Whether all rates are rational, which `decide` takes as they are."""
    rates = (rate for b in generator.blocks if isinstance(b, Block) for rate in (b.decay, b.frequency))
    return all(rate.is_Rational for rate in rates)


def _at_clock(r: int, verdict: Verdict) -> Verdict:
    return replace(verdict, reason=f"as a function of clock {r}: {verdict.reason}")


def _same(one: sp.MatrixBase, two: sp.MatrixBase) -> Verdict:
    """Entry by entry; what is written alike is the same, also where `decide` does not know its functions."""
    identities = Identities()
    for row, column in sorted(set(one.todok()) | set(two.todok())):
        lhs, rhs = one[row, column], two[row, column]
        verdict = Verdict(Status.PROVED, "written alike") if lhs == rhs else identities.decide(lhs, rhs)
        if verdict.status is not Status.PROVED:
            return replace(verdict, entry=(row, column))
    return Verdict(Status.PROVED, "the same in every entry")
