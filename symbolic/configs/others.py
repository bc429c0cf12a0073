"""Positions that are no rotation: ALiBi, learned vectors, none at all."""

from __future__ import annotations

import sympy as sp

from ..catalogue.alibi import slopes
from ..errors import BadInput
from ..exact import positive
from ..frequencies import as_written
from ..walk import shown
from .description import Alibi, Learned, Unrotated
from .doors import flag, table, word
from .families import LEARNED
from .heads import head_count, positions
from .source import Source

_RECURRENT = "its attention layers carry no position; the recurrent layers know the order"
_NO_POSITIONS = ("jamba", "kimi_linear", "nemotron_h")


def elsewhere(source: Source) -> Alibi | Learned | Unrotated | None:
    """The encoding of all layers, where it is no rotation; None where rotary keys decide."""
    given = source.given
    kind = word(given, "model_type")
    if kind in _NO_POSITIONS:
        return Unrotated(_RECURRENT)
    if kind == "granitemoehybrid" and given.get("position_embedding_type") != "rope":
        return Unrotated(f"position_embedding_type is not rope: {_RECURRENT}")
    found = _alibi(source)
    if found is None and kind in (*LEARNED, "mpt"):
        return Learned(positions(given))
    return found


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
        source.note("alibi", "bias and score are divided by √d together, and slopes rounded to bfloat16")
    return Alibi(tuple(m ** (reach / 8) for m in slopes(heads)), scaled)
