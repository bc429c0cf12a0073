"""Exact division of exponential polynomials: the quotient, checked by balls, or none."""

import pytest
import sympy as sp
from exptx.symbolic import Unsupported
from exptx.symbolic.balls import ball
from exptx.symbolic.realizing.quotient import exact_quotient

u = sp.Symbol("u", real=True)
a = sp.Symbol("a", positive=True)
Q = sp.Rational


@pytest.mark.parametrize(
    ("top", "bottom"),
    [
        (sp.exp(2 * u) - 1, sp.exp(u) - 1),
        (sp.sin(2 * u), sp.cos(u)),
        (sp.exp(u) + sp.exp(u / 2) - 2, sp.exp(u / 2) - 1),
        (sp.cos(u) ** 2 - sp.cos(2 * u) ** 2, sp.cos(u) + sp.cos(2 * u)),
        (sp.exp(a * u) - 1, sp.exp(a * u / 2) + 1),
        ((u + a) * sp.exp(u) * (sp.exp(u) + u), sp.exp(u) + u),
        (sp.expand((sp.exp(u) + sp.exp(a * u) + u) * (sp.exp(a * u + u) - 3)), sp.exp(a * u) + sp.exp(u) + u),
    ],
    ids=str,
)
def test_a_quotient_that_comes_out_has_the_same_values(top, bottom):
    found = exact_quotient(top / bottom, u)
    for point in (Q(1, 3), Q(-5, 4)):
        at = {u: point, a: Q(3, 7)}
        assert ball(found * bottom, at, 200).overlaps(ball(top, at, 200))
        assert not ball(found * bottom + Q(1, 10**30), at, 200).overlaps(ball(top, at, 200))


@pytest.mark.parametrize(
    ("top", "bottom"),
    [
        (sp.exp(2 * u) - 1, sp.exp(u) - 2),
        (sp.sin(2 * u), sp.cos(2 * u)),
        (sp.exp(u) - 1, sp.exp(u / 2) + 2),
        (sp.Integer(1), u),
        (sp.exp(u) - 1, u),
        (a * u, 1 + u),
    ],
    ids=str,
)
def test_a_quotient_that_does_not_come_out_is_none(top, bottom):
    assert exact_quotient(top / bottom, u) is None


@pytest.mark.parametrize(
    "quotient",
    [
        (sp.exp(a * u) - 1) / (sp.exp(u) - 1),  # comes out for a = 2
        (u + 1) / (u + a),  # comes out for a = 1
        (u + a) / (u + 1),
        sp.Symbol("m", real=True) / (u + 1),  # comes out for m = 0
        sp.exp(u) / (sp.exp(u) + sp.exp(1)),
        (u + 1) / (u + sp.sqrt(2)),
    ],
    ids=str,
)
def test_what_depends_on_constants_is_left_open(quotient):
    with pytest.raises(Unsupported):
        exact_quotient(quotient, u)
