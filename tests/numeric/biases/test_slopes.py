"""ALiBi: slopes of the paper for any number of heads, and attention with a bias linear in the gap."""

import math

import pytest
import torch
from exptx.numeric import (
    BadTensor,
    Unbounded,
    alibi_attention,
    alibi_slopes,
    attention,
)
from exptx.numeric.constants import nearest_float
from exptx.proofs import budget
from exptx.symbolic import encoding

# typed from the reference lists of the paper's code
LISTS = {
    6: [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125],
    8: [2.0 ** -(h + 1) for h in range(8)],
    16: [2.0 ** (-(h + 1) / 2) for h in range(16)],
}
TWELVE_END = ["0.707106781187", "0.353553390593", "0.176776695297", "0.0883883476483"]


@pytest.mark.parametrize("heads", LISTS)
def test_slopes_are_those_of_the_paper(heads):
    assert alibi_slopes(heads, dtype=torch.float64).tolist() == LISTS[heads]


def test_slopes_for_twelve_heads_end_with_every_other_one_of_sixteen():
    slopes = alibi_slopes(12, dtype=torch.float64).tolist()
    assert slopes[:8] == LISTS[8]
    assert [f"{x:.12g}" for x in slopes[8:]] == TWELVE_END


def recursive(heads):
    """The paper's own rule: a power of two, or the closest one and every other slope of twice as many."""
    if math.log2(heads).is_integer():
        start = 2 ** (-(2 ** -(math.log2(heads) - 3)))
        return [start * start**i for i in range(heads)]
    closest = 2 ** math.floor(math.log2(heads))
    return recursive(closest) + recursive(2 * closest)[0::2][: heads - closest]


@pytest.mark.parametrize("heads", [1, 2, 3, 5, 20, 40, 71, 128])
def test_the_closed_form_is_the_recursion_of_the_paper(heads):
    ours, theirs = alibi_slopes(heads, dtype=torch.float64), recursive(heads)
    # the recursion multiplies up to heads times, a power is within 2u: as many roundings, on either side
    for mine, other in zip(ours.tolist(), theirs, strict=True):
        assert abs(mine - other) <= budget.gamma(3 * heads + 4, torch.float64) * mine


@pytest.mark.parametrize("heads", [3, 8, 12])
def test_slopes_are_those_of_the_catalogue(heads):
    members = encoding("alibi", num_heads=heads, head_dim=4).heads
    exact_slopes = [nearest_float(member.parameters["slope"]) for member in members]
    ours = alibi_slopes(heads, dtype=torch.float64).tolist()
    assert all(abs(a - b) <= 2 * budget.ORACLE * b for a, b in zip(ours, exact_slopes, strict=True))


def inputs(heads=3, time=5, d=8, dtype=torch.float64):
    return torch.randn(3, 2, heads, time, d, generator=torch.Generator().manual_seed(0)).to(dtype).unbind(0)


def weights(values, **options):
    """Attention weights: the values are unit vectors."""
    q, k = values
    v = torch.eye(k.shape[2], dtype=q.dtype).expand(*k.shape[:2], -1, -1)
    return alibi_attention(q, k, v, **options)


def weight_budget(p, dtype):
    """How far attention weights p (Tk,) may be off whose logits are a bias alone."""
    below = (p / p.max()).log().abs()
    error = budget.logit(1.0, 0.0, 0.0, below, dtype)
    drift = budget.attention_output(p[None], below[None], torch.eye(len(p)).double(), error[None], dtype)[0]
    return budget.rounded(p, drift, dtype)


def test_the_bias_takes_from_a_distant_key_and_the_other_sign_rewards_it():
    """All scores alike and m = 1/2, query at 4: from the nearest key to the farthest."""
    q = torch.zeros(1, 1, 5, 2, dtype=torch.float64)
    got = weights((q, q), slopes=torch.tensor([0.5]))[0, 0, 4].flip(0)
    powers = torch.exp(-0.5 * torch.arange(5.0).double())
    assert ((got - powers / powers.sum()).abs() <= weight_budget(powers / powers.sum(), torch.float64)).all()
    assert (got.diff() < 0).all()
    rewarded = [f"{x:.3f}" for x in got.flip(0)]
    assert rewarded == ["0.058", "0.096", "0.158", "0.260", "0.429"]


