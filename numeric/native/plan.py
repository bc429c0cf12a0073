"""What a kernel is told about tensors: shapes and strides as numbers, found once for every kind of call.

The numbers stand in the order of `shape` in loops.c. Tensors that do not fit each other are refused here, and
results whose entries share memory: the loops read and write where they are told.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import lru_cache
from math import prod

import torch
from torch import Tensor

from ...symbolic.program import Program
from ..errors import BadDtype, BadTensor
from ..layout import time_axis
from ..validation import FLOATS, compute_dtype
from .build import load
from .source import Kernel, source
from .threads import team

# A result of this size or more is written past the cache: it would not stay there, and memory that is
# overwritten need not be read first.
PAST_THE_CACHE = 1 << 24
_GRAIN = 1 << 15  # features that are worth a second thread, as torch counts for its own loops
_LINE = 64  # bytes


@dataclass(frozen=True)
class Form:
    """Shape, strides and dtype of a tensor: all that a plan depends on."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: torch.dtype

    @staticmethod
    def of(tensor: Tensor) -> Form:
        """The form of a tensor."""
        return Form(tensor.shape, tensor.stride(), tensor.dtype)

    @property
    def span(self) -> int:
        """Bytes from the first entry to behind the last."""
        if 0 in self.shape:
            return 0
        last = sum((n - 1) * stride for n, stride in zip(self.shape, self.strides, strict=True))
        return (last + 1) * self.dtype.itemsize


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
    _refuse_misfits(program, x, out, tables, ids, time_axis(layout))
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


def _refuse_misfits(
    program: Program, x: Form, out: Form, tables: list[Form], ids: Form | None, time_axis: int
) -> None:
    if x.dtype not in FLOATS:
        raise BadDtype(f"x has dtype {x.dtype}; float64, float32, bfloat16 or float16 works")
    if len(x.shape) != 4 or (out.shape, out.dtype) != (x.shape, x.dtype):
        raise BadTensor(f"out is {_words(out)}, but x is {_words(x)}; both alike and of rank 4 works")
    if overlaps_itself(out):
        raise BadTensor(f"out is {_words(out)} with strides {out.strides}: its entries share memory")
    if len(tables) != len(program.tables):
        raise BadTensor(f"{len(tables)} tables are given, but {program.name} takes {len(program.tables)}")
    batch, time = x.shape[0], x.shape[time_axis]
    for table in tables:
        if table.dtype != compute_dtype(x.dtype):
            raise BadDtype(
                f"a table has dtype {table.dtype}, but x is {x.dtype}; {compute_dtype(x.dtype)} works"
            )
        rows = [(time,), (1, time), (batch, time)] if ids is None else [tables[0].shape[:1]]
        columns = tables[0].shape[-1]
        if table.shape not in [(*row, columns) for row in rows] or columns * len(program.inputs) > x.shape[3]:
            raise BadTensor(f"a table is {_words(table)}, which does not fit x, {_words(x)}")
    if ids is not None and (
        not tables or ids.dtype != torch.int64 or ids.shape not in [(time,), (1, time), (batch, time)]
    ):
        raise BadTensor(f"position_ids is {_words(ids)}, which does not fit x, {_words(x)}")


def _words(form: Form) -> str:
    return f"{tuple(form.shape)} {form.dtype}"


def overlaps_itself(form: Form) -> bool:
    """Whether entries share memory, or may: a stride does not pass over all smaller ones."""
    reach = 0
    for stride, n in sorted(zip(form.strides, form.shape, strict=True)):
        if n > 1:
            if stride <= reach:
                return 0 not in form.shape
            reach += (n - 1) * stride
    return False


def may_overlap(one: Form, other: Form, gap: int) -> bool:
    """Whether entries may share memory where `other` starts `gap` bytes behind `one`.

    Exact for equal strides of which each passes over all smaller ones, as those of two slices of one tensor:
    shared memory means gap = Σ d_i stride_i with |d_i| < n_i.
    """
    if gap >= one.span or -gap >= other.span:
        return False
    if one.strides != other.strides or gap % one.dtype.itemsize:
        return True
    sizes = tuple(map(max, one.shape, other.shape))
    if overlaps_itself(Form(sizes, one.strides, one.dtype)):
        return True
    axes = sorted(zip(one.strides, sizes, strict=True), reverse=True)
    return _reaches(gap // one.dtype.itemsize, [axis for axis in axes if axis[1] > 1])


def _reaches(gap: int, axes: list[tuple[int, int]]) -> bool:
    """gap = Σ d_i stride_i with |d_i| < n_i for some d; the largest stride first."""
    if not axes:
        return gap == 0
    (stride, n), *rest = axes
    near = gap // stride
    return any(abs(d) < n and _reaches(gap - d * stride, rest) for d in (near, near + 1))


__all__ = ["PAST_THE_CACHE", "Form", "Plan", "function", "make", "may_overlap", "overlaps_itself"]
