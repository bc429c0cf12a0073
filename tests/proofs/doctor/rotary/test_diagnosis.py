"""What the sentence says beyond planes and base: partners half a head away, bases that follow lengths."""

from __future__ import annotations

import torch
from exptx.proofs import Claims, check
from exptx.symbolic import encoding

DIM = 32


def turned(x, angle, partner):
    n = angle.shape[-1]
    y = x.clone()
    x0, x1 = x[..., :n], x[..., partner : partner + n]
    y[..., :n] = x0 * angle.cos() - x1 * angle.sin()
    y[..., partner : partner + n] = x0 * angle.sin() + x1 * angle.cos()
    return y


def plane_waves(base, width, count):
    return base ** (-2 * torch.arange(count) / width)


def test_the_rule_proportional_is_told_from_a_part_that_turns():
    def proportional(x, ids):
        return turned(x, ids[:, None, :, None] * plane_waves(10000.0, DIM, 8), DIM // 2)

    def part(x, ids):
        return turned(x, ids[:, None, :, None] * plane_waves(10000.0, 16, 8), 8)

    for apply, said, width in ((proportional, True, 32), (part, False, 16)):
        found = check(apply, Claims(head_dim=DIM))
        assert found.ok, found.findings
        assert ("as the rule proportional" in found.identity) == said
        assert f"exponent 2i/{width}" in found.identity


def test_a_base_that_follows_the_length_is_said():
    def dynamic(x, ids):
        length = int(ids.max()) + 1
        stretch = max(2.0 * length / 64 - 1.0, 1.0)
        base = 10000.0 * stretch ** (DIM / (DIM - 2))
        return turned(x, ids[:, None, :, None] * plane_waves(base, DIM, DIM // 2), DIM // 2)

    said = check(dynamic, Claims(head_dim=DIM, longest=256)).identity
    assert "follow the length of the text: base 10000," in said


def test_a_fixed_base_says_nothing_of_lengths():
    def fixed(x, ids):
        return turned(x, ids[:, None, :, None] * plane_waves(10000.0, DIM, DIM // 2), DIM // 2)

    assert "length" not in check(fixed, Claims(head_dim=DIM)).identity


def test_an_encoding_that_a_kernel_cannot_be_judged_by_is_said():
    def fixed(x, ids):
        return turned(x, ids[:, None, :, None] * plane_waves(10000.0, DIM, DIM // 2), DIM // 2)

    found = check(fixed, Claims(encoding("xpos", head_dim=DIM), DIM))
    assert found.ok
    assert any(said.startswith("the claimed encoding") for said in found.unjudged)
