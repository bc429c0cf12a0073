"""`from_config(..., angles="hf")` is a model of transformers to the last bit, for each rule and amplitude."""

import pytest
import torch
from exptx.numeric import BadChoice, RotaryEmbedding
from exptx.proofs.inspection.differences import differences
from exptx.proofs.inspection.single import U, relative_errors
from exptx.symbolic.configs.read import read_config
from transformers import Gemma3TextConfig, LlamaConfig, Phi3Config
from transformers.models.gemma3.modeling_gemma3 import Gemma3RotaryEmbedding
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

SIZES = {"hidden_size": 64, "num_attention_heads": 2, "num_hidden_layers": 1, "max_position_embeddings": 4096}
RULES = [
    {"rope_type": "default", "rope_theta": 500000.0},
    {"rope_type": "linear", "rope_theta": 10000.0, "factor": 3.0},
    {"rope_type": "yarn", "rope_theta": 1e6, "factor": 4.0, "original_max_position_embeddings": 1024},
    {
        "rope_type": "yarn",
        "rope_theta": 1e4,
        "factor": 40.0,
        "original_max_position_embeddings": 1024,
        "mscale": 0.707,
        "mscale_all_dim": 1.0,
    },
    {
        "rope_type": "llama3",
        "rope_theta": 500000.0,
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 1024,
    },
    {
        "rope_type": "longrope",
        "rope_theta": 1e4,
        "short_factor": [1.0 + k / 16 for k in range(16)],
        "long_factor": [1.0 + k * k / 7 for k in range(16)],
        "original_max_position_embeddings": 1024,
    },
    {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0},
    {"rope_type": "proportional", "rope_theta": 1e6, "partial_rotary_factor": 0.25},
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["rope_type"])
@pytest.mark.parametrize("length", [700, 4000, 9000])
def test_tables_are_those_of_the_model_at_every_length(rule, length):
    """The model's own forward pass, which forms frequencies anew where they depend on the length."""
    config = LlamaConfig(**SIZES, rope_parameters=dict(rule))
    ids = torch.tensor([[0, 1, length // 2, length - 1]])
    known = LlamaRotaryEmbedding(config)(torch.zeros(1), ids)
    got = RotaryEmbedding.from_config(config, seq_len=length, angles="hf").tables(ids)
    for ours, theirs in zip(got, known, strict=True):
        assert torch.equal(ours, theirs[..., : ours.shape[-1]])


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["rope_type"])
def test_exact_tables_differ_by_what_the_float32_recipe_may_lose(rule):
    """The angle by its frequency's error and one rounding, u; cos, amplitude and storing by 2u, u and u."""
    config, ids = LlamaConfig(**SIZES, rope_parameters=dict(rule)), torch.tensor([3000])
    exact, hf = (RotaryEmbedding.from_config(config, seq_len=4000, angles=a) for a in ("exact", "hf"))
    errors = relative_errors(read_config(config.to_dict()).group().encoding, 4000)
    angles = exact._inv_freq * ids
    bound = exact.attention_scaling * ((torch.tensor(errors) + U) * (1 + U) * angles + 5 * U)
    assert ((exact.tables(ids)[0] - hf.tables(ids)[0]).abs() <= bound).all()


def test_heads_that_turn_in_part_and_pairing_come_from_the_family():
    config = Phi3Config(**SIZES, partial_rotary_factor=0.75, pad_token_id=0)
    assert RotaryEmbedding.from_config(config).rotary_dim == 24
    assert not RotaryEmbedding.from_config(config).interleaved
    gptj = {"model_type": "gptj", "n_embd": 4096, "n_head": 16, "rotary_dim": 64}
    assert RotaryEmbedding.from_config(gptj).interleaved
    assert not RotaryEmbedding.from_config(gptj, interleaved=False).interleaved


def test_layers_without_rotation_are_refused():
    layers = {"model_type": "cohere2", "head_dim": 8, "num_hidden_layers": 4, "sliding_window": 4}
    with pytest.raises(BadChoice, match="whose layers have no rotary positions"):
        RotaryEmbedding.from_config(layers, layer_type="full_attention")


def test_truncate_inside_a_layer_type_is_not_seen_by_transformers():
    """Its ramp is rounded outward there; that of the exact table is not."""
    one = {**RULES[2], "truncate": False}
    sizes = {**SIZES, "layer_types": ["full_attention"], "sliding_window": 8}
    config = Gemma3TextConfig(**sizes, head_dim=32, rope_parameters={"full_attention": one})
    ids = torch.tensor([[0, 1, 3000]])
    module = RotaryEmbedding.from_config(config, layer_type="full_attention", angles="hf")
    known = Gemma3RotaryEmbedding(config)(torch.zeros(1), ids, layer_type="full_attention")
    assert all(torch.equal(a, b[..., : a.shape[-1]]) for a, b in zip(module.tables(ids), known, strict=True))
    exact = read_config(config.to_dict()).group("full_attention").encoding
    (row,) = [row for row in differences(exact, 4096) if row["about"] == "truncate"]
    assert "transformers 5.24" in row["who"]
