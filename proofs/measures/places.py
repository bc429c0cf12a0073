"""What an encoding does at given positions: exact matrices, rounded correctly to float64, and their cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from ...numeric.constants import nearest_float
from ...symbolic.block import Block
from ...symbolic.encoding import Encoding
from ...symbolic.generator import Generator
from ...symbolic.kinds.generated import Generated


@dataclass(frozen=True)
class Places:
    """Matrices at T positions, for contents of n features; float64.

    pairs: F(t)ᵀ G(s), (heads or 1, T, T, n, n); bias: what is added to the score, (heads or 1, T, T).
    query, key: the matrices a kernel applies before the dot product, (T, m, n); values, output: V(s) and
    O(t), (T, d, d), or None. slots: constants of 1 appended to contents. rates: the frequency that each moved
    coordinate meets, radians per position. terms: products added for one moved coordinate, 0 if none moves.
    roundings: of a score, beyond the sum of its products.
    """

    pairs: Tensor
    bias: Tensor
    query: Tensor
    key: Tensor
    values: Tensor | None
    output: Tensor | None
    slots: int
    rates: Tensor
    terms: int
    roundings: int


@lru_cache(maxsize=64)
def places(encoding: Encoding, ids: tuple[int, ...]) -> Places:
    """The matrices of an encoding at the positions `ids`."""
    times, member = [sp.Integer(t) for t in ids], encoding.heads[0]
    held = in_the_family(member, times) if isinstance(member, Generated) else by_factors(member, times)
    moves = member.value_factor(sp.Integer(1)) != sp.eye(encoding.head_dim)
    return Places(
        bias=torch.stack([biases(head, times) for head in encoding.heads]),
        values=stack([member.value_factor(s) for s in times]) if moves else None,
        output=stack([member.output_factor(t) for t in times]) if moves else None,
        **held,
    )


def in_the_family(member: Generated, times: Sequence[sp.Integer]) -> dict[str, Any]:
    """Contents turn one by one, alike in all heads; what fades or slides is a function of the gap."""
    content = member.content_generator
    still = Generator.direct_sum(
        *(Block(0, block.frequency, block.size) for block in content.blocks), basis=content.basis
    )
    unlike = len({(block.decay, block.size, block.turns) for block in content.blocks}) > 1
    fades = any(block.decay != 0 for block in content.blocks)
    m = member.amplitude
    canonical = torch.tensor(
        [float(b.frequency) for b in content.blocks for _ in range(b.dim)], dtype=torch.float64
    )
    return {
        "pairs": torch.stack([stack([m**2 * content.exp(t - s) for s in times]) for t in times])[None],
        "query": stack([m * still.exp(t).T for t in times]),
        "key": stack([m * still.exp(-s) for s in times]),
        "slots": 0,
        "rates": number(sp.ImmutableMatrix(content.basis)).abs() @ canonical,
        "terms": 2 * any(block.turns for block in content.blocks),
        # a fade or an amplitude is stored and multiplied; partial sums of unlike blocks are joined
        "roundings": 2 * fades + 2 * (m != 1) + len(content.blocks) * unlike,
    }


def by_factors(member: Encoding, times: Sequence[sp.Integer]) -> dict[str, Any]:
    """Dense factors F(t) and G(s), applied token by token."""
    left, right = ([factor(t) for t in times] for factor in (member.query_factor, member.key_factor))
    query, key = stack(left), stack(right)
    still = all(f == sp.eye(f.rows) for f in (*left, *right))
    rates = [float(block.frequency) for generator in member.generators for block in generator.blocks]
    return {
        "pairs": torch.stack([stack([f.T * g for g in right]) for f in left])[None],
        "query": query,
        "key": key,
        "slots": query.shape[-1] - int(member.head_dim),
        "rates": torch.tensor(max(rates, default=0.0), dtype=torch.float64),
        "terms": 0 if still else query.shape[-1],
        "roundings": 0,
    }


def biases(member: Encoding, times: Sequence[sp.Integer]) -> Tensor:
    """What is added to the score, (T, T)."""
    if isinstance(member, Generated):
        rows = [[member.relative_bias(t - s) for s in times] for t in times]
    else:
        rows = [[member.bias(t, s) for s in times] for t in times]
    return number(sp.ImmutableMatrix(rows))


def stack(matrices: Sequence[sp.MatrixBase]) -> Tensor:
    """Exact matrices as one tensor."""
    return torch.stack([number(sp.ImmutableMatrix(matrix)) for matrix in matrices])


@lru_cache(maxsize=2048)
def number(matrix: sp.ImmutableMatrix) -> Tensor:
    """A matrix of exact numbers, every entry correctly rounded to float64."""
    rows = [[nearest_float(entry) for entry in row] for row in matrix.tolist()]
    return torch.tensor(rows, dtype=torch.float64)
