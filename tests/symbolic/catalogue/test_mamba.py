"""Mamba layers: scores against their own recurrences, clocks counted, where the split form overflows."""

import cmath
import math

import pytest
import sympy as sp
from exptx.symbolic import BadInput, Status, enclose, encoding

GATES = [sp.Rational(k, 8) for k in (3, 1, 5, 2, 7)]
ANGLES = [[sp.Rational(k, 4), sp.Rational(j, 4)] for k, j in ((1, 2), (-3, 1), (2, 2), (5, -1), (1, 1))]
QUERY, KEYS = [1, 2, -1, 3], [[2, 0, 1, 1], [1, -1, 0, 2], [3, 1, 1, 0], [0, 1, 2, 1], [1, 1, 1, 1]]


def test_mamba2_is_its_recurrence():
    """h ← e^{-a}h + B, read by C: the share of every key in C·h."""
    entry = encoding("mamba2", head_dim=4, decay=GATES)
    assert entry.scale == 1
    shares: list[list[float]] = []
    for gate, key in zip(GATES, KEYS, strict=True):
        shares = [[math.exp(-float(gate)) * x for x in share] for share in shares] + [list(map(float, key))]
    for position, share in enumerate(shares):
        score = entry.score(4, position, q=QUERY, k=KEYS[position])
        assert math.isclose(float(score), sum(map(float.__mul__, map(float, QUERY), share)), rel_tol=1e-13)


def test_mamba3_is_its_recurrence():
    """Every plane a complex number: h ← e^{-a + ib}h + k, and the real part of the conjugate of q times h."""
    entry = encoding("mamba3", head_dim=4, decay=GATES, angles=ANGLES)

    def planes(x):
        return [complex(x[0], x[1]), complex(x[2], x[3])]

    shares: list[list[complex]] = []
    for gate, angles, key in zip(GATES, ANGLES, KEYS, strict=True):
        steps = [cmath.exp(complex(-float(gate), -float(angle))) for angle in angles]
        shares = [[step * x for step, x in zip(steps, share, strict=True)] for share in shares] + [
            planes(key)
        ]
    for position, share in enumerate(shares):
        expected = sum((q.conjugate() * x).real for q, x in zip(planes(QUERY), share, strict=True))
        assert math.isclose(
            float(entry.score(4, position, q=QUERY, k=KEYS[position])), expected, rel_tol=1e-12
        )


def test_part_of_the_features_only_fade():
    entry = encoding("mamba3", head_dim=4, rotary_dim=2, decay=GATES, angles=[[x] for x, _ in ANGLES])
    still = encoding("mamba2", head_dim=4, decay=GATES)
    assert len(entry.generators) == 2
    assert entry.score(3, 1, q=[0, 0, 1, 2], k=[1, 1, 1, 1]) == still.score(
        3, 1, q=[0, 0, 1, 2], k=[1, 1, 1, 1]
    )


def test_halves_can_be_paired_instead():
    entry = encoding("mamba3", head_dim=4, interleaved=False, decay=GATES, angles=ANGLES)
    turned = float(entry.score(1, 0, q=[1, 0, 0, 0], k=[0, 0, 1, 0]))
    assert math.isclose(turned, math.exp(-1 / 8) * math.sin(-3 / 4), rel_tol=1e-13)


def test_rows_of_the_map(row):
    words = ["no", "forward-only"]
    assert row(encoding("mamba2", head_dim=2)) == ["cocycle", "in-its-clock", "in-its-clock", *words]
    assert row(encoding("mamba3", head_dim=4)) == ["cocycle", "in-its-clocks", "in-its-clocks", *words]


def test_mamba3_needs_a_clock_for_the_decay_and_one_a_plane():
    entry = encoding("mamba3", head_dim=4)
    assert len(entry.generators) == 3
    assert entry.needs_one_clock().status is Status.REFUTED
    assert encoding("mamba2", head_dim=4).needs_one_clock().status is Status.PROVED
    one_step = encoding("mamba3", head_dim=2, decay=[1, 2, 3], angles=[[3], [6], [9]])
    assert one_step.needs_one_clock().status is Status.PROVED


def test_a_chunk_of_decays_beyond_88_overflows_float32():
    """Steps of 1/10: e^{88.7} is finite and e^{88.8} is not."""
    entry = encoding("mamba2", head_dim=1, decay=[sp.Rational(1, 10)] * 900)
    largest = (2 - sp.Rational(2) ** -23) * 2**127
    before, after = (enclose(entry.key_factor(sp.Integer(s))[0, 0]) for s in (887, 888))
    assert before.upper < largest < after.lower


def test_large_heads_are_decided_as_small_ones_are():
    assert encoding("mamba3", head_dim=32).is_cocycle().status is Status.PROVED


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("mamba2", {"head_dim": 2, "decay": [-1]}, "not negative"),
        ("mamba3", {"head_dim": 4, "angles": [[1]]}, "2 work"),
        ("mamba3", {"head_dim": 3}, "odd"),
        ("mamba3", {"head_dim": 2, "rotary_dim": 4}, "more than head_dim"),
    ],
)
def test_gates_that_do_not_fit_are_refused(name, given, words):
    with pytest.raises(BadInput, match=words):
        encoding(name, **given)
