"""Laws of balls: an enclosure contains the value, is as narrow as asked, and never invents one."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
import sympy as sp
from exptx.symbolic import (
    At,
    BadInput,
    D,
    Enclosure,
    SingularPoint,
    Unsupported,
    WrongType,
    enclose,
)
from exptx.symbolic.balls import ball, excludes_zero
from sympy import E, I, Rational, cos, exp, log, pi, sin, sqrt, symbols

t, g, w = symbols("t g w", real=True)

NUMBERS = {
    "π": pi,
    "e": E,
    "half-life": log(2) / Rational(1, 10),
    "slow frequency": 10000 ** Rational(-3, 64),
    "growth": exp(5),
    "golden ratio": (1 + sqrt(5)) / 2,
    "tiny": exp(-300),
    "cube root": 2 ** Rational(1, 3) - 1,
    "tower": exp(sin(sqrt(2)) * log(3)),
    "gamma-free": sp.tanh(1) * sp.cosh(2) - sp.sinh(Rational(1, 3)) + sp.tan(1),
}


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("digits", [1, 10, 40])
def test_an_enclosure_contains_the_value_and_is_as_narrow_as_asked(name, digits):
    found = enclose(NUMBERS[name], digits)
    with mpmath.workdps(digits + 60):
        value = mpmath.mpmathify(sp.N(NUMBERS[name], digits + 50))
        assert mpmath.mpf(found.lower.p) / found.lower.q <= value <= mpmath.mpf(found.upper.p) / found.upper.q
    assert found.width * 10**digits <= max(abs(found.lower), abs(found.upper))


def test_known_digits():
    assert Rational("3.14159265358979323846") in enclose(pi, 15)
    assert Rational("148.413159102576603421115580040552279623487667593879") in enclose(exp(5), 30)
    score = sum(cos(3 * 10000 ** Rational(-k, 8)) for k in range(8))
    assert Rational("5.54310106130494336") in enclose(score, 15)


def test_exact_values_have_width_zero():
    assert enclose(Rational(2, 3)) == Enclosure(Rational(2, 3), Rational(2, 3))
    assert enclose(2).width == 0


def test_a_hidden_zero_is_enclosed_and_never_called_nonzero():
    found = enclose(sin(1) ** 2 + cos(1) ** 2 - 1)
    assert 0 in found
    assert found.width < Rational(1, 10**1000)


def test_values_are_taken_at_a_rational_point():
    assert Rational(cos(1).evalf(30)) in enclose(cos(w * t), 20, at={w: Rational(1, 2), t: 2})
    assert Rational(4, 9) in enclose(t**2, at={t: Fraction(2, 3)})


def test_derivatives_and_substitutions_have_values():
    wave = exp(-g * t) * cos(w * t)
    point = {g: Rational(1, 3), w: 2, t: Rational(1, 2)}
    by_hand = -g * wave - w * exp(-g * t) * sin(w * t)
    assert not excludes_zero(ball(D(wave, t) - by_hand, point, 300))
    assert not excludes_zero(ball(At(wave, t, 2 * t) - wave.subs(t, 2 * t), point, 300))
    assert not excludes_zero(ball(At(D(wave, t), t, 0) + g, point, 300))
    assert excludes_zero(ball(D(wave, t) + by_hand, point, 300))


def test_what_has_no_value_is_refused():
    with pytest.raises(BadInput, match="symbol t has no value"):
        enclose(cos(t))
    with pytest.raises(BadInput, match="not visibly real"):
        enclose(exp(I))
    with pytest.raises(SingularPoint, match="cannot be told from 0"):
        enclose(1 / (sin(1) ** 2 + cos(1) ** 2 - 1))
    with pytest.raises(SingularPoint):
        enclose(sqrt(t), at={t: -1})
    with pytest.raises(Unsupported, match="gamma"):
        enclose(sp.gamma(Rational(1, 3)))
    with pytest.raises(BadInput, match="digits"):
        enclose(pi, 0)


@pytest.mark.parametrize(("formula", "point"), [(0.1, {}), (t, {t: 0.1}), (t * 0.5, {t: 1})])
def test_floats_are_refused(formula, point):
    with pytest.raises(WrongType, match="float"):
        enclose(formula, at=point)


def test_an_enclosure_is_ordered():
    with pytest.raises(BadInput, match="lower <= upper"):
        Enclosure(Rational(1), Rational(0))


def test_numbers_that_no_paper_would_hold_are_not_written_out():
    with pytest.raises(Unsupported, match="too large or too small to be written out"):
        enclose(exp(10**9))
