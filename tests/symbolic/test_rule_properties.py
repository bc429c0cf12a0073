"""What every rule of longer contexts owes the planes, over drawn parameters; known mistakes do not pay."""

import math

import numpy as np
import pytest
import sympy as sp
from exptx.symbolic.ramps import llama3, yarn, yarn_plane
from exptx.symbolic.scaling import dynamic, linear, longrope, ntk_aware, proportional, rotary
from hypothesis import given, settings
from hypothesis import strategies as st

LAW = settings(max_examples=40, deadline=None, derandomize=True)
CLOSE = 64 * 2.0**-52  # ratios pass through some tens of roundings in float64

dims = st.integers(2, 64).map(lambda n: 2 * n)
bases = st.sampled_from([100, 10_000, 500_000, 1_000_000])
factors = st.fractions(1, 64, max_denominator=8).filter(lambda s: s > 1).map(sp.Rational)
lengths = st.integers(256, 131_072)


def floats(table):
    return np.array([float(w) for w in table])


def ratios(table, base, dim):
    return floats(table) / floats(rotary(base, dim))


def keeps_order(ratio, waves):
    """The ratio never grows from plane to plane, and frequencies fall."""
    return bool((np.diff(ratio) <= CLOSE).all() and (np.diff(waves) < 0).all())


def within(ratio, s):
    return bool((ratio <= 1 + CLOSE).all() and (ratio >= 1 / float(s) - CLOSE).all())


def owes(table, base, dim, s):
    found = ratios(table, base, dim)
    assert within(found, s)
    assert keeps_order(found, floats(table))
    return found


