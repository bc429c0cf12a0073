"""The rotary frequencies of a head, as exact numbers, from `rope_parameters` as configs hold them.

Keys and meanings are those of Hugging Face (`modeling_rope_utils.py`, version 5). What its readers take in
more than one way is refused here, with the choices. The rules themselves are in `scaling` and `ramps`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Never

import sympy as sp

from . import ramps, scaling
from .errors import BadInput, WrongType
from .exact import even, exact_entry, positive
from .rounding import floor
from .scaling import Frequencies, length
from .walk import shown

_ANY = ("rope_type", "type", "rope_theta", "partial_rotary_factor")


@dataclass(frozen=True)
class Lengths:
    """The two lengths that no mapping holds, in positions: of the model, and of the text at hand."""

    max_position_embeddings: int | None = None
    seq_len: int | None = None

    def model(self, kind: str) -> int:
        """The model's length, which must be given."""
        if self.max_position_embeddings is None:
            raise BadInput(f"rope_type {kind!r} needs max_position_embeddings=, e.g. 4096")
        return self.max_position_embeddings

    def current(self, kind: str) -> int:
        """The current length, which must be given where the frequencies depend on it."""
        if self.seq_len is None:
            raise BadInput(
                f"rope_type {kind!r} has frequencies that depend on the current length; give seq_len="
            )
        return self.seq_len


@dataclass(frozen=True)
class Rule:
    """How one rope_type is read: its keys, and what computes the frequencies of `dim` rotated features."""

    compute: Callable[[dict, int, Lengths], Frequencies]
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()


def frequencies(
    rope_parameters: object,
    head_dim: int,
    *,
    max_position_embeddings: int | None = None,
    seq_len: int | None = None,
    layer_type: str | None = None,
    **elsewhere: Never,
) -> Frequencies:
    """The frequencies of `head_dim` features in radians per position, and the attention factor.

    rope_parameters: the base itself (exact, positive; a positive symbol works), or a mapping as configs hold
    it, {"rope_type": "yarn", "rope_theta": 10000, "factor": 16.0, …}, or one such mapping a layer type, from
    which `layer_type` chooses. In a mapping, and only there, a float counts as its shortest decimal: 0.1 is
    1/10, exactly. rope_type: default, linear, dynamic, yarn, llama3, longrope, proportional.
    max_position_embeddings: the model's length, L0 of "dynamic". seq_len: the current length, on which
    "dynamic" and "longrope" depend. Of heads that turn in part, head_dim counts the features that turn.
    BadInput names an unknown, missing or ambiguous key, WrongType a value
    that is no exact number.
    """
    for keyword in elsewhere:
        raise WrongType(f"frequencies takes no {keyword}=; {_place(keyword)}")
    size = even(head_dim, "head_dim")
    lengths = Lengths(
        None
        if max_position_embeddings is None
        else length(max_position_embeddings, "max_position_embeddings"),
        None if seq_len is None else length(seq_len, "seq_len"),
    )
    if not isinstance(rope_parameters, Mapping):
        if layer_type is not None:
            raise BadInput(f"layer_type is {layer_type!r}, but rope_parameters is a base and no mapping")
        return scaling.rotary(rope_parameters, size)
    given = {key: as_written(x) for key, x in _layer(rope_parameters, layer_type).items() if x is not None}
    kind = check_keys(given)
    return _RULES[kind].compute(given, _rotated(given, kind, size), lengths)


def _place(keyword: str) -> str:
    """Where that belongs which was given as a keyword."""
    if keyword == "rotary_dim":
        return "give the number of features that turn as head_dim"
    if any(keyword in (*_ANY, *rule.needs, *rule.takes) for rule in _RULES.values()):
        return f"it is a key of rope_parameters, e.g. {{'rope_theta': 10000, {keyword!r}: …}}"
    return "it takes max_position_embeddings=, seq_len= and layer_type="


def _layer(given: Mapping, layer_type: str | None) -> Mapping:
    """The mapping itself, or the one of the layer type when there is one for each."""
    layers = [key for key, value in given.items() if isinstance(value, Mapping)]
    if not layers and layer_type is None:
        return given
    if not layers or len(layers) < len(given):
        mixed = "mixes keys and layer types" if layers else "is not given by layer type"
        raise BadInput(f"rope_parameters {mixed}; give one flat mapping, or one mapping for every layer type")
    if layer_type not in layers:
        raise BadInput(f"layer_type is {layer_type!r}; rope_parameters has {', '.join(map(str, layers))}")
    return given[layer_type]


def _kind(given: Mapping) -> str:
    """The rope_type, under its new or its old key."""
    kind = given.get("rope_type", given.get("type", "default"))
    if given.get("type", kind) != kind:
        raise BadInput(f"rope_type is {shown(kind)} and type is {shown(given['type'])}; give one of them")
    if not isinstance(kind, str) or kind not in _RULES:
        raise BadInput(f"rope_type is {shown(kind)}, which is unknown; known: {', '.join(_RULES)}")
    return kind


def check_keys(given: Mapping) -> str:
    """The rope_type of a flat mapping; BadInput names keys that it does not know and keys that it lacks."""
    kind = _kind(given)
    rule = _RULES[kind]
    known = (*_ANY, *rule.needs, *rule.takes)
    if unknown := sorted(str(key) for key in given if key not in known):
        raise BadInput(
            f"rope_parameters has unknown keys: {', '.join(unknown)}; rope_type {kind!r} knows "
            f"{', '.join(known)}"
        )
    if missing := [key for key in ("rope_theta", *rule.needs) if key not in given]:
        example = "; give the base, e.g. {'rope_theta': 10000}" if missing == ["rope_theta"] else ""
        raise BadInput(
            f"rope_parameters has no {', no '.join(missing)}, which rope_type {kind!r} needs{example}"
        )
    return kind


