"""The arithmetic of the eager kernels: functions of tensors, compiled from the source that a program emits.

    turn(x0, x1, c, s)            = (x0 c - x1 s, x0 s + x1 c)
    turn_transposed(x0, x1, c, s) = (x0 c + x1 s, x1 c - x0 s)

Nothing else is ever compiled: the only text that gets here is written by the symbolic room, from a `Program`.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from functools import lru_cache

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
    source = torch_function(program)
    file = f"<emitted {program.name}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file  # for tracebacks
    names: dict[str, Kernel] = {}
    exec(compile(source, file, "exec"), names)  # a Program holds symbols only, whose names are plain words
    return names[program.name]


turn = compiled(shape_program(1, turns=True, fades=False))
turn_transposed = compiled(shape_program(1, turns=True, fades=False, transpose=True))

__all__ = ["compiled", "turn", "turn_transposed"]
