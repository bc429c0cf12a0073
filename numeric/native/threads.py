"""The team of threads that torch has started already, so that kernels do not start another beside it."""

from __future__ import annotations

import ctypes
import sys
from functools import lru_cache
from pathlib import Path

_FORKED_WITHOUT_EXEC = 0x40  # PF_FORKNOEXEC of Linux


@lru_cache(maxsize=1)
def team() -> int | None:
    """The address of GNU OpenMP's GOMP_parallel in this process, which torch has loaded; None without it.

    Kernels start threads of their own then. So they do in a forked process, where GNU OpenMP would wait for
    threads that stayed with the parent.
    """
    if not sys.platform.startswith("linux") or _is_forked():
        return None
    try:
        return ctypes.cast(ctypes.CDLL(None).GOMP_parallel, ctypes.c_void_p).value
    except AttributeError:
        return None


def _is_forked() -> bool:
    """Whether this process is the copy of another one, as far as the system tells."""
    try:
        words = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        return bool(int(words[6]) & _FORKED_WITHOUT_EXEC)
    except (OSError, ValueError, IndexError):
        return True


__all__ = ["team"]
