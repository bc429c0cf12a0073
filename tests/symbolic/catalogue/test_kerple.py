"""KERPLE: the numbers of its two formulas, and the reasons why neither is an exponential polynomial."""

import pytest
import sympy as sp
from exptx.symbolic import BadInput, Status, WrongType, encoding
from exptx.symbolic.realizing.case import Case
from exptx.symbolic.realizing.fence import hankel_witness

u = sp.Symbol("u", real=True)
HALF = sp.Rational(1, 2)


def logit(given, gap):
    """The bias alone."""
    return given.scale * given.score(gap, 0, q=[0] * 64, k=[0] * 64)


def test_the_logarithm_of_gap_three_is_minus_two_log_two(rounds_to):
    given = encoding("kerple_log", r1=1, r2=1)
    assert rounds_to(logit(given, 3), "-1.386294361119891")
    assert logit(given, 3) == logit(given, -3)


def test_the_root_of_gap_nine_is_three():
    given = encoding("kerple_power", r1=1, power=HALF)
    assert logit(given, 9) == logit(given, -9) == -3


@pytest.mark.parametrize(("size", "determinant"), [(4, "-1.481120055798154e-5"), (8, "-1.638071885e-29")])
def test_hankel_determinants_of_the_logarithm(size, determinant):
    bias = logit(encoding("kerple_log", r1=1, r2=1), u)
    found = hankel_witness(Case(bias, u, "causal", False), size).data["determinant"]
    unit = sp.Rational(10) ** (int(determinant.split("e")[1]) - len(determinant.split("e")[0]) + 3)
    assert abs(found.lower - sp.Rational(determinant)) <= unit / 2
    assert abs(found.upper - sp.Rational(determinant)) <= unit / 2


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("kerple_log", {"r1": 1, "r2": 1}, "log("),
        ("kerple_log", {"r1": sp.Rational(1, 10), "r2": sp.Symbol("r2", positive=True)}, "log("),
        ("kerple_power", {"r1": 1, "power": HALF}, "u that is not whole"),
        ("kerple_power", {"r1": 2, "power": sp.Rational(19, 10)}, "u that is not whole"),
    ],
)
def test_both_are_relative_and_bidirectional_but_no_exponential_polynomial(row, name, given, words):
    found = encoding(name, head_dim=2, **given)
    assert row(found) == ["no", "yes", "no", "yes", "no"]
    reason = found.in_family().reason
    assert words in reason
    assert "Theorem 8.5" in reason
    assert "det [b(0+i+j)], i, j < 4, is not 0" in reason


def test_the_first_power_has_a_corner_and_the_second_is_inside(row):
    assert row(encoding("kerple_power", r1=1, power=1, head_dim=2))[1:4] == ["yes", "no", "yes"]
    inside = encoding("kerple_power", r1=1, power=2, head_dim=2)
    assert inside.in_family().status is Status.PROVED
    assert row(inside)[3:] == ["yes", "no"]


@pytest.mark.parametrize(
    ("name", "given", "error", "words"),
    [
        ("kerple_log", {"r1": 0, "r2": 1}, BadInput, "r1 is 0; it must be positive"),
        ("kerple_log", {"r1": 1, "r2": -1}, BadInput, "r2 is -1; it must be positive"),
        ("kerple_log", {"r1": 0.1, "r2": 1}, WrongType, "r1 is 0.1, which is a float"),
        (
            "kerple_power",
            {"r1": 1, "power": 3},
            BadInput,
            "power is 3; a rational number with 0 < power <= 2",
        ),
        ("kerple_power", {"r1": 1, "power": sp.sqrt(2)}, BadInput, "power is sqrt"),
    ],
)
def test_what_is_refused(name, given, error, words):
    with pytest.raises(error, match=words):
        encoding(name, **given)
