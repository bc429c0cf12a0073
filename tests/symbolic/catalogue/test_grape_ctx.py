"""Contextual phases: the code's rotation, one clock for all planes, the exclusive sum, the first step."""

import math

import pytest
import sympy as sp
from exptx.symbolic import BadInput, Status, decide, encoding

STEPS = [sp.Rational(k, 16) for k in (3, 5, 1, 7)]


def code_score(query, key, t, s):
    """y1 = x1 cos + x2 sin, y2 = -x1 sin + x2 cos on halves, the phase a running sum less the own step."""

    def turned(x, position):
        phase = sum(float(step) for step in STEPS[: position + 1]) - float(STEPS[position])
        half, out = len(x) // 2, [0.0] * len(x)
        for plane in range(half):
            angle = phase * 10000.0 ** (-2 * plane / len(x))
            one, two = x[plane], x[plane + half]
            out[plane] = one * math.cos(angle) + two * math.sin(angle)
            out[plane + half] = -one * math.sin(angle) + two * math.cos(angle)
        return out

    return sum(a * b for a, b in zip(turned(query, t), turned(key, s), strict=True))


@pytest.mark.parametrize("pair", [(3, 0), (3, 2), (1, 1), (2, 0)])
def test_it_is_what_the_code_computes(pair):
    entry = encoding("grape_m_ctx", head_dim=4, phases=STEPS)
    q, k = [1, -2, 3, 1], [2, 1, 1, -1]
    assert math.isclose(float(entry.score(*pair, q=q, k=k)), code_score(q, k, *pair), rel_tol=1e-13)


def test_its_row_of_the_map(row):
    assert row(encoding("grape_m_ctx", head_dim=4)) == [
        "cocycle",
        "in-its-clock",
        "in-its-clock",
        "yes",
        "yes",
    ]


def test_all_planes_share_one_clock():
    entry = encoding("grape_m_ctx", head_dim=8)
    assert len(entry.generators) == 1
    assert entry.needs_one_clock().status is Status.PROVED


def test_constant_steps_are_a_rotary_encoding_that_turns_the_other_way():
    half = sp.Rational(1, 2)
    entry = encoding("grape_m_ctx", head_dim=4, frequencies=[1, half], phases=[1] * 6)
    rope = encoding("rope", head_dim=4, frequencies=[-1, -half])
    q, k = [1, 2, 3, 4], [4, 1, 0, 2]
    assert decide(entry.score(5, 2, q=q, k=k), rope.score(5, 2, q=q, k=k)).holds
    assert entry.is_relative().status is Status.PROVED


def test_the_step_at_the_start_of_training(rounds_to):
    """σ(x/16) where softplus(x) = 10^-3, and not the 10^-3 itself."""
    logit = sp.log(sp.exp(sp.Rational(1, 1000)) - 1) / 16
    start = 1 / (1 + sp.exp(-logit))
    entry = encoding("grape_m_ctx", head_dim=2, phases=[start, start])
    assert rounds_to(entry.clocks[0].advance(1, 0), "0.3937196363265527")


def test_steps_do_not_go_back():
    with pytest.raises(BadInput, match="not negative"):
        encoding("grape_m_ctx", head_dim=2, phases=[1, -1])
