"""exp(tX) on the primary space of an irreducible p: Σ_{p(λ)=0} e^{λt} Σ_k t^k/k! B_k(λ), B_k over K[λ]/p.

The matrices B_k are kept as exact coefficients of 1, λ, …, λ^(r-1). That the sum solves E' = XE is then the
identity X B_k = λ B_k + B_{k+1} in K[λ]/p, and its value at 0 comes from the power sums of the roots: finite
computations over K, without any root.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp
from sympy.polys.matrices import DomainMatrix
from sympy.polys.polyerrors import CoercionFailed

from .spectrum import at_matrix, elements, in_field, inverse_slope

LAMBDA = sp.Symbol("lambda")
Powers = tuple[DomainMatrix, ...]  # coefficients of 1, λ, …, λ^(r-1)
Part = tuple[int, sp.ImmutableMatrix, sp.ImmutableMatrix]  # size m, columns of S (n, mr), rows of S⁻¹ (mr, n)


@dataclass(frozen=True)
class RootFlow:
    """`terms[k]` = B_k as coefficients of powers of λ, for the monic irreducible `factor` over its field."""

    factor: sp.Poly
    terms: tuple[Powers, ...]

    def exp(self, t: sp.Expr) -> sp.ImmutableMatrix:
        """The sum as a sympy matrix whose entries are `RootSum` objects in t."""
        matrices = [[part.to_Matrix() for part in powers] for powers in self.terms]
        root = _root_symbol(t)
        polynomial = self.factor.replace(LAMBDA, root)

        def entry(i: int, j: int) -> sp.Expr:
            body = sp.Add(
                *(
                    part[i, j] * root**power * t**k / sp.factorial(k)
                    for k, powers in enumerate(matrices)
                    for power, part in enumerate(powers)
                )
            )
            if body.is_zero:
                return sp.S.Zero
            return sp.RootSum(polynomial, sp.Lambda(root, body * sp.exp(root * t)), auto=False)

        return sp.ImmutableMatrix(*self.terms[0][0].shape, entry)

    def solves(self, matrix: sp.ImmutableMatrix) -> bool:
        """Whether X B_k = λ B_k + B_{k+1} in K[λ]/p for every k, with B beyond the last being 0."""
        x = _field_matrix(matrix, self.factor)
        zero = tuple(part * part.domain.zero for part in self.terms[0])
        following = (*self.terms[1:], zero)
        return all(
            (_times(x, part) - moved - later).is_zero_matrix
            for here, after in zip(self.terms, following, strict=True)
            for part, moved, later in zip(here, self._times_root(here), after, strict=True)
        )

    def start(self) -> sp.ImmutableMatrix:
        """The value at t = 0: Σ_λ B_0(λ)."""
        sums = power_sums(self.factor, self.factor.degree())
        total = self.terms[0][0] * self.terms[0][0].domain.zero
        for part, value in zip(self.terms[0], sums, strict=True):
            total = total + part * part.domain.from_sympy(value)
        return sp.ImmutableMatrix(total.to_Matrix().applyfunc(sp.expand))

    def _times_root(self, powers: Powers) -> list[DomainMatrix]:
        """λ · B: the coefficients move up by one, and λ^r becomes minus the lower part of p."""
        field = powers[0].domain
        wrapped = [powers[-1] * field.from_sympy(-c) for c in reversed(self.factor.all_coeffs()[1:])]
        return [wrapped[0], *(wrap + below for wrap, below in zip(wrapped[1:], powers, strict=False))]


def companion_matrix(factor: sp.Poly) -> sp.ImmutableMatrix:
    """C(p), (r, r): ones below the diagonal, minus the coefficients of the monic p in the last column."""
    r, low = factor.degree(), list(reversed(factor.all_coeffs()[1:]))
    return sp.ImmutableMatrix(r, r, lambda i, j: -low[i] if j == r - 1 else sp.Integer(i == j + 1))


def power_sums(factor: sp.Poly, length: int) -> list[sp.Expr]:
    """Σ λ^k over the roots, k = 0 … length - 1, by Newton's identities."""
    c = factor.all_coeffs()
    c += [sp.S.Zero] * max(0, length - len(c))
    sums = [sp.Integer(factor.degree())]
    for k in range(1, length):
        sums.append(sp.expand(-k * c[k] - sum(c[i] * sums[k - i] for i in range(1, k))))
    return sums


def root_flow(factor: sp.Poly, parts: Sequence[Part]) -> RootFlow:
    """The part of exp(tX) that belongs to p: Σ over the blocks of S (N^k ⊗ q_λ(C)/p'(λ)) S⁻¹."""
    longest = max(size for size, _, _ in parts)
    projectors = _projectors(factor)
    r, n = factor.degree(), parts[0][1].rows
    terms = []
    for k in range(longest):
        powers = [_zero(n, factor)] * r
        for size, left, right in parts:
            if k < size:
                moved = [_moved(left, right, h, size, k, factor) for h in projectors]
                powers = [_sum(a, b) for a, b in zip(powers, moved, strict=True)]
        terms.append(tuple(powers))
    return RootFlow(factor, tuple(terms))


def _moved(
    left: sp.ImmutableMatrix,
    right: sp.ImmutableMatrix,
    h: DomainMatrix,
    size: int,
    k: int,
    factor: sp.Poly,
) -> DomainMatrix:
    """left (N^k ⊗ h) right."""
    r = factor.degree()
    total = _zero(left.rows, factor)
    for row in range(size - k):
        column = row + k
        a = _field_matrix(left[:, row * r : (row + 1) * r], factor)
        b = _field_matrix(right[column * r : (column + 1) * r, :], factor)
        total = _sum(total, _times(_times(a, h), b))
    return total


def _times(a: DomainMatrix, b: DomainMatrix) -> DomainMatrix:
    a, b = a.unify(b)
    return a.to_dense() * b.to_dense()


def _sum(a: DomainMatrix, b: DomainMatrix) -> DomainMatrix:
    a, b = a.unify(b)
    return a.to_dense() + b.to_dense()


def _field_matrix(matrix: sp.MatrixBase, factor: sp.Poly) -> DomainMatrix:
    """The matrix over a field that contains its entries and the coefficients of p."""
    try:
        return matrix.to_DM(domain=factor.domain).to_dense()
    except CoercionFailed:
        own = in_field(matrix)
    return own.convert_to(own.domain.unify(factor.domain)).to_dense()


def _zero(n: int, factor: sp.Poly) -> DomainMatrix:
    return DomainMatrix.zeros((n, n), factor.domain).to_dense()


def _root_symbol(t: sp.Expr) -> sp.Symbol:
    """λ, or another name if t uses it."""
    taken = {symbol.name for symbol in t.free_symbols}
    return next(
        sp.Symbol(name) for name in ["lambda", *(f"lambda_{i}" for i in range(9))] if name not in taken
    )


def _projectors(factor: sp.Poly) -> list[DomainMatrix]:
    """q_λ(C)/p'(λ) as coefficients of 1, λ, …, λ^(r-1)."""
    r, field = factor.degree(), factor.domain
    falling = elements(factor, field)
    c = _field_matrix(companion_matrix(factor), factor)
    horner = [at_matrix(tuple(falling[: r - i]), c) for i in range(r)]
    inverse = inverse_slope(factor)
    result = [_zero(r, factor)] * r
    for i, part in enumerate(horner):
        shifted = (inverse * sp.Poly(factor.gen**i, factor.gen, domain=field)).rem(factor)
        for power, value in enumerate(reversed(elements(shifted, field))):
            result[power] = result[power] + part * value
    return result
