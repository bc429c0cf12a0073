"""The unevaluated exponential of a matrix, for statements about it; it never evaluates itself."""

from __future__ import annotations

import sympy as sp


class MatExp(sp.MatrixExpr):
    """exp(A), written down and not computed."""

    def __new__(cls, argument: sp.MatrixExpr) -> MatExp:
        return super().__new__(cls, argument)

    @property
    def shape(self) -> tuple[sp.Expr, sp.Expr]:
        return self.args[0].shape
