"""Laws of rotary kernels on implementations of this project and of torch, right and with one thing wrong."""

from __future__ import annotations

import pytest
import torch
from exptx.numeric import RotaryEmbedding, rotary_embedding, rotary_table
from exptx.proofs import Claims, Subject, check, rope
from exptx.symbolic import frequencies

DIM = 32
SAID = Claims(rope(10000.0, DIM, interleaved=False), DIM)
W = 10000.0 ** (-torch.arange(0, DIM, 2) / DIM)


def turned(x, angle):
    x0, x1 = x.chunk(2, -1)
    return torch.cat((x0 * angle.cos() - x1 * angle.sin(), x0 * angle.sin() + x1 * angle.cos()), -1)


def right(x, position_ids):
    return turned(x, position_ids[:, None, :, None] * W)


def codes(apply, claims=SAID, **more):
    return {finding.code: finding.cause for finding in check(apply, claims, **more).findings}


def test_the_kernel_of_this_project_passes_every_law_compiled_too():
    cos, sin = rotary_table(frequencies(10000, DIM), torch.arange(4096))

    def rotate(x, position_ids):
        return rotary_embedding(x, cos, sin, position_ids)

    found = check(rotate, SAID, level="full")
    assert found.ok, found.findings
    assert len(found.measured) >= 12
    assert all(law.residual <= law.budget for law in found.measured)


def test_queries_and_keys_of_a_module_pass_in_bfloat16():
    module = RotaryEmbedding(frequencies(10000, DIM))
    claims = Claims(rope(10000.0, DIM, interleaved=False), DIM, dtype="bfloat16")
    found = check(lambda q, k, ids: module(q, k, ids), claims)
    assert found.ok, found.findings


class Halved(torch.autograd.Function):
    """Right values, half of the gradient."""

    @staticmethod
    def forward(ctx, x, angle):
        ctx.save_for_backward(angle)
        return turned(x, angle)

    @staticmethod
    def backward(ctx, g):
        (angle,) = ctx.saved_tensors
        return 0.5 * turned(g, -angle), None


class Forward(Halved):
    """Right values; the gradient is turned the same way."""

    @staticmethod
    def backward(ctx, g):
        (angle,) = ctx.saved_tensors
        return turned(g, angle), None


@pytest.mark.parametrize(("function", "cause"), [(Halved, "unknown"), (Forward, "turned forward")])
def test_a_wrong_gradient_is_found(function, cause):
    found = codes(lambda x, ids: function.apply(x, ids[:, None, :, None] * W))
    assert cause in found["gradient"]
    unclaimed = Claims(SAID.encoding, DIM, gradient=False)
    assert not codes(lambda x, ids: function.apply(x, ids[:, None, :, None] * W), unclaimed)


@pytest.mark.parametrize(
    ("read", "cause"),
    [
        (lambda ids: ids % 4096, "modulo 4096"),
        (lambda ids: ids.clamp(max=4095), "read as 4095"),
        (lambda ids: torch.where(ids > 4095, 0, ids), "not turned"),
    ],
)
def test_positions_beyond_the_longest_are_right_or_refused(read, cause):
    assert cause in codes(lambda x, ids: right(x, read(ids)))["out-of-range"]


def test_a_cast_back_and_forth_is_asked_of_modules_only_where_it_is_claimed():
    class Kept(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("w", W.clone())

        def forward(self, x, position_ids):
            return turned(x.float(), position_ids[:, None, :, None] * self.w.float()).to(x.dtype)

    assert not codes(Kept())
    assert set(codes(Kept(), Claims(SAID.encoding, DIM, dtype="float16"))) == {"module-cast"}


def test_claims_widen_the_budget_of_arithmetic_and_no_more():
    def narrow(x, position_ids):
        angle = position_ids[:, None, :, None] * W
        c, s = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        x0, x1 = x.chunk(2, -1)
        return torch.cat((x0 * c - x1 * s, x0 * s + x1 * c), -1)

    given = {"encoding": SAID.encoding, "head_dim": DIM, "dtype": "bfloat16"}
    assert set(codes(narrow, Claims(**given))) == {"arithmetic"}
    assert not codes(narrow, Claims(**given, table="bfloat16", arithmetic="bfloat16"))


def test_a_claimed_length_of_cos_and_sin_is_judged_without_an_encoding():
    found = codes(lambda x, ids: 1.5 * right(x, ids), Claims(head_dim=DIM, amplitude=1.0))
    assert "claimed 1" in found["amplitude"]
    assert not codes(lambda x, ids: 1.5 * right(x, ids), Claims(head_dim=DIM, amplitude=1.5))


def test_instances_and_keys_of_a_config_are_compared():
    config = {"model_type": "llama", "hidden_size": 4 * DIM, "num_attention_heads": 4, "rope_theta": 10000.0}

    def make(given):
        w = given["rope_theta"] ** (-torch.arange(0, DIM, 2) / DIM)
        return lambda x, ids: turned(x, ids[:, None, :, None] * w)

    claims = Claims(SAID.encoding, DIM, config=config)
    assert check(Subject(make(config), "rotary", claims, make=make)).ok
    deaf = check(Subject(make(config), "rotary", claims, make=lambda given: make(config)))
    assert {finding.code for finding in deaf.findings} == {"instances", "config-key"}


@pytest.mark.parametrize(
    ("keys", "cause"),
    [
        (lambda x, angle: turned(x, -angle), "keys turn clockwise"),
        (lambda x, angle: x.clone(), "keys are not turned"),
        (lambda x, angle: turned(x, angle**2 / (1 + angle)), "the last plane of keys"),
    ],
)
def test_keys_that_turn_otherwise_than_queries_are_told_how(keys, cause):
    def both(q, k, position_ids):
        angle = position_ids[:, None, :, None] * W
        return turned(q, angle), keys(k, angle)

    assert cause in codes(both)["content"]


def test_what_is_no_turn_of_planes_is_said_once():
    def uneven(x, position_ids):
        angle = position_ids[:, None, :, None] * W
        x0, x1 = x.chunk(2, -1)
        return torch.cat((x0 * angle.cos() - x1 * angle.sin(), x0 * angle.sin() + x1 * (2 * angle).cos()), -1)

    assert set(codes(uneven)) <= {"planes", "angle-precision"}
