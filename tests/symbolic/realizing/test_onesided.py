"""The range of a formula beside a point where it only has a limit, against many values of mpmath."""

import pytest
import sympy as sp
from exptx.symbolic.errors import SingularPoint
from exptx.symbolic.realizing.onesided import starting_range
from flint import arb, fmpq

u = sp.Symbol("u", real=True)
Q = sp.Rational

FADING = [
    (-sp.sqrt(u), 0),
    (u ** Q(3, 10) - 2, 0),
    (sp.sqrt(u**2 + u), 0),
    (sp.log(1 + sp.sqrt(u)), 0),
    (sp.exp(-sp.sqrt(u)) * sp.cos(u), 0),
    (sp.sqrt(u - Q(1, 3)), Q(1, 3)),
    (u * sp.log(u), 0),
    (-3 * sp.sqrt(u) * sp.log(u) ** 2 * sp.exp(-u), 0),
    (sp.sin(u) / u, 0),
    ((1 - sp.cos(u)) / u**2, 0),
    (sp.log(1 + u) / u, 0),
    ((sp.exp(-u) - 1 + u) / u**2, 0),
    (1 / (1 + sp.sqrt(u)), 0),
    ((u - 1) ** 2 * u - 5, 0),
]


@pytest.mark.parametrize("width", [Q(1, 100), Q(1, 10**8)])
@pytest.mark.parametrize(("formula", "start"), FADING, ids=str)
def test_the_range_holds_every_value_and_shrinks_to_the_limit(formula, start, width):
    start = Q(start)
    a, w = fmpq(int(start.p), int(start.q)), fmpq(int(width.p), int(width.q))
    found = starting_range(formula, u, a, a + w)
    for k in range(40):
        value = sp.N(formula.xreplace({u: start + width / Q(13, 10) ** k}), 40)
        assert found.overlaps(arb(str(value)))
    assert width == Q(1, 100) or found.rad() < 0.1


@pytest.mark.parametrize(
    "formula", [sp.log(u), -sp.log(u), 1 / u, sp.log(u) / u, sp.sin(u) / u**2, u / sp.Abs(u)], ids=str
)
def test_where_there_is_no_limit_none_is_found(formula):
    with pytest.raises(SingularPoint):
        starting_range(formula, u, fmpq(0), fmpq(1, 100))
