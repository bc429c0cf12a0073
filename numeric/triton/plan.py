"""How a call is cut into tiles, and the numbers a kernel is told: found once for every kind of call."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ...symbolic.program import Program
from ..errors import BadTensor
from ..forms import Form, check_fit
from ..layout import time_axis

_TILE = 1024  # planes that a tile turns at once: with the threads of WARPS, 16 bytes or more for each of them
WARPS = 4
_HEADS = 4  # that read the rows of a table after each other, while they are in registers

Tensors = tuple[tuple, tuple]  # (shape, strides, dtype) of what is read, and of what is written


@dataclass(frozen=True)
class Plan:
    """tiles: how many there are; numbers, constants: the arguments of `kernel` behind the pointers."""

    tiles: int
    numbers: tuple[int, ...]
    constants: dict[str, int | bool]


@dataclass(frozen=True)
class Tile:
    """lanes: planes of a row, up to a power of two; steps: how often `near` heads of `tokens` tokens turn."""

    lanes: int
    tokens: int
    near: int
    steps: int

    @staticmethod
    def of(planes: int, time: int, heads: int) -> Tile:
        """The tile for rows of so many planes: as many tokens as fit, and heads where tokens are few."""
        lanes = _power(planes)
        rows = max(1, _TILE // lanes)
        tokens = min(rows, _power(time))
        near = min(rows // tokens, _power(heads))
        steps = (
            min(_HEADS, heads) if near == 1 else 1
        )  # few tokens make few tiles, and those are better short
        return Tile(lanes, tokens, near, max(1, steps))

    def groups(self, heads: int) -> int:
        """How many tiles the heads of a tensor take at one place."""
        return _pieces(heads, self.near * self.steps)


@lru_cache(maxsize=1024)
def make(
    program: Program,
    parts: tuple[Tensors, ...],
    in_place: tuple[bool, ...],
    table_forms: tuple[tuple, ...],
    ids_form: tuple | None,
    layout: str,
) -> Plan:
    """The plan for tensors of these (shape, strides, dtype); BadTensor or BadDtype where they do not fit."""
    tables, ids = [Form(*form) for form in table_forms], None if ids_form is None else Form(*ids_form)
    forms = [(Form(*x), Form(*out)) for x, out in parts]
    for x, out in forms:
        check_fit(program, x, out, tables, ids, layout)
    _check_alike([x for x, _ in forms], layout)
    axes = (0, 3 - time_axis(layout), time_axis(layout), 3)
    batch, _, time, width = (forms[0][0].shape[axis] for axis in axes)
    heads = [x.shape[axes[1]] for x, _ in forms]
    planes = tables[0].shape[-1]
    tile = Tile.of(planes, time, max(heads))
    groups, along = [tile.groups(n) for n in heads], _pieces(time, tile.tokens)
    numbers = [n for table in tables for n in (_over_batch(table, 3), *table.strides[-2:])]
    numbers += [0, 0] if ids is None else [_over_batch(ids, 2), ids.strides[-1]]
    strides = [form.strides[axis] for part in forms for form in part for axis in axes]
    numbers += [*strides, *[0] * (16 - len(strides)), *heads, *[0] * (2 - len(heads))]
    numbers += [groups[0], sum(groups), along, time, tables[0].shape[-2]]
    tails = [0 if same else width - 2 * planes for same in in_place]
    constants = {
        "LOOKED_UP": ids is not None, "PARTS": len(forms), "BLOCKS": planes, "LANES": tile.lanes,
        "TOKENS": tile.tokens, "NEAR": tile.near, "STEPS": tile.steps,
        "Q_TAIL": tails[0], "K_TAIL": tails[-1], "TAIL_LANES": _power(max(tails)),
    }  # fmt: skip
    return Plan(batch * sum(groups) * along, tuple(numbers), constants)


def _check_alike(xs: list[Form], layout: str) -> None:
    """Tensors of one call differ in their heads and strides only."""
    q, k = xs[0], xs[-1]
    heads = 3 - time_axis(layout)
    if q.dtype != k.dtype or any(q.shape[axis] != k.shape[axis] for axis in range(4) if axis != heads):
        raise BadTensor(f"k is {k.shape} {k.dtype}, which does not fit q, {q.shape} {q.dtype}")


def _over_batch(form: Form, ranks: int) -> int:
    """The stride from one sequence to the next; 0 where they share rows."""
    return form.strides[0] if len(form.shape) == ranks and form.shape[0] > 1 else 0


def _pieces(whole: int, piece: int) -> int:
    return -(-whole // piece)


def _power(n: int) -> int:
    """The least power of two that is n or more."""
    return 1 << max(0, n - 1).bit_length()


__all__ = ["WARPS", "Plan", "Tile", "make"]
