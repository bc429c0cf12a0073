"""`read_config`: the one door through which a config becomes a description of its positions."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import BadInput, WrongType
from ..walk import shown
from .description import Encoding, Layers, ModelConfig, Unrotated
from .doors import flag, table, text_keys, whole_number, word
from .families import BOTH_WAYS, MIXERS
from .heads import positions
from .layers import CHUNKED, Layer, layer_plan
from .others import elsewhere
from .parameters import by_layer_type
from .rotary import rotary
from .source import UNREAD, Source

_PARTS = ("text_config", "llm_config", "language_config", "thinker_config")
_ROPE = ("rope_theta", "rope_scaling", "rope_parameters", "rotary_emb_base", "rotary_dim", "rotary_pct")
_POSITIONAL = {"rope", "rotary", "alibi", "yarn", "ntk", "mscale"}
_KNOWN = (
    *_ROPE,
    "rope_local_base_freq",
    "global_rope_theta",
    "local_rope_theta",
    "partial_rotary_factor",
    "qk_rope_head_dim",
    "no_rope_layers",
    "no_rope_layer_interval",
    "rope_interleave",
    "alibi",
    "alibi_bias_max",
    "rotary",
    *UNREAD,
)


def read_config(config: object) -> ModelConfig:
    """What a config, as json.load gives it, says about positions.

    config: a mapping with text keys; of a config of several parts the text part is read. Errors: WrongType
    and BadInput, one sentence that names the key: values of the wrong kind, keys about positions that are not
    known, two keys that contradict each other, and what models read in different ways.
    """
    if not isinstance(config, Mapping):
        raise WrongType(f"config is a {type(config).__name__}; a mapping, as config.json holds it, works")
    given, part = _text_part(text_keys(config, "config"))
    source = Source.of(given)
    if part is not None:
        source.note(part, "this part is described; other parts of the model have positions of their own")
    _refuse_unknown(given)
    plan = layer_plan(given, source.family)
    both_ways = word(given, "model_type") in BOTH_WAYS and not flag(given, "is_decoder", False)
    groups = _grouped(_encodings(source, plan), bool(plan), both_ways)
    notes, length = tuple(source.notes), positions(source.given)
    return ModelConfig(word(given, "model_type"), part, len(plan) or None, length, groups, notes)


def _text_part(config: Mapping) -> tuple[Mapping, str | None]:
    """The mapping that describes the text model, and its name where it is a part."""
    if any(config.get(key) is not None for key in _ROPE):
        _refuse_two_bases(config)
        return config, None
    for name in _PARTS:
        inner = table(config, name)
        if inner is not None:
            deeper, further = _text_part(inner)
            return deeper, name if further is None else f"{name}.{further}"
    return config, None


def _refuse_two_bases(config: Mapping) -> None:
    """A config that speaks of the text model in itself and in a part of it must say one base."""
    for name in _PARTS:
        inner, base = table(config, name) or {}, config.get("rope_theta")
        if base is not None and inner.get("rope_theta") not in (None, base):
            raise BadInput(
                f"rope_theta is {shown(base)}, and {shown(inner['rope_theta'])} in {name}; "
                "readers take one or the other"
            )


def _refuse_unknown(given: Mapping) -> None:
    """Refuse keys with a word about positions in their name that nothing here reads."""
    strange = [
        key
        for key, value in given.items()
        if value is not None
        and key not in _KNOWN
        and (key, given.get("model_type")) != ("rope_ratio", "chatglm")
        and _POSITIONAL & set(key.lower().split("_"))
    ]
    if strange:
        raise BadInput(f"config has {', '.join(sorted(strange))}, unknown here; known: {', '.join(_KNOWN)}")


def _encodings(source: Source, plan: tuple[Layer, ...]) -> list[tuple[Layer, Encoding]]:
    """Each layer of the plan with its encoding; one of each type where the number of layers is not known."""
    everywhere = elsewhere(source)
    if everywhere is not None:
        mixers = {kind: Unrotated(why) for kind, why in MIXERS.items()}
        return [(layer, mixers.get(layer.kind or "", everywhere)) for layer in plan or (Layer(None),)]
    found = by_layer_type(source)
    layers = plan or tuple(Layer(kind) for kind in found)
    made: dict[str | None, Encoding] = {}
    for layer in layers:
        if layer.turns and layer.kind not in made:
            made[layer.kind] = _of_kind(source, layer.kind, found)
    return [(x, made[x.kind] if x.turns else Unrotated(_why(source, x))) for x in layers]


def _of_kind(source: Source, kind: str | None, found: Mapping) -> Encoding:
    """The encoding of the layers of one type."""
    if kind not in found and None not in found:
        raise BadInput(
            f"there are layers of type {kind}, but rope_parameters has {', '.join(map(str, found))}"
        )
    one = found.get(kind, found.get(None))
    return Unrotated("their rope_parameters are null") if one is None else rotary(source, one, kind)


def _why(source: Source, layer: Layer) -> str:
    """How the order of tokens is known where nothing turns."""
    if layer.kind in MIXERS:
        return MIXERS[layer.kind]
    return "NoPE: only the causal mask, and layers that turn, know the order" + _growth(source.given)


def _growth(given: Mapping) -> str:
    """Llama 4 scales queries by their position where nothing turns."""
    scaled = given.get("model_type") in ("llama4", "llama4_text")
    if not scaled or given.get("attn_temperature_tuning") in (0, False):
        return ""
    scale, first = given.get("attn_scale", 0.1), whole_number(given, "floor_scale") or 8192
    return f"; besides, the query at position t is multiplied by 1 + {shown(scale)}·ln(1 + ⌊(t + 1)/{first}⌋)"


def _grouped(found: list[tuple[Layer, Encoding]], counted: bool, both_ways: bool) -> tuple[Layers, ...]:
    """Layers of one type, encoding and window together, in the order of their first one."""
    groups: list[tuple[tuple[Layer, Encoding], list[int]]] = []
    for i, one in enumerate(found):
        same = next((indices for known, indices in groups if known == one), None)
        if same is None:
            groups.append((one, [i]))
        else:
            same.append(i)
    return tuple(
        Layers(
            layer.kind,
            tuple(indices) if counted else (),
            encoding,
            layer.window,
            both_ways,
            layer.kind == CHUNKED,
        )
        for (layer, encoding), indices in groups
    )
