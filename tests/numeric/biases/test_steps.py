"""Powers of a matrix against fractions: singular ones, signs, inverses, and many steps without drift."""

from fractions import Fraction

import pytest
import sympy as sp
import torch
from exptx.numeric import TooLarge
from exptx.numeric.biases.steps import stepped
from exptx.proofs import budget

R = sp.Rational
MATRICES = {
    "nilpotent": sp.ImmutableMatrix([[0, 1, 0], [0, 0, 1], [0, 0, 0]]),
    "sign": sp.ImmutableMatrix([[-1, -1, 0], [0, -1, 0], [0, 0, R(-1, 2)]]),
    "slide": sp.ImmutableMatrix([[1, 1, R(1, 2)], [0, 1, 1], [0, 0, 1]]),
    "mixed": sp.ImmutableMatrix([[R(-9, 10), 0, 0], [0, 0, 1], [0, 0, 0]]),
}


def power(matrix, n, column):
    """A^n column in fractions for n >= 0, one step after the other."""
    rows = [[Fraction(int(x.p), int(x.q)) for x in row] for row in matrix.tolist()]
    for _ in range(n):
        column = [sum(a * x for a, x in zip(row, column, strict=True)) for row in rows]
    return column


@pytest.mark.parametrize("name", MATRICES)
def test_powers_are_those_of_fractions(name):
    matrix, times = MATRICES[name], [0, 1, 2, 3, 5, 64, 100, 257]
    times += [-1, -2, -37] if matrix.det() else []
    start = [Fraction(1), Fraction(-3, 4), Fraction(1, 8)]
    column = torch.tensor([float(x) for x in start], dtype=torch.float64)
    found = stepped(matrix, column, torch.tensor(times).double())
    for n, row in zip(times, found.tolist(), strict=True):
        one = matrix if n >= 0 else matrix.inv()
        known = power(one, abs(n), start)
        above = power(one.applyfunc(abs), abs(n), [abs(x) for x in start])
        # one factor for each of at most 9 bits: its rounding, and a sum of 3 products
        share = Fraction(budget.gamma(9 * 4, "float64"))
        assert all(abs(Fraction(x) - y) <= share * b for x, y, b in zip(row, known, above, strict=True))


def test_a_million_steps_are_as_accurate_as_twenty():
    """0.9999^n from a rounded 0.9999 is off by n roundings."""
    n, column = 2**20 - 1, torch.ones(1).double()
    found = stepped(sp.ImmutableMatrix([[R(-9999, 10000)]]), column, torch.tensor([n]).double())
    known = -(Fraction(9999, 10000) ** n)
    assert abs(Fraction(float(found)) - known) <= Fraction(budget.gamma(2 * 20, "float64")) * -known


def test_what_outgrows_float64_is_refused():
    with pytest.raises(TooLarge, match="the bias grows beyond float64"):
        stepped(sp.ImmutableMatrix([[-2]]), torch.ones(1).double(), torch.tensor([2000.0]).double())


def test_no_times_have_no_powers():
    assert stepped(MATRICES["mixed"], torch.ones(3).double(), torch.zeros(0).double()).shape == (0, 3)
