"""Transport of vectors by exp(tX): a generator lowered to floats, and applied block by block.

    X = S (B_1 ⊕ … ⊕ B_k) S⁻¹,   exp(tX) x = S (⊕ exp(tB_j)) S⁻¹ x,
    exp(tB) = e^{-γt} (Σ_{k<m} t^k/k! N^k) ⊗ R(ωt).

Every generator is such a sum, once its companion blocks are taken apart into their roots. Blocks of equal
size that turn alike run together as one batch; the matrix exp(tX) is never formed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import sympy as sp
import torch
from torch import Tensor

from ..symbolic.block import Block
from ..symbolic.generator import Generator
from ..symbolic.lowering import DECAY, FREQUENCY, shape_program
from ..symbolic.program import Program
from .angles import exact_angles
from .constants import nearest_float
from .emitted import compiled, turn_transposed
from .emitted import turn as emitted_turn
from .errors import BadDtype, BadTensor, TooLarge
from .formula import evaluate
from .layout import over_heads, select, time_axis
from .roots import Rates, in_planes, rates
from .transforms import unwrapped
from .validation import check_flag, check_heads, check_token_positions, compute_dtype, same_device


@dataclass(frozen=True)
class BlockBatch:
    """n blocks of one size m, all turning or none: rates in float64, and where their coordinates stand.

    decays, frequencies: n numbers (1/position, radians/position); starts: first coordinate of each block, in
    the canonical basis; turns: whether a coordinate is a plane (two numbers) or one number. Coordinates of a
    batch have shape (..., 2 or 1, n, m): first coordinates of all planes, then second ones.
    """

    decays: tuple[float, ...]
    frequencies: tuple[float, ...]
    starts: tuple[int, ...]
    size: int
    turns: bool

    @property
    def places(self) -> list[list[int]]:
        """Where the first, and the second, coordinates of all planes stand, each n·m numbers."""
        width = 2 if self.turns else 1
        first = [start + width * row for start in self.starts for row in range(self.size)]
        return [[place + part for place in first] for part in range(width)]

    @property
    def fades(self) -> bool:
        """Whether any e^{-γu} u^k/k! is other than 1."""
        return self.size > 1 or any(self.decays)


@dataclass(frozen=True)
class Change:
    """A constant matrix lowered to floats: `order` and `signs` if it is a signed permutation, else `rows`."""

    rows: tuple[tuple[float, ...], ...] | None
    order: tuple[int, ...] = ()
    signs: tuple[float, ...] = ()

    def split(self, x: Tensor, batch: BlockBatch) -> list[Tensor]:
        """The coordinates of a batch in matrix @ x, (..., n, m) a part; views of x where nothing moves."""
        shape = (len(batch.starts), batch.size)
        return [self._rows(x, places).unflatten(-1, shape) for places in batch.places]

    def join(self, parts: list[Tensor], batches: tuple[BlockBatch, ...]) -> Tensor:
        """matrix @ x from the coordinates of all batches, (..., 2 or 1, n, m) each."""
        places = [place for batch in batches for part in batch.places for place in part]
        stored = sorted(range(len(places)), key=places.__getitem__)
        x = torch.cat([part.flatten(-3) for part in parts], dim=-1)
        if self.rows is not None:
            return self._rows(select(x, stored), range(len(stored)))
        return _signed(select(x, [stored[place] for place in self.order]), self.signs)

    def _rows(self, x: Tensor, wanted: Sequence[int]) -> Tensor:
        """The given rows of matrix @ x on the last axis; exact for a signed permutation."""
        if self.rows is not None:
            return x @ torch.tensor([self.rows[i] for i in wanted], dtype=x.dtype, device=x.device).T
        return _signed(select(x, [self.order[i] for i in wanted]), [self.signs[i] for i in wanted])


def _signed(x: Tensor, signs: Sequence[float]) -> Tensor:
    return x if min(signs) > 0 else x * torch.tensor(signs, dtype=x.dtype, device=x.device)


@dataclass(frozen=True)
class Lowered:
    """A generator in floats: its batches of blocks, and S and S⁻¹ with their transposes."""

    dim: int
    batches: tuple[BlockBatch, ...]
    basis: Change
    inverse: Change
    basis_transposed: Change
    inverse_transposed: Change


@lru_cache(maxsize=128)
def lower(generator: Generator) -> Lowered:
    """Every rate and basis entry as its nearest float64; NotLowered if a symbol is left in one.

    A companion block becomes the planes and lines of its roots.
    """
    if generator.has_companions:
        found = in_planes(generator)
        blocks = found.blocks
        changes = [Change(rows) for rows in (found.basis, found.inverse)]
        transposed = [Change(tuple(zip(*rows, strict=True))) for rows in (found.basis, found.inverse)]
    else:
        canonical = ((i, block) for i, block in enumerate(generator.blocks) if isinstance(block, Block))
        blocks = tuple(rates(block, f"generator.blocks[{i}]") for i, block in canonical)
        exact = (generator.basis, generator.inverse_basis)
        changes, transposed = [_change(m) for m in exact], [_change(m.T) for m in exact]
    return Lowered(generator.dim, _batches(blocks), *changes, *transposed)


def _batches(blocks: Sequence[Rates]) -> tuple[BlockBatch, ...]:
    groups: dict[tuple[int, bool], list[tuple[float, float, int]]] = {}
    start = 0
    for block in blocks:
        groups.setdefault((block.size, block.turns), []).append((block.decay, block.frequency, start))
        start += block.dim
    return tuple(_batch(found, *kind) for kind, found in groups.items())


def _batch(found: list[tuple[float, float, int]], size: int, turns: bool) -> BlockBatch:
    decays, frequencies, starts = zip(*found, strict=True)
    return BlockBatch(decays, frequencies, starts, size, turns)


def _change(matrix: sp.MatrixBase) -> Change:
    entries = matrix.todok()
    rows = {i: (j, value) for (i, j), value in entries.items() if value in (1, -1)}
    if len(entries) == len(rows) == len({j for j, _ in rows.values()}) == matrix.rows:
        ordered = [rows[i] for i in range(matrix.rows)]
        return Change(None, tuple(j for j, _ in ordered), tuple(float(value) for _, value in ordered))
    dense = [[0.0] * matrix.cols for _ in range(matrix.rows)]
    for (i, j), value in entries.items():
        dense[i][j] = nearest_float(value, name=f"basis[{i}, {j}] of generator")
    return Change(tuple(map(tuple, dense)))


def transport(
    x: Tensor, generator: Generator, position_ids: Tensor, *, transpose: bool = False, layout: str = "bhtd"
) -> Tensor:
    """exp(tX) x for the token at t, or exp(tX)ᵀ x with transpose=True; same shape and dtype as x.

    x: (batch, heads, time, dim) or (batch, time, heads, dim) with layout="bthd", any float dtype; half
    precision is computed in float32 and rounded once. generator: of size dim, with numbers only.
    position_ids: (time,) or (batch, time), integers or float clock readings. Queries of the family use
    transpose=True, keys the negated positions, so that scores depend on the gap; where a block fades,
    keys then grow like e^{γs} (`attention` works with gaps instead), and TooLarge is raised before anything
    overflows, and where |ωt| > 2^28 radians. The result is a new tensor; gradients flow to x, and to float
    clock readings.
    Raises BadTensor or BadDtype naming the argument, NotLowered if a symbol is left in the generator.
    """
    x = check_heads(x, "x", layout)
    check_flag(transpose, "transpose")
    if not isinstance(generator, Generator):
        raise BadDtype(f"generator is a {type(generator).__name__}; a Generator works")
    if generator.dim != x.shape[-1]:
        raise BadTensor(
            f"x has {x.shape[-1]} features but generator has size {generator.dim}; they must agree"
        )
    ids = check_token_positions(position_ids, x.shape[0], x.shape[time_axis(layout)])
    same_device(x, "x", ids, "position_ids")
    plan, dtype = lower(generator), compute_dtype(x.dtype)
    if not any(batch.turns or batch.fades for batch in plan.batches):
        return x.clone()
    before, after = (plan.inverse, plan.basis)
    if transpose:
        before, after = plan.basis_transposed, plan.inverse_transposed
    moved = [
        _moved(before.split(x.to(dtype), batch), batch, ids, transpose, layout) for batch in plan.batches
    ]
    return after.join(moved, plan.batches).to(x.dtype)


def _moved(parts: list[Tensor], batch: BlockBatch, ids: Tensor, transpose: bool, layout: str) -> Tensor:
    """exp(tB), or its transpose, on the blocks of a batch given as parts (..., n, m): (..., 2 or 1, n, m)."""
    program = shape_program(batch.size, turns=batch.turns, fades=any(batch.decays), transpose=transpose)
    dtype = parts[0].dtype
    tables = [over_heads(table, layout).to(dtype) for table in _tables(program, batch, ids, dtype)]
    inputs = [part[..., row] for row in range(batch.size) for part in parts]
    outputs = torch.stack(compiled(program)(*inputs, *tables), dim=-1)
    return outputs.unflatten(-1, (batch.size, len(parts))).movedim(-1, -3)


def _tables(program: Program, batch: BlockBatch, ids: Tensor, dtype: torch.dtype) -> list[Tensor]:
    """The tables of a program at the rates of a batch, float64, ids.shape + (n,); TooLarge as `transport`."""
    values: dict[sp.Expr, Tensor] = {program.position: ids.to(torch.float64)[..., None]}
    if batch.turns:
        cos, sin = _cos_sin(batch, ids)
        angle = FREQUENCY * program.position
        values |= {sp.cos(angle): cos, sp.sin(angle): sin}
    if any(batch.decays):
        fade = _fade(batch.decays, values[program.position], dtype)
        values[sp.exp(-DECAY * program.position)] = fade
    tables = [evaluate(value, values) for _, value in program.tables]
    if batch.size > 1:
        _refuse_powers(tables, batch.size, dtype)
    return tables


def _refuse_powers(tables: list[Tensor], size: int, dtype: torch.dtype) -> None:
    """TooLarge if some e^{-γt} t^k/k! is beyond `dtype`, or its t^k beyond float64."""
    if any(x.is_meta or not x.numel() for x in tables) or torch.compiler.is_compiling():
        return
    limit = torch.finfo(dtype).max
    if not all(bool((unwrapped(table).detach().abs() <= limit).all()) for table in tables):
        raise TooLarge(
            f"exp(tX) contains powers up to t^{size - 1}, which overflow at such positions; use positions "
            "nearer to 0, or attention(), which works with gaps t - s"
        )


def _cos_sin(batch: BlockBatch, ids: Tensor) -> tuple[Tensor, Tensor]:
    """cos ωt and sin ωt in float64, ids.shape + (n,)."""
    frequencies = torch.tensor(batch.frequencies, dtype=torch.float64, device=ids.device)
    angle = exact_angles(frequencies, ids)
    return angle.cos(), angle.sin()


def _fade(decays: tuple[float, ...], time: Tensor, dtype: torch.dtype) -> Tensor:
    """e^{-γt} in float64, time broadcast against decays; TooLarge if it overflows in `dtype`."""
    exponent = -torch.tensor(decays, dtype=torch.float64, device=time.device) * time
    if not exponent.is_meta and not torch.compiler.is_compiling() and exponent.numel():
        limit, largest = math.log(torch.finfo(dtype).max), float(unwrapped(exponent).detach().max())
        if largest > limit:
            raise TooLarge(
                f"exp(tX) contains e^{largest:.4g}, beyond the {limit:.1f} that {dtype} holds; use positions "
                "nearer to 0, or attention(), which works with gaps t - s and never forms a growing factor"
            )
    return exponent.exp()


def turn(parts: list[Tensor], batch: BlockBatch, ids: Tensor, transpose: bool, layout: str) -> Tensor:
    """I_m ⊗ R(ωt), or its transpose, on planes given as two parts (..., n, m), stacked to (..., 2, n, m).

    The identity on blocks that do not turn, given as one part: (..., 1, n, m).
    """
    if not batch.turns:
        return parts[0].unsqueeze(-3)
    cos, sin = (over_heads(x, layout)[..., None].to(parts[0].dtype) for x in _cos_sin(batch, ids))
    return torch.stack((turn_transposed if transpose else emitted_turn)(*parts, cos, sin), dim=-3)


def shear_weights(decays: tuple[float, ...], size: int, time: Tensor, dtype: torch.dtype) -> list[Tensor]:
    """e^{-γt} t^k/k! for k < size, float64, time broadcast against decays; TooLarge if e^{-γt} overflows."""
    program = shape_program(size, turns=False, fades=True)
    t = program.position
    values = {t: time, sp.exp(-DECAY * t): _fade(decays, time, dtype)}
    return [evaluate(value, values) for _, value in program.tables]


__all__ = ["BlockBatch", "Change", "Lowered", "lower", "shear_weights", "transport", "turn"]
