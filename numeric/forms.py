"""What a kernel must know of tensors before it touches memory: whether they fit, and what they share.

Kernels read and write where they are told, so tensors that do not fit each other are refused, and results
that share memory with what is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..symbolic.program import Program
from .errors import BadDtype, BadTensor
from .layout import time_axis
from .validation import FLOATS, INTEGERS, compute_dtype


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


def check_fit(
    program: Program, x: Form, out: Form, tables: list[Form], ids: Form | None, layout: str
) -> None:
    """Refuse tensors that do not fit each other, and a result whose entries share memory."""
    if x.dtype not in FLOATS:
        raise BadDtype(f"x has dtype {x.dtype}; float64, float32, bfloat16 or float16 works")
    if len(x.shape) != 4 or (out.shape, out.dtype) != (x.shape, x.dtype):
        raise BadTensor(f"out is {_words(out)}, but x is {_words(x)}; both alike and of rank 4 works")
    check_own(out)
    if len(tables) != len(program.tables):
        raise BadTensor(f"{len(tables)} tables are given, but {program.name} takes {len(program.tables)}")
    batch, time = x.shape[0], x.shape[time_axis(layout)]
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
        not tables or ids.dtype not in INTEGERS or ids.shape not in [(time,), (1, time), (batch, time)]
    ):
        raise BadTensor(f"position_ids is {_words(ids)}, which does not fit x, {_words(x)}")


def _words(form: Form) -> str:
    return f"{tuple(form.shape)} {form.dtype}"


def check_own(out: Form) -> None:
    """Refuse a result of which two entries share memory."""
    if overlaps_itself(out):
        raise BadTensor(f"out is {_words(out)} with strides {out.strides}: its entries share memory")


def overlaps_itself(form: Form) -> bool:
    """Whether entries share memory, or may: a stride does not pass over all smaller ones."""
    reach = 0
    for stride, n in sorted(zip(form.strides, form.shape, strict=True)):
        if n > 1:
            if stride <= reach:
                return 0 not in form.shape
            reach += (n - 1) * stride
    return False


def check_apart(parts: Sequence[tuple[Tensor, Tensor]], tables: Sequence[Tensor]) -> None:
    """Refuse results of parts (x, out) that share memory with anything else; out may be the x of its part."""
    for i, (x, out) in enumerate(parts):
        in_place = x.data_ptr() == out.data_ptr() and x.stride() == out.stride()
        others = list(tables)
        for j, (read, written) in enumerate(parts):
            others += [] if i == j and in_place else [read]
            others += [] if i == j else [written]
        form, place = Form.of(out), out.data_ptr()
        if any(may_overlap(form, Form.of(other), other.data_ptr() - place) for other in others):
            raise BadTensor(
                "out shares memory with another tensor that is read or written; x itself or other memory work"
            )


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


__all__ = ["Form", "check_apart", "check_fit", "check_own", "may_overlap", "overlaps_itself"]
