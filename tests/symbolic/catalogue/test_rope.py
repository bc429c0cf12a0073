"""Rotary vectors digit by digit: both pairings and the clockwise variant at three positions."""

import math
import struct

import pytest
import sympy as sp
from exptx.symbolic import encoding

X = [1, 2, 3, 4]

INTERLEAVED = {
    1: "-1.142639663747653 1.922075596544176 2.959850667913329 4.029799501669161",
    2: "-2.234741690198506 0.07700375373139692 2.919405353226401 4.059196026746310",
    3: "-1.272232512720180 -1.838864985141024 2.878668100436980 4.088186635603437",
}
HALF_SPLIT = {
    1: "-1.984110648555550 1.959900667496664 2.462377902412316 4.019799668334994",
    2: "-3.144039117024187 1.919605346559823 -0.3391430828157455 4.039197360052977",
    3: "-1.413352520780047 1.879118066687992 -2.828857481741469 4.058191135400941",
}
CLOCKWISE = {
    1: "3.064715260291829 2.039899334169997 0.7794359327965226 3.979800334998328",
    2: "2.311745443929903 2.079594680106488 -2.157737936467109 3.959202693279645",
    3: "-0.5666324724208438 2.119082068307958 -3.111097497861204 3.938209134590959",
}
VARIANTS = [
    ({"interleaved": True}, INTERLEAVED),
    ({}, HALF_SPLIT),
    ({"frequencies": [-1, sp.Rational(-1, 100)]}, CLOCKWISE),
]


@pytest.mark.parametrize("position", [1, 2, 3])
@pytest.mark.parametrize(("given", "table"), VARIANTS)
def test_a_vector_turns_to_the_published_digits(given, table, position, rounds_to):
    rope = encoding("rope", head_dim=4, **given)
    for factor in (rope.query_factor, rope.key_factor):
        turned = factor(sp.Integer(position)) * sp.Matrix(X)
        assert all(rounds_to(x, d) for x, d in zip(turned, table[position].split(), strict=True))


@pytest.mark.parametrize("shift", [0, 100, -7])
@pytest.mark.parametrize(
    ("interleaved", "forward", "backward"),
    [
        (True, "-0.760002169826393824", "0.951152912797235004"),
        (False, "-1.61557971113820824", "1.80673045410904942"),
    ],
)
def test_one_score_tells_the_pairings_and_one_the_sign(interleaved, forward, backward, shift, rounds_to):
    rope = encoding("rope", head_dim=4, interleaved=interleaved)
    assert rounds_to(rope.score(5 + shift, 2 + shift, q=X, k=X[::-1]), forward)
    assert rounds_to(rope.score(2 + shift, 5 + shift, q=X, k=X[::-1]), backward)


def test_the_score_of_equal_planes_is_the_published_sum_of_cosines(rounds_to):
    rope = encoding("rope", head_dim=16, interleaved=True)
    planes = [1, 0] * 8
    assert rounds_to(rope.score(5, 2, q=planes, k=planes), "5.54310106130494336")
    assert rounds_to(rope.score(9, 2, q=planes, k=planes), "5.89218598741789329")


def single(x):
    """Rounded to float32."""
    return struct.unpack("f", struct.pack("f", x))[0]


@pytest.mark.parametrize("head_dim", [64, 128])
def test_the_danger_of_angles_in_float32_is_as_large_as_it_says(head_dim):
    worst = 0.0
    for k in range(head_dim // 2):
        rate = 10_000 ** (-2 * k / head_dim)
        for position in range(2**20 - 256, 2**20 + 1):
            formed, exact = single(position * single(rate)), position * rate
            assert abs(formed - exact) <= 2**-23 * exact
            worst = max(worst, abs(math.cos(formed) - math.cos(exact)))
    assert 2.5e-2 <= worst <= 7e-2
