"""Rounded frequencies, positions and angles: published cases of models that lost them, and exact counts."""

from math import pi

import pytest
from exptx.numeric.rounding import round_dyadic
from exptx.proofs.inspection.precision import positions, precision
from exptx.symbolic.configs.read import read_config


def found(head_dim, context, base=10000):
    one = read_config({"head_dim": head_dim, "rope_theta": base}).group().encoding
    table = one.frequencies()
    return precision(one, table, [float(w) for w in table], context)


def test_frequencies_of_a_cast_model_turn_planes_by_whole_radians():
    """Base 10000, d = 128: ω_1 = 0.865964323 is 0.8671875 in bfloat16, at position 4095 off by 5.009 rad."""
    assert found(128, 4096)["frequencies"]["bfloat16"]["radians"] == pytest.approx(5.009, rel=1e-3)


def test_an_angle_stored_in_half_precision_is_off_by_its_spacing():
    """d = 32, position 1857: the angle of plane 1 is 1044.267841 and 1044 or 1045 in float16."""
    worst = found(32, 1858)["angles"]["float16"]["radians"]
    assert 0.26 < worst <= 0.5


@pytest.mark.parametrize("name", ["bfloat16", "float16", "float32"])
@pytest.mark.parametrize("last", [0, 1, 255, 256, 257, 300, 2047, 2048, 4095, 4097, 65519])
def test_positions_that_stay_apart_are_counted(name, last):
    assert positions(last, name)["distinct"] == len({round_dyadic(n, 0, name) for n in range(last + 1)})


def test_positions_beyond_the_format_overflow():
    """float16 ends at 65504, and 65520 rounds to infinity."""
    assert positions(65519, "float16")["read"] == 65504
    assert positions(65520, "float16")["read"] is None


@pytest.mark.parametrize("context", [1, 2, 4096, 131072])
def test_bounds_grow_with_the_context(context):
    got = found(64, context)
    assert got["float64"] <= got["float32"]["radians"]
    assert got["float32"]["radians"] < pi
    assert (got["float64"] == 0) == (context == 1)