def _rotated(given: Mapping, kind: str, head_dim: int) -> int:
    """The number of features that the exponent counts: ⌊partial_rotary_factor · head_dim⌋, but see below."""
    share = exact_entry(given.get("partial_rotary_factor", 1), "partial_rotary_factor")
    if share == 1 or kind == "proportional":
        return head_dim
    if kind == "default":
        raise BadInput(
            f"partial_rotary_factor is {share} with rope_type 'default', which some models ignore and others "
            "follow; give the number of rotated features as head_dim and leave the key out, or use "
            "rope_type 'proportional'"
        )
    size = floor(share * head_dim, "partial_rotary_factor · head_dim")
    if not 2 <= size <= head_dim or size % 2:
        raise BadInput(
            f"partial_rotary_factor is {share}, which rotates {size} of {head_dim} features; an even number "
            f"from 2 to {head_dim} works"
        )
    return int(size)


def as_written(value: Any) -> Any:
    """A number of a config, exactly; a float is what its shortest decimal shows: 0.1 is 1/10, 1e23 10^23."""
    if isinstance(value, int) and not isinstance(value, bool):
        return sp.Integer(value)
    if isinstance(value, (list, tuple)):
        return [as_written(x) for x in value]
    if isinstance(value, float) and value - value == 0:
        return sp.Rational(*Decimal(repr(float(value))).as_integer_ratio())
    return value


def _default(given: dict, dim: int, _: Lengths) -> Frequencies:
    return scaling.rotary(given["rope_theta"], dim)


def _linear(given: dict, dim: int, _: Lengths) -> Frequencies:
    return scaling.linear(given["rope_theta"], dim, given["factor"])


def _dynamic(given: dict, dim: int, lengths: Lengths) -> Frequencies:
    """L0 is the model's length; the mapping may say it too, but not another one."""
    original = given.get("original_max_position_embeddings")
    first = (
        lengths.model("dynamic") if original is None else length(original, "original_max_position_embeddings")
    )
    if lengths.max_position_embeddings not in (None, first):
        raise BadInput(
            f"original_max_position_embeddings is {first} and max_position_embeddings is "
            f"{lengths.max_position_embeddings}; rope_type 'dynamic' has one; give it once"
        )
    return scaling.dynamic(given["rope_theta"], dim, given["factor"], first, lengths.current("dynamic"))


def _yarn(given: dict, dim: int, lengths: Lengths) -> Frequencies:
    scales = given.get("mscale"), given.get("mscale_all_dim")
    m = given.get("attention_factor")
    if m is not None and scales != (None, None):
        raise BadInput("rope_parameters has attention_factor and mscale, two amplitudes; give one")
    truncate = given.get("truncate", True)
    if not isinstance(truncate, bool):
        raise WrongType(f"truncate is {shown(truncate)}; True or False works")
    factor = _factor(given, "yarn", lengths)
    return ramps.yarn(
        given["rope_theta"],
        dim,
        factor,
        given["original_max_position_embeddings"],
        beta_fast=given.get("beta_fast", 32),
        beta_slow=given.get("beta_slow", 1),
        truncate=truncate,
        attention_factor=ramps.yarn_attention(factor, *scales) if m is None else m,
    )


def _llama3(given: dict, dim: int, _: Lengths) -> Frequencies:
    return ramps.llama3(given["rope_theta"], dim, *(given[key] for key in _LLAMA3))


def _longrope(given: dict, dim: int, lengths: Lengths) -> Frequencies:
    """The short factors up to L0 positions, the long ones beyond."""
    first = length(given["original_max_position_embeddings"], "original_max_position_embeddings")
    m = given.get("attention_factor")
    if m is None:
        m = scaling.longrope_attention(_factor(given, "longrope", lengths), first)
    short = lengths.current("longrope") <= first
    table = scaling.longrope(given["rope_theta"], dim, given["short_factor" if short else "long_factor"], m)
    return replace(table, longest=first) if short else table


def _proportional(given: dict, dim: int, _: Lengths) -> Frequencies:
    share = given.get("partial_rotary_factor", 1)
    return scaling.proportional(given["rope_theta"], dim, share, given.get("factor", 1))


def _factor(given: dict, kind: str, lengths: Lengths) -> sp.Expr:
    """The factor; max_position_embeddings/original_max_position_embeddings where the mapping has none."""
    if "factor" in given:
        return positive(given["factor"], "factor")
    original = length(given["original_max_position_embeddings"], "original_max_position_embeddings")
    if lengths.max_position_embeddings is None:
        raise BadInput(
            f"rope_parameters has no factor; rope_type {kind!r} needs it, or max_position_embeddings="
        )
    return sp.Rational(lengths.max_position_embeddings, original)


_LLAMA3 = ("factor", "original_max_position_embeddings", "low_freq_factor", "high_freq_factor")
_RULES = {
    "default": Rule(_default),
    "linear": Rule(_linear, ("factor",)),
    "dynamic": Rule(_dynamic, ("factor",), ("original_max_position_embeddings",)),
    "yarn": Rule(
        _yarn,
        ("original_max_position_embeddings",),
        ("factor", "attention_factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim", "truncate"),
    ),
    "llama3": Rule(_llama3, _LLAMA3),
    "longrope": Rule(
        _longrope,
        ("short_factor", "long_factor", "original_max_position_embeddings"),
        ("factor", "attention_factor"),
    ),
    "proportional": Rule(_proportional, (), ("factor",)),
}
