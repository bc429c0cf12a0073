"""Emitted source made into functions, and with it the arithmetic of the eager kernels.

    turn(x0, x1, c, s)            = (x0 c - x1 s, x0 s + x1 c)
    turn_transposed(x0, x1, c, s) = (x0 c + x1 s, x1 c - x0 s)

Nothing else is ever compiled: the only text that gets here is written around what the symbolic room
emits from a `Program`.
"""

from __future__ import annotations

import hashlib
import linecache
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from torch import Tensor

from ..symbolic.emit_torch import torch_function
from ..symbolic.errors import WrongType
from ..symbolic.lowering import shape_program
from ..symbolic.program import Program

Kernel = Callable[..., tuple[Tensor, ...]]


@lru_cache(maxsize=256)
def compiled(program: Program) -> Kernel:
    """The function (*inputs, *tables) -> outputs of a program: tensors that broadcast, in any float dtype."""
    if not isinstance(program, Program):
        raise WrongType(f"program is a {type(program).__name__}; a Program works")
    return defined(torch_function(program), program.name)[program.name]


def defined(source: str, title: str) -> dict[str, Any]:
    """What emitted source defines, by name; tracebacks, and Triton, read it under a file name of its own."""
    file = f"<emitted {title} {hashlib.sha256(source.encode()).hexdigest()[:16]}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    names: dict[str, Any] = {"__name__": __name__}
    exec(compile(source, file, "exec"), names)  # a Program holds symbols only, whose names are plain words
    return names


turn = compiled(shape_program(1, turns=True, fades=False))
turn_transposed = compiled(shape_program(1, turns=True, fades=False, transpose=True))

__all__ = ["compiled", "defined", "turn", "turn_transposed"]
