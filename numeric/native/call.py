"""Calls of native kernels on tensors: pointers in, nothing allocated, little Python on the way.

rotary, rotary_qk    the rotation by tables of cos and sin, for one tensor or for queries and keys at once
Native(program)      any program, e.g. one block of exp(tX), by its own tables
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial

import torch
from torch import Tensor

from ...symbolic.lowering import shape_program
from ...symbolic.program import Program
from ..errors import BadTensor, NotBuilt
from ..forms import check_apart
from ..validation import check_in_table
from .plan import Plan, function, make
from .source import Kernel

_MOST_PLANS = 1024
_TOUCHING, _WITHOUT_MEMORY = -1, -2  # answers of exptx_run
_UNCHECKED, _CHECKED = 0, 1  # whether it is known already that nothing overlaps

Part = tuple[Plan, Tensor, Tensor]  # of one call: what is read, and what is written


class Native:
    """A program on tensors, every block of features by itself. It remembers the plans of its calls.

    NotBuilt where it cannot be compiled, at the first call.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self._plan = lru_cache(maxsize=_MOST_PLANS)(partial(make, program))

    def __call__(
        self,
        x: Tensor,
        out: Tensor,
        tables: tuple[Tensor, ...],
        position_ids: Tensor | None = None,
        interleaved: bool = False,
        layout: str = "bhtd",
    ) -> None:
        """out[...] = M(t) x for the token at t, in the arithmetic of the tables, rounded once.

        x, out: (batch, heads, time, n * blocks + tail), or (batch, time, heads, …) with layout="bthd", of any
        float dtype, any strides, on the CPU; out may be x itself. The tail is copied bit for bit. tables: in
        the order of program.tables, each (time, blocks) or (batch, time, blocks), or with position_ids,
        integers (time,) or (batch, time), the (length, blocks) to look rows up in; float32, or float64 for
        float64. interleaved: block i is (n·i, …, n·i + n - 1), else its coordinate j is i + j·blocks.
        BadTensor or BadDtype where tensors do not fit, or overlap in part; PositionOutOfRange.
        """
        ids = _row_numbers(position_ids)
        plan = self._planned(x, out, tables, ids, interleaved, layout)
        _run([(plan, x, out)], [plan.address, x.data_ptr(), out.data_ptr(), None, None, None], tables, ids)

    def both(
        self,
        q: Tensor,
        k: Tensor,
        q_out: Tensor,
        k_out: Tensor,
        tables: tuple[Tensor, ...],
        position_ids: Tensor | None = None,
        interleaved: bool = False,
        layout: str = "bhtd",
    ) -> None:
        """The same for two tensors that differ in their heads only, by one call."""
        ids = _row_numbers(position_ids)
        plan = self._planned(q, q_out, tables, ids, interleaved, layout)
        other = self._planned(k, k_out, tables, ids, interleaved, layout)
        if plan.tokens != other.tokens:
            raise BadTensor(
                f"k is {tuple(k.shape)} {k.dtype}, which does not fit q, {tuple(q.shape)} {q.dtype}"
            )
        places = [plan.address, q.data_ptr(), q_out.data_ptr(), other.address, k.data_ptr(), k_out.data_ptr()]
        _run([(plan, q, q_out), (other, k, k_out)], places, tables, ids)

    def _planned(
        self,
        x: Tensor,
        out: Tensor,
        tables: tuple[Tensor, ...],
        ids: Tensor | None,
        interleaved: bool,
        layout: str,
    ) -> Plan:
        for tensor in (x, out, *tables):
            if not tensor.is_cpu or tensor.is_neg():
                what = (
                    "negated in name only (resolve_neg() works)" if tensor.is_cpu else f"on {tensor.device}"
                )
                raise BadTensor(f"native kernels read memory of the CPU as it is, but a tensor is {what}")
        return self._plan(
            (x.shape, x.stride(), x.dtype),
            (out.shape, out.stride(), out.dtype),
            tuple([(table.shape, table.stride(), table.dtype) for table in tables]),
            None if ids is None else (ids.shape, ids.stride(), ids.dtype),
            interleaved,
            layout,
        )


def _run(
    parts: list[Part], places: Sequence[int | None], tables: tuple[Tensor, ...], ids: Tensor | None
) -> None:
    run = parts[0][0].run
    large = any(plan.large for plan, _, _ in parts)
    rows, threads = None if ids is None else ids.data_ptr(), torch.get_num_threads() if large else 1
    pointers = [table.data_ptr() for table in tables]
    for checked in (_UNCHECKED, _CHECKED):
        answer = run(*places, rows, threads, checked, *pointers)
        if not answer:
            return
        _refuse(answer, parts, tables, ids)


def _row_numbers(position_ids: Tensor | None) -> Tensor | None:
    return position_ids if position_ids is None or position_ids.dtype == torch.int64 else position_ids.long()


def _refuse(answer: int, parts: list[Part], tables: tuple[Tensor, ...], ids: Tensor | None) -> None:
    """Raise what the answer of a kernel means; nothing if tensors share a range of memory, but no number."""
    if answer == _WITHOUT_MEMORY:
        raise BadTensor(
            "a tensor has no memory of its own, as on meta or in a subclass; a plain CPU tensor works"
        )
    if answer != _TOUCHING and ids is not None:
        check_in_table(ids, tables[0].shape[0])
    check_apart([(x, out) for _, x, out in parts], tables)


_TURN, _TURN_BACK = (
    Native(shape_program(1, turns=True, fades=False, transpose=back)) for back in (False, True)
)


def rotary(
    x: Tensor,
    out: Tensor,
    cos: Tensor,
    sin: Tensor,
    position_ids: Tensor | None = None,
    rotary_dim: int | None = None,
    interleaved: bool = False,
    layout: str = "bhtd",
    inverse: bool = False,
) -> None:
    """out[...] = R x, as `Native` says, by tables of cos and sin; inverse: by the transposed matrix.

    rotary_dim: 2 * pairs, known from the tables.
    """
    (_TURN_BACK if inverse else _TURN)(x, out, (cos, sin), position_ids, interleaved, layout)


def rotary_qk(
    q: Tensor,
    k: Tensor,
    q_out: Tensor,
    k_out: Tensor,
    cos: Tensor,
    sin: Tensor,
    position_ids: Tensor | None = None,
    rotary_dim: int | None = None,
    interleaved: bool = False,
    layout: str = "bhtd",
    inverse: bool = False,
) -> None:
    """q_out[...] = R q and k_out[...] = R k, likewise, by one call; q and k may differ in heads."""
    turn = _TURN_BACK if inverse else _TURN
    turn.both(q, k, q_out, k_out, (cos, sin), position_ids, interleaved, layout)


@lru_cache(maxsize=1)
def available() -> str | None:
    """Why native kernels cannot run on this machine, with what to install; None if they can."""
    try:  # without tensors, of which a mode may make something else
        function(Kernel(_TURN.program, "float32", interleaved=False))
    except NotBuilt as error:
        return str(error)
    return None


__all__ = ["Native", "available", "rotary", "rotary_qk"]
