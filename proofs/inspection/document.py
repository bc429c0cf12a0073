"""The document of `exptx inspect`: every fact that is printed, as JSON would hold it."""

from __future__ import annotations

import math
from typing import Any

import sympy as sp

from ...numeric.constants import nearest_float
from ...symbolic.configs.description import Alibi, Layers, Learned, ModelConfig, Rotary
from ...symbolic.errors import BadInput
from ...symbolic.frequencies import as_written
from ...symbolic.scaling import length as checked_length
from ...symbolic.typeset import to_text
from . import planes, sentences
from .caches import hazards
from .differences import differences
from .precision import precision

Document = dict[str, Any]
SCHEMA = "exptx-inspect/1"


def document(model: ModelConfig, context: int | None = None, layer_type: str | None = None) -> Document:
    """What `model` says of positions, for texts of `context` positions (the model's length without it).

    layer_type: only the layers of this type. BadInput where the length is needed and nothing says it.
    """
    groups = model.groups
    if layer_type is not None:
        model.group(layer_type)
        groups = tuple(group for group in groups if group.kind == layer_type)
    length = _context(model, groups, context)
    return {
        "schema": SCHEMA,
        "model_type": model.model_type,
        "part": model.part,
        "layers": model.layer_count,
        "max_position_embeddings": model.max_position_embeddings,
        "context": length,
        "groups": [_group(group, length) for group in groups],
        "notes": [{"key": key, "note": note} for key, note in model.notes],
    }


def _context(model: ModelConfig, groups: tuple[Layers, ...], asked: int | None) -> int | None:
    """The length that was asked for, or the longest that config and rules speak of."""
    if asked is not None:
        return checked_length(asked, "context")
    known = [model.max_position_embeddings] if model.max_position_embeddings else []
    for group in groups:
        if isinstance(group.encoding, Rotary) and group.encoding.rule == "yarn":
            first, factor = group.encoding.trained_length, group.encoding.parameters.get("factor")
            if first is not None and factor is not None:
                known.append(int(sp.floor(first * as_written(factor))))
    if not known and any(isinstance(group.encoding, Rotary) for group in groups):
        raise BadInput("config has no max_position_embeddings; give --context, the length of a text")
    return max(known) if known else None


def _group(group: Layers, context: int | None) -> Document:
    encoding = group.encoding
    if isinstance(encoding, Rotary):
        encoding.frequencies(context or 1)  # refuses numbers that are none, before anything is said of them
    found: Document = {
        "layer_type": group.kind,
        "layers": list(group.indices),
        "window": group.window,
        "sentence": sentences.encoding(group, _span(group.window, context)),
    }
    found["cache"] = hazards(group)
    found["differences"] = differences(encoding, context)
    if isinstance(encoding, Rotary):
        return {**found, "encoding": "rotary", **_rotary(encoding, context or 1, group.window)}
    if isinstance(encoding, Alibi):
        return {**found, "encoding": "alibi", **_alibi(encoding, context)}
    if isinstance(encoding, Learned):
        return {**found, "encoding": "learned", "count": encoding.count}
    return {**found, "encoding": "none"}


def _span(window: int | None, context: int | None) -> int | None:
    """The window, where it is shorter than the text."""
    return window if window is not None and (context is None or window < context) else None


def _rotary(encoding: Rotary, context: int, window: int | None) -> Document:
    found = encoding.frequencies(context)
    rates = planes.floats(found)
    trained = encoding.trained_length
    reach = context if window is None else min(context, window)
    return {
        "head_dim": encoding.head_dim,
        "rotary_dim": encoding.rotary_dim,
        "rope_theta": nearest_float(as_written(encoding.parameters["rope_theta"]), name="rope_theta"),
        "rule": encoding.rule,
        "length": context,
        "parameters": {key: _plain(value) for key, value in encoding.parameters.items()},
        "interleaved": encoding.interleaved,
        "sections": list(encoding.sections),
        "section_layout": encoding.section_layout,
        "frequencies": rates,
        "periods": [2 * math.pi / w if w else None for w in rates],
        "ramp": planes.ramp(encoding, found) if encoding.rule in ("yarn", "llama3") else None,
        "held": planes.held(found),
        "trained_length": trained,
        "reach": reach,
        "short_in_training": _in_training(encoding, trained, window),
        "short_in_context": planes.short_of_a_turn(found, reach),
        "amplitude": _amplitude(encoding, found.attention_factor),
        "precision": precision(encoding, found, rates, context),
    }


def _in_training(encoding: Rotary, trained: int | None, window: int | None) -> list[int] | None:
    """The planes that did not come round within the length of training, before a rule was put on."""
    if trained is None or encoding.rule == "linear":  # whose config does not say the length of training
        return None
    before = planes.plain(encoding) if encoding.stretches else encoding.frequencies(trained)
    return planes.short_of_a_turn(before, trained if window is None else min(trained, window))


def _plain(value: object) -> object:
    """A parameter as JSON holds it."""
    return (
        to_text(value) if isinstance(value, sp.Basic) else list(value) if isinstance(value, tuple) else value
    )


def _amplitude(encoding: Rotary, m: sp.Expr) -> Document:
    exact = to_text(m)
    return {
        "cos_sin": nearest_float(m, name="the amplitude"),
        "exact": exact,
        "logits": nearest_float(m**2, name="the amplitude"),
        "softmax": nearest_float(encoding.softmax_factor, name="the softmax factor"),
    }


def _alibi(encoding: Alibi, context: int | None) -> Document:
    slopes = [nearest_float(m, name="a slope") for m in encoding.slopes]
    return {
        "slopes": slopes,
        "scaled": encoding.scaled,
        "bias_at_context": [-m * (context - 1) for m in slopes] if context else None,
    }
