"""A generator X, held exactly as a direct sum of real Jordan blocks in a basis, and its flow exp(tX).

`X = S (B_1 ⊕ … ⊕ B_k) S⁻¹`, so `exp(tX) = S (exp(tB_1) ⊕ … ⊕ exp(tB_k)) S⁻¹`.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp
from sympy.polys.matrices import DomainMatrix

from .block import Block
from .boundedness import Boundedness, boundedness
from .decide import Status, Verdict, decide, verify_flow
from .derivation import Derivation, block_steps, closing_steps, joining_steps
from .errors import BadInput, WrongType
from .exact import exact_matrix, exact_time
from .flow import assembled_flow, verify_assembled
from .freed import free_surds, freed_blocks
from .notebook import Shown
from .spectral.classify import AnyBlock, classify
from .spectral.companion import CompanionBlock
from .spectral.metric import Metric, is_isometric, metric_of
from .spectral.sparse import diagonal, sandwich
from .spectral.spectrum import in_field
from .spectral.tempo import Tempo, tempo
from .typeset import to_grid


@dataclass(frozen=True, init=False, repr=False)
class Generator(Shown):
    """X as blocks in a basis. `Generator(matrix)` finds them; `Generator.direct_sum` is given them.

    matrix: (n, n), exact entries (1/position); blocks: canonical, in diagonal order, where an irreducible
    factor of the characteristic polynomial of higher degree gives a `CompanionBlock`; basis: S, (n, n),
    invertible.
    """

    matrix: sp.ImmutableMatrix
    blocks: tuple[AnyBlock, ...]
    basis: sp.ImmutableMatrix
    inverse_basis: sp.ImmutableMatrix

    def __init__(self, matrix: object) -> None:
        """The real Jordan type of any exact real square matrix, and a basis for it.

        Entries: rationals, square roots of rationals, symbols. Where all eigenvalues are at most quadratic,
        all blocks are `Block`s. Errors: Unsupported for other entries outside canonical blocks, and for
        symbols whose assumptions leave the type open (the message names the discriminant).
        """
        exact = _exact(matrix)
        found = classify(exact)
        self._fill(exact, found.blocks, found.basis, found.inverse)

    @classmethod
    def direct_sum(cls, *blocks: AnyBlock, basis: object = None) -> Generator:
        """S diag(blocks) S⁻¹; `basis` is S (identity if None): square, invertible, of the blocks' size."""
        if not blocks:
            raise BadInput("blocks is empty; give at least one Block")
        for i, block in enumerate(blocks):
            if not isinstance(block, Block | CompanionBlock):
                raise WrongType(f"blocks[{i}] is a {type(block).__name__}; a Block works")
        size = sum(block.dim for block in blocks)
        new = cls.__new__(cls)
        whole = diagonal([block.matrix for block in blocks])
        if basis is None:
            identity = sp.ImmutableMatrix(sp.eye(size))
            new._fill(whole, blocks, identity, identity)
            return new
        change = exact_matrix(basis, "basis")
        if change.rows != size:
            raise BadInput(f"basis is {change.rows} x {change.rows}, but the blocks have total size {size}")
        inverse = _inverse(change)
        new._fill(sandwich(change, whole, inverse), blocks, change, inverse)
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
        return diagonal([block.matrix for block in self.blocks])

    def exp(self, t: object) -> sp.ImmutableMatrix:
        """The closed form S (⊕ e^{-γt} e^{tN} ⊗ R(ωt)) S⁻¹ of exp(tX), shape (n, n).

        A companion block adds Σ e^{λt} B(λ) over the roots of its factor: entries are sympy `RootSum`s.
        """
        return assembled_flow(self, exact_time(t))

    def freed(self) -> tuple[Generator, dict[sp.Symbol, sp.Expr]]:
        """The same generator with free symbols for irrational decays and frequencies, and their values.

        A law proved for the symbols holds for the values; `decide` knows no irrational frequency. Roots of
        formulas in the basis become symbols as well.
        """
        blocks, values = freed_blocks(self.blocks)
        (basis, inverse), surds = free_surds((self.basis, self.inverse_basis))
        if not values and not surds:
            return self, {}
        new = type(self).__new__(type(self))
        canonical = diagonal([block.matrix for block in blocks])
        new._fill(sandwich(basis, canonical, inverse), blocks, basis, inverse)
        return new, values | surds

    def verify(self) -> Verdict:
        """Whether the closed form E has E(0) = I and E' = XE, decided exactly."""
        general, values = self.freed()
        if not values and not self.has_companions:
            return verify_flow(self.matrix, self.exp(self.time), self.time)
        return verify_assembled(self, general)

    @property
    def has_companions(self) -> bool:
        """Whether some eigenvalues have a degree too high for a canonical block."""
        return any(isinstance(block, CompanionBlock) for block in self.blocks)

    def derivation(self) -> Derivation:
        """The steps from X to its closed form, each computed as it is made or cited."""
        general, values = self.freed()
        t = general.time
        steps = [step for block in dict.fromkeys(general.blocks) for step in block_steps(block, t)]
        by_parts = self.has_companions or general.inverse_basis != self.inverse_basis
        verdict = self.verify() if by_parts else None
        steps += joining_steps(general, verdict)
        steps += closing_steps(general.matrix, general.exp(t), t, verdict)
        return Derivation(tuple(steps), values)

    def bounded(self) -> Boundedness:
        """Whether exp(tX) stays bounded for all t, for t >= 0, for t <= 0; with what grows if not."""
        general, values = self.freed()
        return boundedness(general.blocks, general.time, values)

    def metric(self) -> Metric | None:
        """P > 0 with XᵀP + PX = 0 if the flow is bounded for all t, ⪯ 0 if for t >= 0; None if neither.

        Its `.bound` √cond(P) bounds ‖exp(tX)‖.
        """
        general, values = self.freed()
        return metric_of(self, general, values)

    @property
    def isometric(self) -> bool:
        """Whether exp(tX) keeps every length: exactly if X is skew."""
        return is_isometric(self.matrix)

    def tempos(self) -> tuple[Tempo, ...]:
        """Half-life, slowest and fastest period of every block."""
        return tuple(map(tempo, self.blocks))

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


def _exact(matrix: object) -> sp.ImmutableMatrix:
    """The matrix with exact entries; for floats the refusal says why, and what floats can tell."""
    try:
        return exact_matrix(matrix, "matrix")
    except WrongType as refusal:
        if "float" not in str(refusal) and "ndarray" not in str(refusal):
            raise
        raise WrongType(
            f"{refusal} (the Jordan type jumps under rounding; exptx.numeric.float_spectrum gives the "
            "eigenvalues and the distance to the nearest defective matrix)"
        ) from None


def _inverse(basis: sp.ImmutableMatrix) -> sp.ImmutableMatrix:
    """S⁻¹ over the field of the entries; BadInput when S is singular."""
    field = in_field(basis)
    if field.rank() < basis.rows or _vanishes(field):
        raise BadInput("basis is singular; the columns of a basis must be linearly independent")
    return sp.ImmutableMatrix(field.inv().to_Matrix())


def _vanishes(basis: DomainMatrix) -> bool:
    """Whether a formally non-zero determinant vanishes all the same, say by sin² + cos² = 1."""
    determinant = basis.domain.to_sympy(basis.det())
    if not (basis.domain.is_EX or determinant.has(sp.Function)):
        return False
    return decide(determinant).status is Status.PROVED