@LAW
@given(dims, bases, factors)
def test_interpolation_divides_all_alike_and_ntk_spares_the_first(dim, base, s):
    assert owes(linear(base, dim, s), base, dim, s) == pytest.approx(
        np.full(dim // 2, 1 / float(s)), rel=CLOSE
    )
    found = owes(ntk_aware(base, dim, s), base, dim, s)
    assert found[0] == 1
    assert found[-1] == pytest.approx(1 / float(s), rel=CLOSE)


@LAW
@given(dims, bases, factors, lengths, st.integers(1, 40))
def test_dynamic_is_the_plain_table_at_first_and_slower_with_every_token(dim, base, s, first, more):
    assert dynamic(base, dim, s, first, first) == dynamic(base, dim, s, first, 1) == rotary(base, dim)
    short, long = (dynamic(base, dim, s, first, first + n) for n in (more, 2 * more))
    stretch = 1 + float(s) * more / first
    found = owes(short, base, dim, stretch)
    assert found[-1] == pytest.approx(1 / stretch, rel=CLOSE)
    assert (floats(long)[1:] < floats(short)[1:]).all()


@LAW
@given(dims, bases, factors, lengths, st.sampled_from(["code", "paper"]), st.booleans())
def test_yarn_keeps_the_planes_of_many_turns_and_divides_those_of_none(dim, base, s, first, ramp, truncate):
    found = owes(yarn(base, dim, s, first, ramp=ramp, truncate=truncate), base, dim, s)
    turns = first * floats(rotary(base, dim)) / (2 * math.pi)
    if ramp == "code":
        assert found[0] == 1
        end = float(yarn_plane(base, dim, first, 1))
        slow = np.arange(dim // 2) >= math.ceil(max(end, 0)) + 1
        assert found[slow] == pytest.approx(1 / float(s), rel=CLOSE)
    else:
        assert found[turns >= 32 * (1 + CLOSE)] == pytest.approx(1, rel=CLOSE)
        assert found[turns <= 1 - CLOSE] == pytest.approx(1 / float(s), rel=CLOSE)


@LAW
@given(dims, bases, factors, lengths, st.integers(1, 4), st.integers(1, 28))
def test_llama3_is_a_ramp_over_turns(dim, base, s, first, low, more):
    high = low + more
    found = owes(llama3(base, dim, s, first, low, high), base, dim, s)
    turns = first * floats(rotary(base, dim)) / (2 * math.pi)
    kept = np.clip((turns - low) / (high - low), 0, 1)
    assert found == pytest.approx(kept + (1 - kept) / float(s), rel=16 * CLOSE)


@LAW
@given(dims, bases, st.data())
def test_longrope_with_divisors_that_never_fall_keeps_the_order(dim, base, data):
    steps = data.draw(st.lists(st.fractions(0, 4, max_denominator=8), min_size=dim // 2, max_size=dim // 2))
    divisors = [1 + sum(map(sp.Rational, steps[: k + 1])) for k in range(dim // 2)]
    owes(longrope(base, dim, divisors), base, dim, divisors[-1])


@LAW
@given(dims, bases, st.fractions(0, 1, max_denominator=16))
def test_p_rope_keeps_the_fast_planes_and_holds_the_rest(dim, base, p):
    found = ratios(proportional(base, dim, sp.Rational(p)), base, dim)
    live = math.floor(p * (dim // 2))
    assert found.tolist() == [1.0] * live + [0.0] * (dim // 2 - live)


# ---- mistakes that were made in public, in floats ----

WAVES = floats(rotary(500_000, 128))
TURNS = 8192 * WAVES / (2 * math.pi)


def test_a_blend_in_wavelengths_with_its_weights_exchanged_is_not_monotone():
    """Planes 28 … 35 of Llama 3.1, as in the report of the mistake: 1, .131631, …, .369625, .125."""
    waves = 2 * math.pi / WAVES
    weight = (waves - 8192 / 4) / (8192 - 8192 / 4)
    mistaken = np.where(TURNS > 4, 1, np.where(TURNS < 1, 1 / 8, 1 / (8 * (1 - weight) + weight)))
    known = [1, 0.131631, 0.143384, 0.161035, 0.189701, 0.242747, 0.369625, 0.125]
    assert mistaken[28:36] == pytest.approx(known, abs=5e-7)
    assert not keeps_order(mistaken, mistaken * WAVES)
    ours = ratios(llama3(500_000, 128, 8, 8192, 1, 4), 500_000, 128)
    assert keeps_order(ours, ours * WAVES)


def test_the_kept_part_taken_from_the_stretched_base_slows_the_fast_planes():
    plain = floats(rotary(10_000, 128))
    stretched = floats(ntk_aware(10_000, 128, 16))
    kept = 1 - np.clip((np.arange(64) - 20) / 26, 0, 1)
    mistaken = (kept * stretched + (1 - kept) * plain / 16) / plain
    ours = ratios(yarn(10_000, 128, 16, 4096), 10_000, 128)
    assert ours[:21].tolist() == [1.0] * 21
    assert mistaken[20] < 0.5


def test_the_longest_length_in_the_place_of_the_current_one_changes_short_texts():
    """inner = f² - (f - 1) whatever the length: base 30527.74 at 2048, 4096 and 8192 tokens alike."""
    mistaken = 10_000 * (2 * 2 - 1) ** (128 / 126)
    found = [floats(dynamic(10_000, 128, 2, 2048, n))[1] ** -64 for n in (2048, 4096, 8192)]
    assert found == pytest.approx([10_000, 30_527.736748806705, 72_195.86], rel=1e-7)
    assert mistaken == pytest.approx(found[1], rel=1e-12)


def test_a_stretch_rounded_up_to_a_power_of_two_is_another_base():
    """2^ceil(log2(r) + 1) - 1 is 3 at r = 1.5, where r itself belongs: base 30527.74, not 15096.85."""
    assert pytest.approx(15_096.85, abs=5e-3) == 10_000 * 1.5 ** (128 / 126)
    assert floats(dynamic(10_000, 128, 1, 2048, 3072))[1] ** -64 == pytest.approx(15_096.85, abs=5e-3)
    assert 2 ** math.ceil(math.log2(1.5) + 1) - 1 == 3


def test_short_texts_have_the_same_table_before_and_after_a_long_one():
    before = dynamic(10_000, 64, 4, 2048, 100)
    dynamic(10_000, 64, 4, 2048, 100_000)
    assert dynamic(10_000, 64, 4, 2048, 100) == before == rotary(10_000, 64)
