"""The page that `exptx inspect` prints: a name and a text a line, a block for each kind of layer."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import Any

from ...symbolic.configs.description import LENGTH_DEPENDENT, STRETCHED
from .planes import spans

WIDTH, LINE = 12, 112
Document = dict[str, Any]
Row = tuple[str, Any]


def lines(document: Document, name: str) -> list[str]:
    """The page, line by line; `name` is what the file is called."""
    shown = [head(document, name)]
    for group in document["groups"]:
        shown += ["", *block(list(rows(group)))]
    told = notes(document)
    return [
        *shown,
        *(["", "Keys that have other meanings elsewhere, or were absent:", *block(told)] if told else []),
    ]


def head(document: Document, name: str) -> str:
    """The file, the model, its layers and its length."""
    facts = [document["model_type"] or "no model_type"]
    facts += [f"{document['layers']} layers"] if document["layers"] else []
    length = document["max_position_embeddings"]
    facts += [f"{length} positions"] if length else []
    return f"{name}: {', '.join(facts)}"


def notes(document: Document) -> list[Row]:
    """What was noted about keys."""
    return [(note["key"], note["note"]) for note in document["notes"]]


def block(rows: list[Row]) -> list[str]:
    """Names in front, texts beside them, wrapped."""
    width = max(WIDTH, *(len(name) + 1 for name, text in rows if text)) if rows else WIDTH
    return [line for name, text in rows if text for line in _wrapped(name, text, width)]


def _wrapped(name: str, text: str, width: int) -> list[str]:
    """The text behind its name, its further lines below its first."""
    first, rest = f"{name + ':':{width}} ", " " * (width + 1)
    return wrap(text, LINE, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)


def rows(group: Document) -> Iterator[Row]:
    """The facts of one kind of layer, by name."""
    where = f"{spans(group['layers'])} ({len(group['layers'])})" if group["layers"] else "all"
    yield "layers", where + (f", {group['layer_type']}" if group["layer_type"] else "")
    yield "encoding", group["sentence"]
    if group["encoding"] == "rotary":
        yield from _rotary(group)
    if group["encoding"] == "alibi":
        yield "slopes", _slopes(group["slopes"])
        if group["bias_at_context"]:
            ends = max(group["bias_at_context"]), min(group["bias_at_context"])
            yield "in context", f"the bias of the largest gap is {ends[0]:.6g} to {ends[1]:.6g}"
    for hazard in group["cache"]:
        yield "cache", hazard
    for row in group["differences"]:
        yield "differs", f"{row['about']}: {row['here']}; elsewhere {row['elsewhere']} ({row['who']})"


def _slopes(slopes: list[float]) -> str:
    shown = [f"{m:.6g}" for m in slopes]
    return ", ".join(shown if len(shown) <= 8 else [*shown[:4], "…", *shown[-2:]])


def _rotary(group: Document) -> Iterator[Row]:
    if group["ramp"]:
        parts = group["ramp"]
        yield "rule", ", ".join(f"planes {spans(parts[part])} {part}" for part in parts if parts[part])
    at = f", in a text of {group['length']} positions" if group["rule"] in LENGTH_DEPENDENT else ""
    turning = [period for period in group["periods"] if period is not None]
    yield (
        "periods",
        f"{turning[0]:.6g} to {max(turning):.6g} positions a turn, {len(turning)} planes, fastest first{at}",
    )
    if group["held"]:
        yield "held", f"planes {spans(group['held'])} have frequency 0 and carry no position"
    yield from _turns(group)
    yield "amplitude", _amplitude(group["amplitude"])
    yield from _precision(group["precision"])


def _turns(group: Document) -> Iterator[Row]:
    reach, trained = group["reach"], group["trained_length"]
    before = reach if trained is None else min(trained, group["window"] or trained)
    if group["short_in_training"] is not None and (before != reach or group["rule"] in STRETCHED):
        how = " with the plain table" if group["rule"] in STRETCHED else ""
        yield "in training", _short(group["short_in_training"], _within(before, group["window"])) + how
    yield "in context", _short(group["short_in_context"], _within(reach, group["window"]))


def _within(length: int, window: int | None) -> str:
    return f"the window of {length} positions" if length == window else f"{length} positions"


def _precision(found: Document) -> Iterator[Row]:
    """One row a format; radians of the worst plane, of which π is as wrong as can be."""
    yield (
        "precision",
        f"at position {found['position']}, in radians of the worst plane (from π on, the angle is lost): "
        f"float64 angles within {found['float64']:.2g}, float32 ones as transformers forms them within "
        f"{_off(found['float32'])}",
    )
    for name in ("bfloat16", "float16"):
        read = found["positions"][name]
        place = "overflows" if read["read"] is None else f"is read as {read['read']:.0f}"
        yield (
            name,
            f"frequencies stored so are off by {_off(found['frequencies'][name])}, angles by "
            f"{_off(found['angles'][name])}; position {found['position']} {place}, and {read['distinct']} of "
            f"{found['position'] + 1} positions stay apart, every one up to {read['whole']}",
        )


def _off(found: Document) -> str:
    size = found["radians"]
    return f"{size:.0f}" * (size >= 100) + f"{size:.2g}" * (size < 100) + f" (plane {found['plane']})"


def _short(found: list[int], span: str) -> str:
    if not found:
        return f"every plane completes a turn within {span}"
    return f"{len(found)} planes ({spans(found)}) never complete a turn within {span}"


def _amplitude(found: Document) -> str:
    if found["cos_sin"] == 1:
        what = "1: cos and sin are as they are"
    else:
        value = f"{found['cos_sin']:.9g} = {found['exact']}"
        what = f"{value} on cos and sin of queries and keys, so logits carry {found['logits']:.9g}"
    if found["softmax"] != 1:
        what += f"; the attention multiplies the scale of its logits by {found['softmax']:.9g} more"
    return what
