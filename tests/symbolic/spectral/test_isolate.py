"""Isolated roots: on the axes exactly where they lie on them."""

import pytest
import sympy as sp
from exptx.symbolic.spectral.isolate import isolate

x = sp.Symbol("x")


@pytest.mark.parametrize(
    ("polynomial", "imaginary", "real"),
    [
        (x**2 + sp.pi, 2, 0),
        (x**2 - sp.pi, 0, 2),
        (x**4 + 3 * x**2 + 1, 4, 0),
        (x**4 - 2, 2, 2),
        (x**4 + 1, 0, 0),
        (x**4 + x**2 + 1, 0, 0),
        (x**5 + 5 * x**3 + 4 * x, 5, 1),  # 0 lies on both
        (x**3 - x - 1, 0, 1),
        ((x + sp.Rational(1, 10**30)) ** 2 + 1, 0, 0),  # near the axis is not on it
    ],
    ids=str,
)
@pytest.mark.parametrize("digits", [3, 20])
def test_roots_on_an_axis_have_a_part_that_is_exactly_zero(polynomial, imaginary, real, digits):
    roots = isolate(sp.Poly(polynomial, x, extension=True), digits)
    assert sum(root.real.lower == root.real.upper == 0 for root in roots) == imaginary
    assert sum(root.imag.lower == root.imag.upper == 0 for root in roots) == real
