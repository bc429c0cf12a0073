"""The page that `exptx inspect` prints: a name and a text a line, a block for each kind of layer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .planes import spans

WIDTH = 11
Document = dict[str, Any]
Row = tuple[str, Any]


def lines(document: Document, name: str) -> list[str]:
    """The page, line by line; `name` is what the file is called."""
    model = document["model_type"] or "no model_type"
    count = f", {document['layers']} layers" if document["layers"] else ""
    length = document["max_position_embeddings"]
    shown = _block([("config", f"{name}: {model}{count}{f', {length} positions' if length else ''}")])
    for group in document["groups"]:
        shown += ["", *_block(list(_group(group, document["context"])))]
    notes = [(note["key"], note["note"]) for note in document["notes"]]
    return shown + (
        ["", "Keys that mean different things in different places, or that were absent:", *_block(notes)]
        if notes
        else []
    )


def _block(rows: list[Row]) -> list[str]:
    width = max(WIDTH, *(len(name) + 1 for name, text in rows if text)) if rows else WIDTH
    return [f"{name + ':':{width}} {text}" for name, text in rows if text]


def _group(group: Document, context: int | None) -> Iterator[Row]:
    where = f"{spans(group['layers'])} ({len(group['layers'])})" if group["layers"] else "all"
    yield "layers", where + (f", {group['layer_type']}" if group["layer_type"] else "")
    yield "encoding", group["sentence"]
    if group["encoding"] == "rotary":
        yield from _rotary(group, context)
    if group["encoding"] == "alibi":
        yield "slopes", ", ".join(f"{m:.6g}" for m in group["slopes"])


def _rotary(group: Document, context: int | None) -> Iterator[Row]:
    if group["ramp"]:
        parts = group["ramp"]
        yield "rule", ", ".join(f"planes {spans(parts[part])} {part}" for part in parts if parts[part])
    turning = [period for period in group["periods"] if period is not None]
    yield (
        "periods",
        f"{turning[0]:.6g} to {max(turning):.6g} positions a turn, {len(turning)} planes, the fastest first",
    )
    if group["held"]:
        yield "held", f"planes {spans(group['held'])} have frequency 0 and carry no position"
    reach, trained = group["reach"], group["trained_length"]
    yield "in training", _short(group["short_in_training"], min(reach, trained))
    if min(reach, trained) != reach:
        yield "in context", _short(group["short_in_context"], reach)
    yield "amplitude", _amplitude(group["amplitude"])


def _short(found: list[int], length: int) -> str:
    if not found:
        return f"every plane completes a turn within {length} positions"
    return f"{len(found)} planes ({spans(found)}) never complete a turn within {length} positions"


def _amplitude(found: Document) -> str:
    if found["cos_sin"] == 1:
        what = "1: cos and sin are as they are"
    else:
        value = f"{found['cos_sin']:.9g} = {found['exact']}"
        what = f"{value} on cos and sin of queries and keys, so logits carry {found['logits']:.9g}"
    if found["softmax"] != 1:
        what += f"; the attention multiplies the scale of its logits by {found['softmax']:.9g} more"
    return what
