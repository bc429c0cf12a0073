"""Steps that are written one way and decided another: determinants."""

from __future__ import annotations

import random

import pytest
import sympy as sp
from exptx.proofs.checker import check
from exptx.proofs.step import Determinant, Identity, expansion
from exptx.symbolic import Status

x, y = sp.symbols("x y", real=True)
VANDERMONDE = sp.ImmutableMatrix([[1, 1, 1], [x, y, 2], [x**2, y**2, 4]])


def as_json(step):
    verdict = step.check(frozenset())
    told = {"name": step.name, "status": verdict.status.value, "reason": verdict.reason}
    return {**step.claim(), **told, **step.outcome(verdict)}


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_the_expansion_is_the_determinant(size):
    draw = random.Random(size)
    matrix = sp.ImmutableMatrix(size, size, lambda i, j: draw.choice((0, 0, 1, -2, 3, 5)))
    assert sp.expand(expansion(matrix)) == matrix.det(method="berkowitz")


def test_a_row_of_zeros_has_determinant_zero():
    assert expansion(sp.ImmutableMatrix([[0, 0], [x, y]])) == 0


def test_a_determinant_is_claimed_as_its_expansion_and_shown_as_itself():
    step = Determinant(name="d", lhs=VANDERMONDE, rhs=(y - x) * (2 - x) * (2 - y))
    assert step.claim() == Identity(name="d", lhs=expansion(VANDERMONDE), rhs=step.rhs).claim()
    assert step.formula() == (sp.Determinant(VANDERMONDE), "=", step.rhs)
    assert step.check(frozenset()).status is Status.PROVED
    check(as_json(step))


def test_a_wrong_determinant_is_refuted_with_a_witness_the_checker_repeats():
    wrong = Determinant(name="d", lhs=VANDERMONDE, rhs=(x - y) * (2 - x) * (2 - y))
    told = as_json(wrong)
    assert told["status"] == "refuted"
    assert set(told["witness"]) == {"x", "y"}
    check(told)
