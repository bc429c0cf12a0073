"""Laws of matrix formulas: products are taken in the ring, shapes must agree."""

from __future__ import annotations

import pytest
import sympy as sp
from exptx.symbolic import BadInput, decide
from sympy import ImmutableMatrix, MatAdd, MatMul, MatPow, Matrix, Transpose, cos, sin, symbols

x, y = symbols("x y", real=True)


def turn(angle: sp.Expr) -> Matrix:
    return Matrix([[cos(angle), -sin(angle)], [sin(angle), cos(angle)]])


def test_unevaluated_matrix_formulas_are_multiplied_in_the_ring():
    a, b = ImmutableMatrix(turn(x)), ImmutableMatrix(turn(y))
    assert decide(MatMul(a, b), turn(x + y)).holds
    assert decide(MatMul(2, a, b), 2 * turn(x + y)).holds
    assert decide(MatMul(Transpose(a), a), sp.eye(2)).holds
    assert decide(MatPow(a, 5), turn(5 * x)).holds
    assert decide(MatAdd(a, Transpose(a)), 2 * cos(x) * sp.eye(2)).holds
    assert decide(MatAdd(MatMul(a, b), MatMul(-1, b, a))).holds
    assert not decide(MatMul(a, b), turn(x - y)).holds
    assert decide(Matrix(0, 0, [])).holds


def test_side_conditions_of_every_entry_are_listed_also_of_entries_that_vanish():
    verdict = decide(Matrix([[cos(x) * sp.tan(x) - sin(x), y / x]]), Matrix([[0, y / x]]))
    assert verdict.side_conditions == (cos(x), x)


def test_shapes_must_agree():
    with pytest.raises(BadInput, match=r"shape \(2, 1\)"):
        decide(Matrix([1, 2]), Matrix([[1, 2]]))
    with pytest.raises(BadInput, match="matrix"):
        decide(Matrix([1, x]), 1)
    assert decide(Matrix([0, x - x])).holds
