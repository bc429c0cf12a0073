"""Which layer is of which type, how far its queries see, and whether it turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import BadInput, WrongType
from ..walk import shown
from .doors import flag, row, whole_number
from .families import MIXERS, Family

MOST_LAYERS = 4096
FULL, SLIDING, CHUNKED = "full_attention", "sliding_attention", "chunked_attention"
_ALL_SLIDING = ("mistral", "mixtral", "phi3", "starcoder2", "phimoe", "phi4_multimodal")
_FULL_WINDOW = ("attention", "full", "global")


@dataclass(frozen=True)
class Layer:
    """One layer: its type, how many positions a query sees at most, and whether positions turn its heads."""

    kind: str | None
    window: int | None = None
    turns: bool = True


def layer_plan(given: Mapping, family: Family | None) -> tuple[Layer, ...]:
    """A `Layer` for each layer; none where the config does not say how many there are."""
    count = whole_number(given, "num_hidden_layers", "n_layer", "n_layers", "num_layers", most=MOST_LAYERS)
    window = _window(given)
    if not flag(given, "use_sliding_window", True):
        window = None
    if count is None:
        return ()
    if given.get("no_rope_layers") is not None or given.get("model_type") in ("llama4_text", "smollm3"):
        return _without_some(given, count, window)
    kinds = _kinds(given, family, count, window)
    spans = {SLIDING: window, CHUNKED: whole_number(given, "attention_chunk_size")}
    held = family is not None and family.unrotated_full and SLIDING in kinds
    return tuple(
        Layer(kind, spans.get(kind or ""), kind not in MIXERS and not (held and kind == FULL))
        for kind in kinds
    )


def _window(given: Mapping) -> int | None:
    """Positions that sliding layers see, the query among them; local_attention counts both sides."""
    local = whole_number(given, "local_attention")
    if local is not None:
        return local // 2 + 1
    return whole_number(given, "sliding_window")


def _kinds(given: Mapping, family: Family | None, count: int, window: int | None) -> list[str | None]:
    """The layer types: as listed, or by a pattern."""
    listed = row(given, "layer_types")
    if listed is not None:
        if len(listed) != count:
            raise BadInput(
                f"layer_types has {len(listed)} entries, but there are {count} layers; one a layer works"
            )
        if wrong := [kind for kind in listed if not isinstance(kind, str)]:
            raise WrongType(f"layer_types has {shown(wrong[0])}; names of layer types work")
        return [FULL if kind in _FULL_WINDOW else kind for kind in listed]
    if given.get("model_type") == "jamba":
        return _now_and_then(given, count)
    every = whole_number(given, "full_attention_interval", "global_attn_every_n_layers", most=MOST_LAYERS)
    if every is None and not isinstance(given.get("sliding_window_pattern"), str):
        every = whole_number(given, "sliding_window_pattern", "_sliding_window_pattern", most=MOST_LAYERS)
    if isinstance(pattern := given.get("sliding_window_pattern"), str):
        return _lettered(pattern, count)
    every = every if every is not None or family is None else family.every
    if every is not None and (window is not None or (family is not None and family.every)):
        other = "linear_attention" if "full_attention_interval" in given else SLIDING
        last = 0 if family is not None and family.first else every - 1
        return [FULL if i % every == last else other for i in range(count)]
    if given.get("model_type") == "gemma2":
        return [FULL if i % 2 else SLIDING for i in range(count)]
    if window is None:
        return [None] * count
    above = whole_number(given, "max_window_layers", least=0, most=MOST_LAYERS)
    if above is None and given.get("model_type") in _ALL_SLIDING:
        above = 0
    return [None] * count if above is None else [SLIDING if i >= above else FULL for i in range(count)]


def _now_and_then(given: Mapping, count: int) -> list[str | None]:
    """Jamba: layer i attends where i % attn_layer_period is attn_layer_offset."""
    period = whole_number(given, "attn_layer_period", most=MOST_LAYERS) or 8
    offset = whole_number(given, "attn_layer_offset", least=0, most=MOST_LAYERS)
    first = 4 if offset is None else offset
    return [FULL if i % period == first else "mamba" for i in range(count)]


def _lettered(pattern: str, count: int) -> list[str | None]:
    """LLLG, over and over: L sliding, G full; the last layer is full."""
    if not pattern or set(pattern) - {"L", "G"}:
        raise BadInput(f"sliding_window_pattern is {shown(pattern)}; a number, or letters L and G, works")
    kinds: list[str | None] = [SLIDING if pattern[i % len(pattern)] == "L" else FULL for i in range(count)]
    return [*kinds[:-1], FULL]


def _without_some(given: Mapping, count: int, window: int | None) -> tuple[Layer, ...]:
    """no_rope_layers has 1 where a layer turns and 0 where it does not; without it every n-th does not."""
    turning = row(given, "no_rope_layers")
    if not turning:
        every = whole_number(given, "no_rope_layer_interval", most=MOST_LAYERS) or 4
        turning = [int((i + 1) % every != 0) for i in range(count)]
    if len(turning) != count or any(isinstance(x, bool) or x not in (0, 1) for x in turning):
        raise BadInput(
            f"no_rope_layers is {shown(turning)}; {count} entries work, 1 for a layer that turns, "
            "0 for one that does not"
        )
    chunk = whole_number(given, "attention_chunk_size")
    listed = row(given, "layer_types")
    if listed is not None and len(listed) == count:
        spans = {SLIDING: window, CHUNKED: chunk}
        return tuple(Layer(kind, spans.get(kind), bool(on)) for kind, on in zip(listed, turning, strict=True))
    if given.get("model_type") == "smollm3":
        return tuple(
            Layer(FULL if on or window is None else SLIDING, None if on else window, bool(on))
            for on in turning
        )
    return tuple(Layer(CHUNKED if on and chunk else FULL, chunk if on else None, bool(on)) for on in turning)
