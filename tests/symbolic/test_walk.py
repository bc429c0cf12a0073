"""Names of subexpressions in messages: short, and safe for numbers that Python does not write."""

import pytest
import sympy as sp
from exptx.symbolic.block import Block
from exptx.symbolic.decide import decide
from exptx.symbolic.errors import BadInput
from exptx.symbolic.realization import realize
from exptx.symbolic.walk import text

HUGE = sp.Integer(10) ** 5000 + 7
u = sp.Symbol("u", real=True)


def test_a_long_number_is_named_by_its_length():
    assert text(HUGE) == text(-HUGE) == "a number of 5001 digits"
    assert text(u + HUGE) == "a very large expression"


def test_refusals_survive_numbers_that_cannot_be_written():
    with pytest.raises(BadInput, match="a number of 5001 digits"):
        Block(1, -HUGE)
    with pytest.raises(BadInput, match="a number of 5001 digits"):
        realize(u, u, tolerance=-HUGE, window=(0, 1))
    with pytest.raises(BadInput, match="a number of 5001 digits"):
        decide(1 / (u - HUGE), 1 / (u - HUGE))
    with pytest.raises(BadInput, match="a number of 5001 digits"):
        realize(sp.Abs(u - HUGE), u)


def test_answers_survive_numbers_that_cannot_be_written():
    assert str(realize(u**57, u)).endswith("Hankel determinant a number of 4444 digits")
