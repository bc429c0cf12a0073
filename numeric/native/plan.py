"""What a kernel is told about tensors: shapes and strides as numbers, found once for every kind of call.

The numbers stand in the order of `shape` in loops.c.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from math import prod

from ...symbolic.program import Program
from ..forms import Form, check_fit
from ..layout import time_axis
from .build import load
from .source import Kernel, source
from .threads import team

# A result of this size or more is written past the cache: it would not stay there, and memory that is
# overwritten need not be read first.
PAST_THE_CACHE = 1 << 24
_GRAIN = 1 << 15  # features that are worth a second thread, as torch counts for its own loops
_LINE = 64  # bytes


class Plan:
    """A kernel and the numbers for one kind of call.

    run: the C function; numbers, address: `shape` of loops.c and where it stands; large: worth a second
    thread; x, out: their forms; tokens: what tensors that turn in one call have in common.
    """

    __slots__ = ("address", "large", "numbers", "out", "run", "tokens", "x")

    def __init__(self, run: ctypes._CFuncPtr, numbers: list[int], x: Form, out: Form, tokens: tuple) -> None:
        self.run = run
        self.numbers = (ctypes.c_int64 * len(numbers))(*numbers)
        self.address = ctypes.addressof(self.numbers)
        self.large = prod(x.shape) > _GRAIN
        self.x, self.out, self.tokens = x, out, tokens


def make(
    program: Program,
    x_form: tuple,
    out_form: tuple,
    table_forms: tuple[tuple, ...],
    ids_form: tuple | None,
    interleaved: bool,
    layout: str,
) -> Plan:
    """The plan for tensors of these (shape, strides, dtype); BadTensor or BadDtype where they do not fit."""
    x, out, *tables = (Form(*form) for form in (x_form, out_form, *table_forms))
    ids = None if ids_form is None else Form(*ids_form)
    check_fit(program, x, out, tables, ids, layout)
    axes = (0, 3 - time_axis(layout), time_axis(layout), 3)
    size = len(program.inputs)
    blocks = tables[0].shape[-1] if tables else x.shape[3] // size
    numbers = [*(x.shape[axis] for axis in axes[:3]), blocks, x.shape[3] - blocks * size]
    numbers += [form.strides[axis] for form in (x, out) for axis in axes]
    for table in tables:
        numbers += [_over_batch(table, 3), *table.strides[-2:]]
    numbers += [0, 0, 0] if ids is None else [_over_batch(ids, 2), ids.strides[-1], tables[0].shape[0]]
    numbers += [_goes_past(out, blocks * (size if interleaved else 1)), int(x.strides == out.strides)]
    numbers += [form.span for form in (x, out, *tables)]
    name = str(x.dtype).removeprefix("torch.")
    tokens = (x.shape[0], x.shape[time_axis(layout)], blocks, x.dtype)
    return Plan(function(Kernel(program, name, interleaved)), numbers, x, out, tokens)


def _over_batch(form: Form, ranks: int) -> int:
    """The stride from one sequence to the next; 0 where they share rows."""
    return form.strides[0] if len(form.shape) == ranks and form.shape[0] > 1 else 0


def _goes_past(out: Form, together: int) -> int:
    """Whether out is large, and made of whole cache lines: rows, and the features that are stored at once."""
    size = out.dtype.itemsize
    steps = [stride for n, stride in zip(out.shape[:-1], out.strides[:-1], strict=True) if n > 1]
    whole = all(size * step % _LINE == 0 for step in (*steps, together))
    return int(whole and size * prod(out.shape) >= PAST_THE_CACHE)


@lru_cache(maxsize=256)
def function(kernel: Kernel) -> ctypes._CFuncPtr:
    """The C function of a kernel, compiled if need be; NotBuilt where that is not possible."""
    library = load(source(kernel))
    library.exptx_join_team.argtypes, library.exptx_join_team.restype = [ctypes.c_void_p], None
    library.exptx_join_team(team())
    run = library.exptx_run
    pointers = [ctypes.c_void_p] * 7
    tables = [ctypes.c_void_p] * len(kernel.program.tables)
    run.argtypes, run.restype = [*pointers, ctypes.c_int64, ctypes.c_int64, *tables], ctypes.c_int64
    return run


__all__ = ["PAST_THE_CACHE", "Plan", "function", "make"]
