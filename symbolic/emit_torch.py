"""PyTorch from a program: its statements, and a function of tensors around them."""

from __future__ import annotations

from .emission import Table, arguments, heading, tables_of
from .lowered import Lowered, Run
from .program import Program
from .typeset import to_text


def torch_statements(program: Program, *, indent: str = "") -> str:
    """The steps of a program, one assignment a line: `y0 = x0 * c - x1 * s`.

    Before them stand tensors named as `program.inputs` (x0, x1, …) and as the symbols of `program.tables`
    (c, s; f; t, t2, …) that broadcast against each other; after them `program.outputs` (y0, y1, …) hold the
    result. Nothing is written in place.
    """
    return "\n".join(f"{indent}{step.symbol} = {step.written}" for step in program.steps)


def torch_function(program: Program) -> str:
    """A Python function named as the program: (*inputs, *tables) to a tuple of outputs."""
    arguments = ", ".join(map(str, [*program.inputs, *(symbol for symbol, _ in program.tables)]))
    tables = ", ".join(f"{symbol} = {to_text(value)}" for symbol, value in program.tables)
    return "\n".join(
        [
            f"def {program.name}({arguments}):",
            f'    """{program.name}: y = M(t) x{f", with {tables}" if tables else ""}."""',
            torch_statements(program, indent="    "),
            f"    return {', '.join(map(str, program.outputs))}{',' * (len(program.outputs) == 1)}",
            "",
        ]
    )


def torch_source(lowered: Lowered, name: str, title: str) -> str:
    """A file with the function name(x, tables …) -> y, a new tensor of the shape of x.

    x: (..., dim); tables of one dtype with x: (..., blocks), or (..., 1) where all blocks share the number.
    """
    tables = tables_of(lowered)
    given = ", ".join(["x", *(table.name for table in arguments(tables))])
    first, *rest = heading(lowered, title)
    body = [line for run, own in zip(lowered.runs, tables, strict=True) for line in _part(run, own)]
    return "\n".join(
        [
            "import torch",
            "",
            "",
            f"def {name}({given}):",
            f'    """{first}',
            "",
            *(f"    {line}" for line in rest),
            '    """',
            "    y = torch.empty_like(x)",
            *body,
            "    return y",
            "",
        ]
    )


def _part(run: Run, tables: list[Table]) -> list[str]:
    """The statements of a run on all its blocks at once."""
    count, program = len(run.blocks), run.program
    places = [_slice(a, b, count) for a, b in zip(run.starts, run.strides, strict=True)]
    return [
        *(f"    {x} = x[..., {p}]" for x, p in zip(program.inputs, places, strict=True)),
        *(f"    {t.symbol} = {t.name}" for t in tables if t.name != t.symbol.name),
        torch_statements(program, indent="    "),
        *(f"    y[..., {p}] = {y}" for y, p in zip(program.outputs, places, strict=True)),
    ]


def _slice(start: int, stride: int, count: int) -> str:
    """Coordinates start, start + stride, …, `count` of them."""
    step = stride or 1
    if step < 0:
        return str([start + i * step for i in range(count)])
    return f"{start}:{start + (count - 1) * step + 1}" + (f":{step}" if step > 1 else "")


__all__ = ["torch_function", "torch_source", "torch_statements"]
