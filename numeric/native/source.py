"""The C source of a kernel: loops over batch, heads and tokens around the statements of a program."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ...symbolic.emit_c import c_statements
from ...symbolic.program import Program

_HEAD = """\
/* {name}{words}, for {dtype}.
{formula}
*/
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#define EXPTX_{macro}
#define INPUTS {inputs}
#define TABLES {tables}
#define INTERLEAVED {interleaved}
#define TABLE_PARAMETERS {parameters}
#define TABLE_NAMES {names}
"""

_TURN = """\
/* The program, for as many blocks at once as fill a vector. */
static inline void turn(const lanes *from, const lanes *table, lanes *into)
{{
    (void)table;
{reads}
{statements}
{writes}
}}
"""


@dataclass(frozen=True)
class Kernel:
    """What is compiled by itself: a program, the dtype in memory, and how blocks stand in a row.

    dtype: "float64", "float32", "bfloat16" or "float16". interleaved: the n coordinates of block i are
    neighbours, (n·i, …, n·i + n - 1); else coordinate j of block i of count is i + j·count.
    """

    program: Program
    dtype: str
    interleaved: bool


def source(kernel: Kernel) -> str:
    """The whole C99 source: it needs a POSIX system and its own headers, nothing of torch or Python."""
    return "\n".join([_head(kernel), _text("formats.c"), _turn(kernel), _text("loops.c")])


@cache
def _text(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _head(kernel: Kernel) -> str:
    names = [f"table_{symbol}" for symbol, _ in kernel.program.tables]
    return _HEAD.format(
        name=kernel.program.name,
        words=", coordinates of a block side by side" if kernel.interleaved else "",
        dtype=kernel.dtype,
        formula="\n".join(f"   {line}" for line in str(kernel.program).splitlines()),
        macro=kernel.dtype.upper(),
        inputs=len(kernel.program.inputs),
        tables=len(kernel.program.tables),
        interleaved=int(kernel.interleaved and len(kernel.program.inputs) > 1),
        parameters="".join(f", const real *{name}" for name in names),
        names=", ".join(names),
    )


def _turn(kernel: Kernel) -> str:
    program = kernel.program
    reads = [f"    const lanes {x} = from[{j}];" for j, x in enumerate(program.inputs)]
    reads += [f"    const lanes {symbol} = table[{k}];" for k, (symbol, _) in enumerate(program.tables)]
    writes = [f"    into[{j}] = {y};" for j, y in enumerate(program.outputs)]
    return _TURN.format(
        reads="\n".join(reads),
        statements=c_statements(program, real="lanes", indent="    "),
        writes="\n".join(writes),
    )


__all__ = ["Kernel", "source"]
