"""Rotary kernels and tables examined: right ones in both pairings, and ones broken in one way each."""

from __future__ import annotations

import math

import pytest
import torch
from exptx.proofs.doctor.claims import Claims, rope
from exptx.proofs.doctor.suite import check

DIM = 32
SAID = Claims(encoding=rope(10000, DIM), head_dim=DIM, pairing="half")
UNSAID = Claims(head_dim=DIM)


def kernel(
    *,
    base=10000,
    denominator=DIM,
    width=DIM,
    interleaved=False,
    sign=1,
    offset=0,
    angles=None,
    table=torch.float32,
):
    """A rotary kernel as people write it, with one number or format to change."""

    def rotate(x, position_ids):
        inv_freq = 1.0 / base ** (torch.arange(0, width, 2).float() / denominator)
        t = (position_ids[:, None, :, None] + offset).float()
        angle = (t.to(angles) * inv_freq.to(angles)).float() if angles else t * inv_freq
        c, s = angle.cos().to(table).float(), sign * angle.sin().to(table).float()
        head, tail = x[..., :width], x[..., width:]
        x0, x1 = (head[..., ::2], head[..., 1::2]) if interleaved else head.chunk(2, -1)
        y0, y1 = x0 * c - x1 * s, x0 * s + x1 * c
        y = torch.stack((y0, y1), -1).flatten(-2) if interleaved else torch.cat((y0, y1), -1)
        return torch.cat((y, tail), -1)

    return rotate


def codes(apply, claims=SAID):
    return {finding.code for finding in check(apply, claims).findings}


