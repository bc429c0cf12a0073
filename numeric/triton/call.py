"""Calls of Triton kernels on tensors: pointers and numbers in, one launch, nothing allocated, no waiting."""

from __future__ import annotations

import os
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor

from ...symbolic.lowering import shape_program
from ..emitted import defined
from ..errors import NotBuilt
from ..forms import check_apart
from ..validation import check_in_table
from .plan import WARPS, make
from .source import Kernel, source

_TURN, _TURN_BACK = (shape_program(1, turns=True, fades=False, transpose=back) for back in (False, True))


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
    """out[...] = R x for the token at every place, in the arithmetic of the tables, rounded once.

    x, out: (batch, heads, time, head_dim), or (batch, time, heads, head_dim) with layout="bthd", of any float
    dtype, any strides, on one GPU; out may be x itself. Behind the coordinates that turn, x is copied bit for
    bit. cos, sin: (time, pairs) or (batch, time, pairs), or with position_ids, integers (time,) or (batch,
    time), the (length, pairs) to look rows up in; float32, or float64 for float64. rotary_dim: 2 * pairs,
    known from the tables. interleaved: planes (2i, 2i + 1), else (i, i + pairs). inverse: by the transposed
    matrix. A GPU is not waited for: a row number outside the tables makes NaN of what it should turn. On the
    CPU, with TRITON_INTERPRET=1, it raises PositionOutOfRange. BadTensor or BadDtype where tensors do not fit
    or overlap in part; NotBuilt without Triton.
    """
    _launch(((x, out),), (cos, sin), position_ids, interleaved, layout, inverse)


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
    """q_out[...] = R q and k_out[...] = R k, likewise, in one launch; q and k may differ in heads."""
    _launch(((q, q_out), (k, k_out)), (cos, sin), position_ids, interleaved, layout, inverse)


def _launch(
    parts: tuple[tuple[Tensor, Tensor], ...],
    tables: tuple[Tensor, Tensor],
    ids: Tensor | None,
    interleaved: bool,
    layout: str,
    inverse: bool,
) -> None:
    program, first = _TURN_BACK if inverse else _TURN, parts[0][0]
    in_place = tuple([x.data_ptr() == out.data_ptr() and x.stride() == out.stride() for x, out in parts])
    plan = make(
        program,
        tuple([(_form(x), _form(out)) for x, out in parts]),
        in_place,
        tuple([_form(table) for table in tables]),
        None if ids is None else _form(ids),
        layout,
    )
    check_apart(parts, tables)
    if ids is not None and not ids.is_cuda:
        check_in_table(ids, tables[0].shape[0])
    run = function(Kernel(program, str(first.dtype).removeprefix("torch."), interleaved, interpreted()))
    if not plan.tiles:
        return
    pointers = [tensor for part in parts for tensor in part] + [None] * (4 - 2 * len(parts))
    with torch.cuda.device_of(first):
        # No product is fused with a sum, so that the result is that of the CPU's kernel, bit for bit.
        run[(plan.tiles,)](
            *tables, ids, *pointers, *plan.numbers, **plan.constants, num_warps=WARPS, enable_fp_fusion=False
        )


def _form(x: Tensor) -> tuple:
    return x.shape, x.stride(), x.dtype


@lru_cache(maxsize=256)
def function(kernel: Kernel) -> Any:
    """The Triton function of a kernel, which Triton compiles at the first launch; NotBuilt without Triton."""
    if reason := available():
        raise NotBuilt(f"a Triton kernel cannot run here: {reason}")
    return defined(source(kernel), f"{kernel.program.name} {kernel.dtype}")["kernel"]


@lru_cache(maxsize=1)
def available() -> str | None:
    """Why Triton kernels cannot run, with what to install; None if Triton is there, whatever the device."""
    if find_spec("triton") is None:
        return "Triton is not installed (pip install triton)"
    try:
        import_module("triton.language")
    except Exception as error:  # whatever an installation for another system raises
        return f"Triton does not load ({type(error).__name__}: {error})"
    return None


def interpreted() -> bool:
    """Whether Triton's interpreter stands in for a GPU, as TRITON_INTERPRET=1 in the environment tells it."""
    if available():
        return False
    knobs = getattr(import_module("triton"), "knobs", None)  # before 3.4 there are none
    return knobs.runtime.interpret if knobs else os.environ.get("TRITON_INTERPRET", "0") == "1"


__all__ = ["available", "function", "interpreted", "rotary", "rotary_qk"]
