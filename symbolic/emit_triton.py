"""Triton from a program: its statements for one block, and a whole function around them."""

from __future__ import annotations

from .program import Program


def triton_statements(program: Program, *, indent: str = "") -> str:
    """The steps of a program, one assignment a line: `y0 = x0 * c - x1 * s`.

    Before them stand tensors named as `program.inputs` (x0, x1, …) and as the symbols of `program.tables`
    (c, s; f; t, t2, …), all of the dtype that is computed in; after them `program.outputs` (y0, y1, …) hold
    the result.
    """
    return "\n".join(f"{indent}{step.symbol} = {step.written}" for step in program.steps)
