"""A generator X, held exactly as a direct sum of real Jordan blocks in a basis, and its flow exp(tX).

`X = S (B_1 ⊕ … ⊕ B_k) S⁻¹`, so `exp(tX) = S (exp(tB_1) ⊕ … ⊕ exp(tB_k)) S⁻¹`.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from .block import Block
from .errors import BadInput, WrongType
from .exact import exact_matrix, exact_time
from .recognise import blocks_on_the_diagonal


@dataclass(frozen=True, init=False, repr=False)
class Generator:
    """X as blocks in a basis. `Generator(matrix)` recognises blocks; `Generator.direct_sum` is given them.

    matrix: (n, n), exact entries (1/position); blocks: canonical, in diagonal order;
    basis: S, (n, n), invertible.
    """

    matrix: sp.ImmutableMatrix
    blocks: tuple[Block, ...]
    basis: sp.ImmutableMatrix
    inverse_basis: sp.ImmutableMatrix

    def __init__(self, matrix: object) -> None:
        """Recognise a direct sum of canonical blocks laid along the diagonal; Unsupported if it is none."""
        exact = exact_matrix(matrix, "matrix")
        blocks, flips = blocks_on_the_diagonal(exact)
        basis = sp.ImmutableMatrix(sp.diag(*flips))
        self._fill(exact, blocks, basis, basis)

    @classmethod
    def direct_sum(cls, *blocks: Block, basis: object = None) -> Generator:
        """S diag(blocks) S⁻¹; `basis` is S (identity if None): square, invertible, of the blocks' size."""
        if not blocks:
            raise BadInput("blocks is empty; give at least one Block")
        for i, block in enumerate(blocks):
            if not isinstance(block, Block):
                raise WrongType(f"blocks[{i}] is a {type(block).__name__}; a Block works")
        size = sum(block.dim for block in blocks)
        new = cls.__new__(cls)
        diagonal = _diagonal([block.matrix for block in blocks])
        if basis is None:
            identity = sp.ImmutableMatrix(sp.eye(size))
            new._fill(diagonal, blocks, identity, identity)
            return new
        change = exact_matrix(basis, "basis")
        if change.rows != size:
            raise BadInput(f"basis is {change.rows} x {change.rows}, but the blocks have total size {size}")
        inverse = _inverse(change)
        new._fill(_sandwich(change, diagonal, inverse), blocks, change, inverse)
        return new

    def _fill(self, matrix, blocks, basis, inverse_basis) -> None:
        for name, value in [
            ("matrix", matrix),
            ("blocks", tuple(blocks)),
            ("basis", basis),
            ("inverse_basis", inverse_basis),
        ]:
            object.__setattr__(self, name, value)

    @property
    def dim(self) -> int:
        """Rows of X."""
        return self.matrix.rows

    @property
    def canonical(self) -> sp.ImmutableMatrix:
        """B_1 ⊕ … ⊕ B_k, which equals S⁻¹ X S."""
        return _diagonal([block.matrix for block in self.blocks])

    def exp(self, t: object) -> sp.ImmutableMatrix:
        """The closed form S (⊕ e^{-γt} e^{tN} ⊗ R(ωt)) S⁻¹ of exp(tX), shape (n, n)."""
        time = exact_time(t)
        flow = _diagonal([block.exp(time) for block in self.blocks])
        return _sandwich(self.basis, flow, self.inverse_basis)

    def __repr__(self) -> str:
        inside = ", ".join(map(repr, self.blocks))
        basis = "" if self.basis.is_Identity else f", basis={self.basis!r}"
        return f"Generator.direct_sum({inside}{basis})"


def _diagonal(parts: list[sp.ImmutableMatrix]) -> sp.ImmutableMatrix:
    """The block-diagonal matrix of `parts`."""
    size = sum(part.rows for part in parts)
    entries, at = {}, 0
    for part in parts:
        entries.update({(at + i, at + j): x for (i, j), x in part.todok().items()})
        at += part.rows
    return _from_sparse(size, entries)


def _sandwich(
    left: sp.ImmutableMatrix, middle: sp.ImmutableMatrix, right: sp.ImmutableMatrix
) -> sp.ImmutableMatrix:
    """left · middle · right, summed over non-zero entries only."""
    return _product(_product(left, middle), right)


def _product(a: sp.ImmutableMatrix, b: sp.ImmutableMatrix) -> sp.ImmutableMatrix:
    rows: dict[int, list[tuple[int, sp.Expr]]] = {}
    for (k, j), y in b.todok().items():
        rows.setdefault(k, []).append((j, y))
    terms: dict[tuple[int, int], list[sp.Expr]] = {}
    for (i, k), x in a.todok().items():
        for j, y in rows.get(k, ()):
            terms.setdefault((i, j), []).append(x * y)
    return _from_sparse(a.rows, {place: sp.Add(*parts) for place, parts in terms.items()})


def _from_sparse(size: int, entries: dict[tuple[int, int], sp.Expr]) -> sp.ImmutableMatrix:
    return sp.ImmutableMatrix(sp.SparseMatrix(size, size, entries))


def _inverse(basis: sp.ImmutableMatrix) -> sp.ImmutableMatrix:
    """S⁻¹ over the field of the entries; BadInput when S is singular."""
    field = basis.to_DM(extension=True).to_field()
    if field.rank() < basis.rows:
        raise BadInput("basis is singular; the columns of a basis must be linearly independent")
    return sp.ImmutableMatrix(field.inv().to_Matrix())
