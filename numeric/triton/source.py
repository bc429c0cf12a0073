"""The Triton source of a kernel: tiles of tokens and heads around the statements of a program.

A tile reads its rows of the tables once and turns the heads of q, or of k, that read the same rows. Every
feature is read once and written once, by whole vectors where features are neighbours, also where the
coordinates of a block stand side by side: they are parted in registers. Offsets have 64 bits.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...symbolic.emit_triton import triton_statements
from ...symbolic.program import Program

_FILE = '''\
"""{name}{words}, for {dtype}.

{formula}
"""

import triton
import triton.language as tl


@triton.jit
def widened(x):
    """Numbers from memory, in the arithmetic of the tables."""
{widened}


@triton.jit
def narrowed(y):
    """Rounded once, to nearest."""
{narrowed}


@triton.jit
def turned({arguments}):
    """The program, on all blocks of a tile."""
{statements}
    return {outputs}


@triton.jit
def turn_heads(
    from_ptr, into_ptr, from_batch, from_head, from_token, from_feature,
    into_batch, into_head, into_token, into_feature, heads, first, batch, token, near, here, {tables},
    BLOCKS: tl.constexpr, LANES: tl.constexpr, ROWS: tl.constexpr, NEAR: tl.constexpr, STEPS: tl.constexpr,
    TAIL: tl.constexpr, TAIL_LANES: tl.constexpr,
):
    """STEPS times NEAR heads of one tensor."""
    for step in range(STEPS):
        head = first + step * NEAR + near
        row = (here & (head < heads))[:, None]
        source = from_ptr + (batch * from_batch + head * from_head + token * from_token)[:, None]
        target = into_ptr + (batch * into_batch + head * into_head + token * into_token)[:, None]
{turn}
        if TAIL:
            j = tl.arange(0, TAIL_LANES).to(tl.int64)[None, :] + 2 * BLOCKS
            kept = row & (j < 2 * BLOCKS + TAIL)
            tl.store(target + j * into_feature, tl.load(source + j * from_feature, mask=kept), mask=kept)


@triton.jit(do_not_specialize=["q_heads", "k_heads", "q_groups", "groups", "tiles", "time", "length"])
def kernel(
    {pointers}, ids_ptr, q_ptr, q_into, k_ptr, k_into,
    {table_strides}, ids_batch, ids_token,
    q_batch, q_head, q_token, q_feature, q_into_batch, q_into_head, q_into_token, q_into_feature,
    k_batch, k_head, k_token, k_feature, k_into_batch, k_into_head, k_into_token, k_into_feature,
    q_heads, k_heads, q_groups, groups, tiles, time, length,
    LOOKED_UP: tl.constexpr, PARTS: tl.constexpr, BLOCKS: tl.constexpr, LANES: tl.constexpr,
    TOKENS: tl.constexpr, NEAR: tl.constexpr, STEPS: tl.constexpr,
    Q_TAIL: tl.constexpr, K_TAIL: tl.constexpr, TAIL_LANES: tl.constexpr,
):
    """One tile: TOKENS tokens of STEPS * NEAR heads of q or, in the groups behind those of q, of k.

    A row number outside the tables reads nothing: all that turns by it becomes NaN.
    """
    unit = tl.program_id(0)
    group = unit % groups
    batch = (unit // groups // tiles).to(tl.int64)
    ROWS: tl.constexpr = TOKENS * NEAR
    place = tl.arange(0, ROWS)
    token = (unit // groups % tiles).to(tl.int64) * TOKENS + place % TOKENS
    near = place // TOKENS
    here = token < time
    row = token
    inside = here
    if LOOKED_UP:
        row = tl.load(ids_ptr + batch * ids_batch + token * ids_token, mask=here, other=0).to(tl.int64)
        inside = here & (row >= 0) & (row < length)
    i = tl.arange(0, LANES).to(tl.int64)[None, :]
    entry = inside[:, None] & (i < BLOCKS)
{loads}
    if group < q_groups:
        turn_heads(
            q_ptr, q_into, q_batch, q_head, q_token, q_feature,
            q_into_batch, q_into_head, q_into_token, q_into_feature,
            q_heads, group.to(tl.int64) * (STEPS * NEAR), batch, token, near, here, {tables},
            BLOCKS, LANES, ROWS, NEAR, STEPS, Q_TAIL, TAIL_LANES,
        )
    elif PARTS == 2:
        turn_heads(
            k_ptr, k_into, k_batch, k_head, k_token, k_feature,
            k_into_batch, k_into_head, k_into_token, k_into_feature,
            k_heads, (group - q_groups).to(tl.int64) * (STEPS * NEAR), batch, token, near, here, {tables},
            BLOCKS, LANES, ROWS, NEAR, STEPS, K_TAIL, TAIL_LANES,
        )
'''

_LOAD = (
    "    {0} = tl.load({0}_ptr + (batch * {0}_batch + row * {0}_row)[:, None] + i * {0}_column, "
    'mask=entry, other=float("nan"))'
)

_APART = """\
        i = tl.arange(0, LANES).to(tl.int64)[None, :]
        lane = row & (i < BLOCKS)
        first_half = tl.load(source + i * from_feature, mask=lane)
        second_half = tl.load(source + (i + BLOCKS) * from_feature, mask=lane)
        y0, y1 = turned(widened(first_half), widened(second_half), {tables})
        tl.store(target + i * into_feature, narrowed(y0), mask=lane)
        tl.store(target + (i + BLOCKS) * into_feature, narrowed(y1), mask=lane)"""

_SIDE_BY_SIDE = """\
        i = tl.arange(0, 2 * LANES).to(tl.int64)[None, :]
        lane = row & (i < 2 * BLOCKS)
        even, odd = tl.split(tl.reshape(tl.load(source + i * from_feature, mask=lane), (ROWS, LANES, 2)))
        y0, y1 = turned(widened(even), widened(odd), {tables})
        joined = tl.reshape(tl.join(narrowed(y0), narrowed(y1)), (ROWS, 2 * LANES))
        tl.store(target + i * into_feature, joined, mask=lane)"""

_ARITHMETIC = {
    "float64": "tl.float64", "float32": "tl.float32", "bfloat16": "tl.float32", "float16": "tl.float32"
}  # fmt: skip

# Where a GPU rounds a float32 to a bfloat16, Triton's interpreter cuts it off, and it misreads subnormal
# bfloat16; so it is given both conversions in integers.
_INTERPRETED = (
    "    return (x.to(tl.uint16, bitcast=True).to(tl.uint32) << 16).to(tl.float32, bitcast=True)",
    """\
    bits = y.to(tl.uint32, bitcast=True)
    nearest = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return tl.where(y == y, nearest, 0x7FC0).to(tl.uint16).to(tl.bfloat16, bitcast=True)""",
)


@dataclass(frozen=True)
class Kernel:
    """What is compiled by itself: a program on planes, the dtype in memory, and how planes stand in a row.

    dtype: "float64", "float32", "bfloat16" or "float16". interleaved: plane i is (2i, 2i + 1); else
    coordinate j of plane i of count is i + j·count. interpreted: for Triton's interpreter, not for a GPU.
    """

    program: Program
    dtype: str
    interleaved: bool
    interpreted: bool = False


def source(kernel: Kernel) -> str:
    """The whole source, whose function `kernel` turns one tile; it needs nothing but Triton."""
    program = kernel.program
    names = [symbol.name for symbol, _ in program.tables]
    tables = ", ".join(names)
    casts = f"    return x.to({_ARITHMETIC[kernel.dtype]})", f"    return y.to(tl.{kernel.dtype})"
    widened, narrowed = _INTERPRETED if kernel.interpreted and kernel.dtype == "bfloat16" else casts
    return _FILE.format(
        name=program.name,
        words=", coordinates of a plane side by side" if kernel.interleaved else "",
        dtype=kernel.dtype,
        formula=program,
        widened=widened,
        narrowed=narrowed,
        arguments=", ".join([*(x.name for x in program.inputs), *names]),
        statements=triton_statements(program, indent="    "),
        outputs=", ".join(y.name for y in program.outputs),
        tables=tables,
        pointers=", ".join(f"{name}_ptr" for name in names),
        table_strides=", ".join(f"{name}_batch, {name}_row, {name}_column" for name in names),
        loads="\n".join(_LOAD.format(name) for name in names),
        turn=(_SIDE_BY_SIDE if kernel.interleaved else _APART).format(tables=tables),
    )


__all__ = ["Kernel", "source"]
