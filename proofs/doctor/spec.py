"""Claims from a JSON file and from options: the same names, each said once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from ...symbolic.catalogue.alibi import slopes
from ...symbolic.catalogue.registry import encoding as catalogued
from ...symbolic.configs.description import Alibi, Rotary
from ...symbolic.configs.read import read_config
from ..errors import BadClaim
from ..inspection.config_file import read_config_file
from .claims import Claims, rope

NAMES = {field.name for field in fields(Claims)} - {"encoding", "config"}
SOURCES = ("config", "base", "alibi", "encoding")  # of the encoding: one of them


def claims_of(options: Mapping[str, Any]) -> tuple[Claims, str | None]:
    """The claims, and the kind if one is named.

    options: fields of Claims by name, None where nothing is said; and spec (path of a JSON object with the
    same names), config (path), base (with rotary_dim), alibi (heads), kind, layer_type. In a file config may
    be the config itself, and encoding {"name": "xpos", …} as the catalogue has it. BadClaim for an unknown
    name, or where the encoding is said twice.
    """
    said = {name: value for name, value in options.items() if value is not None}
    spec = said.pop("spec", None)
    if spec is not None:
        read = _object(Path(spec))
        twice = sorted(read.keys() & said.keys())
        if twice:
            raise BadClaim(f"{twice[0]} is said by {spec} and by an option; one of them works")
        said = {**read, **said}
    kind = said.pop("kind", None)
    encoding, config = _encoding(said)
    unknown = sorted(said.keys() - NAMES)
    if unknown:
        known = ", ".join(sorted({*NAMES, *SOURCES, "kind", "rotary_dim", "layer_type"}))
        raise BadClaim(f"{unknown[0]!r} is no claim; {known} work")
    size = getattr(encoding, "head_dim", None)
    given: dict[str, Any] = {"head_dim": size} if size is not None else {}
    if "forms" in said:
        said["forms"] = tuple(said["forms"])
    try:
        return Claims(encoding=encoding, config=config, **{**given, **said}), kind
    except TypeError as error:
        raise BadClaim(f"a claim has a value of the wrong kind: {error}") from None


def _encoding(said: dict[str, Any]) -> tuple[Any, Mapping[str, Any] | None]:
    """The encoding and the config it comes from; what says so is taken out of `said`."""
    named = [name for name in SOURCES if name in said]
    if len(named) > 1:
        raise BadClaim(f"{named[0]} and {named[1]} both say the encoding; one of them works")
    layer_type, width = said.pop("layer_type", None), said.pop("rotary_dim", None)
    if not named:
        return None, None
    value = said.pop(named[0])
    if named[0] == "config":
        config = value if isinstance(value, Mapping) else read_config_file(Path(value))
        found = read_config(dict(config)).group(layer_type).encoding
        if not isinstance(found, (Rotary, Alibi)):
            raise BadClaim("config has neither rotary layers nor ALiBi; a config of such a model works")
        if isinstance(found, Rotary) and "head_dim" in said:
            raise BadClaim("config says head_dim; --config alone works")
        return found, config
    if named[0] == "base":
        interleaved = {"interleaved": True, "half": False}.get(said.get("pairing", ""))
        return rope(value, said.get("head_dim", 64), width, interleaved), None
    if named[0] == "alibi":
        said.setdefault("heads", value)
        return Alibi(slopes(value), False), None
    if not (isinstance(value, Mapping) and isinstance(value.get("name"), str)):
        raise BadClaim('encoding is no object with a name; {"name": "xpos", "head_dim": 64} works')
    name = value["name"]
    built = catalogued(name, **{key: given for key, given in value.items() if key != "name"})
    numbers: Any = built.parameters
    if name == "rope":  # as the claim that kernels are judged by
        base, width = float(numbers["rope_theta"]), numbers["rotary_dim"]
        return rope(base, numbers["head_dim"], width, numbers["interleaved"]), None
    if name == "alibi":
        said.setdefault("heads", numbers["num_heads"])
        return Alibi(slopes(numbers["num_heads"]), False), None
    return built, None


def _object(path: Path) -> dict[str, Any]:
    """A JSON object of bounded size."""
    return dict(read_config_file(path))
