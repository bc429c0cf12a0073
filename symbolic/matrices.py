"""Explicit matrices and unevaluated products of them, read row by row into the ring, zeros skipped."""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.matrices import MatrixBase
from sympy.matrices.expressions import MatAdd, MatMul, MatPow, Transpose
from sympy.matrices.expressions.matexpr import MatrixExpr

from .errors import BadInput, Unsupported
from .reader import Ratio, Reader
from .walk import text

Rows = list[dict[int, Ratio]]  # a row is column -> entry, absent entries are zero
MAX_MATRIX_POWER = 64


def is_matrix(formula: Any) -> bool:
    """Explicit or unevaluated, as against a scalar."""
    return isinstance(formula, MatrixBase | MatrixExpr)


def shape(formula: Any, name: str) -> tuple[int, int]:
    """(rows, columns), which must be numbers."""
    if not all(isinstance(size, int | sp.Integer) for size in formula.shape):
        raise BadInput(f"{name} has the symbolic shape {formula.shape}; give an explicit size")
    return int(formula.shape[0]), int(formula.shape[1])


def read_matrix(reader: Reader, node: Any) -> Rows:
    """The entries of a matrix formula as ring fractions; products are taken in the ring."""
    if isinstance(node, MatrixBase):
        return _explicit(reader, node)
    if isinstance(node, MatMul):
        return _product(reader, node)
    if isinstance(node, MatAdd):
        total = read_matrix(reader, node.args[0])
        for part in node.args[1:]:
            total = _add(reader, total, read_matrix(reader, part))
        return total
    if isinstance(node, Transpose):
        return _transpose(read_matrix(reader, node.args[0]), shape(node, "a transpose")[0])
    if isinstance(node, MatPow):
        return _power(reader, node)
    if isinstance(node, sp.Identity | sp.ZeroMatrix):
        shape(node, text(node))
        return _explicit(reader, node.as_explicit())
    raise Unsupported(
        f"{text(node)} is no matrix formula that can be decided ({type(node).__name__}); "
        "write explicit matrices, MatMul, MatAdd, MatPow or Transpose"
    )


def _explicit(reader: Reader, matrix: MatrixBase) -> Rows:
    flat, columns = matrix.flat(), matrix.cols
    rows: Rows = []
    for i in range(matrix.rows):
        entries = enumerate(flat[i * columns : (i + 1) * columns])
        rows.append(
            {j: value for j, e in entries if e and ((value := reader.read(e)).numerator or value.nonzero)}
        )
    return rows


def _product(reader: Reader, node: MatMul) -> Rows:
    factors = [read_matrix(reader, factor) for factor in node.args if is_matrix(factor)]
    scalars = [reader.read(factor) for factor in node.args if not is_matrix(factor)]
    result = factors[0]
    for factor in factors[1:]:
        result = multiply(reader, result, factor)
    for scalar in scalars:
        result = [{j: reader.multiply(scalar, e) for j, e in row.items()} for row in result]
    return result


def multiply(reader: Reader, a: Rows, b: Rows) -> Rows:
    """(ab)_ij = Σ_k a_ik b_kj over the non-zero entries."""
    result: Rows = []
    for row in a:
        out: dict[int, Ratio] = {}
        for k, left in row.items():
            for j, right in b[k].items():
                term = reader.multiply(left, right)
                out[j] = reader.add(out[j], term) if j in out else term
        result.append(out)
    return result


def _add(reader: Reader, a: Rows, b: Rows) -> Rows:
    zero = Ratio(reader.ring.zero)
    return [
        {j: reader.add(row.get(j, zero), other.get(j, zero)) for j in sorted(row.keys() | other.keys())}
        for row, other in zip(a, b, strict=True)
    ]


def _transpose(rows: Rows, height: int) -> Rows:
    result: Rows = [{} for _ in range(height)]
    for i, row in enumerate(rows):
        for j, entry in row.items():
            result[j][i] = entry
    return result


def _power(reader: Reader, node: MatPow) -> Rows:
    """A^n for a whole n >= 0."""
    base, exponent = node.args
    if not isinstance(exponent, sp.Integer) or exponent < 0:
        raise Unsupported(
            f"{text(node)}: only whole powers n >= 0 are multiplied out; write an inverse explicitly"
        )
    if exponent > MAX_MATRIX_POWER:
        raise Unsupported(
            f"too large for the exact procedure: the matrix power {exponent}; prove the step by induction"
        )
    result = _explicit(reader, sp.eye(shape(node, "a matrix power")[0]))
    factor = read_matrix(reader, base)
    for _ in range(int(exponent)):
        result = multiply(reader, result, factor)
    return result