def test_slopes_per_sequence_are_slopes_of_each_sequence():
    q, k, v = inputs()
    slopes = torch.stack((alibi_slopes(3), 2 * alibi_slopes(3)))
    both = alibi_attention(q, k, v, slopes)
    for b in range(2):
        assert torch.equal(both[b], alibi_attention(q[b : b + 1], k[b : b + 1], v[b : b + 1], slopes[b])[0])


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_it_is_attention_with_the_lifted_encoding(dtype):
    """The lift carries m·√d and the scale 1/√d, which cancel: the same logits, two orders of summation."""
    q, k, v = inputs(dtype=dtype)
    slopes = alibi_slopes(3, dtype=torch.float64)
    lifted = attention(q, k, v, encoding("alibi", num_heads=3, head_dim=8))
    direct = alibi_attention(q, k, v, slopes)
    allowed = output_budget(q.double(), k.double(), v.double(), slopes, dtype)
    allowed = budget.rounded(lifted.double().abs(), allowed, dtype)
    assert ((lifted.double() - direct.double()).abs() <= 2 * allowed).all()


def output_budget(q, k, v, slopes, dtype):
    """How far a causal output may be off before it is rounded, shape of the output."""
    scale, gap = q.shape[-1] ** -0.5, torch.arange(q.shape[2]).double()
    bias = slopes[:, None, None] * (gap[:, None] - gap)
    size = q.norm(dim=-1)[..., None] * k.norm(dim=-1)[..., None, :]
    logits = (scale * q @ k.mT - bias).masked_fill(bias < 0, -math.inf)
    error = budget.logit(scale, size, budget.gamma(8, dtype) * size, bias.abs(), dtype)
    p = logits.softmax(-1)
    below = (logits.amax(-1, keepdim=True) - logits).masked_fill(p == 0, 0.0)
    return budget.joined_output(p, below, v.abs(), error, float(scale * size.max()) + math.log(5), 1, dtype)


def test_a_gap_of_eight_at_position_32768_keeps_its_bias_in_every_dtype():
    """The split form loses it: in half precision q·k̂ = -m·t + m·s gives 0 there."""
    t, s, m = 32768, 32760, 2.0**-8
    for dtype in (torch.float16, torch.bfloat16):
        split = torch.tensor([-m, -m * t]).to(dtype) * torch.tensor([-s, 1.0]).to(dtype)
        assert split.sum().isnan() or split.sum() == 0
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        zero = torch.zeros(1, 1, 1, 2, dtype=dtype)
        keys = torch.zeros(1, 1, 2, 2, dtype=dtype)
        out = alibi_attention(
            zero,
            keys,
            torch.eye(2, dtype=dtype).reshape(1, 1, 2, 2),
            torch.tensor([m]),
            position_ids=torch.tensor([t]),
            key_position_ids=torch.tensor([s, t]),
        ).flatten()
        known = 1 / (1 + math.exp(8 * m))
        p = torch.tensor([known, 1 - known], dtype=torch.float64)
        assert ((out.double() - p).abs() <= weight_budget(p, dtype)).all()


def test_positions_may_be_huge_or_negative():
    q, k, v = inputs(dtype=torch.float32)
    near = alibi_attention(q, k, v, alibi_slopes(3))
    for start in (2**40, -(2**40)):
        assert torch.equal(
            near, alibi_attention(q, k, v, alibi_slopes(3), position_ids=torch.arange(5) + start)
        )


def test_the_symmetric_form_sees_both_sides_alike():
    q = torch.zeros(1, 1, 5, 2, dtype=torch.float64)
    w = weights((q, q), slopes=torch.tensor([0.5]), causal=False, symmetric=True)[0, 0]
    assert torch.equal(w[2], w[2].flip(0))
    assert torch.equal(w, w.flip(0, 1))


def test_a_gradient_reaches_queries_keys_values_and_slopes():
    q, k, v = (x[:1, :2, :3, :2].clone().requires_grad_() for x in inputs())
    slopes = alibi_slopes(2, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(lambda *a: alibi_attention(*a), (q, k, v, slopes))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda q, k, v: alibi_attention(q, k, v, alibi_slopes(3), causal=False),
            Unbounded,
            "symmetric=True",
        ),
        (
            lambda q, k, v: alibi_attention(q, k, v, -alibi_slopes(3)),
            BadTensor,
            "slopes contains a negative number, NaN or infinity",
        ),
        (
            lambda q, k, v: alibi_attention(q, k, v, torch.tensor([float("inf"), 1.0, 1.0], dtype=q.dtype)),
            BadTensor,
            "slopes contains a negative number, NaN or infinity",
        ),
        (
            lambda q, k, v: alibi_attention(q, k, v, alibi_slopes(2)),
            BadTensor,
            r"slopes has shape \(2,\); \(3,\)",
        ),
        (lambda q, k, v: alibi_attention(q, k, v, alibi_slopes(3), scale=0.0), BadTensor, r"scale is 0\.0"),
        (lambda q, k, v: alibi_slopes(0), BadTensor, "num_heads is 0; a positive whole number works"),
        (lambda q, k, v: alibi_slopes(2.0), BadTensor, r"num_heads is 2\.0"),
    ],
)
def test_a_bias_that_makes_no_sense_is_refused_in_one_sentence(call, error, words):
    with pytest.raises(error, match=words):
        call(*inputs())
