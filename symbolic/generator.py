"""A generator X, held exactly as a direct sum of real Jordan blocks in a basis, and its flow exp(tX).

`X = S (B_1 ⊕ … ⊕ B_k) S⁻¹`, so `exp(tX) = S (exp(tB_1) ⊕ … ⊕ exp(tB_k)) S⁻¹`.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from .block import Block
from .boundedness import Boundedness, boundedness
from .decide import Status, Verdict, decide, verify_flow
from .derivation import Derivation, block_steps, closing_steps, joining_steps
from .errors import BadInput, WrongType
from .exact import exact_matrix, exact_time
from .freed import freed_blocks
from .notebook import Shown
from .recognise import blocks_on_the_diagonal
from .typeset import to_grid


@dataclass(frozen=True, init=False, repr=False)
class Generator(Shown):
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

    def freed(self) -> tuple[Generator, dict[sp.Symbol, sp.Expr]]:
        """The same generator with free symbols for irrational decays and frequencies, and their values.

        A law proved for the symbols holds for the values; `decide` knows no irrational frequency.
        """
        blocks, values = freed_blocks(self.blocks)
        return (Generator.direct_sum(*blocks, basis=self.basis) if values else self), values

    def verify(self) -> Verdict:
        """Whether the closed form E has E(0) = I and E' = XE, decided exactly."""
        general, _ = self.freed()
        t = general.time
        return verify_flow(general.matrix, general.exp(t), t)

    def derivation(self) -> Derivation:
        """The steps from X to its closed form, each computed as it is made or cited."""
        general, values = self.freed()
        t = general.time
        steps = [step for block in dict.fromkeys(general.blocks) for step in block_steps(block, t)]
        steps += joining_steps(general)
        steps += closing_steps(general.matrix, general.exp(t), t)
        return Derivation(tuple(steps), values)

    def bounded(self) -> Boundedness:
        """Whether exp(tX) stays bounded for all t, for t >= 0, for t <= 0; with what grows if not."""
        general, _ = self.freed()
        return boundedness(general.blocks, general.time)

    @property
    def time(self) -> sp.Symbol:
        """A symbol for t that the entries do not use."""
        taken = {symbol.name for symbol in self.matrix.free_symbols | self.basis.free_symbols}
        names = ["t", *(f"t_{i}" for i in range(len(taken)))]
        return sp.Symbol(next(name for name in names if name not in taken))

    @property
    def formula(self) -> sp.ImmutableMatrix:
        """The matrix, which is what notebooks and papers show."""
        return self.matrix

    def __str__(self) -> str:
        kinds = " ⊕ ".join(str(block).partition(":")[0] for block in self.blocks)
        return f"{kinds}, {self.dim} x {self.dim}\n{to_grid(self.matrix)}"

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
    if field.rank() < basis.rows or _vanishes(field.det(), basis):
        raise BadInput("basis is singular; the columns of a basis must be linearly independent")
    return sp.ImmutableMatrix(field.inv().to_Matrix())


def _vanishes(determinant: object, basis: sp.ImmutableMatrix) -> bool:
    """Whether a formally non-zero determinant vanishes all the same, say by sin² + cos² = 1."""
    if not basis.has(sp.Function):
        return False
    return decide(basis.to_DM().domain.get_field().to_sympy(determinant)).status is Status.PROVED
