"""Memory for new results: getting much of it from the system, page by page, takes longer than filling it.

Huge pages, where Linux gives them to those who ask, are 512 times fewer. Only those that lie wholly inside a
result are asked for: all of it is written, so none is wasted, and they go back to the system with it.
"""

from __future__ import annotations

import ctypes
import sys
from functools import lru_cache

import torch
from torch import Tensor

_LARGE = 1 << 22  # bytes; smaller results come from memory that the process has already, as a rule
_HUGE_PAGE = 1 << 21
_MADV_HUGEPAGE = 14


def fresh(x: Tensor) -> Tensor:
    """A new tensor for a result: shape and dtype of x, contiguous, entries not set."""
    result = torch.empty_like(x, memory_format=torch.contiguous_format)
    if result.nbytes >= _LARGE and (advise := _advice()) is not None:
        first = -(-result.data_ptr() // _HUGE_PAGE) * _HUGE_PAGE
        size = (result.data_ptr() + result.nbytes - first) // _HUGE_PAGE * _HUGE_PAGE
        advise(first, size, _MADV_HUGEPAGE)  # a refusal leaves pages as they are
    return result


@lru_cache(maxsize=1)
def _advice() -> ctypes._CFuncPtr | None:
    """madvise of the C library, on Linux."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        advise = ctypes.CDLL(None).madvise
    except AttributeError:
        return None
    advise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return advise


__all__ = ["fresh"]
