"""PyTorch from a program: its statements, and a function of tensors around them."""

from __future__ import annotations

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


__all__ = ["torch_function", "torch_statements"]
