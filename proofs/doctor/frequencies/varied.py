"""A config with one key changed at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Changed = tuple[str, dict[str, Any]]
SHARES = ("partial_rotary_factor",)
WHOLE = ("original_max_position_embeddings", "max_position_embeddings", "head_dim")


def varied(config: Mapping[str, Any]) -> Iterator[Changed]:
    """rope_theta; every number and list of the rope parameters; share, head_dim, the model's length."""
    nested = next((name for name in ("rope_parameters", "rope_scaling") if config.get(name)), "")
    inner = dict(config[nested]) if nested else {}
    if "rope_theta" in inner:
        yield "rope_theta", {**config, nested: {**inner, "rope_theta": 7 * inner["rope_theta"]}}
    elif not any(isinstance(part, Mapping) for part in inner.values()):
        yield "rope_theta", {**config, "rope_theta": 7 * config.get("rope_theta", 10000.0)}
    for name, value in inner.items():
        if name != "rope_theta":
            yield from ((name, {**config, nested: {**inner, name: new}}) for new in _another(name, value))
    for name in (*SHARES, "head_dim", "max_position_embeddings"):
        if name in config:
            yield from ((name, {**config, name: new}) for new in _another(name, config[name]))


def _another(name: str, value: Any) -> Iterator[Any]:
    """Another value that a config could have."""
    if isinstance(value, bool):
        yield not value
    elif name in SHARES:
        yield value / 2
    elif name in WHOLE and isinstance(value, int):
        yield 2 * value
    elif isinstance(value, (int, float)):
        yield value * 2
    elif isinstance(value, (list, tuple)) and value and all(isinstance(x, (int, float)) for x in value):
        yield [3.0 * x for x in value]
