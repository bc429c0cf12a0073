"""Biases in slots and as masks: who forgets the bias, or forms it wrongly, is off by more than its budget."""

import pytest
import torch
from exptx.benchmarks import slots
from exptx.numeric import alibi_slopes
from torch.nn.functional import scaled_dot_product_attention


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_all_contestants_are_right_and_timed(dtype):
    found = slots.race(dtype, 1, tokens=300)
    assert [(row.name, row.status) for row in found.rows] == [
        ("slots", "timed"),
        ("mask built", "timed"),
        ("mask prebuilt", "timed"),
        ("no bias", "timed"),
    ]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", ["slots", "mask built"])
def test_a_bias_forgotten_doubled_or_not_causal_is_wrong(dtype, name):
    q, k, v = given = slots.inputs(300, dtype)
    mask = slots.mask(alibi_slopes(8), 300, dtype)
    wrong = [
        lambda: scaled_dot_product_attention(q, k, v, is_causal=True),
        lambda: scaled_dot_product_attention(q, k, v, attn_mask=2 * mask),
        lambda: scaled_dot_product_attention(q, k, v, attn_mask=mask.nan_to_num(neginf=0)),
    ]
    assert slots.used(lambda: scaled_dot_product_attention(q, k, v, attn_mask=mask), name, given) <= 1
    assert all(slots.used(run, name, given) > 1 for run in wrong)
