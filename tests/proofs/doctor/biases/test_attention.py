"""Attention examined: right ones, and broken ones with the reason."""

from __future__ import annotations

import math

import pytest
import torch
from exptx.proofs.doctor.claims import Claims, rope
from exptx.proofs.doctor.suite import check
from exptx.symbolic.catalogue.alibi import slopes
from exptx.symbolic.configs.description import Alibi
from torch.nn.functional import scaled_dot_product_attention

DIM = 32


def alibi(**more):
    return Claims(Alibi(slopes(8), more.pop("scaled", False)), DIM, heads=8, **more)


def attention(*, factor=-1.0, scale=DIM**-0.5, causal=True, tiled=False, turn=None, short=None, maximum=True):
    """Softmax attention with one thing to change."""

    def attend(q, k, v):
        count, t = q.shape[1] // k.shape[1], torch.arange(q.shape[2])
        k, v = (x.repeat(1, count, 1, 1) if tiled else x.repeat_interleave(count, 1) for x in (k, v))
        if turn:
            q, k = turned(q), turned(k) if turn == "both" else k
        if short:
            q, k = q.to(short).float(), k.to(short).float()
        m = 2.0 ** -torch.arange(1, 1 + q.shape[1])[:, None, None]
        gap = t[:, None] - t
        logits = scale * (q @ k.mT) + factor * m * (gap if causal else gap.abs())
        logits = torch.where(gap < 0, -math.inf, logits) if causal else logits
        if maximum:
            return logits.softmax(-1) @ v
        weights = logits.exp()
        return weights / weights.sum(-1, keepdim=True) @ v

    return attend


def turned(x):
    angle = torch.arange(x.shape[2])[:, None] * (1.0 / 10000 ** (torch.arange(0, DIM, 2).float() / DIM))
    x0, x1 = x.chunk(2, -1)
    return torch.cat((x0 * angle.cos() - x1 * angle.sin(), x0 * angle.sin() + x1 * angle.cos()), -1)


def codes(apply, claims):
    found = check(apply, claims, kind="attention")
    assert all(law.residual <= law.budget for law in found.measured)
    return {finding.code: finding.cause for finding in found.findings}


@pytest.mark.parametrize("claims", [alibi(), alibi(kv_heads=2), Claims(head_dim=DIM, heads=8)])
def test_right_attention_with_a_bias_raises_no_alarm(claims):
    assert not codes(attention(), claims)


def test_right_attention_both_ways_and_turned_raises_no_alarm():
    assert not codes(attention(causal=False), alibi(causal=False))
    rotary = Claims(rope(10000, DIM, interleaved=False), DIM, heads=2)
    assert not codes(attention(factor=0.0, turn="both"), rotary)
    assert codes(attention(factor=0.0, turn="queries"), rotary) == {
        "attention-weights": "keys are not turned"
    }


def test_the_fused_kernel_is_right():
    def fused(q, k, v):
        return scaled_dot_product_attention(turned(q), turned(k), v, is_causal=True)

    found = check(fused, Claims(rope(10000, DIM, interleaved=False), DIM, heads=2), kind="attention")
    assert found.ok, found.findings
    assert found.identity == "attends with 2 heads, causal"


@pytest.mark.parametrize(
    ("apply", "claims", "code", "cause"),
    [
        (attention(factor=1.0), alibi(), "attention-weights", "the minus is missing"),
        (attention(factor=0.0), alibi(), "attention-weights", "no bias at all"),
        (attention(factor=-(DIM**-0.5)), alibi(), "attention-weights", "divided by √d together"),
        (attention(), alibi(scaled=True), "attention-weights", "added after the scale"),
        (attention(scale=1.0), alibi(), "attention-weights", "1/√d is missing"),
        (attention(short=torch.bfloat16), alibi(), "attention-weights", "unknown"),
        (attention(causal=False), alibi(), "attention-causal", "look-ahead"),
        (attention(), alibi(causal=False), "attention-causal", "later keys are hidden"),
        (attention(tiled=True), alibi(kv_heads=2), "attention-heads", "tiled instead of repeated"),
        (attention(maximum=False), alibi(), "attention-large", "is not subtracted"),
    ],
)
def test_broken_attention_is_found_with_its_cause(apply, claims, code, cause):
    assert cause in codes(apply, claims)[code]


def test_rows_that_meet_are_found():
    def mixing(q, k, v):
        return attention()(q, k + k.mean(0, keepdim=True) - k / len(k), v)

    assert "attention-batch" in codes(mixing, alibi())


class Halved(torch.autograd.Function):
    """Right forward, half of the gradient."""

    @staticmethod
    def forward(ctx, v):
        return v.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient / 2


def test_a_wrong_gradient_of_values_is_found():
    def halved(q, k, v):
        return attention()(q, k, Halved.apply(v))

    assert set(codes(halved, alibi(kv_heads=2))) == {"attention-gradient"}


def test_a_missing_gradient_is_a_finding_unless_it_is_claimed():
    def inference(q, k, v):
        return attention()(q, k, v).detach()

    assert "gradient=False" in codes(inference, alibi())["attention-gradient"]
    assert not codes(inference, alibi(gradient=False))
