"""FIRE: the argument of its function at printed inputs, and the two pairs of one gap that refute it."""

import mpmath
import pytest
import sympy as sp
from exptx.symbolic import BadInput, Status, encoding
from sympy.core.function import AppliedUndef


def argument(given, t, s):
    """What the learned function is asked at (t, s)."""
    (call,) = given.score(t, s).atoms(AppliedUndef)
    return call.args[0]


@pytest.mark.parametrize(("t", "value"), [(5, "0.6309297535714574"), (20, "0.4553404973939060")])
def test_the_argument_at_gap_three(rounds_to, t, value):
    assert rounds_to(argument(encoding("fire", c=1, threshold=8), t, t - 3), value)


def test_two_pairs_of_one_gap_are_told_apart(told_apart, row):
    """log 4 / log 9 and log 4 / log 12 are different, so a function takes different values there."""
    given = encoding("fire", head_dim=2, c=1, threshold=8)

    def score(t, s, q, k, at):
        asked = mpmath.log(t - s + 1) / mpmath.log(max(8, t) + 1)
        values = {
            mpmath.log(4) / mpmath.log(9): at["f(log(4)/log(9))"],
            mpmath.log(4) / mpmath.log(12): at["f(log(4)/log(12))"],
        }
        near = [value for known, value in values.items() if abs(known - asked) < mpmath.mpf(10) ** -35]
        assert len(near) == 1
        return near[0] * mpmath.sqrt(2)

    assert told_apart(given, score) > 1
    assert row(given) == ["no", "no", "no", "not-applicable", "not-applicable"]


@pytest.mark.parametrize(
    "given",
    [{"threshold": 512, "c": sp.Rational(1, 10)}, {"threshold": sp.Symbol("L", positive=True)}, {"c": 7}],
)
def test_other_thresholds_and_rates_are_refuted_as_well(given):
    assert encoding("fire", head_dim=2, **given).is_relative().status is Status.REFUTED


def test_below_the_threshold_nothing_is_told_apart():
    given = encoding("fire", head_dim=2, threshold=8)
    assert argument(given, 5, 2) == argument(given, 8, 5) != argument(given, 9, 6)


def test_what_is_refused():
    with pytest.raises(BadInput, match="threshold is 0; it must be positive"):
        encoding("fire", threshold=0)
    with pytest.raises(BadInput, match="c is -1; it must be positive"):
        encoding("fire", c=-1)
