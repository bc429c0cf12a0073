"""Formulas as Typst, LaTeX or one line of text: exponentials stay exponentials, never fractions.

One walk over the sympy tree serves all three, so a formula has the same shape on paper and in a terminal.
"""

from __future__ import annotations

import sympy as sp

from .errors import WrongType
from .writing.dialects import Dialect, Latex, Text, Typst
from .writing.writer import Writer


def to_typst(formula: object) -> str:
    """Typst math (without `$`) for an expression, matrix, matrix expression or relation."""
    return _write(formula, Typst())


def to_latex(formula: object) -> str:
    """LaTeX math (without delimiters) for an expression, matrix, matrix expression or relation."""
    return _write(formula, Latex())


def to_text(formula: object) -> str:
    """One line of Unicode text, e.g. `e^(-γ·t)·cos(ω·t)`."""
    return _write(formula, Text())


def to_grid(matrix: sp.MatrixBase) -> str:
    """A matrix over several lines for a terminal, columns aligned, entries as in `to_text`."""
    rows = Writer(Text()).cells(matrix)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(x.center(w) for x, w in zip(row, widths, strict=True)) for row in rows]
    if len(lines) == 1:
        return f"[{lines[0]}]"
    left = ["⎡", *["⎢"] * (len(lines) - 2), "⎣"]
    right = ["⎤", *["⎥"] * (len(lines) - 2), "⎦"]
    return "\n".join(f"{a} {line} {b}" for a, line, b in zip(left, lines, right, strict=True))


def _write(formula: object, dialect: Dialect) -> str:
    if isinstance(formula, str) or not isinstance(formula, (int, sp.Basic, sp.MatrixBase)):
        raise WrongType(
            f"formula is a {type(formula).__name__}; a sympy expression, matrix or relation works"
        )
    return (
        Writer(dialect)
        .piece(formula if isinstance(formula, sp.MatrixBase) else sp.sympify(formula, strict=True))
        .text
    )
