"""Clocks: gates of tokens add up to a time at which fixed generators are read; exact questions about it.

    Φ(t) - Φ(s) = a(s+1) + … + a(t)   inclusive,   a(s) + … + a(t-1)   exclusive
    U(t, s) = exp(Σ_r (Φ_r(t) - Φ_r(s)) X_r)   for generators X_r that commute

Tokens are whole numbers. A gate is a list of exact values for the tokens 0, 1, … or an expression in `TOKEN`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import sympy as sp

from .decide import Status, Verdict, decide
from .entries import Identities
from .errors import BadInput, SingularPoint, Unsupported, WrongType
from .exact import exact_entry, exact_matrix
from .generator import Generator
from .separate import apart
from .spectral.sparse import multiplied, product
from .verdict import conjunction
from .words import Words, letters

TOKEN, OTHER = sp.Symbol("l", real=True), sp.Symbol("l'", real=True)
LONGEST = 4096  # tokens whose gates are written out
TRIED = 8  # whole tokens at which expressions are compared when a witness is looked for


@dataclass(frozen=True)
class Clock:
    """Gates that add up to readings Φ.

    gate: the name of the gate, an opaque function of the token; reading: the name of Φ at positions that are
    not whole numbers. values: the gates of the tokens 0, 1, … where they are given; then positions are these
    tokens. inclusive: the gate of a token counts when it is read, else one token later. forward: gates >= 0.
    """

    gate: str = "a"
    reading: str = "tau"
    values: tuple[sp.Expr, ...] | None = None
    inclusive: bool = True
    forward: bool = False

    def __post_init__(self) -> None:
        if self.values is not None and self.forward and any(value.is_negative for value in self.values):
            raise BadInput(f"a gate of {self.gate} is negative; this clock only moves forward")

    def at(self, token: int) -> sp.Expr:
        """a(token): the given value, or the opaque gate."""
        if self.values is None:
            return sp.Function(self.gate, real=True)(sp.Integer(token))
        return self.values[token]

    def read(self, position: sp.Expr) -> sp.Expr:
        """Φ(position), with Φ(0) = 0: a sum of gates at a whole number, else an opaque reading."""
        if position.is_Integer:
            return self.advance(int(position), 0)
        if self.values is not None:
            raise BadInput(f"position is {position}; {self._known}")
        return sp.Function(self.reading, real=True)(position)

    def advance(self, t: int, s: int) -> sp.Expr:
        """Φ(t) - Φ(s) for whole numbers: the gates passed on the way from s to t, negative when t < s."""
        for position in (t, s):
            if self.values is not None and not 0 <= position < len(self.values):
                raise BadInput(f"position is {position}; {self._known}")
        if abs(t - s) > LONGEST:
            raise BadInput(f"t - s is {t - s}; gates are written one by one, for at most {LONGEST} tokens")
        first, last = (s, t) if self.inclusive else (s - 1, t - 1)
        if t < s:
            return -sp.Add(*(self.at(token) for token in range(last + 1, first + 1)))
        return sp.Add(*(self.at(token) for token in range(first + 1, last + 1)))

    @property
    def stands(self) -> bool:
        """Whether it never moves: gates are given, and all are 0."""
        return self.values is not None and all(value.is_zero for value in self.values)

    @property
    def _known(self) -> str:
        last = len(self.values or ()) - 1
        return f"the gates are given for the tokens 0 to {last}, so a whole number from 0 to {last} works"


def joint_flow(generators: Sequence[Generator], advances: Sequence[sp.Expr]) -> sp.ImmutableMatrix:
    """exp(Σ_r d_r X_r) as the product of the exp(d_r X_r), for generators that commute; shape (n, n)."""
    flow = sp.ImmutableMatrix(sp.eye(generators[0].dim))
    for generator, advance in zip(generators, advances, strict=True):
        if not advance.is_zero:
            flow = product(flow, generator.exp(advance))
    return flow


def is_cocycle(generators: Sequence[Generator]) -> Verdict:
    """Decide U(t,t) = I and U(t,s)U(s,r) = U(t,r) for free readings of one clock a generator.

    Refuted where two generators do not commute: exp(X)exp(Y) and exp(X + Y) differ at second order.
    """
    freed = [generator.freed()[0] for generator in generators]
    commuting = order_free([generator.matrix for generator in freed])
    if commuting.status is not Status.PROVED:
        return replace(commuting, reason=f"exponents do not add: {commuting.reason}")
    identities = Identities()
    late, early = ([sp.Dummy(f"{name}{r}", real=True) for r in range(len(freed))] for name in "de")
    both = [d + e for d, e in zip(late, early, strict=True)]
    still = [sp.S.Zero for _ in freed]
    for lhs, rhs in (
        (joint_flow(freed, still), sp.eye(freed[0].dim)),
        (product(joint_flow(freed, late), joint_flow(freed, early)), joint_flow(freed, both)),
    ):
        verdict = identities.decide_matrices(lhs, rhs)
        if verdict.status is not Status.PROVED:
            return verdict
    count = len(freed)
    clocks = "one clock" if count == 1 else f"{count} clocks whose generators commute"
    return Verdict(
        Status.PROVED,
        f"U(t,t) = I and U(t,s)U(s,r) = U(t,r) for free readings of {clocks} "
        f"({len(identities.known)} different entries, each decided)",
    )


def one_clock(gates: Sequence[Any], generators: Sequence[Generator] | None = None) -> Verdict:
    """Decide whether one clock does: Σ_r a_r(l) X_r = α(l) X for all tokens l, with one X and one gate α.

    gates: a_1, …, a_m, all lists of one length or all expressions in `TOKEN`. generators: X_1, …, X_m; taken
    as linearly independent if None. It does exactly when the vectors of gates at any two tokens are parallel.
    Refuted by two tokens (under `TOKEN` and `OTHER`) and two clocks (the entry) whose ratio changes.
    """
    _several(gates, "gates", "a list of gates")
    read = [_gate(gate, f"gates[{r}]") for r, gate in enumerate(gates)]
    if not read or len({_length(gate) for gate in read}) != 1:
        raise BadInput("gates are of different kinds or lengths; give all as lists of one length, or none")
    if generators is not None:
        _check_generators(generators, len(read))
    found = _parallel(read)
    if generators is None or found.status is Status.PROVED:
        return found
    summed = _by_entries(read, generators)
    verdict = _parallel(summed) if summed else Verdict(Status.PROVED, "every generator is 0")
    refuted = verdict.status is Status.REFUTED
    return replace(verdict, reason=found.reason, entry=found.entry) if refuted else verdict


def _parallel(gates: list) -> Verdict:
    return _parallel_everywhere(gates) if isinstance(gates[0], sp.Expr) else _parallel_lists(gates)


def inclusive_is_exclusive(gate: Any) -> Verdict:
    """Decide whether the sums over s+1 … t and over s … t-1 agree: exactly where the gate is constant.

    Their difference is a(t) - a(s). Refuted by two tokens s = `OTHER` < t = `TOKEN`.
    """
    read = _gate(gate, "gate")
    if isinstance(read, sp.Expr):
        verdict = _at_tokens(
            read - read.xreplace({TOKEN: OTHER}), decide(read, read.xreplace({TOKEN: OTHER}))
        )
    else:
        verdict = _first_change(read)
    if verdict.status is Status.PROVED:
        return replace(verdict, reason="the gate is the same at every token, so both sums count tokens")
    if verdict.status is not Status.REFUTED or verdict.witness is None:
        return verdict
    first, last = sorted((int(verdict.witness[OTHER]), int(verdict.witness[TOKEN])))
    reason = (
        f"from s = {first} to t = {last} the inclusive sum has the gate of token {last} and the exclusive "
        f"one that of token {first}: a({last}) - a({first}) is not 0 ({verdict.gap})"
    )
    witness = verdict.witness | {TOKEN: sp.Integer(last), OTHER: sp.Integer(first)}
    return replace(verdict, reason=reason, witness=witness)


def order_free(factors: Sequence[Any]) -> Verdict:
    """Decide whether every two of the matrices commute, so that products do not depend on the order.

    Otherwise the products are cocycles only; refuted by the first two factors whose orders differ.
    """
    _several(factors, "factors", "a list of square matrices")
    exact = [exact_matrix(factor, f"factors[{i}]").todok() for i, factor in enumerate(factors)]
    identities = Identities()
    for i, j in combinations(range(len(exact)), 2):
        there, back = multiplied(exact[i], exact[j]), multiplied(exact[j], exact[i])
        for place in sorted({p for p in there | back if there.get(p, sp.S.Zero) != back.get(p, sp.S.Zero)}):
            verdict = identities.decide(there.get(place, sp.S.Zero), back.get(place, sp.S.Zero))
            if verdict.status is Status.REFUTED:
                where = f"differ in entry {place} by {verdict.gap}"
                reason = f"the order matters: factors {i} and {j} in their two orders {where}"
                return replace(verdict, reason=reason, entry=place)
            if verdict.status is not Status.PROVED:
                return replace(verdict, entry=place)
    return Verdict(Status.PROVED, f"every two of {len(exact)} factors commute")


def any_product_is_a_cocycle() -> Verdict:
    """P(t,s) = H_t ⋯ H_{s+1} satisfies P(t,s)P(s,r) = P(t,r) for any square factors: the step t -> t + 1."""
    head, left, right, whole = letters("H P Q R")
    step = Words((head * left) * right, head * whole, ((left * right, whole),)).check()
    return replace(step, reason=f"P(s,s) = I, and one factor more on the left of both sides: {step.reason}")


# ---- gates ----


def _gate(gate: Any, name: str) -> sp.Expr | tuple[sp.Expr, ...]:
    """The gate as an expression in `TOKEN` or as a tuple of exact values."""
    if isinstance(gate, sp.Expr):
        return exact_entry(gate, name)
    if isinstance(gate, str) or not isinstance(gate, Sequence) or not gate:
        raise WrongType(
            f"{name} is {gate!r}; a list with one exact value a token, or an expression in l, works"
        )
    return tuple(exact_entry(value, f"{name}[{i}]") for i, value in enumerate(gate))


def _length(gate: sp.Expr | tuple[sp.Expr, ...]) -> int | None:
    return None if isinstance(gate, sp.Expr) else len(gate)


def _by_entries(gates: list, generators: Sequence[Generator]) -> list:
    """The entries of Σ_r a_r X_r as gates, each once up to its sign."""
    entries = (tuple(x.matrix[place] for x in generators) for place in _places(generators))
    weights: dict[tuple[sp.Expr, ...], None] = {}
    for row in entries:
        if tuple(-w for w in row) not in weights:
            weights[row] = None
    if isinstance(gates[0], sp.Expr):
        return [sp.Add(*(w * a for w, a in zip(row, gates, strict=True))) for row in weights]
    tokens = list(zip(*gates, strict=True))
    return [tuple(sp.Add(*(w * a for w, a in zip(row, at, strict=True))) for at in tokens) for row in weights]


def _check_generators(generators: Any, count: int) -> None:
    _several(generators, "generators", "a list of Generators")
    for r, generator in enumerate(generators):
        if not isinstance(generator, Generator):
            raise WrongType(f"generators[{r}] is a {type(generator).__name__}; a Generator works")
    if len(generators) != count:
        raise BadInput(f"there are {len(generators)} generators and {count} gates; give one gate each")
    if len({generator.dim for generator in generators}) > 1:
        raise BadInput(f"generators have sizes {[x.dim for x in generators]}; give all the same size")


def _places(generators: Sequence[Generator]) -> list[tuple[int, int]]:
    """The places at which a generator is not 0."""
    return sorted({place for generator in generators for place in generator.matrix.todok()})


def _several(given: Any, name: str, what: str) -> None:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise WrongType(f"{name} is a {type(given).__name__}; {what} works")


def _parallel_everywhere(gates: Sequence[sp.Expr]) -> Verdict:
    """Every 2 x 2 minor of the gates at two free tokens vanishes."""
    moved = [gate.xreplace({TOKEN: OTHER}) for gate in gates]
    for r, q in combinations(range(len(gates)), 2):
        one, two = gates[r] * moved[q], gates[q] * moved[r]
        verdict = _at_tokens(one - two, decide(one, two))
        if verdict.status is not Status.PROVED:
            return _changed_ratio(verdict, r, q)
    kept = f"the gates of {len(gates)} clocks keep their ratios" if len(gates) > 1 else "there is one gate"
    return Verdict(Status.PROVED, f"{kept} at every token")


def _parallel_lists(gates: Sequence[tuple[sp.Expr, ...]]) -> Verdict:
    """Every vector of gates is parallel to the first one that is not zero."""
    tokens = range(len(gates[0]))
    zero = {(p, r): _same(gate[p], 0) for p in tokens for r, gate in enumerate(gates)}
    pivot = next((place for place, found in zero.items() if found.status is Status.REFUTED), None)
    if pivot is None:
        still = Verdict(Status.PROVED, "every gate is 0: the clock stands still")
        return conjunction([still, *(found for found in zero.values() if found.status is not Status.PROVED)])
    p, r = pivot
    for q, gate in enumerate(gates):
        for token in tokens:
            verdict = _same(gates[r][p] * gate[token], gate[p] * gates[r][token])
            if verdict.status is not Status.PROVED:
                places = {OTHER: sp.Integer(p), TOKEN: sp.Integer(token)}
                return _changed_ratio(replace(verdict, witness=(verdict.witness or {}) | places), r, q)
    ratios = ", ".join(str(sp.cancel(gate[p] / gates[r][p])) for gate in gates)
    return Verdict(
        Status.PROVED, f"the gates keep the ratios {ratios} at every token, read against clock {r}"
    )


def _changed_ratio(verdict: Verdict, r: int, q: int) -> Verdict:
    if verdict.status is not Status.REFUTED or verdict.witness is None:
        return verdict
    first, other = verdict.witness[OTHER], verdict.witness[TOKEN]
    reason = f"the gates of clocks {r} and {q} have another ratio at token {first} than at token {other}"
    return replace(verdict, reason=f"{reason}: the minor is {verdict.gap}", entry=(r, q))


def _first_change(values: Sequence[sp.Expr]) -> Verdict:
    """PROVED where all values are the same; else REFUTED with the first two tokens that differ."""
    for token, value in enumerate(values):
        verdict = _same(value, values[0])
        if verdict.status is not Status.PROVED:
            places = {OTHER: sp.S.Zero, TOKEN: sp.Integer(token)}
            return replace(verdict, witness=(verdict.witness or {}) | places)
    return Verdict(Status.PROVED, f"{len(values)} equal values")


def _same(one: sp.Expr, two: Any) -> Verdict:
    """One value or two: decided, or told apart by balls."""
    if one == two:
        return Verdict(Status.PROVED, "written alike")
    verdict = decide(one, two)
    if verdict.status is not Status.UNDECIDED:
        return verdict
    try:
        found = apart(one - two)
    except (SingularPoint, Unsupported, BadInput):
        return verdict
    return Verdict(Status.REFUTED, "balls", witness=found[0], gap=found[1]) if found else verdict


def _at_tokens(difference: sp.Expr, verdict: Verdict) -> Verdict:
    """A refutation moved to whole tokens, which is where gates are; UNDECIDED where none is found there."""
    if verdict.status is Status.PROVED:
        return verdict
    for t, s in _pairs():
        try:
            found = apart(difference.xreplace({TOKEN: t, OTHER: s}))
        except (SingularPoint, Unsupported, BadInput):
            continue
        if found:
            witness = {TOKEN: t, OTHER: s, **found[0]}
            return Verdict(Status.REFUTED, f"at tokens {t} and {s}", witness=witness, gap=found[1])
    if verdict.status is Status.REFUTED:
        reason = f"the two sides differ at real numbers, but at no whole tokens below {TRIED}"
        return Verdict(Status.UNDECIDED, reason)
    return verdict


def _pairs() -> Iterator[tuple[sp.Integer, sp.Integer]]:
    for t in range(1, TRIED):
        yield from ((sp.Integer(t), sp.Integer(s)) for s in range(t))
