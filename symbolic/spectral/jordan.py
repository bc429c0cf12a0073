"""The Jordan form over the field of the entries: a basis in which every block is I_m ⊗ C(p) + N_m ⊗ I_r.

C(p) is the companion matrix of an irreducible factor p of degree r: C e_i = e_{i+1}, last column -p; r = 1
gives J_m(λ). By Jordan-Chevalley A = Σ + ν with Σ semisimple, ν nilpotent, both polynomials in A; through Σ
the space is one over the field K[x]/p, on which ν is linear, and its chains are the blocks. Everything is
linear algebra over K: no eigenvalue is ever formed.
Source: Hoffman and Kunze, Linear Algebra, 2nd ed. (1971), §7.5 (semisimple part, Thm 13); Newton's iteration
for it: Levelt, Jordan decomposition for a class of singular differential operators (1975), §1.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy.polys.matrices import DomainMatrix

from ..errors import Disagreement
from .spectrum import Coefficients, Factor, at_matrix, derivative, factors, squarefree


@dataclass(frozen=True)
class Chain:
    """One block I_m ⊗ C(p) + N_m ⊗ I_r: p = `factor`, m = `size`."""

    factor: Factor
    size: int

    @property
    def dim(self) -> int:
        """m·r."""
        return self.size * self.factor.degree


@dataclass(frozen=True)
class FieldForm:
    """`matrix = basis · (⊕ chains) · inverse` over the field, exactly."""

    matrix: DomainMatrix
    chains: tuple[Chain, ...]
    basis: DomainMatrix
    inverse: DomainMatrix


def field_form(matrix: DomainMatrix) -> FieldForm:
    """The form of a dense square matrix over a field of characteristic 0."""
    found = factors(matrix)
    semisimple = _semisimple(matrix, squarefree(found))
    nilpotent = matrix - semisimple
    chains: list[Chain] = []
    columns: list[DomainMatrix] = []
    for factor in found:
        space = _kernel(at_matrix(factor.coefficients, semisimple))
        for size, head in _heads(space, factor, semisimple, nilpotent):
            chains.append(Chain(factor, size))
            columns.append(_chain_basis(head, size, factor.degree, semisimple, nilpotent))
    basis = columns[0].hstack(*columns[1:])
    if basis.shape[0] != basis.shape[1]:
        raise Disagreement(f"chains of total length {basis.shape[1]} for a matrix of {basis.shape[0]} rows")
    return FieldForm(matrix, tuple(chains), basis, basis.inv())


def _semisimple(matrix: DomainMatrix, polynomial: Coefficients) -> DomainMatrix:
    """Σ with s(Σ) = 0 and Σ - A nilpotent, by Newton: Σ ← Σ - s(Σ) s'(Σ)⁻¹, for squarefree s."""
    slope = derivative(polynomial)
    while not (rest := at_matrix(polynomial, matrix)).is_zero_matrix:
        matrix = matrix - rest * at_matrix(slope, matrix).inv()
    return matrix


def _kernel(matrix: DomainMatrix) -> DomainMatrix:
    """A basis of the kernel as columns."""
    return matrix.nullspace().to_dense().transpose()


def _heads(
    space: DomainMatrix, factor: Factor, semisimple: DomainMatrix, nilpotent: DomainMatrix
) -> list[tuple[int, DomainMatrix]]:
    """(size, head) of every chain in the primary space of p, longest first.

    The vectors ν^(k-1) v with ν^k v = 0 that are independent over K[x]/p of those of longer chains start the
    chains of length k.
    """
    images = [space]
    while not images[-1].is_zero_matrix:
        images.append(nilpotent * images[-1])
    found: list[tuple[int, DomainMatrix]] = []
    spanned: list[DomainMatrix] = []
    width = factor.degree
    for size in range(len(images) - 1, 0, -1):
        inside = _kernel(images[size])
        candidates, bottoms = space * inside, images[size - 1] * inside
        groups = [_orbit(_column(bottoms, j), width, semisimple) for j in range(bottoms.shape[1])]
        taken = sum(part.shape[1] for part in spanned)
        _, pivots = _join(spanned + groups).rref()
        chosen = [j for j in range(len(groups)) if taken + j * width in pivots]
        found += [(size, _column(candidates, j)) for j in chosen]
        spanned += [groups[j] for j in chosen]
    return found


def _join(parts: list[DomainMatrix]) -> DomainMatrix:
    return parts[0].hstack(*parts[1:])


def _column(matrix: DomainMatrix, j: int) -> DomainMatrix:
    return matrix.extract(list(range(matrix.shape[0])), [j])


def _orbit(vector: DomainMatrix, width: int, semisimple: DomainMatrix) -> DomainMatrix:
    """[v, Σv, …, Σ^(r-1) v]: a line over K[x]/p."""
    columns = [vector]
    for _ in range(width - 1):
        columns.append(semisimple * columns[-1])
    return _join(columns)


def _chain_basis(
    head: DomainMatrix, size: int, width: int, semisimple: DomainMatrix, nilpotent: DomainMatrix
) -> DomainMatrix:
    """The orbits of ν^(m-1) v, …, νv, v, side by side."""
    vectors = [head]
    for _ in range(size - 1):
        vectors.append(nilpotent * vectors[-1])
    return _join([_orbit(vector, width, semisimple) for vector in reversed(vectors)])
