"""Places where a divisor or a logarithm's argument vanishes: what mpmath sees beside them is what is said."""

import mpmath
import pytest
import sympy as sp
from exptx.symbolic.realizing.above import bounded_above, bounded_below
from exptx.symbolic.verdict import Status

u = sp.Symbol("u", real=True)
r = sp.Symbol("r", positive=True)
SIZE = sp.Abs(u)

QUOTIENTS = [
    -sp.log(SIZE),
    sp.log(SIZE),
    -sp.log(sp.Abs(u - 1)),
    -u * sp.log(SIZE),
    (u - 2) * sp.log(SIZE) ** 2 - u**4,
    1 / u,
    -1 / u**2,
    1 / (1 + u**2),
    -(u**3) / (1 + u**2),
    (u - 1) / (u**2 - 1) - u**2,
    (1 + u**2) ** sp.Rational(-1, 2),
    -(SIZE ** sp.Rational(-1, 2)),
    SIZE ** sp.sqrt(2) / u - SIZE * sp.sqrt(SIZE),
    -(SIZE ** -sp.sqrt(2)),
    SIZE ** sp.Rational(-3, 2) - u**2,
    sp.log(SIZE) / (u**2 - 2),
    sp.cos(u) / (u**2 - 2) ** 2,
    -sp.cos(u) / (u**2 - 2) ** 2,
    (sp.exp(-SIZE) - 2) / (1 + SIZE) ** 2,
    -1 / (u * sp.sqrt(u)),
]


def highest(formula: sp.Expr, nearness: int) -> mpmath.mpf:
    """The largest value beside 0, ±1, ±√2 and far out, where there is a real one."""
    given, eps = sp.lambdify(u, formula, "mpmath"), mpmath.mpf(10) ** -nearness
    places = [c + w * eps for c in (0, 1, -1, mpmath.sqrt(2), -mpmath.sqrt(2)) for w in (1, -1)]
    found = []
    for place in [*places, 1 / eps, -1 / eps, (1 + mpmath.pi) / eps, -(1 + mpmath.pi) / eps]:
        value = given(place)
        found += [mpmath.re(value)] if mpmath.im(value) == 0 and mpmath.isfinite(value) else []
    return max(found)


@pytest.mark.parametrize("bias", QUOTIENTS, ids=str)
def test_a_bound_is_refuted_exactly_where_values_rise_without_end(bias):
    with mpmath.workdps(60):
        rises = highest(bias, 30) > max(10, highest(bias, 15) + 20)
        falls = highest(-bias, 30) > max(10, highest(-bias, 15) + 20)
    assert bounded_above(bias, u).status is (Status.REFUTED if rises else Status.PROVED)
    assert bounded_below(bias, u).status is (Status.REFUTED if falls else Status.PROVED)


def test_the_place_and_the_side_are_named():
    assert "as u → 1 from above, where it grows" in bounded_above(1 / (u - 1), u).reason
    assert "as u → -∞" in bounded_above(-(u**3) / (1 + u**2), u).reason
    assert "falls to -∞ as u → 0 from above" in bounded_above(-1 / u, u, "causal").reason


def test_symbols_are_no_zeros_where_their_signs_say_so():
    assert bounded_above(1 / (1 + r * u**2), u).status is Status.PROVED
    assert bounded_above(1 / (1 + r * SIZE), u).status is Status.PROVED
    assert bounded_above(1 / (1 - r * SIZE), u).status is Status.UNDECIDED
    assert bounded_above(-sp.log(r * SIZE), u).status is Status.REFUTED


@pytest.mark.parametrize("bias", [sp.sin(u) / u, 1 / (2 + sp.sin(u)), (1 - sp.cos(u)) / u**2], ids=str)
def test_zeros_that_may_meet_zeros_and_divisors_that_turn_are_left_open(bias):
    assert bounded_above(bias, u).status is Status.UNDECIDED
