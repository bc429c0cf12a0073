"""One mapping of rope parameters a layer type, whichever of the ways a config has to say it.

Version 5 of transformers writes `rope_parameters`, flat or one mapping a layer type; version 4 wrote
`rope_scaling` beside `rope_theta`. Where a config says a thing twice the two must agree.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import BadInput, WrongType
from ..walk import shown
from .description import STRETCHED
from .doors import table, text_keys, word
from .layers import CHUNKED, FULL, SLIDING
from .source import Source

Found = dict[str | None, Mapping | None]

_BASES = ("rope_theta", "rotary_emb_base", "global_rope_theta")
_LOCAL_BASES = ("rope_local_base_freq", "local_rope_theta")
_BESIDE = ("rope_theta", "partial_rotary_factor", "original_max_position_embeddings")
_ALIASES = {"su": "longrope", "mrope": "default"}
_INERT = {"finetuned": "whether weights were tuned with the rule; no code computes with it"}
_FOREIGN = {
    "ntk": "vLLM's static rule (b·s)^(-2k/d) / s^(2/d); for b·s^(d/(d-2)) write that base into rope_theta",
    "deepseek_yarn": "vLLM's name for yarn with mscale; write yarn",
    "mllama4": "vLLM's name for the plain table of Llama 4; write default",
}
_OF_A_RULE = ("factor", "low_freq_factor", "beta_fast", "short_factor", "long_factor")
_FULL_ONLY = "it stretches the full-attention layers only; sliding layers keep the plain table"


def by_layer_type(source: Source) -> Found:
    """{layer type: its mapping, complete and under one set of names}; the key None holds for all types."""
    raw = _one_of_two(source.given)
    nested = [key for key, value in raw.items() if isinstance(value, Mapping)]
    if nested:
        return _nested(source, raw, nested)
    flat = _completed(source, raw, source.given)
    _add_theta(source, flat)
    family = source.family
    if family is not None and family.local_theta is not None:
        return _two_bases(source, flat, family.local_theta)
    if family is None or family.stretched == "all" or flat["rope_type"] == "default":
        return {None: flat}
    source.note("rope_scaling", _FULL_ONLY)
    plain = {"rope_type": "default", "rope_theta": flat.get("rope_theta")}
    return {FULL: flat, SLIDING: plain}


def is_nested(given: Mapping) -> bool:
    """Whether there is one mapping for each layer type."""
    return any(isinstance(value, Mapping) for value in _one_of_two(given).values())


def _one_of_two(given: Mapping) -> Mapping:
    """rope_parameters or rope_scaling; both only if they say the same."""
    new, old = table(given, "rope_parameters"), table(given, "rope_scaling")
    if new is None or old is None:
        return new or old or {}
    for key in old:
        if key != "type" and (key not in new or old[key] != new[key]):
            raise BadInput(
                f"{key} is {shown(old[key])} in rope_scaling and {shown(new.get(key))} in rope_parameters, "
                "of which some readers take one and some the other; leave one out"
            )
    return new


def _nested(source: Source, raw: Mapping, nested: list[str]) -> Found:
    found: Found = {}
    base = _base_of(source.given, _BASES)
    for key, value in raw.items():
        if value is None:
            found[key] = None
            continue
        if key not in nested:
            raise BadInput(
                f"rope_parameters mixes keys and layer types: {key} stands beside {nested[0]}; give one flat "
                "mapping, or one mapping for every layer type"
            )
        one = _completed(source, text_keys(value, f"rope_parameters[{key}]"), {})
        if base is not None:
            one.setdefault("rope_theta", base)
        found[key] = one
    return found


def _two_bases(source: Source, full: dict[str, object], absent: float) -> Found:
    """Full layers have one base and sliding ones another; a flat rope_scaling is for full ones, or both."""
    local = _base_of(source.given, _LOCAL_BASES)
    only_full = source.family is not None and source.family.stretched == "full"
    sliding: dict[str, object] = {"rope_type": "default"} if only_full else dict(full)
    sliding["rope_theta"] = absent if local is None else local
    if full["rope_type"] != "default" and only_full:
        source.note("rope_scaling", _FULL_ONLY)
    source.note(
        "rope_theta",
        f"{shown(full['rope_theta'])} is the base of full layers; sliding ones have "
        f"{shown(sliding['rope_theta'])}",
    )
    return {FULL: full, SLIDING: sliding, CHUNKED: sliding}


def _completed(source: Source, raw: Mapping, beside: Mapping) -> dict[str, object]:
    """The mapping with what stands beside it, under today's names, without what nothing reads."""
    one = {key: value for key, value in text_keys(raw, "rope_parameters").items() if value is not None}
    _rename_type(source, one)
    for key in _BESIDE:
        outside = _base_of(beside, _BASES) if key == "rope_theta" else beside.get(key)
        if outside is None:
            continue
        if key in one and one[key] != outside:
            raise BadInput(
                f"{key} is {shown(one[key])} in rope_parameters and {shown(outside)} beside it; give it once"
            )
        if key != "original_max_position_embeddings" or one["rope_type"] in (*STRETCHED, "dynamic"):
            one.setdefault(key, outside)
    for key in [key for key in one if key in _INERT]:
        del one[key]
        source.note(key, _INERT[key])
    return one


