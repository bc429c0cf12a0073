"""Scores examined: ALiBi and turned ones in every right form, and broken ones with the reason."""

from __future__ import annotations

import math

import pytest
import torch
from exptx.proofs.doctor.claims import Claims, rope
from exptx.proofs.doctor.suite import check
from exptx.symbolic import encoding
from exptx.symbolic.catalogue.alibi import slopes
from exptx.symbolic.configs.description import Alibi

DIM = 32


def alibi(heads=8, **more):
    return Claims(Alibi(slopes(heads), more.pop("scaled", False)), DIM, heads=heads, **more)


def turning(**more):
    return Claims(rope(10000, DIM, interleaved=False), DIM, heads=2, **more)


def biased(value, scale=DIM**-0.5, mask=False):
    """Logits with slopes 2^-1 … 2^-8 and a bias value(m, t, s)."""

    def logits(q, k, t, s):
        m = 2.0 ** -torch.arange(1, 1 + q.shape[1])[:, None, None]
        t, s = t[:, None, :, None], s[:, None, None, :]
        found = scale * (q @ k.repeat_interleave(q.shape[1] // k.shape[1], 1).mT) + value(m, t, s)
        return torch.where(s > t, -math.inf, found) if mask else found

    return logits


def turned(*, queries=True, keys=True, interleaved=False, sign=1, scale=DIM**-0.5, base=10000):
    """Logits of turned q and k."""
    waves = 1.0 / base ** (torch.arange(0, DIM, 2).float() / DIM)

    def turn(x, ids):
        angle = ids[:, None, :, None] * waves * sign
        x0, x1 = (x[..., ::2], x[..., 1::2]) if interleaved else x.chunk(2, -1)
        return torch.cat((x0 * angle.cos() - x1 * angle.sin(), x0 * angle.sin() + x1 * angle.cos()), -1)

    def logits(q, k, t, s):
        q, k = turn(q, t) if queries else q, turn(k, s) if keys else k
        return scale * (q @ k.mT)

    return logits


def codes(apply, claims):
    found = check(apply, claims, kind="scores")
    assert all(law.residual <= law.budget for law in found.measured)
    return {finding.code: finding.cause for finding in found.findings}


@pytest.mark.parametrize("mask", [False, True])
@pytest.mark.parametrize("value", [lambda m, t, s: -m * (t - s), lambda m, t, s: m * s + 0 * t])
@pytest.mark.parametrize("claims", [alibi(), alibi(kv_heads=2), Claims(head_dim=DIM, heads=8)])
def test_right_biases_raise_no_alarm(value, mask, claims):
    assert not codes(biased(value, mask=mask), claims)


def test_the_sentence_says_scale_slopes_and_mask():
    found = check(biased(lambda m, t, s: -m * (t - s), mask=True), alibi(), kind="scores")
    assert found.identity == (
        "scales q·k by 0.176777 (√d scale is 1), adds -m(t-s) with the slopes of the authors' code for 8 "
        "heads, causal"
    )


@pytest.mark.parametrize("claims", [turning(), turning(pairing="half"), Claims(head_dim=DIM, heads=2)])
def test_right_turns_raise_no_alarm(claims):
    assert not codes(turned(), claims)


@pytest.mark.parametrize(
    ("apply", "claims", "code", "cause"),
    [
        (biased(lambda m, t, s: m * (t - s)), alibi(), "score-bias", "the minus is missing"),
        (biased(lambda m, t, s: 0 * m * (t - s)), alibi(), "score-bias", "no bias at all"),
        (biased(lambda m, t, s: -m * (t - s) / DIM**0.5), alibi(), "score-bias", "divided by √d together"),
        (biased(lambda m, t, s: -m * (t - s)), alibi(scaled=True), "score-bias", "added after the scale"),
        (biased(lambda m, t, s: -m * (t - s), 1.0), alibi(), "score-scale", "1/√d is missing"),
        (biased(lambda m, t, s: -m * (t - s), 1 / DIM), alibi(), "score-scale", "applied twice"),
        (turned(keys=False), turning(), "score-turn", "keys are not turned"),
        (turned(queries=False), turning(), "score-turn", "queries are not turned"),
        (turned(queries=False, keys=False), turning(), "score-turn", "nothing turns"),
        (turned(interleaved=True), turning(), "score-turn", "planes are interleaved"),
        (turned(sign=-1), turning(), "score-turn", "the other way"),
        (turned(base=500000), turning(), "score-turn", "unknown"),
        (turned(keys=False), Claims(head_dim=DIM, heads=2), "score-relative", "unknown"),
    ],
)
def test_broken_scores_are_found_with_their_cause(apply, claims, code, cause):
    found = codes(apply, claims)
    assert cause in found[code]


def test_tiled_key_heads_are_found():
    def tiled(q, k, t, s):
        return biased(lambda m, t, s: -m * (t - s))(q, k.repeat(1, 4, 1, 1), t, s)

    assert "tiled instead of repeated" in codes(tiled, alibi(kv_heads=2))["score-heads"]


def test_products_of_fewer_bits_are_found():
    def short(q, k, t, s):
        return biased(lambda m, t, s: -m * (t - s))(q.bfloat16(), k.bfloat16(), t, s).float()

    assert "score-linear" in codes(short, alibi())


def fading(rate, scale=DIM**-0.5):
    """scale e^{-rate (t - s)} q·k, with planes (2i, 2i + 1) that turn, as in RetNet."""

    def logits(q, k, t, s):
        waves = 1.0 / 10000 ** (torch.arange(0, DIM, 2).float() / DIM)
        turned = []
        for x, ids in ((q, t), (k, s)):
            angle = ids[:, None, :, None] * waves
            x0, x1 = x[..., ::2], x[..., 1::2]
            y = (x0 * angle.cos() - x1 * angle.sin(), x0 * angle.sin() + x1 * angle.cos())
            turned.append(torch.stack(y, -1).flatten(-2))
        gap = (t[:, None, :, None] - s[:, None, None, :]).clamp(min=0)
        return scale * torch.exp(-rate * gap) * (turned[0] @ turned[1].mT)

    return logits


def test_a_claimed_encoding_is_held_to_its_exact_score():
    plain = encoding("rope", head_dim=DIM, interleaved=True)
    claims = Claims(plain, DIM, heads=2)
    assert not codes(fading(0.0), claims)
    assert "score-exact" in codes(fading(1e-3), claims)
    assert "score-exact" in codes(turned(), claims)
    assert "score-exact" in codes(fading(0.0, 1.0), claims)
    heads = Claims(encoding("alibi", num_heads=8, head_dim=DIM), DIM, heads=8)
    assert not codes(biased(lambda m, t, s: -m * (t - s)), heads)
    assert "score-exact" in codes(biased(lambda m, t, s: m * (t - s)), heads)
