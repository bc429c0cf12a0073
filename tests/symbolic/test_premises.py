"""Laws of assumptions: they bind the witness, and impossible ones are refused."""

from __future__ import annotations

import pytest
import sympy as sp
from exptx.symbolic import BadInput, WrongType, decide
from sympy import Symbol, symbols

x = symbols("x", real=True)


SIGNS = [(x > 0, 1), (x < 0, -1), (0 < x, 1), (0 > x, -1)]  # noqa: SIM300


@pytest.mark.parametrize(("relation", "sign"), SIGNS)
def test_a_witness_respects_the_assumptions(relation, sign):
    assert sp.sign(decide(x**2, 2, assume=relation).witness[x]) == sign


def test_a_witness_respects_declarations_and_side_conditions():
    negative, big = Symbol("n", negative=True), Symbol("b", nonnegative=True)
    witness = decide(negative * big / (big - 1), 7).witness
    assert witness[negative] < 0
    assert witness[big] >= 0
    assert witness[big] != 1


def test_assumptions_that_cannot_be_are_refused():
    with pytest.raises(BadInput, match="contradict"):
        decide(x, 1, assume=(x > 0, x < 0))
    with pytest.raises(BadInput, match="force x = 0"):
        decide(x, 1, assume=(x >= 0, x <= 0))
    with pytest.raises(BadInput, match="single symbols"):
        decide(x, 1, assume=(x > 1,))
    with pytest.raises(WrongType, match="single symbols"):
        decide(x, 1, assume=("x > 0",))
    with pytest.raises(BadInput, match="another symbol named x"):
        decide(x, 1, assume=(Symbol("x") > 0,))
