"""Realisations by a generator: real Jordan blocks, one per mode, and the proof that they give the bias."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import sympy as sp

from ..block import Block
from ..decide import Status, decide
from ..errors import Disagreement, Unsupported
from ..generator import Generator
from ..verdict import Verdict
from ..walk import text
from .case import Case
from .elementary import Names
from .hankel import determinant, node, without_constant
from .modes import Mode
from .nonvanishing import examine, nonvanishing
from .realized import Realization

MAX_ORDER = 200
POINTS = [sp.Rational(1, 3), sp.Integer(2), sp.Rational(17, 4)]


def flowing(case: Case, formula: sp.Expr, modes: tuple[Mode, ...]) -> Realization:
    """The realisation of least order of a formula with these modes; that of 0 has none, and order 0.

    On J_m(ρ) with v = e_m the entry c_{m-k} is k! times the coefficient of u^k e^{ρu}; where it turns, each
    entry is the pair of coefficients of the cosine and the sine.
    """
    check_order(modes)
    values = case.constants.values
    c, v = map(column, columns(modes))
    verdict = _verified(modes, c, v, formula, case)
    nodes = tuple(map(node, modes))
    counted = without_constant(nodes, 0) if case.modulo_row_constant else nodes
    certificate = determinant(counted).xreplace(values)
    true, named = oriented([mode.mapped(values) for mode in modes], case)
    generator = generated(true)
    return Realization(
        bias=case.bias,
        u=case.u,
        domain=case.domain,
        X=flow_matrix(generator),
        step=None,
        c=column(columns(true)[0]),
        v=v,
        order=sum(n.dim for n in counted),
        determinant=certificate,
        conditions=nonvanishing(certificate, {}, "the order of the bias"),
        verdict=verdict,
        values=values | named,
        nodes=tuple(map(node, (mode.mapped(values) for mode in modes))),
        generator=generator,
        dropped=steady_row(modes) if case.modulo_row_constant else None,
    )


def check_order(modes: tuple[Mode, ...]) -> None:
    """Refuse an order that would take minutes."""
    order = sum(mode.dim for mode in modes)
    if order > MAX_ORDER:
        raise Unsupported(f"the order of the bias is {order}; orders up to {MAX_ORDER} are realised")


def column(rows: list[sp.Expr]) -> sp.ImmutableMatrix:
    """A column, also of no rows."""
    return sp.ImmutableMatrix(len(rows), 1, rows)


def generated(modes: Sequence[Mode]) -> Generator | None:
    """The direct sum of the blocks of the modes; None for none."""
    return Generator.direct_sum(*map(block, modes)) if modes else None


def flow_matrix(generator: Generator | None) -> sp.ImmutableMatrix:
    """X, of no rows for none."""
    return generator.matrix if generator else sp.ImmutableMatrix(0, 0, [])


def oriented(modes: Sequence[Mode], case: Case) -> tuple[tuple[Mode, ...], dict[sp.Symbol, sp.Expr]]:
    """Frequencies of unknown sign as symbols for their absolute values: sin ωu = sign(ω) sin |ω|u."""
    names = Names("omega", set(case.constants.taken))
    found = []
    for mode in modes:
        w = mode.frequency
        if not (w.is_zero or w.is_positive):
            sines = tuple(sp.sign(w) * x for x in mode.sines)
            mode = replace(mode, frequency=names.name(sp.Abs(w), positive=True), sines=sines)
        found.append(mode)
    return tuple(found), names.values


def block(mode: Mode) -> Block:
    """J_m(ρ) or C_m(-ρ, ω)."""
    return Block(-mode.rate, mode.frequency, mode.size)


def columns(modes: tuple[Mode, ...]) -> tuple[list[sp.Expr], list[sp.Expr]]:
    """c and v of the direct sum of the blocks."""
    c: list[sp.Expr] = []
    v: list[sp.Expr] = []
    for mode in modes:
        width = mode.dim // mode.size
        for k in reversed(range(mode.size)):
            c += [sp.factorial(k) * x for x in (mode.cosines[k], mode.sines[k])[:width]]
        v += [sp.S.Zero] * (mode.dim - width) + [sp.S.One, sp.S.Zero][:width]
    return c, v


def steady_row(modes: tuple[Mode, ...]) -> int | None:
    """The coordinate in which exp(-sX) v is the constant 1: the last one of the block of eigenvalue 0."""
    row = 0
    for mode in modes:
        row += mode.dim
        if mode.rate.is_zero and mode.frequency.is_zero:
            return row - 1
    return None


def _verified(
    modes: tuple[Mode, ...], c: sp.MatrixBase, v: sp.MatrixBase, formula: sp.Expr, case: Case
) -> Verdict:
    """The modes add up to the bias; for free rates cᵀ E(u) v are the modes, E(0) = I, E' = XE; then balls."""
    free = tuple(_freed(mode, k) for k, mode in enumerate(modes))
    generator = generated(free)
    total = sp.Add(*(mode.at(case.u) for mode in modes))
    claims = [decide(total, formula)]
    if generator:
        realised = (c.T * generator.exp(case.u) * v)[0, 0]
        claims += [decide(realised, sp.Add(*(mode.at(case.u) for mode in free))), generator.verify()]
    for verdict in claims:
        if verdict.status is Status.REFUTED:
            raise Disagreement(f"the realisation of {text(case.bias)} failed: {verdict.reason}")
        if verdict.status is not Status.PROVED:
            raise Unsupported(f"the realisation of {text(case.bias)} could not be verified: {verdict.reason}")
    points = [point for point in POINTS if not case.lacks(point)]
    seen = examine(case.bias, total.xreplace(case.constants.values), case.u, points)
    whole, *parts = (claim.reason for claim in claims)
    if not parts:
        return Verdict(Status.PROVED, f"bias is 0: {whole}; balls agree with that at {seen} points")
    return Verdict(
        Status.PROVED,
        f"bias is the sum of its modes: {whole}; for free rates they are c' E(u) v: {'; '.join(parts)}; "
        f"balls agree with the bias at {seen} points",
    )


def _freed(mode: Mode, k: int) -> Mode:
    """The mode with free rate and frequency."""
    rate = mode.rate if mode.rate.is_zero else sp.Symbol(f"gamma_{k}", real=True)
    turning = not mode.frequency.is_zero
    return replace(
        mode, rate=rate, frequency=sp.Symbol(f"omega_{k}", positive=True) if turning else sp.S.Zero
    )


__all__ = [
    "block",
    "check_order",
    "column",
    "columns",
    "flow_matrix",
    "flowing",
    "generated",
    "oriented",
    "steady_row",
]
