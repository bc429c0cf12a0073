"""Heads and their features: how many there are, how wide a head is, how many of its features turn."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import BadInput
from ..exact import exact_entry
from ..frequencies import as_written
from ..rounding import floor
from ..walk import shown
from .doors import whole_number
from .source import LENGTHS, Source

WIDEST = 1024  # features of a head


def positions(given: Mapping) -> int | None:
    """The model's length."""
    return whole_number(given, *LENGTHS)


def head_count(given: Mapping) -> int | None:
    """Query heads."""
    return whole_number(given, "num_attention_heads", "n_head", "n_heads", "num_heads", most=WIDEST)


def is_latent(given: Mapping) -> bool:
    """Multi-head latent attention: a part of the head of its own turns."""
    return given.get("kv_lora_rank") is not None and given.get("qk_rope_head_dim") is not None


def head_size(source: Source, kind: str | None) -> int:
    """Features of the part of a head that may turn: qk_rope_head_dim, head_dim, or hidden size over heads."""
    given = source.given
    if is_latent(given):
        size = whole_number(given, "qk_rope_head_dim", most=WIDEST) or 0
        source.note(
            "qk_rope_head_dim",
            f"{size} features of a head turn, in a part of their own (MLA); the others carry no position",
        )
        return size
    if kind == "full_attention" and given.get("global_head_dim") is not None:
        return whole_number(given, "global_head_dim", most=WIDEST) or 0
    size = whole_number(given, "head_dim", "kv_channels", "attention_head_dim", most=WIDEST)
    width, heads = whole_number(given, "hidden_size", "n_embd", "d_model"), head_count(given)
    if size is None:
        return _divided(given, width, heads)
    if width is not None and heads is not None and width != size * heads:
        source.note(
            "head_dim", f"{size}, as written, and not hidden_size / num_attention_heads = {width / heads:g}"
        )
    return size


def _divided(given: Mapping, width: int | None, heads: int | None) -> int:
    if width is None and heads is None and given.get("model_type") is None:
        keys = [str(key) for key in given]
        shown_keys = ", ".join(keys[:4]) + (", …" if len(keys) > 4 else "")
        what = f"only {shown_keys}" if keys else "nothing at all"
        raise BadInput(
            f"config has no model_type, no hidden_size and no head_dim, {what}; it is no model's config, but "
            "head_dim, or hidden_size and num_attention_heads, makes it one"
        )
    if width is None or heads is None:
        raise BadInput("config has no head_dim, nor hidden_size and num_attention_heads; one of them works")
    if width % heads:
        raise BadInput(f"hidden_size {width} is no multiple of num_attention_heads {heads}; give head_dim")
    return width // heads


def rotated(source: Source, left: dict[str, object], head_dim: int) -> int:
    """How many features turn, from partial_rotary_factor, rotary_dim or rotary_pct, which must agree.

    Takes partial_rotary_factor out of the mapping `left`, except for p-RoPE, which counts the whole head.
    """
    if left["rope_type"] == "proportional":
        return head_dim
    share = left.pop("partial_rotary_factor", None)
    if is_latent(source.given):  # the share counts the whole head, of which this part is taken already
        return head_dim
    size, key = _said(source, share, head_dim)
    if size == head_dim:
        return size
    if not 2 <= size <= head_dim or size % 2:
        raise BadInput(
            f"{key} makes {size} of {head_dim} features turn; an even number from 2 to {head_dim} works"
        )
    return _followed(source, size, head_dim, str(left["rope_type"]), key)


def _said(source: Source, share: object, head_dim: int) -> tuple[int, str]:
    """The number of features that the keys ask for, and the key that does."""
    given, family, key = source.given, source.family, "partial_rotary_factor"
    percent = given.get("rotary_pct")
    if percent is not None and share not in (None, percent):
        raise BadInput(f"{key} is {shown(share)} and rotary_pct is {shown(percent)}; give one of them")
    if share is None and percent is not None:
        share, key = percent, "rotary_pct"
    size = whole_number(given, "rotary_dim", most=WIDEST)
    if share is None and size is None and family is not None and family.share is not None:
        share = family.share
        source.note(key, f"it is absent; {source.model_type} then takes {share:g}")
    if share is None:
        return head_dim if size is None else size, "rotary_dim"
    counted = _share_of(share, key, head_dim)
    if size not in (None, counted):
        raise BadInput(
            f"rotary_dim is {size}, but {key} is {shown(share)}, which is {counted} of {head_dim} features; "
            "give one of them"
        )
    return counted, key if size is None else "rotary_dim"


def _share_of(share: object, key: str, head_dim: int) -> int:
    portion = exact_entry(as_written(share), key)
    if not 0 < portion <= 1:
        raise BadInput(f"{key} is {shown(share)}; a number above 0 and at most 1 works")
    return int(floor(portion * head_dim, f"{key} · head_dim"))


def _followed(source: Source, size: int, head_dim: int, rule: str, key: str) -> int:
    """The part that turns, unless the model's code is known to turn all of the head nevertheless."""
    guess = ""
    if rule == "default" and key != "rotary_dim":
        if source.family is None:
            guess = f"; some models ignore the key, and {source.unknown}"
        elif not source.family.partial:
            source.note(
                key, f"{source.model_type} ignores it with rope_type 'default': all {head_dim} features turn"
            )
            return head_dim
    source.note(
        key,
        f"{size} of {head_dim} features turn, the exponents count {size}, and the others carry no position; "
        f"rope_type 'proportional' would count the whole head{guess}",
    )
    return size
