"""Configs of other makes: inert keys, lengths of code, layers that recur, what is no model."""

import pytest
from exptx.symbolic import BadInput, WrongType
from exptx.symbolic.configs.description import Alibi, Unrotated
from exptx.symbolic.configs.read import read_config

PLAIN = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_hidden_layers": 8,
    "max_position_embeddings": 4096,
    "rope_theta": 10000.0,
}
GLM = {
    "model_type": "chatglm",
    "kv_channels": 128,
    "num_attention_heads": 32,
    "num_layers": 40,
    "seq_length": 131072,
    "original_rope": True,
    "rope_ratio": 500,
}


def test_published_bloom_configs_have_a_key_that_nothing_reads():
    """2^(-8/32) is the first slope of 32 heads."""
    given = {"model_type": "bloom", "n_head": 32, "n_layer": 30, "seq_length": 2048, "offset_alibi": 100}
    found = read_config(given)
    (group,) = found.groups
    assert isinstance(group.encoding, Alibi)
    assert float(group.encoding.slopes[0]) == pytest.approx(2**-0.25)
    assert ("offset_alibi", "nothing reads it") in found.notes


def test_chatglm_multiplies_its_base():
    """64 of 128 features, base 10000·500: plane 1 turns 5000000^(-2/64) a position."""
    encoding = read_config(GLM).groups[0].encoding
    assert (encoding.rotary_dim, encoding.interleaved) == (64, True)
    assert float(list(encoding.frequencies())[1]) == pytest.approx(5e6 ** (-1 / 32), rel=1e-14)
    with pytest.raises(WrongType, match="rope_ratio is 'x'"):
        read_config({**GLM, "rope_ratio": "x"})
    with pytest.raises(BadInput, match="beside rope_ratio 500; give one"):
        read_config({**GLM, "rope_theta": 10000})
    with pytest.raises(BadInput, match="rope_ratio, unknown here"):
        read_config({**PLAIN, "rope_ratio": 2})


@pytest.mark.parametrize(
    ("kind", "length"), [("falcon", 2048), ("gemma3_text", 131072)]
)  # the defaults of transformers
def test_a_length_that_only_the_code_has_is_taken_and_said(kind, length):
    given = {"model_type": kind, "hidden_size": 4544, "num_attention_heads": 71, "num_hidden_layers": 8}
    found = read_config(given)
    assert found.max_position_embeddings == length
    assert {group.encoding.max_position_embeddings for group in found.groups} == {length}
    assert (
        "max_position_embeddings",
        f"it is absent; model_type '{kind}' then takes {length}",
    ) in found.notes
    assert read_config({**given, "max_position_embeddings": 77}).max_position_embeddings == 77


def test_layers_that_recur_are_told_from_layers_that_attend():
    """Jamba: layer i attends where i % 8 is 4."""
    jamba = {"model_type": "jamba", "num_hidden_layers": 32, "attn_layer_period": 8, "attn_layer_offset": 4}
    mamba, full = read_config(jamba).groups
    assert (full.kind, full.indices) == ("full_attention", (4, 12, 20, 28))
    assert (mamba.kind, len(mamba.indices)) == ("mamba", 28)
    assert "recurrence" in mamba.encoding.why
    assert "its attention layers" in full.encoding.why
    (only,) = read_config({"model_type": "mamba", "num_hidden_layers": 4}).groups
    assert isinstance(only.encoding, Unrotated)
    assert only.encoding.why.startswith("there is no attention")


def test_queries_of_llama_4_grow_where_nothing_turns():
    given = {"model_type": "llama4_text", "head_dim": 128, "num_hidden_layers": 4, "attention_chunk_size": 64}
    given |= {"attn_scale": 0.2, "floor_scale": 512}
    turning, still = read_config(given).groups
    assert "1 + 0.2·ln(1 + ⌊(t + 1)/512⌋)" in still.encoding.why
    assert (turning.chunked, still.chunked) == (True, False)
    _, fixed = read_config({**given, "attn_temperature_tuning": False}).groups
    assert "ln" not in fixed.encoding.why


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"version": "1.0", "model": {}}, "only version, model; it is no model's config"),
        ({}, "nothing at all; it is no model's config"),
        ({"model_type": "t5", "d_model": 512}, "'t5' has a learned bias for buckets of gaps"),
        ({"model_type": "whisper", "d_model": 512}, "'whisper' has sinusoids"),
        ({**PLAIN, "position_embedding_type": "relative_key"}, "position_embedding_type is 'relative_key'"),
        ({**PLAIN, "position_embedding_type": "alibi"}, "position_embedding_type is 'alibi'"),
        ({**PLAIN, "alibi": True}, "alibi is true, but model_type 'llama' has no ALiBi"),
        ({**PLAIN, "text_config": {"rope_theta": 500000.0}}, "10000.0, and 500000.0 in text_config"),
    ],
)
def test_what_is_no_config_or_says_two_things_is_refused_by_name(given, words):
    with pytest.raises(BadInput, match=words):
        read_config(given)


@pytest.mark.parametrize("wrong", ["8", True, [8]])
def test_a_number_in_quotes_is_no_number(wrong):
    with pytest.raises(WrongType, match=r"factor is .*; a number works, e\.g\. 2"):
        read_config({**PLAIN, "rope_scaling": {"type": "linear", "factor": wrong}})


def test_the_same_base_in_both_places_is_no_contradiction():
    assert read_config({**PLAIN, "text_config": {"rope_theta": 10000.0}}).part is None


@pytest.mark.parametrize("rule", [{"factor": 2.0}, {"short_factor": [1.0] * 64, "long_factor": [2.0] * 64}])
def test_numbers_of_a_rule_need_its_name(rule):
    with pytest.raises(BadInput, match=f"{next(iter(rule))} is given without a rope_type"):
        read_config({**PLAIN, "rope_scaling": rule})
