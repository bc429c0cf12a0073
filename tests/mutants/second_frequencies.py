"""Frequencies from a config, by the usual rules, and kernels that are made of a config."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from exptx.proofs import Claims, Subject
from exptx.symbolic import read_config
from second import Case
from torch import Tensor

BASE = {
    "model_type": "llama",
    "hidden_size": 512,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "num_hidden_layers": 2,
    "head_dim": 64,
    "rope_theta": 10000.0,
    "max_position_embeddings": 4096,
}
YARN = {"rope_type": "yarn", "factor": 16.0, "original_max_position_embeddings": 4096}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 32.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
LONG = {
    "rope_type": "longrope",
    "short_factor": [1.0 + 0.01 * i for i in range(32)],
    "long_factor": [1.0 + 0.5 * i for i in range(32)],
    "original_max_position_embeddings": 4096,
}
CONFIGS: dict[str, dict[str, Any]] = {
    "plain": BASE,
    "partial": {**BASE, "model_type": "phi", "partial_rotary_factor": 0.5},
    "linear": {**BASE, "rope_scaling": {"rope_type": "linear", "factor": 4.0}},
    "dynamic": {**BASE, "rope_scaling": {"rope_type": "dynamic", "factor": 2.0}},
    "yarn": {**BASE, "max_position_embeddings": 65536, "rope_scaling": YARN},
    "llama3": {**BASE, "rope_theta": 5e5, "max_position_embeddings": 131072, "rope_scaling": LLAMA3},
    "nested": {
        **{k: v for k, v in BASE.items() if k != "rope_theta"},
        "rope_parameters": {"rope_type": "default", "rope_theta": 1e6},
    },
    "older": {**BASE, "rope_scaling": {"type": "linear", "factor": 4.0}},
    "longrope": {**BASE, "model_type": "phi3", "max_position_embeddings": 131072, "rope_scaling": LONG},
}


def read(config: Mapping[str, Any]) -> tuple[Mapping[str, Any], float, int]:
    """What a rule is given, the base, and how many features turn."""
    given = config.get("rope_parameters") or config.get("rope_scaling") or {}
    size = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    share = given.get("partial_rotary_factor", config.get("partial_rotary_factor", 1.0))
    return given, float(given.get("rope_theta", config.get("rope_theta", 10000.0))), int(size * share)


def plain(base: float, size: int) -> Tensor:
    """base^(-2i/size) in float64."""
    return base ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)


def by_exponential(config: Mapping[str, Any], seq_len: int) -> Tensor:
    """exp of equal steps of the logarithm."""
    _, base, size = read(config)
    return torch.exp(-math.log(base) * torch.arange(size // 2, dtype=torch.float64) / (size / 2)).float()


def by_product(config: Mapping[str, Any], seq_len: int) -> Tensor:
    """Each frequency is the one before times base^(-2/r)."""
    _, base, size = read(config)
    w, step = [1.0], base ** (-2.0 / size)
    while len(w) < size // 2:
        w.append(w[-1] * step)
    return torch.tensor(w)


def linear(config: Mapping[str, Any], seq_len: int, wrong: bool = False) -> Tensor:
    """Divided by the factor; wrong: the base is."""
    given, base, size = read(config)
    factor = float(given["factor"])
    return plain(base / factor, size).float() if wrong else (plain(base, size) / factor).float()


def dynamic(config: Mapping[str, Any], seq_len: int, fault: str = "") -> Tensor:
    """The base grows with the text: power (d over d-1), always (also below L0), never."""
    given, base, size = read(config)
    first, factor = config["max_position_embeddings"], float(given["factor"])
    length = seq_len if fault == "always" else max(seq_len or first, first)
    power = size / (size - (1 if fault == "power" else 2))
    grown = base * (factor * length / first - (factor - 1)) ** power
    return plain(base if fault == "never" else grown, size).float()


def yarn(config: Mapping[str, Any], seq_len: int, fault: str = "") -> tuple[Tensor, float]:
    """fault: edges (not rounded), amplitude (1), log2, swapped (which planes are kept), length."""
    given, base, size = read(config)
    key = "max_position_embeddings"
    first = config[key] if fault == "length" else given.get(f"original_{key}") or config[key]
    factor, log = float(given["factor"]), math.log2 if fault == "log2" else math.log

    def edge(turns: float) -> float:
        return size * log(first / (turns * 2 * math.pi)) / (2 * math.log(base))

    low, high = edge(given.get("beta_fast") or 32), edge(given.get("beta_slow") or 1)
    if fault != "edges" and given.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, size - 1)
    share = ((torch.arange(size // 2, dtype=torch.float64) - low) / max(high - low, 1e-3)).clamp(0, 1)
    share = 1 - share if fault == "swapped" else share
    w = torch.lerp(plain(base, size), plain(base, size) / factor, share)
    named = given.get("attention_factor")
    amplitude = 0.1 * math.log(factor) + 1.0 if named is None else named
    return w.float(), 1.0 if fault == "amplitude" else amplitude


def llama3(config: Mapping[str, Any], seq_len: int, fault: str = "") -> Tensor:
    """In numbers of turns. fault: radians (2 pi is missing), ends (factors change places), steps."""
    given, base, size = read(config)
    low, high = float(given["low_freq_factor"]), float(given["high_freq_factor"])
    w = plain(base, size)
    turns = given["original_max_position_embeddings"] * w / (1.0 if fault == "radians" else 2 * math.pi)
    share = ((turns - low) / (high - low)).clamp(0, 1)
    if fault == "ends":
        share = 1 - share
    if fault == "steps":
        share = share.round()
    return (w * share + w / float(given["factor"]) * (1 - share)).float()


def longrope(config: Mapping[str, Any], seq_len: int, fault: str = "") -> tuple[Tensor, float]:
    """fault: long (always), multiplied (by the factors), log10 (in the amplitude)."""
    given, base, size = read(config)
    first = given["original_max_position_embeddings"]
    long = fault == "long" or (seq_len is not None and seq_len > first)
    factors = torch.tensor(given["long_factor" if long else "short_factor"], dtype=torch.float64)
    w = plain(base, size) * factors if fault == "multiplied" else plain(base, size) / factors
    growth = config["max_position_embeddings"] / first
    if given.get("attention_factor") is not None:
        return w.float(), given["attention_factor"]
    log = math.log10 if fault == "log10" else math.log
    return w.float(), math.sqrt(1 + log(growth) / math.log(first)) if growth > 1 else 1.0


def whole_head(config: Mapping[str, Any], seq_len: int) -> Tensor:
    """The share that turns is not read."""
    return plain(read(config)[1], 64).float()


def fixed_base(config: Mapping[str, Any], seq_len: int) -> Tensor:
    """The base of an older config is built in."""
    return plain(10000.0, read(config)[2]).float()


def half_power(config: Mapping[str, Any], seq_len: int) -> Tensor:
    """The power is formed in float16."""
    _, base, size = read(config)
    return (1 / base ** (torch.arange(0, size, 2, dtype=torch.float16) / size)).float()


def top_level_base(config: Mapping[str, Any], seq_len: int) -> Tensor:
    """The base is not looked for among the parameters of the rule."""
    return plain(float(config.get("rope_theta", 10000.0)), read(config)[2]).float()


def new_key_only(config: Mapping[str, Any], seq_len: int) -> Tensor:
    """An older config says "type", and the rule is not found."""
    given = read(config)[0]
    rule = linear if given.get("rope_type", "default") == "linear" else by_exponential
    return rule(config, seq_len)


RULES: dict[str, Callable] = {
    "default": by_exponential,
    "linear": linear,
    "dynamic": dynamic,
    "yarn": yarn,
    "llama3": llama3,
    "longrope": longrope,
}


def made(config: Mapping[str, Any], tables: dict | None = None) -> Callable[[Tensor, Tensor], Tensor]:
    """A kernel on halves; tables: where it keeps its frequencies, by their number only."""
    given = read(config)[0]
    rule = RULES[given.get("rope_type") or given.get("type") or "default"]

    def turn(x: Tensor, position_ids: Tensor) -> Tensor:
        found = rule(config, int(position_ids.max()) + 1)
        w, amplitude = found if isinstance(found, tuple) else (found, 1.0)
        if tables is not None:
            w = tables.setdefault(len(w), w)
        ids = position_ids if position_ids.ndim == 2 else position_ids[None]
        angle = (ids[..., None].double() * w.double())[:, None]
        c, s = (amplitude * angle.cos()).to(x.dtype), (amplitude * angle.sin()).to(x.dtype)
        a, b, rest = x.split((len(w), len(w), x.shape[-1] - 2 * len(w)), -1)
        return torch.cat((a * c - b * s, b * c + a * s, rest), -1)

    return turn


def _made(config: str, what: str, make: Callable, broken: bool) -> Case:
    """A kernel of a config, and the way to make others."""
    given = CONFIGS[config]
    claims = Claims(read_config(given).group().encoding, pairing="half", config=given)
    name = f"made_on_{config}{'_wrong' * broken}"
    return Case(name, what, Subject(make(given), "rotary", claims, make=make), broken)


def _case(rule: Callable, config: str, what: str, broken: bool = True, **other: Any) -> Case:
    """A rule, with its fault, on a config; other: keys that are put in its place."""
    given = {**CONFIGS[config], **other}
    encoding = read_config(given).group().encoding
    used = getattr(rule, "func", rule)
    fault = str(getattr(rule, "keywords", {}).get("fault", ""))
    claims = Claims(encoding, head_dim=encoding.head_dim, config=given)
    name = "_".join(filter(None, (used.__name__, "on", config, fault)))
    name += "_wrong" if broken and not fault else ""
    return Case(name, what, Subject(_two(rule), "inv_freq", claims), broken)


def _two(rule: Callable) -> Callable:
    """The rule as a function of two arguments."""

    def frequencies(config: Mapping[str, Any], seq_len: int) -> Any:
        return rule(config, seq_len)

    return frequencies


def _with(rule: Callable, config: str, fault: str, what: str) -> Case:
    return _case(partial(rule, fault=fault), config, what)


CASES: list[Case] = [
    _case(by_exponential, "plain", "exp of a logarithm", broken=False),
    _case(by_product, "plain", "a product of steps", broken=False, rope_theta=5e6),
    _case(by_product, "partial", "half of the head", broken=False),
    _case(linear, "linear", "divided at the end", broken=False),
    _case(dynamic, "dynamic", "the base by the length", broken=False),
    _case(yarn, "yarn", "blended by lerp", broken=False),
    _case(llama3, "llama3", "in numbers of turns", broken=False),
    _case(longrope, "longrope", "by the length", broken=False),
    _case(whole_head, "partial", "the share that turns is ignored"),
    _case(fixed_base, "plain", "the base is built in", rope_theta=1e6),
    _case(half_power, "plain", "powers in float16"),
    _case(partial(linear, wrong=True), "linear", "the factor divides the base"),
    _case(by_exponential, "nested", "the base among the parameters", broken=False),
    _case(linear, "older", "the older key", broken=False),
    _case(top_level_base, "nested", "the base is read from the wrong place"),
    _case(new_key_only, "older", "the older key is not read"),
    _made("plain", "a kernel made of a config", made, broken=False),
    _made("yarn", "a kernel with an amplitude", made, broken=False),
    _made("plain", "all kernels share their frequencies", partial(made, tables={}), broken=True),
    _with(dynamic, "dynamic", "power", "d/(d-1) in place of d/(d-2)"),
    _with(dynamic, "dynamic", "never", "the length is ignored"),
    _with(yarn, "yarn", "edges", "the edges of the ramp are not rounded"),
    _with(yarn, "yarn", "amplitude", "the attention factor is 1"),
    _with(yarn, "yarn", "log2", "log2 over ln in the edges"),
    _with(yarn, "yarn", "swapped", "fast planes are divided"),
    _with(yarn, "yarn", "length", "the length after stretching sets the ramp"),
    _with(llama3, "llama3", "radians", "turns without 2 pi"),
    _with(llama3, "llama3", "ends", "slow planes are kept"),
    _with(llama3, "llama3", "steps", "no blend between"),
    _with(longrope, "longrope", "long", "the long factors always"),
    _with(longrope, "longrope", "multiplied", "factors multiply"),
    _with(longrope, "longrope", "log10", "log10 in the amplitude"),
]
