"""Correct rounding against torch's own conversions and against exact ties."""

import math

import flint
import pytest
import torch
from exptx.numeric import BadDtype, NotRounded
from exptx.numeric.rounding import FORMATS, round_ball, round_correctly, round_dyadic, unit_roundoff
from hypothesis import given, settings
from hypothesis import strategies as st

LAW = settings(max_examples=200, deadline=None, derandomize=True)
DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]


@LAW
@given(st.floats(-6e4, 6e4), st.sampled_from(DTYPES))
def test_rounding_a_double_is_the_conversion_of_torch(value, dtype):
    mantissa, exponent = math.frexp(value)
    ours = round_dyadic(int(mantissa * 2**53), exponent - 53, dtype)
    assert ours == torch.tensor(value, dtype=torch.float64).to(dtype).item()


@pytest.mark.parametrize("dtype", DTYPES)
def test_ties_go_to_the_even_neighbour(dtype):
    p = FORMATS[str(dtype).removeprefix("torch.")].precision
    odd, even = (1 << p) - 1, (1 << p) - 2  # neighbours of p bits
    assert round_dyadic(2 * even + 1, 0, dtype) == 2 * even
    assert round_dyadic(2 * odd + 1, 0, dtype) == 2 * (odd + 1)


@pytest.mark.parametrize("dtype", DTYPES)
def test_subnormal_numbers_keep_the_smallest_step(dtype):
    lowest = FORMATS[str(dtype).removeprefix("torch.")].lowest
    assert round_dyadic(3, lowest - 1, dtype) == math.ldexp(2, lowest)
    assert round_dyadic(1, lowest - 1, dtype) == 0.0
    assert round_dyadic(1, lowest - 400, dtype) == 0.0


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_unit_roundoff_is_half_the_step_at_one(dtype):
    assert unit_roundoff(dtype) == torch.finfo(dtype).eps / 2


def test_a_ball_that_straddles_a_boundary_has_no_rounded_value():
    with flint.ctx.workprec(200):
        tie = flint.arb(1) + flint.arb(2) ** -53
        assert round_ball(tie, "float64") == 1.0
        assert round_ball(tie + flint.arb(0, 1e-30), "float64") is None
        assert round_ball(flint.arb.nan(), "float64") is None


def test_more_bits_are_taken_until_the_ball_rounds_to_one_value():
    seen = []

    def just_above_a_tie():
        seen.append(flint.ctx.prec)
        return (
            flint.arb(1)
            + flint.arb(2) ** -53
            + flint.arb(2) ** -300
            + flint.arb(0, 1) * flint.arb(2) ** -flint.ctx.prec
        )

    assert round_correctly(just_above_a_tie, "float64") == 1.0 + 2.0**-52
    assert seen == [128, 256, 512]


def test_a_value_that_never_leaves_the_boundary_is_refused():
    with pytest.raises(NotRounded, match="rounding boundary of float64"):
        round_correctly(lambda: flint.arb(1) + flint.arb(2) ** -53 + flint.arb(0, 1e-300), "float64")


def test_an_unknown_format_is_refused_with_the_list():
    with pytest.raises(
        BadDtype, match=r"dtype is torch\.int8; one of float64, float32, bfloat16, float16 works"
    ):
        unit_roundoff(torch.int8)
