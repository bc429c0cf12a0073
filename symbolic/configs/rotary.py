"""A `Rotary` from one mapping of rope parameters: sections, amplitudes, pairing, the length of training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp

from ..errors import BadInput, WrongType
from ..exact import exact_entry, positive
from ..frequencies import as_written, check_keys
from ..ramps import yarn_growth
from ..scaling import ntk_base
from ..walk import shown
from .description import STRETCHED, Rotary
from .doors import flag, row, whole_number
from .heads import WIDEST, head_size, is_latent, positions, rotated
from .parameters import is_nested
from .source import Source

_CHUNKED = ("qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text", "glm4v", "glm4v_moe")
_INTERLEAVED = (
    "qwen3_vl",
    "qwen3_vl_text",
    "qwen3_vl_moe",
    "qwen3_vl_moe_text",
    "qwen3_5_text",
    "qwen3_5_moe_text",
)
_NUMBERS = {
    "rope_theta": 10000,
    "factor": 2,
    "beta_fast": 32,
    "beta_slow": 1,
    "low_freq_factor": 1,
    "high_freq_factor": 4,
    "attention_factor": 1,
    "mscale": 1,
    "mscale_all_dim": 1,
    "alpha": 1000,
}
_UNREAD_WITH_ALPHA = ("factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim")


def rotary(source: Source, one: Mapping, kind: str | None) -> Rotary:
    """The rotary encoding of the layers of type `kind`, from their mapping `one` and the config around it."""
    left = {key: value for key, value in one.items() if key != "max_position_embeddings"}
    _numbers(left)
    head_dim = head_size(source, kind)
    _stretch_base(source, left, head_dim)
    sections, layout = _sections(source, left)
    mscales = _mscales(left)
    if left.pop("llama_4_scaling_beta", None) is not None:
        source.note(
            "llama_4_scaling_beta", "queries grow with log(1 + ⌊t/original length⌋), besides the rotation"
        )
    rotary_dim = rotated(source, left, head_dim)
    _original(source, left)
    check_keys(left)
    _check_sizes(left)
    _check_lists(left, rotary_dim // 2)
    if sections and sum(sections) != rotary_dim // 2:
        raise BadInput(
            f"mrope_section is {shown(list(sections))}, {sum(sections)} planes, but {rotary_dim} features "
            f"make {rotary_dim // 2}; sections that add up to it work"
        )
    return Rotary(
        head_dim,
        rotary_dim,
        str(left["rope_type"]),
        left,
        positions(source.given),
        _pairing(source),
        sections,
        layout,
        mscales,
        _softmax_factor(left, source.given),
        is_nested(source.given),
        (whole_number(source.given, "qk_nope_head_dim", most=WIDEST) or 0) if is_latent(source.given) else 0,
    )


def _numbers(left: Mapping) -> None:
    """What must be a number is no text, truth value, list or mapping."""
    for key in _NUMBERS:
        if isinstance(left.get(key), str | bool | list | tuple | Mapping):
            raise WrongType(f"{key} is {shown(left[key])}; a number works, e.g. {_NUMBERS[key]}")


def _check_sizes(left: Mapping) -> None:
    """Numbers that no model has are slips, and would only exhaust the machine."""
    for key, value in left.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            least, most = (1.0, 1e30) if key == "rope_theta" else (1e-9, 1e12)
            if value and not least <= abs(value) <= most:
                raise BadInput(f"{key} is {shown(value)}; a number from {least:g} to {most:g} works")


def _check_lists(left: Mapping, planes: int) -> None:
    """One divisor a plane, in both lists of longrope, whichever a text will need."""
    for name in ("short_factor", "long_factor") if left["rope_type"] == "longrope" else ():
        if len(row(left, name) or ()) != planes:
            raise BadInput(f"{name} has {len(row(left, name) or ())} numbers; {planes} planes turn")


def _original(source: Source, left: dict[str, object]) -> None:
    """The length of training, where the rule needs it; and what factor and lengths say together."""
    rule, length = str(left["rope_type"]), positions(source.given)
    if rule == "linear" and length is not None:
        source.note(
            "max_position_embeddings",
            f"{length}, which may count the texts of training or those that the factor makes room for",
        )
    if rule not in STRETCHED or length is None:
        return
    first = whole_number(left, "original_max_position_embeddings")
    if first is None:
        left["original_max_position_embeddings"] = first = length
        source.note(
            "original_max_position_embeddings", f"it is absent; max_position_embeddings = {length} is taken"
        )
    if first > length:
        raise BadInput(
            f"original_max_position_embeddings is {first} and max_position_embeddings is {length}; the "
            "length of training is at most the model's"
        )
    ratio = f"max over original length, {length}/{first} = {length / first:g}"
    factor = left.get("factor")
    if factor is None and rule != "llama3":
        source.note("factor", f"it is absent; {ratio}, is taken")
    elif factor is not None and positive(as_written(factor), "factor") != sp.Rational(length, first):
        source.note("factor", f"{shown(factor)}, as written, and not {ratio}")


def _stretch_base(source: Source, left: dict[str, object], head_dim: int) -> None:
    """rope_type dynamic with a fixed alpha (HunYuan): the base is stretched once, b·alpha^(d/(d-2))."""
    if left.get("alpha") is None:
        return
    if left.get("rope_type") != "dynamic" or "rope_theta" not in left:
        raise BadInput(
            f"rope_parameters has alpha with rope_type {shown(left.get('rope_type'))}; it goes with "
            "'dynamic' and a base"
        )
    alpha = positive(as_written(left.pop("alpha")), "alpha")
    left["rope_theta"] = ntk_base(as_written(left["rope_theta"]), head_dim, alpha)
    left["rope_type"] = "default"
    unread = [key for key in _UNREAD_WITH_ALPHA if left.pop(key, None) is not None]
    what = f"; nothing reads {', '.join(unread)}" if unread else ""
    source.note("alpha", f"the base is b·alpha^(d/(d-2)), the same for texts of every length{what}")


def _sections(source: Source, left: dict[str, object]) -> tuple[tuple[int, ...], str | None]:
    """Planes of each axis, and whether they lie in chunks or take turns."""
    listed, crossed = row(left, "mrope_section"), flag(left, "mrope_interleaved", False)
    for key in ("mrope_section", "mrope_interleaved"):
        left.pop(key, None)
    if listed is None:
        return (), None
    if not listed or any(isinstance(x, bool) or not isinstance(x, int) or x < 0 for x in listed):
        raise WrongType(f"mrope_section is {shown(listed)}; numbers of planes work, e.g. [16, 24, 24]")
    kind = source.given.get("model_type")
    if kind in _CHUNKED and crossed:
        raise BadInput(f"mrope_interleaved is true, but {source.model_type} lays its sections out in chunks")
    return tuple(listed), "interleaved" if crossed or kind in _INTERLEAVED else "chunked"


def _mscales(left: dict[str, Any]) -> tuple[Any, Any] | None:
    """The amplitudes of short and of long texts, where they are given apart."""
    short, long = left.pop("short_mscale", None), left.pop("long_mscale", None)
    if (short is None) != (long is None):
        raise BadInput("of short_mscale and long_mscale one is absent; give both")
    return None if short is None else (short, long)


def _pairing(source: Source) -> bool | None:
    """True for planes (2k, 2k+1), None where the model's code is not known."""
    if source.family is None:
        return None
    absent = source.family.interleaved
    return flag(source.given, "rope_interleave", absent) if source.family.pairing_key else absent


def _softmax_factor(left: Mapping, given: Mapping) -> sp.Expr:
    """g(mscale_all_dim)², by which multi-head latent attention scales its logits; 1 elsewhere."""
    scale, factor = left.get("mscale_all_dim"), left.get("factor")
    if left["rope_type"] != "yarn" or not scale or factor is None or not is_latent(given):
        return sp.S.One
    s = positive(as_written(factor), "factor")
    return yarn_growth(s, exact_entry(as_written(scale), "mscale_all_dim")) ** 2
