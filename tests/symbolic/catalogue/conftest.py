"""What tests of entries share: digits by balls, the row of the map, refutations by mpmath, float formats."""

from decimal import Decimal

import mpmath
import pytest
import sympy as sp
from exptx.symbolic import Status, enclose
from exptx.symbolic.verdicts import verdicts

POSITION = sp.Symbol("s", real=True)


@pytest.fixture
def rounds_to():
    """Whether an exact number, by balls, rounds to the decimal in its last printed digit."""

    def check(number, decimal):
        unit = sp.Integer(10) ** Decimal(decimal).as_tuple().exponent
        found = enclose(number, len(decimal) + 6)
        nearest = {sp.floor(end / unit + sp.S.Half) for end in (found.lower, found.upper)}
        return nearest == {sp.Rational(decimal) / unit}

    return check


@pytest.fixture
def row():
    """The five words of the map, spaces as hyphens."""
    return lambda given: [x.word.replace(" ", "-") for x in verdicts(given).answers().values()]


@pytest.fixture
def first_to_overflow():
    """Whether `size`, growing in s, is at most the largest finite number at s - 1 and beyond it at s."""
    bits = {"float16": (11, 15), "bfloat16": (8, 127), "float32": (24, 127)}  # significand, largest exponent

    def check(size, dtype, s):
        digits, exponent = bits[dtype]
        largest = (2 - sp.Rational(2) ** (1 - digits)) * 2**exponent
        before, there = (enclose(size, 20, {POSITION: sp.Integer(at)}) for at in (s - 1, s))
        return before.upper <= largest and largest < there.lower

    return check


@pytest.fixture
def told_apart():
    """The difference of a plain mpmath score at the two pairs of a refutation, which must have found it.

    score(t, s, q, k, at) takes whole numbers, lists of mpf and the whole witness by name; 40 digits.
    """

    def check(given, score):
        relative, family = given.is_relative(), given.in_family()
        assert {relative.status, family.status} == {Status.REFUTED}
        at = {str(name): mpmath.mpf(value.p) / value.q for name, value in relative.witness.items()}
        s, u = int(at["s"]), int(at["u"])
        q, k = ([at.get(str(x), mpmath.mpf(0)) for x in column] for column in given.content())
        with mpmath.workdps(40):
            difference = score(s + u, s, q, k, at) - score(u, 0, q, k, at)
            assert abs(difference - mpmath.mpf(relative.gap)) < abs(difference) * mpmath.mpf(10) ** -9
        return abs(difference)

    return check
