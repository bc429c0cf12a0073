"""Triton from a program: its statements for one block, and a whole function around them."""

from __future__ import annotations

from .emission import Table, arguments, heading, place, tables_of
from .lowered import Lowered, Run
from .program import Program


def triton_statements(program: Program, *, indent: str = "") -> str:
    """The steps of a program, one assignment a line: `y0 = x0 * c - x1 * s`.

    Before them stand tensors named as `program.inputs` (x0, x1, …) and as the symbols of `program.tables`
    (c, s; f; t, t2, …), all of the dtype that is computed in; after them `program.outputs` (y0, y1, …) hold
    the result.
    """
    return "\n".join(f"{indent}{step.symbol} = {step.written}" for step in program.steps)


def triton_source(lowered: Lowered, name: str, title: str) -> str:
    """A file with the kernel name(x_ptr, table pointers …, y_ptr): one instance a token, y may be x.

    x, y: (tokens, dim), contiguous; tables: (tokens, blocks), or (tokens,) where all blocks share the number.
    """
    tables = tables_of(lowered)
    pointers = ", ".join(f"{name}_ptr" for name in ("x", *(t.name for t in arguments(tables)), "y"))
    first, *rest = heading(lowered, title)
    body = [
        line
        for run, own in zip(lowered.runs, tables, strict=True)
        for line in _part(run, own, lowered.generator.dim)
    ]
    return "\n".join(
        [
            "import triton",
            "import triton.language as tl",
            "",
            "",
            "@triton.jit",
            f"def {name}({pointers}):",
            f'    """{first}',
            "",
            *(f"    {line}" for line in rest),
            '    """',
            "    row = tl.program_id(0).to(tl.int64)",
            *body,
            "",
        ]
    )


def _part(run: Run, tables: list[Table], dim: int) -> list[str]:
    """The statements of a run on all its blocks at once."""
    count, program = len(run.blocks), run.program
    width = 1 << (count - 1).bit_length()
    mask = ", mask=i < " + str(count) if width > count else ""
    places = [_entry(dim, place(a, b)) for a, b in zip(run.starts, run.strides, strict=True)]
    at = "i" if count > 1 else "0"
    rows = {t: "row" if t.length is None else _entry(t.length, at) for t in tables}
    return [
        *([f"    i = tl.arange(0, {width})"] if count > 1 else []),
        *(f"    {x} = tl.load(x_ptr + {p}{mask})" for x, p in zip(program.inputs, places, strict=True)),
        *(
            f"    {t.symbol} = tl.load({t.name}_ptr + {at}{mask if t.length else ''})"
            for t, at in rows.items()
        ),
        triton_statements(program, indent="    "),
        *(f"    tl.store(y_ptr + {p}, {y}{mask})" for y, p in zip(program.outputs, places, strict=True)),
    ]


def _entry(length: int, at: str) -> str:
    """Entry `at` of the row of this token, `length` entries a row."""
    row = "row" if length == 1 else f"row * {length}"
    return row if at == "0" else f"{row} + {at}"


__all__ = ["triton_source", "triton_statements"]
