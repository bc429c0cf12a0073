"""The inner product in which a bounded flow is a rotation or a contraction: the proof that it is bounded.

If P > 0 and XᵀP + PX = 0, then exp(tX) keeps the length √(vᵀPv), so ‖exp(tX)‖ <= √cond(P) for all t; with
XᵀP + PX ⪯ 0 the same holds for t >= 0. P is put together from the blocks as S⁻ᵀ (⊕ D) S⁻¹.
Source: Lyapunov; Horn and Johnson, Topics in Matrix Analysis (1991), §2.2, Thm 2.2.1 and 2.2.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp
from sympy.polys.matrices import DomainMatrix

from ..balls import Enclosure
from ..boundedness import boundedness
from ..decide import Status, Verdict, decide
from ..errors import Unsupported
from ..flow import InBasis
from .classify import AnyBlock
from .companion import CompanionBlock
from .definite import is_positive_definite, is_positive_semidefinite, root_of_condition
from .rootflow import power_sums
from .sparse import diagonal, sandwich
from .spectrum import in_field, over_a_field


@dataclass(frozen=True)
class Metric:
    """P, positive definite, (n, n), with XᵀP + PX = 0 (`all_times`) or ⪯ 0.

    bound: √cond(P), at least sup ‖exp(tX)‖ in the 2-norm over all t, or over t >= 0; None where symbols are
    left. `verdict`: P > 0 by Sylvester's minors, the equation by `decide`, the inequality by the signs of a
    characteristic polynomial; block by block where X holds numbers outside every field with square roots.
    """

    matrix: sp.ImmutableMatrix
    all_times: bool
    bound: Enclosure | None
    verdict: Verdict

    def __str__(self) -> str:
        when = "for all t" if self.all_times else "for t ≥ 0"
        size = "" if self.bound is None else f" by {float(self.bound.upper):.6g}"
        return f"‖exp(tX)‖ is bounded{size} {when}"


def metric_of(generator: InBasis, general: InBasis, values: dict[sp.Symbol, sp.Expr]) -> Metric | None:
    """The metric of a flow that is bounded for t >= 0, else None.

    `general` has free symbols for irrational numbers, `values` what they stand for.
    """
    found = boundedness(general.blocks, general.time)
    if not found.forward:
        return None
    if _in_a_number_field(generator):
        general, values = generator, {}
    p = sp.ImmutableMatrix(sp.eye(general.matrix.rows))  # the metric of plain lengths, if it will do
    verdict = _check(general.matrix, p, found.all_times)
    if verdict.status is not Status.PROVED:
        p = _from_blocks(general)
        verdict = _check(general.matrix, p, found.all_times)
    if verdict.status is not Status.PROVED:
        verdict = _check_blocks(general.blocks, found.all_times)
    if verdict.status is not Status.PROVED:
        raise Unsupported(f"the flow is bounded, but the P of its blocks was not verified: {verdict.reason}")
    number = sp.ImmutableMatrix(p.xreplace(values))
    return Metric(number, found.all_times, root_of_condition(number), verdict)


def _in_a_number_field(generator: InBasis) -> bool:
    """Whether X and S hold rationals and square roots only."""
    try:
        return all(over_a_field(m).domain.is_Numerical for m in (generator.matrix, generator.inverse_basis))
    except Unsupported:
        return False


def is_isometric(matrix: sp.ImmutableMatrix) -> bool:
    """Whether exp(tX) keeps every length: exactly if X is skew."""
    return all(sp.expand(entry) == 0 for entry in (matrix + matrix.T).todok().values())


def _check(x: sp.ImmutableMatrix, p: sp.ImmutableMatrix, all_times: bool) -> Verdict:
    """P > 0, and XᵀP + PX = 0 or ⪯ 0."""
    if not p.is_Identity and not is_positive_definite(p):
        return Verdict(Status.UNDECIDED, "its leading minors are not all positive")
    slope = sp.ImmutableMatrix((x.T * p + p * x).applyfunc(sp.expand))
    if all_times:
        verdict = decide(slope, 0)
        return Verdict(verdict.status, f"P > 0 and XᵀP + PX = 0: {verdict.reason}")
    if is_positive_semidefinite(-slope):
        return Verdict(Status.PROVED, "P > 0 and XᵀP + PX ⪯ 0: all eigenvalues of -(XᵀP + PX) are >= 0")
    return Verdict(Status.UNDECIDED, "XᵀP + PX is not negative semidefinite by its characteristic polynomial")


def _check_blocks(blocks: tuple[AnyBlock, ...], all_times: bool) -> Verdict:
    """The same for ⊕ blocks and ⊕ D, from which X = S B S⁻¹ and P = S⁻ᵀ D S⁻¹ inherit it (inertia)."""
    for block in dict.fromkeys(blocks):
        verdict = _check(block.matrix, _block_metric(block), all_times)
        if verdict.status is not Status.PROVED:
            return verdict
    law = "BᵀD + DB = 0" if all_times else "BᵀD + DB ⪯ 0"
    return Verdict(Status.PROVED, f"D > 0 and {law} for every block B, and P = S⁻ᵀ (⊕ D) S⁻¹")


def _from_blocks(general: InBasis) -> sp.ImmutableMatrix:
    """S⁻ᵀ (⊕ D) S⁻¹, without a common rational factor."""
    inverse = general.inverse_basis
    middle = diagonal([_block_metric(block) for block in general.blocks])
    p = sandwich(sp.ImmutableMatrix(inverse.T), middle, inverse).applyfunc(_tidy)
    entries = list(p.todok().values())
    if all(entry.is_Rational for entry in entries):
        return sp.ImmutableMatrix(p / sp.gcd_list(entries))
    return sp.ImmutableMatrix(p)


def _tidy(entry: sp.Expr) -> sp.Expr:
    return sp.cancel(sp.together(entry)) if entry.free_symbols else sp.radsimp(sp.expand(entry))


def _block_metric(block: AnyBlock) -> sp.ImmutableMatrix:
    """D > 0 with BᵀD + DB = 0 where the block turns or holds, else ⪯ 0.

    J_m(-γ), C_m(γ, ω): D = diag(γ^{-2k}) turns -(BᵀD + DB) into 2γ - N' - N'ᵀ with ‖N' + N'ᵀ‖ < 2γ.
    """
    if isinstance(block, CompanionBlock):
        return _vandermonde_metric(block) if block.half_planes.axis else _lyapunov(block.matrix)
    width = block.dim // block.size
    if block.size == 1:
        return sp.ImmutableMatrix(sp.eye(width))
    return sp.ImmutableMatrix(sp.diag(*[block.decay ** (-2 * (i // width)) for i in range(block.dim)]))


def _vandermonde_metric(block: CompanionBlock) -> sp.ImmutableMatrix:
    """VᴴV with V_{λj} = λ^j: VC = ΛV, and Λ is skew as all roots are imaginary. Entries (-1)^i Σ λ^{i+j}."""
    r = block.degree
    sums = power_sums(block.factor, 2 * r)
    return sp.ImmutableMatrix(r, r, lambda i, j: (-1) ** i * sums[i + j])


def _lyapunov(matrix: sp.ImmutableMatrix) -> sp.ImmutableMatrix:
    """The one symmetric D with BᵀD + DB = -I, for B with all eigenvalues left of the axis."""
    n, b = matrix.rows, in_field(matrix)
    field = b.domain
    places = [(i, j) for i in range(n) for j in range(i, n)]
    index = {place: k for k, place in enumerate(places)} | {(j, i): k for k, (i, j) in enumerate(places)}
    rows: dict[int, dict[int, object]] = {}
    for (k, i), value in matrix.todok().items():
        for j in range(n):  # (BᵀD)_{ij} and (DB)_{ji}
            row = rows.setdefault(index[i, j], {})
            weight = field.from_sympy(value) * (2 if i == j else 1)
            row[index[k, j]] = row.get(index[k, j], field.zero) + weight
    system = DomainMatrix(rows, (len(places), len(places)), field).to_dense()
    right = DomainMatrix([[-field.one if i == j else field.zero] for i, j in places], (len(places), 1), field)
    solved = system.lu_solve(right.to_dense()).to_Matrix()
    return sp.ImmutableMatrix(n, n, lambda i, j: solved[index[i, j], 0])