def _rename_type(source: Source, one: dict[str, object]) -> None:
    """`type` becomes rope_type; su is longrope, mrope is the plain table with sections."""
    old, kind = (_ALIASES.get(name or "", name) for name in (word(one, "type"), word(one, "rope_type")))
    if old is not None and kind is not None and old != kind:
        raise BadInput(f"rope_type is {shown(kind)} and type is {shown(old)}; give one of them")
    one.pop("type", None)
    kind = kind or old
    if source.given.get("model_type") in ("phi3", "phi4_multimodal") and "short_factor" in one:
        kind = "longrope"  # the first configs of Phi-3 call it su, or yarn
    if kind is None and (homeless := [key for key in _OF_A_RULE if key in one]):
        raise BadInput(f"{homeless[0]} is given without a rope_type, which says what it does, e.g. 'linear'")
    kind = kind or "default"
    if kind in _FOREIGN:
        raise BadInput(f"rope_type is {shown(kind)}, {_FOREIGN[kind]}")
    one["rope_type"] = kind


def _add_theta(source: Source, one: dict[str, object]) -> None:
    """The base that a model's code takes where its config has none."""
    if source.given.get("model_type") == "chatglm" and source.given.get("rope_ratio") is not None:
        _add_ratio(source, one)
    if "rope_theta" in one or source.family is None or source.family.theta is None:
        return
    one["rope_theta"] = source.family.theta
    source.note("rope_theta", f"it is absent; {source.model_type} then takes {source.family.theta:g}")


def _add_ratio(source: Source, one: dict[str, object]) -> None:
    """ChatGLM writes its base as a multiple of 10000."""
    ratio = source.given["rope_ratio"]
    if isinstance(ratio, bool) or not isinstance(ratio, int | float):
        raise WrongType(f"rope_ratio is {shown(ratio)}; a number works, e.g. 1")
    if "rope_theta" in one:
        raise BadInput(f"rope_theta is {shown(one['rope_theta'])} beside rope_ratio {shown(ratio)}; give one")
    one["rope_theta"] = 10000 * ratio
    source.note("rope_ratio", f"{shown(ratio)}: the base is 10000·rope_ratio")


def _base_of(given: Mapping, names: tuple[str, ...]) -> object:
    """The base under whichever of its names; two that differ are refused."""
    said = {name: given[name] for name in names if given.get(name) is not None}
    values = list(said.values())
    if any(value != values[0] for value in values):
        words = " and ".join(f"{name} is {shown(value)}" for name, value in said.items())
        raise BadInput(f"{words}; give one base")
    return values[0] if values else None
