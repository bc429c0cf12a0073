"""Realisations on the integers: bias(n) = cᵀ Aⁿ v, where A may also be singular or turn a sign.

On whole steps frequencies count modulo 2π and e^{iπn} is the sign (-1)^n; for n >= 0 finitely many exceptions
are the work of a nilpotent block. Two sequences that solve one recurrence of order D are equal if they agree
at D places in a row, which is how a realisation is verified.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import sympy as sp
from sympy import S

from ..block import Block
from ..decide import Status, decide
from ..errors import Disagreement, Unsupported
from ..verdict import Verdict
from ..walk import text
from .case import Case
from .fence import parted
from .flowing import block, check_order, column, columns, flow_matrix, generated, oriented, steady_row
from .growth import unsteady
from .hankel import Node, determinant, step_node, without_constant
from .intervals import Interval
from .modes import Mode
from .nonvanishing import nonvanishing
from .places import whole_part
from .realized import NotRealizable, Realization

MAX_EXCEPTIONS = 512


@dataclass(frozen=True)
class Steps:
    """Modes, modes times (-1)^n, and the deviations at n = 0, 1, …, the last one not 0."""

    plain: tuple[Mode, ...]
    signed: tuple[Mode, ...]
    deviations: tuple[sp.Expr, ...] = ()

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The eigenvalues of A with their sizes."""
        size = len(self.deviations)
        finite = (Node(S.Zero, S.Zero, size, self.deviations[-1], S.Zero),) if size else ()
        signed = (step_node(mode, -1) for mode in self.signed)
        return (*map(step_node, self.plain), *signed, *finite)

    def at(self, n: int) -> sp.Expr:
        """The value at n."""
        sequence = [mode.at(sp.Integer(n)) for mode in self.plain]
        sequence += [(-1) ** n * mode.at(sp.Integer(n)) for mode in self.signed]
        deviation = self.deviations[n] if 0 <= n < len(self.deviations) else S.Zero
        return sp.Add(*sequence, deviation)

    def mapped(self, values: dict[sp.Symbol, sp.Expr]) -> Steps:
        """The same with symbols replaced."""
        plain, signed = (tuple(mode.mapped(values) for mode in part) for part in (self.plain, self.signed))
        return Steps(plain, signed, tuple(x.xreplace(values) for x in self.deviations))


def stepped(case: Case) -> Realization | NotRealizable:
    """The realisation of least order on n >= 0 or on all integers, or why there is none."""
    whole = [case.undivided(piece) for piece in case.intervals()]
    pieces = [piece for piece in whole if piece is not None]
    if len(pieces) < len(whole):
        raise Unsupported("bias is a quotient that does not come out; domain 'real' or 'causal' decides it")
    tail = pieces[-1]
    spectrum = case.spectrum(tail.formula)
    if spectrum.foreign:
        return unsteady(case, spectrum)
    check_order(spectrum.modes)
    steps = on_steps(spectrum.modes)
    if case.start.is_finite:
        steps = Steps(steps.plain, steps.signed, _deviations(case, tail))
    else:
        broken = _two_sided(case, pieces)
        if broken is not None:
            return broken
    return _realization(case, steps, tail, sum(mode.dim for mode in spectrum.modes))


def on_steps(modes: tuple[Mode, ...]) -> Steps:
    """Modes that agree on all integers are one: frequencies modulo 2π, and π is a sign."""
    merged: dict[tuple[bool, sp.Expr, sp.Expr], list[Mode]] = defaultdict(list)
    for mode in modes:
        signed, folded = _folded(mode)
        merged[signed, folded.rate, folded.frequency].append(folded)
    parts: dict[bool, list[Mode]] = {False: [], True: []}
    for (signed, rate, frequency), alike in merged.items():
        cosines, sines = (_summed([getattr(mode, name) for mode in alike]) for name in ("cosines", "sines"))
        size = max([k + 1 for k in range(len(cosines)) if not (_zero(cosines[k]) and _zero(sines[k]))] or [0])
        if size:
            parts[signed].append(Mode(rate, frequency, cosines[:size], sines[:size]))
    return Steps(tuple(parts[False]), tuple(parts[True]))


def _folded(mode: Mode) -> tuple[bool, Mode]:
    """(whether a sign (-1)^n stands before it, the mode with its frequency in [0, 2π) or [0, π])."""
    frequency, sines = sp.expand(mode.frequency), mode.sines
    turns = frequency.coeff(sp.pi)
    turns = turns if isinstance(turns, sp.Rational) else S.Zero
    rest = frequency - turns * sp.pi
    if rest.is_negative or (rest.is_positive is None and rest.could_extract_minus_sign()):
        turns, rest, sines = -turns, -rest, tuple(-x for x in sines)
    turns %= 2
    if rest.is_zero and turns > 1:
        turns, sines = 2 - turns, tuple(-x for x in sines)
    if rest.is_zero and turns in (0, 1):
        return turns == 1, Mode(mode.rate, S.Zero, mode.cosines, (S.Zero,) * mode.size)
    return False, Mode(mode.rate, turns * sp.pi + rest, mode.cosines, sines)


