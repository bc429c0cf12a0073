"""Rules for longer texts as people write them in plain torch, and configs for each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

Config = Mapping[str, Any]
Rule = Callable[[Config, Mapping[str, Any], int], Tensor]
SIZES = {"model_type": "llama", "hidden_size": 512, "num_attention_heads": 4, "max_position_embeddings": 2048}


def with_rule(rope_type: str, **numbers: Any) -> dict[str, Any]:
    length = 2048 if "original_max_position_embeddings" not in numbers else 65536
    given = {"rope_type": rope_type, "rope_theta": 10000.0, **numbers}
    return {**SIZES, "max_position_embeddings": length, "rope_parameters": given}


DYNAMIC = with_rule("dynamic", factor=2.0)
LINEAR = with_rule("linear", factor=4.0)
YARN = with_rule("yarn", factor=16.0, original_max_position_embeddings=4096)
DEEPSEEK = with_rule(
    "yarn", factor=40.0, original_max_position_embeddings=4096, mscale=0.707, mscale_all_dim=0.707
)
LLAMA3 = with_rule(
    "llama3",
    rope_theta=500000.0,
    factor=8.0,
    low_freq_factor=1.0,
    high_freq_factor=4.0,
    original_max_position_embeddings=8192,
)
LONGROPE = with_rule(
    "longrope",
    factor=32.0,
    original_max_position_embeddings=2048,
    short_factor=[1.0 + i / 64 for i in range(64)],
    long_factor=[1.0 + i for i in range(64)],
)


def size(config: Config) -> int:
    whole = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    return int(whole * config["rope_parameters"].get("partial_rotary_factor", 1.0))


def plain(base: float, d: int) -> Tensor:
    return 1.0 / base ** (torch.arange(0, d, 2).float() / d)


def default(config: Config, given: Mapping[str, Any], seq_len: int) -> Tensor:
    return plain(given["rope_theta"], size(config))


def linear(config: Config, given: Mapping[str, Any], seq_len: int) -> Tensor:
    return plain(given["rope_theta"], size(config)) / given["factor"]


def grown(base: float, stretch: float, d: int) -> Tensor:
    return plain(base * stretch ** (d / (d - 2)), d)


def dynamic(config: Config, given: Mapping[str, Any], seq_len: int) -> Tensor:
    longest, f = config["max_position_embeddings"], given["factor"]
    return grown(given["rope_theta"], f * max(seq_len, longest) / longest - (f - 1), size(config))


def yarn(config: Config, given: Mapping[str, Any], seq_len: int, kept_base: float | None = None) -> Tensor:
    base, f, d = given["rope_theta"], given["factor"], size(config)
    length = given["original_max_position_embeddings"]

    def plane(turns: float) -> float:
        return d * math.log(length / (turns * 2 * math.pi)) / (2 * math.log(base))

    low = max(math.floor(plane(given.get("beta_fast", 32.0))), 0)
    high = min(math.ceil(plane(given.get("beta_slow", 1.0))), d - 1)
    kept = 1 - ((torch.arange(d // 2).float() - low) / (high - low)).clamp(0, 1)
    fast = plain(kept_base or base, d)
    return kept * fast + (1 - kept) * plain(base, d) / f


def llama3(config: Config, given: Mapping[str, Any], seq_len: int, swapped: bool = False) -> Tensor:
    w = plain(given["rope_theta"], size(config))
    length, low, high = (
        given[key] for key in ("original_max_position_embeddings", "low_freq_factor", "high_freq_factor")
    )
    waves = 2 * math.pi / w
    if swapped:
        smooth = (waves - length / high) / (length / low - length / high)
    else:
        smooth = (length / waves - low) / (high - low)
    blended = (1 - smooth) * w / given["factor"] + smooth * w
    scaled = torch.where(waves > length / low, w / given["factor"], blended)
    return torch.where(waves < length / high, w, scaled)


def longrope(config: Config, given: Mapping[str, Any], seq_len: int) -> Tensor:
    long = seq_len > given["original_max_position_embeddings"]
    factors = torch.tensor(given["long_factor" if long else "short_factor"])
    d = size(config)
    return 1.0 / (factors * given["rope_theta"] ** (torch.arange(0, d, 2).float() / d))


RULES: dict[str, Rule] = {
    "default": default, "linear": linear, "dynamic": dynamic, "yarn": yarn, "llama3": llama3,
    "longrope": longrope,
}  # fmt: skip


def frequencies(**changed: Rule) -> Callable[[Config, int], Tensor]:
    """The right function, or one with another rule in place of a right one."""
    rules = {**RULES, **changed}

    def inv_freq(config: Config, seq_len: int) -> Tensor:
        given = config.get("rope_parameters") or config["rope_scaling"]
        return rules[given.get("rope_type", given.get("type"))](config, given, seq_len)

    return inv_freq
