"""Positions that are no rotation: ALiBi, learned vectors, none at all."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from ..catalogue.alibi import slopes
from ..errors import BadInput
from ..exact import positive
from ..frequencies import as_written
from ..walk import shown
from .description import Alibi, Learned, Unrotated
from .doors import flag, table, word
from .families import FAMILIES, LEARNED, RECURRENT
from .heads import head_count, positions
from .source import Source

_ELSEWHERE = {  # refused by name: what their positions are instead
    **dict.fromkeys(("t5", "mt5", "umt5", "longt5"), "a learned bias for buckets of gaps"),
    **dict.fromkeys(("deberta", "deberta-v2"), "learned vectors for gaps between content and position"),
    "whisper": "sinusoids added to the sound, and learned vectors added to the text",
    **dict.fromkeys(
        ("bart", "mbart", "pegasus", "marian"), "vectors added to the inputs of an encoder and a decoder"
    ),
}
_BIASES = ("alibi", "relative_key", "relative_key_query")
_RECURRENT = "its attention layers carry no position; the recurrent layers know the order"
_NO_ATTENTION = ("mamba", "mamba2", "falcon_mamba", "rwkv")
_NO_POSITIONS = ("jamba", "kimi_linear", "nemotron_h")


def elsewhere(source: Source) -> Alibi | Learned | Unrotated | None:
    """The encoding of all layers, where it is no rotation; None where rotary keys decide."""
    given = source.given
    kind = word(given, "model_type")
    _refuse_others(given, kind)
    if kind in _NO_ATTENTION:
        return Unrotated(f"there is no attention: {RECURRENT}")
    if kind in _NO_POSITIONS:
        return Unrotated(_RECURRENT)
    if kind == "granitemoehybrid" and given.get("position_embedding_type") != "rope":
        return Unrotated(f"position_embedding_type is not rope: {_RECURRENT}")
    found = _alibi(source)
    if found is None and kind in (*LEARNED, "mpt"):
        return Learned(positions(given))
    return found


def _refuse_others(given: Mapping, kind: str | None) -> None:
    """Refuse encodings that are not described here, and ALiBi where the model's code has none."""
    if kind in _ELSEWHERE:
        raise BadInput(
            f"model_type {kind!r} has {_ELSEWHERE[kind]}; rotary positions, ALiBi, learned vectors and no "
            "positions are described here"
        )
    said = word(given, "position_embedding_type")
    if said in _BIASES and not (said == "alibi" and flag(given, "alibi", kind == "bloom")):
        raise BadInput(
            f"position_embedding_type is {said!r}, which is not described here; write alibi: true for ALiBi, "
            "or leave it out where rotary keys hold"
        )
    if kind in FAMILIES and kind != "falcon" and flag(given, "alibi", False):
        raise BadInput(f"alibi is true, but model_type {kind!r} has no ALiBi in its code; leave it out")


def _alibi(source: Source) -> Alibi | None:
    """BLOOM always, others where `alibi` is true: slopes of the paper for the number of heads."""
    given, kind = source.given, word(source.given, "model_type")
    inner = table(given, "attn_config") or {}
    inside = {**given, **{key: inner[key] for key in ("alibi", "alibi_bias_max") if key in inner}}
    if not (kind == "bloom" or flag(inside, "alibi", kind == "mpt")):
        return None
    heads = head_count(given)
    if heads is None:
        raise BadInput("config has ALiBi but no number of heads; n_head or num_attention_heads works")
    reach = positive(as_written(inside.get("alibi_bias_max", 8)), "alibi_bias_max")
    if not sp.Rational(1, 64) <= reach <= 64:
        raise BadInput(f"alibi_bias_max is {shown(inside['alibi_bias_max'])}; a number from 1/64 to 64 works")
    for key in ("rope_theta", "rope_scaling", "rope_parameters"):
        if given.get(key) is not None:
            source.note(key, "nothing reads it: with ALiBi nothing turns")
    if heads & (heads - 1):
        source.note(
            "num_attention_heads",
            f"{heads} is no power of two, so the slopes are two lists, as in the authors' code, "
            "and not the one formula of the paper",
        )
    scaled = kind == "falcon"
    if scaled:
        source.note(
            "alibi",
            "bias and score are divided by √d together; slopes, and then slope times key position, are "
            "rounded to the 8 bits of bfloat16",
        )
    return Alibi(tuple(m ** (reach / 8) for m in slopes(heads)), scaled)