def test_a_right_kernel_is_described_and_nothing_is_found():
    found = check(kernel(), SAID)
    assert found.ok
    assert found.identity == (
        "turns 16 planes, half-split, counter-clockwise, base 10000, exponent 2i/32, angles formed in float32"
    )
    assert all(law.residual <= law.budget for law in found.measured)
    assert len(found.measured) == 12
    assert not found.unjudged


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("width", [DIM, DIM // 2])
@pytest.mark.parametrize("base", [10000, 500000])
def test_right_twins_raise_no_alarm_with_a_claim_and_without(base, width, interleaved):
    twin = kernel(base=base, denominator=width, width=width, interleaved=interleaved)
    assert not codes(twin, Claims(rope(base, DIM, width, interleaved), DIM))
    assert not codes(twin, UNSAID)
    assert f"base {base}, exponent 2i/{width}" in check(twin, UNSAID).identity


@pytest.mark.parametrize("base", [10000, 500000])
def test_frequencies_by_an_exponential_are_right_too(base):
    def rotate(x, position_ids):
        inv_freq = torch.exp(torch.arange(0, DIM, 2) * (-math.log(base) / DIM))
        angle = position_ids[:, None, :, None] * inv_freq
        x0, x1 = x.chunk(2, -1)
        return torch.cat((x0 * angle.cos() - x1 * angle.sin(), x0 * angle.sin() + x1 * angle.cos()), -1)

    assert not codes(rotate, Claims(rope(base, DIM), DIM, longest=131072))


def test_without_claims_it_is_said_what_could_not_be_judged():
    said = " ".join(check(kernel(sign=-1, interleaved=True), UNSAID).unjudged)
    assert "--pairing" in said
    assert "--config" in said


@pytest.mark.parametrize(
    ("broken", "code", "cause"),
    [
        ({"interleaved": True}, "pairing", "interleaved, claimed half"),
        ({"sign": -1}, "direction", "clockwise, claimed counter-clockwise"),
        ({"offset": 1}, "origin", "position + 1"),
        ({"denominator": 2 * DIM}, "value", "exponent 2i/64"),
        ({"base": 500000}, "value", "base 500000"),
        ({"angles": torch.bfloat16}, "angle-precision", "bfloat16"),
        ({"angles": torch.float16}, "angle-precision", "float16"),
        ({"table": torch.bfloat16}, "angle-precision", "cos and sin rounded to bfloat16"),
    ],
)
def test_a_broken_kernel_is_found_with_its_cause(broken, code, cause):
    (first, *_) = [finding for finding in check(kernel(**broken), SAID).findings if finding.code == code]
    assert cause in first.cause
    assert codes(kernel(**broken)) <= {code, "relative", "norm"}


@pytest.mark.parametrize("angles", [torch.bfloat16, torch.float16])
def test_half_precision_angles_are_found_without_any_claim(angles):
    assert "angle-precision" in codes(kernel(angles=angles), UNSAID)


def test_a_reversed_direction_is_a_convention_without_a_claim():
    found = check(kernel(sign=-1), UNSAID)
    assert found.ok
    assert "clockwise" in found.identity


def test_a_missing_turn_of_a_feature_is_no_turn_of_planes():
    def overwritten(x, position_ids):
        y = x.clone()
        c, s = kernel_table(position_ids)
        y[..., : DIM // 2] = x[..., : DIM // 2] * c - x[..., DIM // 2 :] * s
        y[..., DIM // 2 :] = y[..., : DIM // 2] * s + x[..., DIM // 2 :] * c
        return y

    assert "planes" in codes(overwritten)


def kernel_table(position_ids):
    inv_freq = 1.0 / 10000 ** (torch.arange(0, DIM, 2).float() / DIM)
    angle = position_ids[:, None, :, None].float() * inv_freq
    return angle.cos(), angle.sin()


def in_place(x, position_ids):
    return x.copy_(kernel()(x, position_ids))


def by_length(x, position_ids):
    short = x.shape[2] == 1
    return kernel()(x, torch.zeros_like(position_ids) if short else position_ids)


def by_head(x, position_ids):
    rotate = kernel()
    return torch.stack([rotate(x[:, [h]], position_ids + h)[:, 0] for h in range(x.shape[1])], 1)


def first_row(x, position_ids):
    return kernel()(x, position_ids[:1])


def contiguous_only(x, position_ids):
    return kernel()(torch.as_strided(x, x.shape, torch.empty(x.shape).stride()), position_ids)


def noisy_tail(x, position_ids):
    y = kernel(width=16, denominator=16)(x, position_ids)
    y[..., 16:] *= 1 + 2**-20
    return y


def raising(x, position_ids):
    raise RuntimeError("no kernel for this")


class Growing:
    """A base that grows with the longest text so far, and stays there."""

    def __init__(self):
        self.longest = 0

    def __call__(self, x, position_ids):
        self.longest = max(self.longest, x.shape[2])
        return kernel(base=10000 * max(1, self.longest / 40))(x, position_ids)


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        (in_place, "purity"),
        (by_length, "single-token"),
        (by_head, "content"),
        (first_row, "batch"),
        (contiguous_only, "strides"),
        (raising, "call"),
        (Growing(), "purity"),
    ],
)
def test_a_law_between_two_calls_is_broken(broken, code):
    assert code in codes(broken)


def test_a_tail_that_is_computed_is_found():
    assert "tail" in codes(noisy_tail, Claims(rope(10000, DIM, 16), DIM, "half"))


def test_queries_and_keys_are_turned_alike():
    right, other = kernel(), kernel(interleaved=True)
    assert not codes(lambda q, k, ids: (right(q, ids), right(k, ids)))
    assert "content" in codes(lambda q, k, ids: (right(q, ids), other(k, ids)))


def test_tables_are_recognised_at_half_and_full_width():
    def half(position_ids):
        c, s = kernel_table(position_ids)
        return c[:, 0], s[:, 0]

    def full(position_ids):
        return tuple(torch.cat((part, part), -1) for part in half(position_ids))

    def coarse(position_ids):
        return tuple(part.bfloat16() for part in half(position_ids))

    def fine(position_ids):
        angle = position_ids[..., None].double() / 10000 ** (torch.arange(0, DIM, 2).double() / DIM)
        return angle.cos(), angle.sin()

    assert check(half, SAID).ok
    assert check(fine, SAID).ok
    assert check(fine, SAID).identity.endswith("angles formed in float64")
    assert check(full, SAID).ok
    assert "halves alike" in check(full, SAID).identity
    assert codes(coarse) == {"angle-precision"}


def test_a_finding_carries_all_that_is_needed_to_act_on_it():
    (finding,) = check(kernel(base=500000), SAID).findings
    assert finding.residual > finding.budget > 0
    assert finding.law.consequence
    assert finding.law.fix
    assert len(finding.reproduction.splitlines()) == 3
    assert "position 1, plane 1" in finding.where


def test_a_table_of_fixed_length_is_right_up_to_there_and_says_where_it_was_asked_for_more():
    cos, sin = (part[0, 0] for part in kernel_table(torch.arange(512)[None]))

    def rotate(x, position_ids):
        c, s = cos[position_ids][:, None], sin[position_ids][:, None]
        x0, x1 = x.chunk(2, -1)
        return torch.cat((x0 * c - x1 * s, x0 * s + x1 * c), -1)

    (beyond,) = check(rotate, SAID).findings
    assert beyond.code == "call"
    assert "positions below 4096" in beyond.where
    assert check(rotate, Claims(rope(10000, DIM), DIM, "half", longest=512)).ok


def test_the_other_layout_is_right_where_it_is_claimed():
    def rotate(x, position_ids):
        return kernel()(x.transpose(1, 2), position_ids).transpose(1, 2)

    assert check(rotate, Claims(rope(10000, DIM), DIM, "half", layout="bthd")).ok
    assert not check(rotate, SAID).ok
