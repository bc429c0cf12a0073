"""Companion blocks in floats: a plane for every pair of conjugate roots, a line for every real one.

For a root λ of p, with w = (1, λ, …, λ^{r-1}) and Σ v_i x^i = (p(x) - p(λ))/(x - λ):

    C(p) v = λ v,   w C(p) = λ w,   w v = p'(λ),   exp(tC) x = Σ_λ e^{λt} v (w x)/p'(λ).

The coordinate z = w x fades and turns as a block does, e^{λt} z, and a pair gives twice the real part. Roots
and bases are formed in balls and rounded once, so no ill-conditioned step is ever taken in floats.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import flint
import sympy as sp
from flint import acb, arb, arb_mat

from ..symbolic.block import Block
from ..symbolic.generator import Generator
from ..symbolic.spectral.companion import CompanionBlock
from ..symbolic.spectral.isolate import root_balls
from .constants import nearest_float, number_ball
from .errors import NotRounded

_BITS, _MOST_BITS = 256, 1 << 14


@dataclass(frozen=True)
class Rates:
    """A canonical block in floats: decay and frequency (a position), its size, and whether it turns."""

    decay: float
    frequency: float
    size: int
    turns: bool

    @property
    def dim(self) -> int:
        """Its coordinates."""
        return self.size * (2 if self.turns else 1)


@dataclass(frozen=True)
class InPlanes:
    """X = S (⊕ blocks) S⁻¹ with canonical blocks only: their rates, and the rows of S and S⁻¹."""

    blocks: tuple[Rates, ...]
    basis: tuple[tuple[float, ...], ...]
    inverse: tuple[tuple[float, ...], ...]


def in_planes(generator: Generator) -> InPlanes:
    """Companion blocks taken apart into their roots; every rate and entry rounded once."""
    with flint.ctx.workprec(_BITS):
        basis, inverse = (_balls(matrix) for matrix in (generator.basis, generator.inverse_basis))
        blocks: list[Rates] = []
        columns, rows, start = [], [], 0  # of S, and of S⁻¹
        for i, block in enumerate(generator.blocks):
            stop = start + block.dim
            left = _part(basis, range(generator.dim), range(start, stop))
            right = _part(inverse, range(start, stop), range(generator.dim))
            if isinstance(block, CompanionBlock):
                found, from_planes, to_planes = _taken_apart(block)
                blocks += found
                left, right = left * from_planes, to_planes * right
            else:
                blocks.append(rates(block, f"generator.blocks[{i}]"))
            columns += _floats(left.transpose())
            rows += _floats(right)
            start = stop
    return InPlanes(tuple(blocks), tuple(zip(*columns, strict=True)), tuple(map(tuple, rows)))


def rates(block: Block, name: str) -> Rates:
    """A canonical block, each rate as its nearest float64; NotLowered, with its name, for symbols."""
    decay = nearest_float(block.decay, name=f"the decay of {name}")
    frequency = nearest_float(block.frequency, name=f"the frequency of {name}")
    return Rates(decay, frequency, block.size, block.turns)


def _taken_apart(block: CompanionBlock) -> tuple[list[Rates], arb_mat, arb_mat]:
    """I_m ⊗ C(p) + N_m ⊗ I_r = P (⊕ blocks) P⁻¹: the blocks, P and P⁻¹."""
    size, found, columns, rows = block.size, [], [], []
    for root in _half_of_the_roots(block):
        turns = not root.imag.is_zero()
        decay = 0.0 if root.real.contains(0) else -float(root.real.mid())
        found.append(Rates(decay, float(root.imag.mid()) if turns else 0.0, size, turns))
        read, written = _eigenvectors(block, root)
        for slot in range(size):
            rows.append(_at_slot([z.real for z in read], slot, size))
            columns.append(_at_slot([z.real * (2 if turns else 1) for z in written], slot, size))
            if turns:
                rows.append(_at_slot([z.imag for z in read], slot, size))
                columns.append(_at_slot([-2 * z.imag for z in written], slot, size))
    return found, arb_mat(columns).transpose(), arb_mat(rows)


def _half_of_the_roots(block: CompanionBlock) -> list[acb]:
    """Real roots, and of every pair the one with imag > 0; a real part that may be 0 is 0."""
    bits, on_axis = _BITS, block.half_planes.axis
    while bits <= _MOST_BITS:
        roots = root_balls(block.factor, bits)
        if sum(z.real.contains(0) for z in roots) == on_axis:
            return [z for z in roots if z.imag.is_zero() or z.imag > 0]
        bits *= 2
    raise NotRounded(f"the real parts of the roots of {block.factor.as_expr()} were not told from 0")


def _eigenvectors(block: CompanionBlock, root: acb) -> tuple[list[acb], list[acb]]:
    """w and v/p'(λ), scaled against one another so that the largest entry of w is near 1."""
    degree = block.degree
    rising = [acb(number_ball(c)) for c in reversed(block.factor.all_coeffs())]
    powers = [root**i for i in range(degree)]
    quotient = [
        sum((rising[j] * powers[j - 1 - i] for j in range(i + 1, degree + 1)), acb(0)) for i in range(degree)
    ]
    slope = sum((w * v for w, v in zip(powers, quotient, strict=True)), acb(0))
    scale = arb(2) ** round(float(max(abs(w).log() for w in powers)) / math.log(2))
    return [w / scale for w in powers], [v * scale / slope for v in quotient]


def _at_slot(vector: list[arb], slot: int, size: int) -> list[arb]:
    """e_slot ⊗ vector."""
    nothing = [arb(0)] * len(vector)
    return [entry for k in range(size) for entry in (vector if k == slot else nothing)]


def _balls(matrix: sp.MatrixBase) -> list[list[arb]]:
    return [[number_ball(entry) for entry in row] for row in matrix.tolist()]


def _part(matrix: list[list[arb]], rows: range, columns: range) -> arb_mat:
    return arb_mat([[matrix[i][j] for j in columns] for i in rows])


def _floats(matrix: arb_mat) -> list[list[float]]:
    """Every entry as the nearest float64, 0 for what 256 bits do not tell from 0."""
    return [[0.0 if x.contains(0) else float(x.mid()) for x in row] for row in matrix.tolist()]
