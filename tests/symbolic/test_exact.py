"""Exact numbers: powers of bases that configs write as decimals."""

import mpmath
import sympy as sp
from exptx.symbolic.balls import enclose
from exptx.symbolic.exact import rational_power


def test_a_power_of_any_decimal_base_is_formed():
    """115.72… = 2·5786336010212271/(2·5)^14: its primes stand in unequal powers; the digits are mpmath's."""
    base, exponent = sp.Rational("115.72672020424542"), sp.Rational(-127, 128)
    with mpmath.workdps(40):
        wanted = mpmath.mpf("115.72672020424542") ** (mpmath.mpf(-127) / 128)
        found = enclose(rational_power(base, exponent), 30)
        assert found.lower <= sp.Rational(str(wanted)) + sp.Rational(1, 10**33)
        assert found.upper >= sp.Rational(str(wanted)) - sp.Rational(1, 10**33)
        assert found.upper - found.lower < sp.Rational(1, 10**30)


def test_a_power_that_sympy_forms_is_left_as_it_is():
    assert rational_power(sp.Integer(500_000), sp.Rational(-1, 64)) == sp.Integer(500_000) ** sp.Rational(
        -1, 64
    )
