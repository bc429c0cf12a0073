"""exp(tX) as numbers, straight from the matrix: Arb's matrix exponential, which knows nothing of blocks.

An independent witness for the closed form: both enclose the same true values, so their intervals must meet.
"""

from __future__ import annotations

import sympy as sp
from flint import acb, arb, arb_mat, ctx

from .balls import Evaluator
from .errors import BadInput
from .exact import exact_time
from .generator import Generator


def ball_exp(generator: Generator, t: object, digits: int = 30) -> arb_mat:
    """Guaranteed enclosures of the entries of exp(tX), shape (n, n), from about `digits` working digits.

    `t` and the entries of X are exact numbers without free symbols; otherwise BadInput.
    """
    time = exact_time(t)
    scaled = generator.matrix * time
    if scaled.free_symbols:
        names = ", ".join(sorted(map(str, scaled.free_symbols)))
        raise BadInput(f"generator has free symbols ({names}); give numbers, e.g. Block(Rational(1, 10), 2)")
    with ctx.workprec(int(digits * 3.33) + 32):
        return _balls(scaled).exp()


def ball_matrix(matrix: sp.ImmutableMatrix, digits: int = 30) -> arb_mat:
    """Guaranteed enclosures of the entries of an exact real matrix without free symbols."""
    with ctx.workprec(int(digits * 3.33) + 32):
        return _balls(matrix)


def _balls(matrix: sp.ImmutableMatrix) -> arb_mat:
    evaluator = Evaluator({})
    entries = [_real(evaluator.value(entry), entry) for entry in matrix.flat()]
    return arb_mat(matrix.rows, matrix.cols, entries)


def _real(ball: acb, entry: sp.Expr) -> arb:
    if not ball.imag.contains(0):
        raise BadInput(f"matrix entry {entry} is not real")
    return ball.real
