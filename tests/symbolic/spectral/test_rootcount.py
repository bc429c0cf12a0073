"""Exact counts of eigenvalues left of, on and right of the imaginary axis, against numerical roots."""

import random

import pytest
import sympy as sp
from exptx.symbolic.spectral.isolate import isolate
from exptx.symbolic.spectral.rootcount import HalfPlanes, half_planes, real_roots

x = sp.Symbol("x")


def poly(expression):
    return sp.Poly(expression, x, domain="QQ")


@pytest.mark.parametrize(
    ("factor", "expected"),
    [
        (x**3 - x - 1, (2, 0, 1)),
        (x**3 + 2, (1, 0, 2)),
        (x**4 + 10 * x**2 + 1, (0, 4, 0)),  # ±i(√3 ± √2)
        (x**4 - 10 * x**2 + 1, (2, 0, 2)),  # ±√3 ± √2
        (x**4 + 1, (2, 0, 2)),
        (x**4 - 2, (1, 2, 1)),  # ±2^(1/4), ±i2^(1/4)
        (x**3 + 3 * x**2 + 3 * x + 3, (3, 0, 0)),  # (x + 1)³ = -2
        (x**2 + x + 1, (2, 0, 0)),
    ],
)
def test_known_roots_are_counted(factor, expected):
    assert half_planes(poly(factor)) == HalfPlanes(*expected)


def test_random_irreducible_polynomials_are_counted_like_their_numerical_roots():
    rng, seen = random.Random(1), 0
    while seen < 60:
        factor = poly(sp.Poly([1, *(rng.randint(-6, 6) for _ in range(rng.randint(3, 9)))], x).as_expr())
        if not factor.is_irreducible:
            continue
        seen += 1
        signs = [
            0 if abs(sp.re(z)) < 1e-30 else int(sp.sign(sp.re(z))) for z in factor.nroots(n=40, maxsteps=200)
        ]
        assert half_planes(factor) == HalfPlanes(signs.count(-1), signs.count(0), signs.count(1))


def test_coefficients_may_hold_square_roots():
    factor = sp.Poly(x**3 - sp.sqrt(2) * x + 1, x, extension=True)
    signs = [int(sp.sign(sp.re(z))) for z in sp.Poly(factor.as_expr().evalf(30), x).nroots(n=20)]
    assert half_planes(factor) == HalfPlanes(signs.count(-1), 0, signs.count(1))


def test_real_roots_are_counted_by_sturm():
    assert real_roots(poly((x - 1) * (x + 2) * (x**2 + 1))) == 2
    assert real_roots(poly((x - 1) * (x + 2) * (x + 3)), below_zero=True) == 2


def test_isolated_roots_lie_where_they_are_counted():
    for factor in (x**5 - x - 1, x**6 + x + 3):
        roots, count = isolate(poly(factor)), half_planes(poly(factor))
        assert sum(bool(root.real.upper < 0) for root in roots) == count.left
        assert sum(bool(root.real.lower > 0) for root in roots) == count.right