def _summed(rows: list[tuple[sp.Expr, ...]]) -> tuple[sp.Expr, ...]:
    width = max(map(len, rows))
    return tuple(sp.Add(*(row[k] for row in rows if k < len(row))) for k in range(width))


def _zero(value: sp.Expr) -> bool:
    return decide(value).status is Status.PROVED


def _deviations(case: Case, tail: Interval) -> tuple[sp.Expr, ...]:
    """bias(n) minus the formula that holds in the end, for n = 0, 1, … up to the last one that is not 0."""
    last = whole_part(tail.lower)
    if last > MAX_EXCEPTIONS:
        raise Unsupported(
            f"bias changes its formula at {text(last)}; up to {MAX_EXCEPTIONS} exceptions are realised"
        )
    found = [case.value(n) - case.value(n, tail.formula) for n in range(last + 1)]
    while found and _zero(found[-1]):
        found.pop()
    if found:
        nonvanishing(found[-1], case.constants.values, "the last exception of the bias")
    return tuple(S.Zero if _zero(x) else sp.expand(x) for x in found)


def _two_sided(case: Case, pieces: list[Interval]) -> NotRealizable | None:
    """Aⁿ for n < 0 needs an invertible A: what holds in the end then holds for every integer."""
    first, tail = pieces[0], pieces[-1]
    cuts = [piece.lower for piece in pieces[1:]]
    if not cuts:
        return None
    if cuts[-1] - cuts[0] > MAX_EXCEPTIONS:
        raise Unsupported(f"bias changes its formula over more than {MAX_EXCEPTIONS} integers; shorten it")
    for n in range(whole_part(cuts[-1]), -whole_part(-cuts[0]) - 1, -1):
        if not _zero(case.value(n) - case.value(n, tail.formula)):
            return parted(case, sp.Integer(n), tail, f"for n > {text(tail.lower)}")
    difference = on_steps(case.spectrum(first.formula - tail.formula).modes)
    if not (difference.plain or difference.signed):
        return None
    last = -whole_part(-cuts[0]) - 1
    at = next(n for n in range(last, last - MAX_EXCEPTIONS, -1) if not _zero(difference.at(n)))
    return parted(case, sp.Integer(at), tail, f"for n > {text(tail.lower)}")


def _realization(case: Case, steps: Steps, tail: Interval, unfolded: int) -> Realization:
    nodes, values = steps.nodes, case.constants.values
    verdict = _verified(case, steps, tail, unfolded)
    counted = without_constant(nodes, 1) if case.modulo_row_constant else nodes
    certificate = determinant(counted).xreplace(values)
    true, named = _oriented(steps.mapped(values), case)
    c, v = columns((*true.plain, *true.signed))
    size = len(true.deviations)
    regular = not (size or true.signed)
    generator = generated(true.plain) if regular else None
    return Realization(
        bias=case.bias,
        u=case.u,
        domain=case.domain,
        X=flow_matrix(generator) if regular else None,
        step=_step_matrix(true),
        c=column([*c, *reversed(true.deviations)]),
        v=column([*v, *([S.Zero] * (size - 1) + [S.One] if size else [])]),
        order=sum(n.dim for n in counted),
        determinant=certificate,
        conditions=nonvanishing(certificate, {}, "the order of the bias"),
        verdict=verdict,
        values=values | named,
        nodes=steps.mapped(values).nodes,
        generator=generator,
        dropped=steady_row(true.plain) if case.modulo_row_constant else None,
    )


def _oriented(steps: Steps, case: Case) -> tuple[Steps, dict[sp.Symbol, sp.Expr]]:
    """Symbols for frequencies of unknown sign, in all modes."""
    count = len(steps.plain)
    modes, named = oriented((*steps.plain, *steps.signed), case)
    return Steps(modes[:count], modes[count:], steps.deviations), named


def _step_matrix(steps: Steps) -> sp.ImmutableMatrix:
    """A: the exponential of each block, negated where it turns a sign, and a nilpotent block."""
    parts = [block(mode).exp(1) for mode in steps.plain] + [-block(mode).exp(1) for mode in steps.signed]
    if steps.deviations:
        parts.append(Block(0, size=len(steps.deviations)).matrix)
    return sp.ImmutableMatrix(sp.diag(*parts)) if parts else sp.ImmutableMatrix(0, 0, [])


def _verified(case: Case, steps: Steps, tail: Interval, unfolded: int) -> Verdict:
    """Agreement at all exceptions and at as many places after them as the recurrence of the bias is long."""
    settled = whole_part(tail.lower) + 1 if tail.lower.is_finite else 0
    count = unfolded + max(settled, 0)
    for n in range(count):
        verdict = decide(case.value(n, steps.at(n)), case.value(n))
        if verdict.status is Status.REFUTED:
            raise Disagreement(f"the realisation of {text(case.bias)} failed at {n}: {verdict.reason}")
        if verdict.status is not Status.PROVED:
            raise Unsupported(
                f"the realisation of {text(case.bias)} is not verified at {n}: {verdict.reason}"
            )
    return Verdict(
        Status.PROVED,
        f"c' A^n v = bias at n = 0, …, {count - 1}, decided one by one; both solve one recurrence of order "
        f"{unfolded} after the exceptions",
    )


__all__ = ["Steps", "on_steps", "stepped"]
