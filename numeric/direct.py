"""The short way to a native rotation: calls like an earlier one go from their arguments to the C function.

Checks, plans and the dispatch of an operator take longer than turning the few tokens of a decoding step. A
call is like an earlier one if shapes, strides, dtypes and options are the same; all that else could be wrong,
row numbers and memory that overlaps, is found by the kernel.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, get_num_threads, is_grad_enabled
from torch.autograd import forward_ad
from torch.autograd.graph import increment_version
from torch.compiler import is_compiling

from ..symbolic.lowering import shape_program
from .native.memory import fresh
from .native.plan import make

_watchers = torch._C._dispatch_tls_local_include_set
with torch.inference_mode(False):
    _NOBODY = [_watchers()]
with torch.inference_mode():
    _NOBODY.append(_watchers())

_MOST_CALLS = 1024
_UNCHECKED = 0  # the kernel makes sure that nothing overlaps
_NO_SECOND = (None, None, None)

Table = tuple[Tensor, Tensor, Tensor | None]  # cos, sin, row numbers
Options = tuple[bool, str, int | None, bool, str]  # interleaved, layout, rotary_dim, inverse, impl


class Call:
    """What is known of a kind of call: the C function, and the addresses of one plan or two for it."""

    __slots__ = ("first", "large", "plans", "run", "second")

    def __init__(self, *plans) -> None:
        self.plans = plans  # they own what the addresses lead to
        self.run: Callable[..., int] = plans[0].run
        self.first = plans[0].address
        self.second = plans[1].address if len(plans) > 1 else None
        self.large = any(plan.large for plan in plans)


_CALLS: dict[tuple, Call] = {}


def unwatched(*tensors: Tensor | None) -> bool:
    """Whether an operator on these tensors would do nothing but call its CPU kernel.

    No gradient, no tangent, no tracing, no mode or transform in this thread, no subclass of Tensor, and
    memory that holds the numbers as they are.
    """
    return _kind(0, tensors, ()) is not None


def _kind(turning: int, tensors: tuple[Tensor | None, ...], options: tuple) -> tuple | None:
    """All that a call depends on but for the numbers in its tensors; None if it is watched.

    turning: how many of the tensors turn: queries and keys look like one tensor and its `out`.
    """
    if is_compiling() or _watchers() not in _NOBODY or forward_ad._current_level >= 0:
        return None
    learns = is_grad_enabled()
    kind: list[object] = [turning, options]
    for x in tensors:
        if x is None:
            kind.append(None)
            continue
        if type(x) is not Tensor or not x.is_cpu or x.is_neg() or (learns and x.requires_grad):
            return None
        kind += x.shape, x.stride(), x.dtype
    return tuple(kind)


def _known(turning: int, tensors: tuple[Tensor | None, ...], options: tuple) -> Call | None:
    try:
        kind = _kind(turning, tensors, options)
        return None if kind is None else _CALLS.get(kind)
    except (TypeError, RuntimeError):  # options without a hash, tensors without a shape: none that were fine
        return None


def turned(x: Tensor, out: Tensor | None, table: Table, options: Options) -> Tensor | None:
    """The result, new or `out`, of a call like an earlier one that was fine; None of any other call.

    None also where the kernel refuses what it reads, before it writes anything: the long way says why.
    """
    if (call := _known(1, (x, out, *table), options)) is None:
        return None
    cos, sin, ids = table
    if out is None:
        y = fresh(x)
    else:
        increment_version(y := out)  # what autograd saved of it is void
    rows = None if ids is None else ids.data_ptr()
    threads = get_num_threads() if call.large else 1
    refused = call.run(
        call.first, x.data_ptr(), y.data_ptr(), *_NO_SECOND, rows, threads, _UNCHECKED,
        cos.data_ptr(), sin.data_ptr(),
    )  # fmt: skip
    return None if refused else y


def turned_qk(q: Tensor, k: Tensor, table: Table, options: Options) -> tuple[Tensor, Tensor] | None:
    """The same for queries and keys together."""
    if (call := _known(2, (q, k, *table), options)) is None:
        return None
    cos, sin, ids = table
    y, z = fresh(q), fresh(k)
    rows = None if ids is None else ids.data_ptr()
    threads = get_num_threads() if call.large else 1
    refused = call.run(
        call.first, q.data_ptr(), y.data_ptr(), call.second, k.data_ptr(), z.data_ptr(), rows, threads,
        _UNCHECKED, cos.data_ptr(), sin.data_ptr(),
    )  # fmt: skip
    return None if refused else (y, z)


def remember(
    xs: tuple[Tensor, ...], results: tuple[Tensor, ...], out: Tensor | None, table: Table, options: Options
) -> None:
    """Let calls like this one, which gave these results, go the short way from now on."""
    kind = _kind(len(xs), (*xs, *[out] * (len(xs) == 1), *table), options)
    if kind is None or (table[2] is not None and table[2].dtype != torch.int64):
        return
    interleaved, layout, _, inverse, _ = options
    program = shape_program(1, turns=True, fades=False, transpose=inverse)
    forms, ids = tuple(map(_form, table[:2])), None if table[2] is None else _form(table[2])
    plans = [
        make(program, _form(x), _form(y), forms, ids, interleaved, layout)
        for x, y in zip(xs, results, strict=True)
    ]
    if len(_CALLS) >= _MOST_CALLS:
        _CALLS.clear()
    _CALLS[kind] = Call(*plans)


def _form(x: Tensor) -> tuple:
    return x.shape, x.stride(), x.dtype


__all__ = ["remember", "turned", "turned_qk", "unwatched"]
