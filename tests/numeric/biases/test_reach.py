"""Keys too far behind to weigh anything: the bound holds, and leaving them out changes nothing."""

import math

import pytest
import torch
from exptx.numeric import alibi_attention
from exptx.numeric.biases import reach
from exptx.numeric.biases.gap_bias import Slide
from exptx.numeric.biases.groups import groups
from exptx.numeric.biases.pieces import Call
from exptx.numeric.biases.reach import classes, nearest_gap, reaches

T, D = 1500, 16
SLOPES = torch.tensor([9.0, 3.0, 0.3, 0.01, 0.0], dtype=torch.float64)


def drawn(dtype=torch.float32, heads=5):
    generator = torch.Generator().manual_seed(2)
    return torch.randn(3, 1, heads, T, D, generator=generator).to(dtype).unbind(0)


def logits(q, k, m, s):
    gap = (torch.arange(T)[:, None] - s).double()
    return (D**-0.5 * q.double() @ k.double().mT - m[:, None, None] * gap).masked_fill(
        gap < 0, -math.inf
    ), gap


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_beyond_the_reach_every_weight_is_0_and_one_tenth_of_it_is_not_enough(dtype):
    q, k, _ = drawn(dtype)
    found = reaches(q, k, SLOPES[None], D**-0.5, 0.0)
    exact, gap = logits(q, k, SLOPES, torch.arange(T))
    weights = (exact - exact.amax(-1, keepdim=True)).exp()[0]
    for h, far in enumerate(found):
        assert (weights[h][gap > far] < torch.finfo(dtype).tiny).all()
    assert found[-1] == math.inf
    assert (weights[0][(gap > found[0] / 10) & (gap < found[0])] > 0).any()


@pytest.mark.parametrize("amplitude", [0.1, 30.0])
def test_leaving_them_out_is_not_seen(amplitude, monkeypatch):
    """Large contents reach farther, so that a key far behind that outweighs its bias is kept."""
    q, k, v = drawn()
    q = amplitude * q
    cut = alibi_attention(q, k, v, SLOPES)
    monkeypatch.setattr(reach, "_class", lambda *_: math.inf)
    assert torch.equal(cut, alibi_attention(q, k, v, SLOPES)) or (
        # the sums of a trimmed piece are formed in another order
        (cut - alibi_attention(q, k, v, SLOPES)).abs().max() <= 2**-24 * 2 * T * v.abs().max()
    )


def test_a_key_that_outweighs_its_distance_is_kept():
    q = torch.zeros(1, 1, T, 2)
    k = torch.zeros(1, 1, T, 2)
    q[..., 0], k[0, 0, 0, 0] = 100.0, 100.0  # the first key: 7071 above all others
    v = torch.zeros(1, 1, T, 1)
    v[0, 0, 0] = 1.0
    out = alibi_attention(q, k, v, torch.tensor([3.0]))
    assert (out > 0.99).all()


@pytest.mark.parametrize("start", [T + 300, -500])
def test_the_nearest_keys_count_wherever_they_are(start):
    """Queries that stand far behind all keys, or the first ones before all of them."""
    q, k, v = drawn()
    t, s = torch.arange(T) + start, torch.arange(T)
    gap = (t[:, None] - s).double()
    bias = (-SLOPES[:, None, None] * gap).masked_fill(gap < 0, -math.inf)
    p = (D**-0.5 * q.double() @ k.double().mT + bias).softmax(-1).nan_to_num(0.0)
    out = alibi_attention(q, k, v, SLOPES, position_ids=t, key_position_ids=s)
    # logits that weigh are within 2^7 of one another, sums of 16 products and of 1500 values
    allowed = (2**-24 * 2 * (2**7 + D + 40) + 2**-24 * T) * v.abs().amax()
    assert ((out.double() - p @ v.double()).abs() <= allowed).all()


def groups_of(q, k, slopes):
    t = torch.arange(T)[None]
    return list(groups(Call(t, t, True, False, D**-0.5, None), Slide(slopes), q, k))


def test_heads_that_reach_alike_go_together():
    q, k, _ = drawn()
    found = groups_of(q, k, SLOPES[None])
    assert found[0].own.start == 0
    assert sum(group.own.stop - group.own.start for group in found) == 5
    assert found[0].reach < found[-1].reach == math.inf


def test_no_numbers_no_reach():
    q, k, _ = drawn()
    q[0, 1, 3, 3] = math.nan
    q[0, 2, 3, 3] = math.inf
    assert all(far == math.inf for far in reaches(q, k, SLOPES[None], 0.25, 0.0)[1:3])


def test_classes_are_never_short():
    found = [1.0, 90.0, 93.0, 200.0, 400.0, math.inf, 5.0]
    runs = classes(found, 1500.0, 1500)
    assert [i for run, _ in runs for i in range(run.start, run.stop)] == list(range(7))
    assert all(far >= found[i] for run, far in runs for i in range(run.start, run.stop))


@pytest.mark.parametrize("causal", [True, False])
def test_the_nearest_key_in_sight_is_that_of_the_worst_query(causal):
    t, s = torch.tensor([3, 10, 11, 30]), torch.tensor([5, 9, 20])
    gap = t[:, None] - s
    seen = gap.abs().double().masked_fill(gap < 0, math.inf) if causal else gap.abs().double()
    nearest = seen.amin(1)
    assert nearest_gap(t, s, causal) == nearest[nearest.isfinite()].max()
