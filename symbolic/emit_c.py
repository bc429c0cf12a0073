"""C99 from a program: its statements for one block, and a whole function around them."""

from __future__ import annotations

from textwrap import wrap

from .emission import Table, arguments, heading, place, tables_of
from .lowered import Lowered, Run
from .program import Program

WIDTH = 100


def c_statements(program: Program, *, real: str = "float", indent: str = "") -> str:
    """The steps of a program, one declaration a line: `const float y0 = x0 * c - x1 * s;`.

    Before them stand variables of type `real` named as `program.inputs` (x0, x1, …) and as the symbols of
    `program.tables` (c, s; f; t, t2, …); after them `program.outputs` (y0, y1, …) hold the result. No
    statement writes memory, so the outputs may be stored over the inputs. `Program.roundings` holds whether
    or not the compiler contracts products and sums.
    """
    return "\n".join(f"{indent}const {real} {step.symbol} = {step.written};" for step in program.steps)


def c_function(lowered: Lowered, name: str, title: str, *, real: str = "float") -> str:
    """A whole function in C99 for the features of one token: name(x, tables …, y), where y may be x.

    x, y: the features, contiguous; every table is the row of the token, a number a block, or a single number.
    """
    tables = tables_of(lowered)
    rows = [
        f"{real} {t.name}" if t.length is None else f"const {real} *{t.name}_row" for t in arguments(tables)
    ]
    head = _head(name, [f"const {real} *x", *rows, f"{real} *y"])
    body = [line for run, own in zip(lowered.runs, tables, strict=True) for line in _loop(run, own, real)]
    about = "\n   ".join(heading(lowered, title))
    return "\n".join([f"/* {about} */", *head, "{", *body, "}", ""])


def _head(name: str, parameters: list[str]) -> list[str]:
    """The head of a function, in lines that fit and break between parameters."""
    unbroken = ", ".join(parameter.replace(" ", "~") for parameter in parameters)
    lines = wrap(f"void~{name}({unbroken})", WIDTH, subsequent_indent=" " * 8, break_long_words=False)
    return [line.replace("~", " ") for line in lines]


def _loop(run: Run, tables: list[Table], real: str) -> list[str]:
    """The statements of a run for every block of it."""
    count, inner = len(run.blocks), " " * 8
    head = f"    for (int i = 0; i < {count}; ++i) {{" if count > 1 else "    {"
    places = [place(a, b) for a, b in zip(run.starts, run.strides, strict=True)]
    at = "i" if count > 1 else "0"
    return [
        head,
        *(f"{inner}const {real} {x} = x[{p}];" for x, p in zip(run.program.inputs, places, strict=True)),
        *(f"{inner}const {real} {t.symbol} = {t.name}_row[{at}];" for t in tables if t.length is not None),
        c_statements(run.program, real=real, indent=inner),
        *(f"{inner}y[{p}] = {y};" for y, p in zip(run.program.outputs, places, strict=True)),
        "    }",
    ]


__all__ = ["c_function", "c_statements"]
