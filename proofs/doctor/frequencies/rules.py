"""Configs to try where none is claimed: one for every rule, with the numbers of published models."""

from __future__ import annotations

from typing import Any

SIZES = {"model_type": "llama", "hidden_size": 512, "num_attention_heads": 4}


def _with(**parameters: Any) -> dict[str, Any]:
    stretched = "original_max_position_embeddings" in parameters
    given = {"rope_theta": 10000.0, **parameters}
    return {**SIZES, "max_position_embeddings": 131072 if stretched else 4096, "rope_parameters": given}


CONFIGS = {
    "default": _with(rope_type="default"),
    "linear": _with(rope_type="linear", factor=4.0),
    "dynamic": _with(rope_type="dynamic", factor=2.0),
    "yarn": _with(rope_type="yarn", factor=16.0, original_max_position_embeddings=4096),
    "llama3": _with(
        rope_type="llama3",
        rope_theta=500000.0,
        factor=8.0,
        low_freq_factor=1.0,
        high_freq_factor=4.0,
        original_max_position_embeddings=8192,
    ),
    "longrope": _with(
        rope_type="longrope",
        short_factor=[1.0 + i / 64 for i in range(64)],
        long_factor=[1.0 + i / 2 for i in range(64)],
        original_max_position_embeddings=4096,
        factor=32.0,
    ),
}
