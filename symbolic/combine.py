"""Putting generators together: side by side on more features, or added on the same ones if they commute."""

from __future__ import annotations

import sympy as sp

from .block import Block
from .errors import BadInput
from .generator import Generator
from .spectral.classify import AnyBlock


def direct_sum(*generators: Generator) -> Generator:
    """X_1 ⊕ X_2 ⊕ …: blocks in order, bases along the diagonal."""
    if len(generators) == 1:
        return generators[0]
    blocks = [block for generator in generators for block in generator.blocks]
    return Generator.direct_sum(*blocks, basis=sp.diag(*(generator.basis for generator in generators)))


def generator_sum(a: Generator, b: Generator, names: tuple[str, str]) -> Generator:
    """X_a + X_b for commuting generators of one size; BadInput says why it is refused, calling them `names`.

    exp(t(X_a + X_b)) = exp(tX_a) exp(tX_b) holds for all t only if they commute.
    """
    if not _vanishes(a.matrix * b.matrix - b.matrix * a.matrix):
        raise BadInput(
            f"{names[0]} and {names[1]} cannot be added: their generators do not commute, so the sum of "
            "the two is not both turns at once (different pairings?)"
        )
    for one, other in ((a, b), (b, a)):
        shift = _multiple_of_identity(one)
        if shift is not None:
            return _shifted(other, shift)
    if a.basis == b.basis and all(_addable(*pair) for pair in zip(a.blocks, b.blocks, strict=False)):
        return Generator.direct_sum(*map(_block_sum, a.blocks, b.blocks), basis=a.basis)
    raise BadInput(
        f"{names[0]} and {names[1]} cannot be added: the blocks of their sum are not known; "
        "give generators with the same planes turning the same way"
    )


def _vanishes(matrix: sp.MatrixBase) -> bool:
    """Whether every entry is zero: entries are polynomials in the rates, so expanding decides."""
    return all(sp.expand(entry) == 0 for entry in matrix.todok().values())


def _multiple_of_identity(generator: Generator) -> sp.Expr | None:
    """γ when X = -γI, else None."""
    first = generator.blocks[0]
    flat = all(block == first for block in generator.blocks) and first.size == 1 and not first.turns
    return first.decay if flat else None


def _shifted(generator: Generator, decay: sp.Expr) -> Generator:
    """X - γI."""
    blocks = [Block(block.decay + decay, block.frequency, block.size) for block in generator.blocks]
    return Generator.direct_sum(*blocks, basis=generator.basis)


def _addable(a: AnyBlock, b: AnyBlock) -> bool:
    return a.dim == b.dim and a.size == b.size == 1


def _block_sum(a: AnyBlock, b: AnyBlock) -> Block:
    return Block(a.decay + b.decay, a.frequency + b.frequency)
