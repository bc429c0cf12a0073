"""xPos with a centre of its own on each side: the score at gap 0 falls as the cache grows."""

import mpmath
import pytest
import sympy as sp
from exptx.symbolic import BadInput, Status, encoding


@pytest.mark.parametrize(
    ("keys", "printed"), [(4, "7.97927"), (100, "7.50280"), (1000, "4.48342"), (2000, "2.82587")]
)
def test_the_score_of_all_ones_at_gap_zero(rounds_to, keys, printed):
    """2 Σ ζ^(⌊n/2⌋/512), the last of n cached keys against its own query; a common centre gives 8."""
    given = encoding("xpos_own_centres", head_dim=8)
    score = given.score(keys - 1, keys - 1, q=[1] * 8, k=[1] * 8)
    with mpmath.workdps(40):
        zetas = [(2 * i + mpmath.mpf(16) / 5) / (mpmath.mpf(56) / 5) for i in range(4)]
        exact = 2 * sum(zeta ** (mpmath.mpf(keys // 2) / 512) for zeta in zetas)
    assert rounds_to(score, mpmath.nstr(exact, 20))
    assert rounds_to(score, printed)
    assert encoding("xpos", head_dim=8).score(keys - 1, keys - 1, q=[1] * 8, k=[1] * 8).simplify() == 8


def test_it_is_refuted_at_two_pairs_of_one_gap(told_apart, row):
    given = encoding("xpos_own_centres", head_dim=4)

    def score(t, s, q, k, at):
        """Query centred at ⌊1/2⌋ = 0, keys at half their number, t + 1."""
        total = mpmath.mpf(0)
        for plane, w in enumerate((1, mpmath.mpf(1) / 100)):
            zeta = (2 * plane + mpmath.mpf(8) / 5) / (mpmath.mpf(28) / 5)
            fade = zeta ** (mpmath.mpf(t) / 512) * zeta ** (-(mpmath.mpf(s) - (t + 1) // 2) / 512)
            a, b = mpmath.mpc(*q[2 * plane :][:2]), mpmath.mpc(*k[2 * plane :][:2])
            total += fade * (a * mpmath.expj(w * t) * mpmath.conj(b * mpmath.expj(w * s))).real
        return total

    assert told_apart(given, score) > mpmath.mpf(1) / 1000
    assert row(given)[:3] == ["no", "no", "no"]


def test_with_one_centre_the_same_planes_are_relative():
    assert encoding("xpos", head_dim=4).is_relative().status is Status.PROVED


def test_what_is_refused():
    with pytest.raises(BadInput, match="scale_base is 0; it must be positive"):
        encoding("xpos_own_centres", head_dim=2, scale_base=0)
    assert encoding("xpos_own_centres", head_dim=2, scale_base=sp.Symbol("b", positive=True)).head_dim == 2
