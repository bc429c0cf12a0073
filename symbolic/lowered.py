"""A whole generator as the direct sum of the programs of its blocks.

    exp(tX) = S (exp(tB_1) ⊕ … ⊕ exp(tB_k)) S⁻¹

Where S only orders coordinates and changes signs, the programs work on the features themselves; else on the
canonical coordinates z = S⁻¹ x. Blocks of one shape share a program, in which symbols stand for their rates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import sympy as sp

from .block import Block
from .decide import decide
from .errors import BadInput, Unsupported, WrongType
from .generator import Generator
from .lowering import DECAY, FREQUENCY, shape_program
from .program import Program
from .spectral.classify import AnyBlock
from .spectral.sparse import diagonal, from_sparse
from .verdict import Status, Verdict, conjunction

Signs = tuple[int, ...] | None


@dataclass(frozen=True)
class Run:
    """Blocks of one shape, evenly spaced: coordinate k of block i stands at starts[k] + i * strides[k]."""

    program: Program
    blocks: tuple[Block, ...]
    starts: tuple[int, ...]
    strides: tuple[int, ...]

    def places(self, i: int) -> tuple[int, ...]:
        """Where the coordinates of block i stand."""
        return tuple(a + i * b for a, b in zip(self.starts, self.strides, strict=True))

    def closed_form(self, i: int) -> sp.ImmutableMatrix:
        """M(t) of the program at the rates of block i."""
        rates = {DECAY: self.blocks[i].decay, FREQUENCY: self.blocks[i].frequency}
        return self.program.closed_form.subs(rates, simultaneous=True)


@dataclass(frozen=True)
class Lowered:
    """y = exp(tX) x, its transpose or its inverse, as runs of blocks on disjoint coordinates.

    before, after: constant matrices with y = after · (⊕ runs) · before · x; None where the runs work on the
    features themselves.
    """

    generator: Generator
    transpose: bool
    inverse: bool
    runs: tuple[Run, ...]
    before: sp.ImmutableMatrix | None
    after: sp.ImmutableMatrix | None

    @property
    def programs(self) -> tuple[Program, ...]:
        """The different programs, in the order of the runs."""
        return tuple(dict.fromkeys(run.program for run in self.runs))

    def matrix(self) -> sp.ImmutableMatrix:
        """⊕ M(t), put together from the closed forms that the runs take from their programs."""
        entries = {}
        for run in self.runs:
            for i in range(len(run.blocks)):
                places = run.places(i)
                cells = run.closed_form(i).todok().items()
                entries |= {(places[a], places[b]): value for (a, b), value in cells}
        return from_sparse(self.generator.dim, entries)

    def verify(self) -> Verdict:
        """Whether every program equals its closed form, and their direct sum that of the generator.

        Irrational rates are replaced by free symbols: what is proved for those holds for their values.
        """
        general, values = self.generator.freed()
        if values:
            return lower_generator(general, transpose=self.transpose, inverse=self.inverse).verify()
        verdicts = [program.verify() for program in self.programs]
        time = -self._position if self.inverse else self._position
        if self.before is None:
            whole = self.generator.exp(time)
        else:
            whole = diagonal([block.exp(time) for block in self.generator.blocks])
        whole, found = whole.T if self.transpose else whole, self.matrix()
        same = Verdict(Status.PROVED, "the direct sum is the closed form of the generator, entry by entry")
        return conjunction([*verdicts, same if found == whole else decide(found, whole)])

    @property
    def _position(self) -> sp.Symbol:
        return self.runs[0].program.position


def lower_generator(generator: Generator, *, transpose: bool = False, inverse: bool = False) -> Lowered:
    """The programs of exp(tX), of its transpose, of its inverse exp(-tX), or of both, for a whole generator.

    Errors: WrongType for anything but a Generator; Unsupported where a block has eigenvalues of a degree
    above 2, which have no closed form here.
    """
    if not isinstance(generator, Generator):
        raise WrongType(f"generator is a {type(generator).__name__}; a Generator works")
    moved = _monomial(generator.basis)
    before, after = generator.inverse_basis, generator.basis
    if transpose:
        before, after = generator.basis.T, generator.inverse_basis.T
    canonical = tuple((i, 1) for i in range(generator.dim))
    runs = []
    for (turns, fades, size, signs), found in _shapes(generator, moved or canonical).items():
        options = {"turns": turns, "fades": fades, "transpose": transpose, "inverse": inverse}
        program = shape_program(size, **options, signs=signs)
        runs += [Run(program, *run) for run in _evenly_spaced(found)]
    outside = (None, None) if moved else (before, after)
    return Lowered(generator, transpose, inverse, tuple(runs), *outside)


def _monomial(basis: sp.MatrixBase) -> tuple[tuple[int, int], ...] | None:
    """(row, sign) of the one entry ±1 of every column, or None if the basis is no signed permutation."""
    entries = {j: (i, int(x)) for (i, j), x in basis.todok().items() if x in (1, -1)}
    if len(entries) == len(basis.todok()) == basis.rows == len({i for i, _ in entries.values()}):
        return tuple(entries[j] for j in range(basis.rows))
    return None


Placed = tuple[Block, tuple[int, ...]]


def _shapes(
    generator: Generator, moved: tuple[tuple[int, int], ...]
) -> dict[tuple[bool, bool, int, Signs], list[Placed]]:
    """(turns, fades, size, signs) -> the blocks of that shape and where their coordinates stand."""
    found: dict[tuple[bool, bool, int, Signs], list[Placed]] = {}
    start = 0
    for block in map(_admitted, generator.blocks):
        own = moved[start : start + block.dim]
        signs = tuple(sign * own[0][1] for _, sign in own)
        shape = block.turns, block.decay != 0, block.size, signs if -1 in signs else None
        found.setdefault(shape, []).append((block, tuple(row for row, _ in own)))
        start += block.dim
    return found


def _admitted(block: AnyBlock) -> Block:
    """The block, unless it has no straight-line program or a rate that would be read as the position."""
    if not isinstance(block, Block):
        raise Unsupported(
            f"the generator has eigenvalues that are roots of {block.factor.as_expr()}, which give no "
            "straight-line program; eigenvalues of degree 1 and 2 do"
        )
    if "t" in {symbol.name for symbol in block.decay.free_symbols | block.frequency.free_symbols}:
        raise BadInput("a rate of the generator uses t, which is the position here; another name works")
    return block


def _evenly_spaced(found: list[Placed]) -> Iterator[tuple]:
    """(blocks, starts, strides) of the longest evenly spaced runs, from the first block on."""
    while found:
        first = found[0][1]
        second = found[1][1] if len(found) > 1 else first
        strides = tuple(b - a for a, b in zip(first, second, strict=True))
        even = [tuple(a + i * d for a, d in zip(first, strides, strict=True)) for i in range(len(found))]
        count = next((i for i, (_, at) in enumerate(found) if at != even[i]), len(found))
        yield tuple(block for block, _ in found[:count]), first, strides
        found = found[count:]


__all__ = ["Lowered", "Run", "lower_generator"]
