"""Attention with sums of encodings: the biases are added to the logits of the part that moves the content."""

import pytest
import sympy as sp
import torch
from exptx.numeric import BadChoice, NotLowered, Unbounded, attention
from exptx.symbolic import encoding

R = sp.Rational
D, H, T = 8, 2, 6
ROPE, KERPLE = encoding("rope", head_dim=D), encoding("kerple_log", r1=1, r2=2, head_dim=D)
HEADS = encoding("alibi", num_heads=H, head_dim=D)
SLOPES = torch.tensor([2.0**-4, 2.0**-8], dtype=torch.float64)[:, None, None]
GAP = (torch.arange(T)[:, None] - torch.arange(T)).double()
LOG = -torch.log1p(2 * GAP.abs())


def given(dtype=torch.float64):
    return [torch.randn(1, H, T, D, generator=torch.Generator().manual_seed(i)).to(dtype) for i in range(3)]


def expected(moving, bias, scale=D**-0.5):
    """softmax(logits of the moving part + bias) v, from the logits that q = k = e_i give one by one."""
    q, k, v = given()
    scores = torch.zeros(H, T, T, dtype=torch.float64)
    for t in range(T):
        for s in range(t + 1):
            m = sp.matrix2numpy(sp.N(moving.maps(sp.Integer(t), sp.Integer(s))["score"], 20), dtype=float)
            scores[:, t, s] = torch.einsum("hi,ij,hj->h", q[0, :, t], torch.tensor(m), k[0, :, s])
    logits = (scale * scores + bias).masked_fill(GAP < 0, -torch.inf)
    return (logits.softmax(-1) @ v[0])[None]


SUMS = [
    (ROPE + KERPLE, ROPE, LOG),
    (KERPLE + ROPE, ROPE, LOG),
    (HEADS + ROPE + KERPLE, ROPE, LOG - SLOPES * GAP),
    (HEADS + KERPLE, encoding("nope", head_dim=D), LOG - SLOPES * GAP),
    (
        encoding("keys_only", head_dim=D) + HEADS + KERPLE,
        encoding("keys_only", head_dim=D),
        LOG - SLOPES * GAP,
    ),
    (
        encoding("decay", head_dim=D, gamma=R(1, 3)) + KERPLE,
        encoding("decay", head_dim=D, gamma=R(1, 3)),
        LOG,
    ),
]


@pytest.mark.parametrize(("both", "moving", "bias"), SUMS, ids=[str(one[0].name) for one in SUMS])
def test_a_sum_attends_with_the_sum_of_the_logits(both, moving, bias):
    torch.testing.assert_close(attention(*given(), both), expected(moving, bias), rtol=1e-12, atol=1e-12)


def test_values_are_moved_by_the_part_that_moves_them():
    q, k, v = given()
    back = encoding("rotated_values_back", head_dim=D)
    steps = encoding("step_table", edges=[1], values=[0, 1], head_dim=D)
    far = (GAP >= 1).double() * D**-0.5
    one = attention(q, k, v, back + steps)
    two = attention(q, k, v, back, attn_mask=far)
    torch.testing.assert_close(one, two, rtol=1e-12, atol=1e-12)
    assert not torch.allclose(one, attention(q, k, v, ROPE + steps))


def test_far_positions_lose_nothing_of_a_bias_of_the_gap():
    q, k, v = given()
    ids = torch.arange(T) + 10**9
    both = encoding("alibi", slope=R(1, 3), head_dim=D) + KERPLE
    near = attention(q, k, v, both)
    torch.testing.assert_close(attention(q, k, v, both, position_ids=ids), near, rtol=1e-13, atol=1e-13)


def test_keys_ahead_are_refused_by_the_verdict_of_the_sum():
    assert attention(*given(), ROPE + KERPLE, causal=False).isfinite().all()
    linear = encoding("alibi", slope=1, head_dim=D)
    with pytest.raises(Unbounded, match="the bias: no upper bound as u → -∞"):
        attention(*given(), ROPE + linear + KERPLE, causal=False)
    steeper = encoding("symmetric_distance", slope=2, head_dim=D)
    assert attention(*given(), ROPE + linear + steeper, causal=False).isfinite().all()


def test_the_scale_of_a_sum_is_that_of_its_biases():
    with pytest.raises(BadChoice, match=r"the bias of rope \+ kerple_log is built for the scale"):
        attention(*given(), ROPE + KERPLE, scale=1.0)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("fox", r"alibi with slope=1 and position_ids = -cumsum\(log f\)"),
        ("mamba2", "linear_attention takes gates as log_decay"),
        ("gla", "gla is read at 8 clocks, .* linear_attention takes gates"),
        ("mamba3", "5 clocks"),
        ("grape_m_ctx", "its readings work as position_ids"),
        ("path", "one matrix a token, in order, so there are no per-token factors"),
        ("deltanet", "no per-token factors"),
        ("joformer", "no per-token factors"),
    ],
)
def test_what_is_read_at_clocks_or_in_order_is_refused_with_what_works(name, words):
    one = encoding(name, head_dim=D)
    for refused in (one, one + KERPLE) if one.fixed_scale is None else (one,):
        with pytest.raises(NotLowered, match=words):
            attention(*given(), refused)


def test_forgetting_attention_is_alibi_at_the_readings_of_its_clock():
    q, k, v = given()
    gates = [R(1, 2), R(9, 10), R(2, 3), R(1, 5), R(3, 4), R(99, 100)]
    fox = encoding("fox", head_dim=D, forget=gates)
    bias = torch.tensor(
        [[float(fox.scale * fox.score(t, s, q=[0] * D, k=[0] * D)) for s in range(T)] for t in range(T)],
        dtype=torch.float64,
    )
    readings = -torch.tensor([float(g) for g in gates], dtype=torch.float64).log().cumsum(0)
    one = attention(q, k, v, encoding("alibi", slope=1, head_dim=D), position_ids=readings)
    two = attention(q, k, v, encoding("nope", head_dim=D), attn_mask=bias)
    torch.testing.assert_close(one, two, rtol=1e-12, atol=1e-12)
