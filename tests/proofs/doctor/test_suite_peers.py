"""No false alarm on what is installed from PyPI, at its defaults and in float32."""

from __future__ import annotations

import pytest
import torch
from exptx.benchmarks.peers import imported
from exptx.proofs.doctor.claims import Claims, rope
from exptx.proofs.doctor.suite import check
from exptx.symbolic.configs.read import read_config
from transformers import LlamaConfig
from transformers.models.llama import modeling_llama

rotary_embedding_torch = imported("rotary_embedding_torch")
x_transformers = imported("x_transformers.x_transformers")
DIM = 64
HALF = Claims(rope(10000, DIM, interleaved=False), DIM)
INTERLEAVED = Claims(rope(10000, DIM, interleaved=True), DIM)


def test_the_llama_of_transformers_is_right():
    config = LlamaConfig(hidden_size=4 * DIM, num_attention_heads=4)
    tables = modeling_llama.LlamaRotaryEmbedding(config)

    def rotate(q, k, position_ids):
        return modeling_llama.apply_rotary_pos_emb(q, k, *tables(q, position_ids))

    found = check(rotate, HALF)
    assert found.ok, found.findings
    assert found.identity.startswith("turns 32 planes, half-split, counter-clockwise, base 10000,")
    assert check(lambda position_ids: tables(torch.zeros(1), position_ids), HALF).ok


def test_rotary_embedding_torch_is_right():
    own = rotary_embedding_torch.RotaryEmbedding(DIM, cache_if_possible=False)

    def rotate(x, position_ids):
        freqs = own(position_ids.flatten()).view(*position_ids.shape, DIM)[:, None]
        return rotary_embedding_torch.apply_rotary_emb(freqs, x)

    found = check(rotate, INTERLEAVED)
    assert found.ok, found.findings
    assert found.identity.startswith("turns 32 planes, interleaved, counter-clockwise, base 10000,")


def test_x_transformers_is_right():
    own = x_transformers.RotaryEmbedding(DIM)

    def rotate(x, position_ids):
        freqs, scale = own(position_ids)
        return x_transformers.apply_rotary_pos_emb(x, freqs, scale)

    found = check(rotate, INTERLEAVED)
    assert found.ok, found.findings
    assert found.identity.startswith("turns 32 planes, interleaved, counter-clockwise, base 10000,")


RULES = [
    {
        "rope_type": "llama3",
        "rope_theta": 500000.0,
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    },
    {
        "rope_type": "yarn",
        "rope_theta": 10000.0,
        "factor": 16.0,
        "original_max_position_embeddings": 4096,
    },
    {"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0},
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["rope_type"])
def test_scaled_rules_of_transformers_are_right_where_they_are_claimed(rule):
    sizes = {"hidden_size": 4 * DIM, "num_attention_heads": 4, "max_position_embeddings": 65536}
    tables = modeling_llama.LlamaRotaryEmbedding(LlamaConfig(**sizes, rope_parameters=dict(rule)))
    encoding = read_config({"model_type": "llama", **sizes, "rope_parameters": rule}).group().encoding

    def rotate(q, k, position_ids):
        return modeling_llama.apply_rotary_pos_emb(q, k, *tables(q, position_ids))

    found = check(rotate, Claims(encoding, DIM, longest=32768))
    assert found.ok, found.findings
    assert f"{rule['rope_type']} scaling factor {rule['factor']:g}" in found.identity
    plain = check(rotate, HALF)
    assert "value" in {finding.code for finding in plain.findings}
