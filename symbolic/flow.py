"""exp(tX) put together from blocks in a basis, and its exact check block by block.

Canonical blocks enter as S (⊕ exp(tB)) S⁻¹; the companion blocks of one factor p enter together, as one sum
over the roots of p.
"""

from __future__ import annotations

from typing import Protocol

import sympy as sp
from sympy.matrices.expressions import MatMul

from .decide import Status, Verdict, decide, verify_flow
from .errors import Disagreement
from .spectral.classify import AnyBlock
from .spectral.companion import CompanionBlock
from .spectral.rootflow import Part, RootFlow, root_flow
from .spectral.sparse import diagonal, from_sparse, product, sandwich
from .spectral.spectrum import in_field


class InBasis(Protocol):
    """What is read of a generator: X = basis · canonical · inverse_basis."""

    @property
    def matrix(self) -> sp.ImmutableMatrix: ...
    @property
    def blocks(self) -> tuple[AnyBlock, ...]: ...
    @property
    def basis(self) -> sp.ImmutableMatrix: ...
    @property
    def inverse_basis(self) -> sp.ImmutableMatrix: ...
    @property
    def canonical(self) -> sp.ImmutableMatrix: ...
    @property
    def time(self) -> sp.Symbol: ...
    def exp(self, t: object) -> sp.ImmutableMatrix: ...


def assembled_flow(generator: InBasis, t: sp.Expr) -> sp.ImmutableMatrix:
    """exp(tX) from its blocks."""
    flows = {
        block: sp.zeros(block.dim) if isinstance(block, CompanionBlock) else block.exp(t)
        for block in dict.fromkeys(generator.blocks)
    }
    parts = [flows[block] for block in generator.blocks]
    flow = sandwich(generator.basis, diagonal(parts), generator.inverse_basis)
    for over_roots in root_flows(generator):
        flow = sp.ImmutableMatrix(flow + over_roots.exp(t))
    return flow


def root_flows(generator: InBasis) -> list[RootFlow]:
    """The part of exp(tX) of every factor that has companion blocks."""
    grouped: dict[sp.Poly, list[Part]] = {}
    start = 0
    for block in generator.blocks:
        if isinstance(block, CompanionBlock):
            columns = generator.basis[:, start : start + block.dim]
            rows = generator.inverse_basis[start : start + block.dim, :]
            grouped.setdefault(block.factor, []).append((block.size, columns, rows))
        start += block.dim
    return [root_flow(factor, parts) for factor, parts in grouped.items()]


def verify_assembled(generator: InBasis, general: InBasis) -> Verdict:
    """E(0) = I and E' = XE from parts that are each exact.

    `general` is the generator with free symbols for irrational numbers. Checked: X = S (⊕ B) S⁻¹; S S⁻¹ = I;
    every canonical block solves its own equation; on every primary space of higher degree
    X B_k = λ B_k + B_{k+1} in K[λ]/p, and Σ_λ B_0(λ) is the projection on that space.
    """
    for check in (_matrix_in_basis, _inverse_of_basis, _blocks_solve, _roots_solve):
        verdict = check(generator, general)
        if verdict.status is not Status.PROVED:
            return verdict
    return Verdict(
        Status.PROVED,
        "E(0) = I and E' = X E: X = S (⊕ blocks) S⁻¹, and every block solves its equation",
        certificate={"blocks": len(generator.blocks)},
    )


def _matrix_in_basis(generator: InBasis, _general: InBasis) -> Verdict:
    whole = sandwich(generator.basis, generator.canonical, generator.inverse_basis)
    if whole == generator.matrix:
        return Verdict(Status.PROVED, "X = S (⊕ blocks) S⁻¹ as written")
    if all(_vanishes(entry) for entry in (whole - generator.matrix).flat()):
        return Verdict(Status.PROVED, "X = S (⊕ blocks) S⁻¹ with every square root reduced by its square")
    return decide(
        MatMul(generator.basis, generator.canonical, generator.inverse_basis, evaluate=False),
        generator.matrix,
    )


def _vanishes(entry: sp.Expr) -> bool:
    """Whether a rational expression in symbols and square roots is 0, each root reduced by its square."""
    if not entry:
        return True
    roots = {power.base for power in entry.atoms(sp.Pow) if power.exp.is_Rational and power.exp.q == 2}
    names = {base: sp.Dummy() for base in roots}
    swap = {p: names[p.base] ** (2 * p.exp) for p in entry.atoms(sp.Pow) if p.base in names and p.exp.q == 2}
    numerator = sp.numer(sp.together(entry.xreplace(swap)))
    for base, name in names.items():
        numerator = sp.rem(sp.expand(numerator), name**2 - base, name)
    return sp.expand(numerator) == 0


def _inverse_of_basis(generator: InBasis, _general: InBasis) -> Verdict:
    unit = sp.ImmutableMatrix(sp.eye(generator.matrix.rows))
    whole = product(generator.basis, generator.inverse_basis)
    if all(_vanishes(entry) for entry in (whole - unit).flat()):
        return Verdict(Status.PROVED, "S S⁻¹ = I with every square root reduced by its square")
    return decide(MatMul(generator.basis, generator.inverse_basis, evaluate=False), unit)


def _blocks_solve(_generator: InBasis, general: InBasis) -> Verdict:
    t = general.time
    for block in dict.fromkeys(general.blocks):
        if isinstance(block, CompanionBlock):
            continue
        verdict = verify_flow(block.matrix, block.exp(t), t)
        if verdict.status is not Status.PROVED:
            return verdict
    return Verdict(Status.PROVED, "every canonical block solves its equation")


def _roots_solve(generator: InBasis, _general: InBasis) -> Verdict:
    flows = root_flows(generator)
    for flow in flows:
        if not flow.solves(generator.matrix):
            raise Disagreement(f"E' = X E fails over the roots of {flow.factor.as_expr()}")
    n = generator.matrix.rows
    chosen = [isinstance(block, CompanionBlock) for block in generator.blocks for _ in range(block.dim)]
    on_roots = from_sparse(n, {(i, i): sp.S.One for i in range(n) if chosen[i]})
    projection = sandwich(generator.basis, on_roots, generator.inverse_basis)
    start = sum((flow.start() for flow in flows), sp.zeros(n))
    rest = (projection - start).applyfunc(sp.expand)
    if rest.is_zero_matrix or in_field(rest).is_zero_matrix:
        return Verdict(Status.PROVED, "the sums over roots start at the projections on their spaces")
    raise Disagreement("the sums over roots do not start at the projections on their spaces")
