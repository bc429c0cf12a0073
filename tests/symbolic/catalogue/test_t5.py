"""T5: every distance falls into the bucket of the published rule, by integers."""

import pytest
import sympy as sp
from exptx.symbolic import BadInput, Status, WrongType, encoding

CAUSAL = (*range(16), 16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113)
HALF = (*range(8), 8, 12, 16, 23, 32, 46, 64, 91)


def bucket(given, t, s):
    """The index of the bucket, read off a table whose entries are their own indices."""
    return given.score(t, s, q=[0], k=[0])


def number(starts, distance):
    return sum(start <= distance for start in starts) - 1


def test_causal_buckets():
    given = encoding("t5", head_dim=1, values=list(range(32)))
    assert [bucket(given, gap, 0) for gap in range(200)] == [number(CAUSAL, gap) for gap in range(200)]
    assert [bucket(given, 0, gap) for gap in range(200)] == [0] * 200


def test_keys_ahead_have_the_upper_half_of_bidirectional_buckets():
    given = encoding("t5", head_dim=1, values=list(range(32)), bidirectional=True)
    assert [bucket(given, gap, 0) for gap in range(150)] == [number(HALF, gap) for gap in range(150)]
    assert [bucket(given, 0, gap) for gap in range(1, 150)] == [
        16 + number(HALF, gap) for gap in range(1, 150)
    ]


@pytest.mark.parametrize("bidirectional", [False, True])
def test_it_is_relative_and_a_step_function(row, bidirectional):
    given = encoding("t5", head_dim=2, num_buckets=8, max_distance=20, bidirectional=bidirectional)
    assert row(given) == ["no", "yes", "no", "yes", "yes"]
    assert "the bias is b" in given.in_family().reason


def test_the_published_table_is_outside_the_family():
    assert encoding("t5", head_dim=2).in_family().status is Status.REFUTED


def test_scores_are_not_scaled():
    assert encoding("t5", head_dim=64).scale == 1


def test_a_table_of_one_value_above_all_distances_is_told_from_the_others():
    values = [0, 0, 0, sp.Rational(1, 7)]
    assert (
        encoding("t5", head_dim=1, num_buckets=4, max_distance=8, values=values).in_family().status
        is Status.REFUTED
    )


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"num_buckets": 1}, BadInput, "num_buckets is 1; a whole number from 2"),
        ({"num_buckets": 7, "bidirectional": True}, BadInput, "num_buckets is 7, which is odd"),
        ({"max_distance": 16}, BadInput, "max_distance is 16; a whole number from 17"),
        ({"values": [1, 2]}, BadInput, "values has 2 entries; 32 are needed"),
        ({"values": [1] * 32}, BadInput, "values are all equal"),
        ({"bidirectional": 1}, WrongType, "bidirectional is 1; True or False works"),
    ],
)
def test_what_is_refused(given, error, words):
    with pytest.raises(error, match=words):
        encoding("t5", head_dim=2, **given)
