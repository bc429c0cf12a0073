"""What a query sees, and what is kept of earlier tokens, in layers of every kind."""

import json
from pathlib import Path

import pytest
from exptx.proofs.inspection.document import document
from exptx.symbolic.configs.read import read_config

FOLDER = Path(__file__).resolve().parents[2] / "configs"


def groups(name):
    return document(read_config(json.loads((FOLDER / f"{name}.json").read_text())))["groups"]


def one(name, kind):
    return next(group for group in groups(name) if group["layer_type"] == kind)


def test_a_sliding_window_counts_the_query_itself():
    """transformers lets key s be seen by query t where s > t - window."""
    assert (
        "a query sees 1024 positions, the last one its own"
        in one("gemma-3-27b", "sliding_attention")["sentence"]
    )


def test_a_local_attention_of_128_is_64_to_either_side():
    group = one("modernbert-base", "sliding_attention")
    assert group["sentence"].endswith("a query sees 64 positions to either side")


def test_chunks_end_at_their_ends():
    assert "in its chunk of 8192 positions" in one("llama-4-scout", "chunked_attention")["sentence"]


@pytest.mark.parametrize("kind", ["full_attention", "sliding_attention"])
def test_encoders_keep_no_cache(kind):
    assert one("modernbert-base", kind)["cache"][0].startswith("there is none to keep")


def test_bert_as_a_decoder_has_a_cache():
    bert = {"model_type": "bert", "num_hidden_layers": 2, "max_position_embeddings": 512}
    for decodes, words in ((False, "none to keep"), (True, "cannot be shifted")):
        (group,) = document(read_config({**bert, "is_decoder": decodes}))["groups"]
        assert words in group["cache"][0]


def test_recurrent_layers_carry_a_state_and_attention_beside_them_keys():
    assert "a state of fixed size" in one("qwen3.5-35b-a3b", "linear_attention")["cache"][0]
    assert "rotated keys can be cached" in one("qwen3.5-35b-a3b", "full_attention")["cache"][0]
    lfm = {"model_type": "lfm2", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2}
    lfm |= {"rope_theta": 1e6, "max_position_embeddings": 128, "layer_types": ["conv", "full_attention"]}
    assert "the last few inputs" in document(read_config(lfm))["groups"][0]["cache"][0]


@pytest.mark.parametrize("name", ["qwen2.5-7b-yarn", "kimi-k2", "deepseek-v3"])
def test_the_plane_of_frequency_one_has_no_error_in_float32(name):
    """Plane 0 turns 1 radian a position, which float32 holds; nothing blends it."""
    (group,) = groups(name)
    assert group["frequencies"][0] == 1
    assert group["precision"]["float32"]["plane"] != 0
    assert group["precision"]["float32"]["radians"] < 4e-7 * group["precision"]["position"]


def test_latent_attention_turns_a_part_of_a_head():
    """qk_rope_head_dim 64 beside qk_nope_head_dim 128."""
    (group,) = groups("deepseek-v3")
    assert "64 of the 192 features of a head turn" in group["sentence"]
    assert not any(row["about"] == "exponents" for row in group["differences"])
