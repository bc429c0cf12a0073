"""Cached keys: sentences with the lengths and bases at which they stop to fit."""

import json
from pathlib import Path

import pytest
from exptx.proofs.inspection.caches import hazards
from exptx.symbolic.configs.read import read_config

FOLDER = Path(__file__).resolve().parents[2] / "configs"


def said(name):
    return " ".join(hazards(read_config(json.loads((FOLDER / f"{name}.json").read_text())).groups[0]))


@pytest.mark.parametrize("name", ["llama-3.1-8b", "qwen2.5-7b-yarn", "vicuna-7b-16k", "gpt-j-6b"])
def test_frozen_rules_leave_cached_keys_alone(name):
    assert "rotated keys can be cached" in said(name)


def test_dynamic_ntk_has_another_base_at_every_length():
    """Base 10000, factor 2, L0 = 2048, d = 128: 10000, 30527.74 and 72195.86 at 2048, 4096 and 8192."""
    one = {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10000.0}
    (text,) = hazards(
        read_config({"head_dim": 128, "rope_scaling": one, "max_position_embeddings": 2048}).groups[0]
    )
    for words in ("10000 at 2048", "30527.7 at 4096", "72195.9 at 8192"):
        assert words in text


def test_longrope_switches_one_position_after_the_original_length():
    assert "at position 4096 (the 4097th)" in said("phi-4-mini")


def test_clocks_of_images_and_slopes_and_learned_positions_have_their_own_words():
    assert "not token numbers" in said("qwen2-vl-7b")
    assert "the bias on a logit" in said("bloom")
    assert "cannot be shifted" in said("gpt2")
