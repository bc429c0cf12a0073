"""C99 from a program: its statements for one block, and a whole function around them."""

from __future__ import annotations

from .program import Program


def c_statements(program: Program, *, real: str = "float", indent: str = "") -> str:
    """The steps of a program, one declaration a line: `const float y0 = x0 * c - x1 * s;`.

    Before them stand variables of type `real` named as `program.inputs` (x0, x1, …) and as the symbols of
    `program.tables` (c, s; f; t, t2, …); after them `program.outputs` (y0, y1, …) hold the result. No
    statement writes memory, so the outputs may be stored over the inputs. `Program.roundings` holds whether
    or not the compiler contracts products and sums.
    """
    return "\n".join(f"{indent}const {real} {step.symbol} = {step.written};" for step in program.steps)
