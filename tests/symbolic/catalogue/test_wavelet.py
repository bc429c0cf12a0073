"""Ricker windows of the gap: values by mpmath, mean and length, and why they are outside."""

import mpmath
import pytest
import sympy as sp
from exptx.symbolic import BadInput, encoding

u = sp.Symbol("u", real=True)


@pytest.mark.parametrize("gap", [-3, 0, 1, 4])
def test_each_feature_has_its_own_width_and_shift(rounds_to, gap):
    """Widths 1 and 2, shifts 0 and 1 for four features."""
    given = encoding("wavelet", head_dim=4, scales=2)
    for feature, (a, b) in enumerate([(1, 0), (1, 1), (2, 0), (2, 1)]):
        unit = [int(i == feature) for i in range(4)]
        with mpmath.workdps(40):
            x = (mpmath.mpf(gap) - b) / a
            height = 2 / (mpmath.sqrt(3 * a) * mpmath.pi**0.25)
            expected = mpmath.nstr(height * (1 - x**2) * mpmath.exp(-(x**2) / 2), 15)
        score = given.score(gap, 0, q=unit, k=[0] * 4)
        assert rounds_to(score, expected) if score else mpmath.mpf(expected) == 0


def test_a_wavelet_has_mean_zero_and_length_one():
    window = encoding("wavelet", head_dim=1, scales=1).score(u, 0, q=[1], k=[0])
    assert sp.integrate(window, (u, -sp.oo, sp.oo)) == 0
    assert sp.integrate(window**2, (u, -sp.oo, sp.oo)) == 1


def test_it_is_relative_and_outside_by_the_gaussian(row):
    given = encoding("wavelet", head_dim=2)
    assert row(given) == ["no", "yes", "no", "yes", "yes"]
    assert "whose exponent is not linear in u" in given.in_family().reason


def test_widths_share_the_features_equally():
    with pytest.raises(BadInput, match="head_dim is 3, no multiple of scales 2"):
        encoding("wavelet", head_dim=3, scales=2)
