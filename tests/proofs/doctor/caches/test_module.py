"""Whole models of transformers, tiny and random: no false alarm in float32, and what goes wrong otherwise."""

from __future__ import annotations

import pytest
import torch
import transformers
from exptx.proofs import Claims, Subject, check, rope

SIZES = {
    "vocab_size": 16, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
    "num_attention_heads": 4,
}  # fmt: skip
OLD = {"vocab_size": 16, "n_layer": 2, "n_head": 4}


def llama(**more):
    return transformers.LlamaForCausalLM, transformers.LlamaConfig(**SIZES, num_key_value_heads=2, **more)


def ruled(length=64, **rule):
    return llama(max_position_embeddings=length, rope_parameters={"rope_theta": 10000.0, **rule})


MODELS = {
    "llama": llama(),
    "linear": ruled(rope_type="linear", factor=4.0),
    "yarn": ruled(rope_type="yarn", factor=4.0, original_max_position_embeddings=16),
    "llama3": ruled(
        rope_type="llama3", factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0,
        original_max_position_embeddings=16,
    ),
    "gptj": (
        transformers.GPTJForCausalLM,
        transformers.GPTJConfig(**OLD, n_embd=32, rotary_dim=4, n_positions=64),
    ),
    "bloom": (transformers.BloomForCausalLM, transformers.BloomConfig(**OLD, hidden_size=32)),
    "falcon": (transformers.FalconForCausalLM, transformers.FalconConfig(**SIZES)),
    "falcon with alibi": (transformers.FalconForCausalLM, transformers.FalconConfig(**SIZES, alibi=True)),
    "mpt": (
        transformers.MptForCausalLM,
        transformers.MptConfig(vocab_size=16, d_model=32, n_layers=2, n_heads=4),
    ),
    "neox": (transformers.GPTNeoXForCausalLM, transformers.GPTNeoXConfig(**SIZES)),
    "qwen2": (transformers.Qwen2ForCausalLM, transformers.Qwen2Config(**SIZES, num_key_value_heads=2)),
    "gpt2": (transformers.GPT2LMHeadModel, transformers.GPT2Config(**OLD, n_embd=32, n_positions=64)),
}  # fmt: skip


def made(name_or_pair, **claims):
    kind, config = MODELS[name_or_pair] if isinstance(name_or_pair, str) else name_or_pair

    def make():
        torch.manual_seed(0)
        return kind(config)

    return Subject(make, "module", Claims(**claims))


@pytest.mark.parametrize("name", MODELS)
def test_a_model_at_its_defaults_raises_no_alarm(name):
    found = check(made(name))
    assert found.ok, found.findings
    assert len(found.measured) >= 6


def test_dynamic_ntk_with_a_cache_is_found_with_its_cause():
    found = check(made(ruled(8, rope_type="dynamic", factor=4.0)))
    causes = {finding.code: finding.cause for finding in found.findings}
    assert "shorter text" in causes["decode"]


def test_a_cast_to_bfloat16_rounds_the_frequencies_for_good():
    (finding,) = check(made("llama", dtype="bfloat16")).findings
    assert finding.code == "module-cast"
    assert "inv_freq is rounded to bfloat16" in finding.cause


def test_learned_positions_are_not_relative_and_only_a_claim_asks_for_it():
    claimed = check(made("gpt2", encoding=rope(10000.0, 8), head_dim=8))
    assert "relative" in {finding.code for finding in claimed.findings}
