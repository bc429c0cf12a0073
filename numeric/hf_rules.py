"""The float32 frequencies of transformers, bit for bit: each rule in its order of roundings.

Source: transformers 5.24.0, `modeling_rope_utils.py`. Python numbers are rounded to float32 where they meet a
tensor; base and amplitude of a rule are formed in float64, the base of "dynamic" beyond the original length
in float32, as in a model's forward pass.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from ..symbolic.configs.description import Rotary
from .constants import nearest_float


def hf_frequencies(encoding: Rotary, seq_len: int | None = None) -> tuple[Tensor, float]:
    """(inv_freq, attention_scaling): float32 (pairs,) on the CPU, and the amplitude of cos and sin.

    encoding: from a config, whose numbers have passed `encoding.frequencies`, which is called first and
    refuses the rest. seq_len: the length of the text, for rules that depend on it.
    """
    encoding.frequencies(seq_len)
    given = dict(encoding.parameters)
    base = given["rope_theta"]
    theta = nearest_float(base, name="rope_theta") if isinstance(base, sp.Basic) else base
    waves = _RULES[encoding.rule](theta, encoding, given, seq_len)
    return waves, _amplitude(encoding, given, seq_len)


def _powers(base: Any, count: int, dim: int) -> Tensor:
    """base^(2k/dim), k < count."""
    steps = torch.arange(0, 2 * count, 2, dtype=torch.int64, device="cpu").to(torch.float32)
    return base ** (steps / dim)


def _plain(base: Any, encoding: Rotary) -> Tensor:
    return 1.0 / _powers(base, encoding.rotary_dim // 2, encoding.rotary_dim)


def _default(base: Any, encoding: Rotary, _given: Mapping, _length: int | None) -> Tensor:
    return _plain(base, encoding)


def _linear(base: Any, encoding: Rotary, given: Mapping, _length: int | None) -> Tensor:
    return _plain(base, encoding) / given["factor"]


def _proportional(base: Any, encoding: Rotary, given: Mapping, _length: int | None) -> Tensor:
    live = int(given.get("partial_rotary_factor", 1.0) * encoding.head_dim // 2)
    turning = 1.0 / _powers(base, live, encoding.head_dim)
    held = torch.zeros(encoding.head_dim // 2 - live, dtype=torch.float32, device="cpu")
    return torch.cat((turning, held)) / given.get("factor", 1.0)


def _dynamic(base: Any, encoding: Rotary, given: Mapping, length: int | None) -> Tensor:
    first, factor, dim = encoding.max_position_embeddings, given["factor"], encoding.rotary_dim
    reached: Any = first
    if length is not None and first is not None and length > first:
        reached = torch.tensor(length, device="cpu")
    stretched = base * ((factor * reached / first) - (factor - 1)) ** (dim / (dim - 2))
    return _plain(stretched, encoding)


def _yarn(base: Any, encoding: Rotary, given: Mapping, _length: int | None) -> Tensor:
    dim, factor = encoding.rotary_dim, _factor(encoding, given)
    first = given["original_max_position_embeddings"]
    low, high = (
        dim * math.log(first / (turns * 2 * math.pi)) / (2 * math.log(base))
        for turns in (given.get("beta_fast") or 32, given.get("beta_slow") or 1)
    )
    if encoding.nested or given.get("truncate", True):  # transformers looks for it outside the nested mapping
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    high += 0.001 if low == high else 0
    ramp = ((torch.arange(dim // 2, dtype=torch.float32, device="cpu") - low) / (high - low)).clamp(0, 1)
    kept, powers = 1 - ramp, _powers(base, dim // 2, dim)
    return 1.0 / (factor * powers) * (1 - kept) + 1.0 / powers * kept


def _llama3(base: Any, encoding: Rotary, given: Mapping, _length: int | None) -> Tensor:
    waves, first = _plain(base, encoding), given["original_max_position_embeddings"]
    slow, fast, factor = given["low_freq_factor"], given["high_freq_factor"], given["factor"]
    wavelength = 2 * math.pi / waves
    smooth = (first / wavelength - slow) / (fast - slow)
    blended = (1 - smooth) * waves / factor + smooth * waves
    ends = torch.where(wavelength > first / slow, waves / factor, waves)
    return torch.where((wavelength < first / fast) | (wavelength > first / slow), ends, blended)


def _longrope(base: Any, encoding: Rotary, given: Mapping, length: int | None) -> Tensor:
    long = length is not None and length > given["original_max_position_embeddings"]
    divisors = torch.tensor(
        given["long_factor" if long else "short_factor"], dtype=torch.float32, device="cpu"
    )
    return 1.0 / (divisors * _powers(base, encoding.rotary_dim // 2, encoding.rotary_dim))


_RULES = {
    "default": _default,
    "linear": _linear,
    "dynamic": _dynamic,
    "yarn": _yarn,
    "llama3": _llama3,
    "longrope": _longrope,
    "proportional": _proportional,
}


def _factor(encoding: Rotary, given: Mapping) -> Any:
    if given.get("factor") is not None:
        return given["factor"]
    length: Any = encoding.max_position_embeddings  # there, or the exact rule would have refused
    return length / given["original_max_position_embeddings"]


def _amplitude(encoding: Rotary, given: Mapping, length: int | None) -> float:
    """attention_factor, or what the rule makes of the factor."""
    first: Any = given.get("original_max_position_embeddings")
    if encoding.mscales is not None:
        return encoding.mscales[length is not None and length > first]
    if given.get("attention_factor") is not None:
        return float(given["attention_factor"])
    if encoding.rule == "longrope":
        s = _factor(encoding, given)
        return math.sqrt(1 + math.log(s) / math.log(first)) if s > 1 else 1.0
    if encoding.rule != "yarn":
        return 1.0
    s, scale, all_dim = _factor(encoding, given), given.get("mscale"), given.get("mscale_all_dim")
    if scale and all_dim:
        return _growth(s, scale) / _growth(s, all_dim)
    return _growth(s, 1)


def _growth(s: float, c: float) -> float:
    """0.1 c ln s + 1."""
    return 0.1 * c * math.log(s) + 1.0 if s > 1 else 1.0


__all__ = ["hf_frequencies"]
