"""What a config says about positions, as frozen data: groups of layers, each with its encoding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import sympy as sp

from ..errors import BadInput
from ..frequencies import frequencies
from ..scaling import Frequencies
from ..walk import shown

LENGTH_DEPENDENT = ("dynamic", "longrope")
STRETCHED = ("yarn", "llama3", "longrope")  # rules that name the length of training


@dataclass(frozen=True)
class Rotary:
    """Planes of features turn by ωt, ω from `frequencies`.

    head_dim: features of the part of a head that turns or may turn; rotary_dim: how many of them the rule
    turns. rule: the rope_type; parameters: what `symbolic.frequencies` is given. interleaved: planes
    (2k, 2k+1), else (k, k + rotary_dim/2); None where nothing is known of the model's code. sections: planes
    of each axis (M-RoPE), in the layout "chunked", "interleaved" or "alternating" (as the sections come, and
    again). mscales: amplitude up to the original length and beyond, where they are given apart.
    softmax_factor: what the model multiplies the scale of its logits with, besides 1/√d. apart: features of a
    head that lie in another part and carry no position (multi-head latent attention). nested: the mapping
    stood inside one for each layer type.
    """

    head_dim: int
    rotary_dim: int
    rule: str
    parameters: Mapping[str, Any]
    max_position_embeddings: int | None = None
    interleaved: bool | None = None
    sections: tuple[int, ...] = ()
    section_layout: str | None = None
    mscales: tuple[Any, Any] | None = None
    softmax_factor: sp.Expr = field(default=sp.S.One)
    nested: bool = False
    apart: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", MappingProxyType(dict(self.parameters)))

    def __reduce__(self) -> tuple[Any, ...]:
        """A read-only view of a mapping cannot be sent to another process; the mapping can."""
        given = [getattr(self, name) for name in self.__dataclass_fields__]
        return Rotary, tuple(dict(v) if isinstance(v, MappingProxyType) else v for v in given)

    @property
    def length_dependent(self) -> bool:
        """Whether the frequencies change with the length of the text."""
        return self.rule in LENGTH_DEPENDENT

    @property
    def stretches(self) -> bool:
        """Whether the rule was put on a model that had been trained with the plain table."""
        return self.rule in (*STRETCHED, "dynamic")

    @property
    def trained_length(self) -> int | None:
        """The length that the rule stretches, in positions; else the model's length."""
        named = self.parameters.get("original_max_position_embeddings")
        if self.rule in STRETCHED and named is not None:
            return int(named)
        return self.max_position_embeddings

    def frequencies(self, seq_len: int | None = None) -> Frequencies:
        """Radians per position, a plane each, and the amplitude of cos and sin.

        seq_len: the length of the text in positions, which rules that depend on it need (BadInput without).
        """
        given = dict(self.parameters)
        if self.mscales is not None:
            first = self.trained_length
            if seq_len is None:
                raise BadInput("the amplitude changes with the length of the text; give seq_len=")
            given["attention_factor"] = self.mscales[first is not None and seq_len > first]
        size = self.head_dim if self.rule == "proportional" else self.rotary_dim
        length = self.max_position_embeddings
        return frequencies(given, size, max_position_embeddings=length, seq_len=seq_len)


@dataclass(frozen=True)
class Alibi:
    """A bias -m(t-s) on the logits, one slope m a head.

    slopes: exact, one a head; scaled: whether the model divides the bias by √d together with the score.
    """

    slopes: tuple[sp.Expr, ...]
    scaled: bool


@dataclass(frozen=True)
class Learned:
    """A learned vector for each of `count` positions is added to the input; nothing exists beyond them."""

    count: int | None


@dataclass(frozen=True)
class Unrotated:
    """No position enters queries and keys; `why` says how the order of tokens is known, if at all."""

    why: str


Encoding = Rotary | Alibi | Learned | Unrotated


@dataclass(frozen=True)
class Layers:
    """Layers with one encoding.

    kind: the layer type, as configs name it, or None; indices: which layers, from 0, empty where the config
    does not say how many there are. window: how many positions a query sees at most, itself among them, or
    None; with `both_ways`, where queries see later tokens too, so many to either side. chunked: the window is
    not what lies behind the query, but a chunk of the text that ends where the next one begins.
    """

    kind: str | None
    indices: tuple[int, ...]
    encoding: Encoding
    window: int | None = None
    both_ways: bool = False
    chunked: bool = False


@dataclass(frozen=True)
class ModelConfig:
    """What a config says about positions.

    model_type: as given; part: the sub-config that was read, e.g. "text_config"; max_position_embeddings: the
    model's length; groups: layers by encoding; notes: (key, one sentence) for keys that mean other things
    elsewhere, that were absent, or that nothing reads.
    """

    model_type: str | None
    part: str | None
    layer_count: int | None
    max_position_embeddings: int | None
    groups: tuple[Layers, ...]
    notes: tuple[tuple[str, str], ...] = ()

    def group(self, layer_type: str | None = None) -> Layers:
        """The layers of a type; without one, the only rotary layers. BadInput if it is unclear."""
        turning = [group for group in self.groups if isinstance(group.encoding, Rotary)]
        if layer_type is None:
            if not turning:
                raise BadInput(f"config has no rotary layers; {_listing(self.groups)}")
            if any(group.encoding != turning[0].encoding for group in turning):
                kinds = ", ".join(dict.fromkeys(str(group.kind) for group in turning))
                raise BadInput(
                    f"config has rotary layers of several types, {kinds}; layer_type chooses one of them"
                )
            return turning[0]
        kinds = [group for group in self.groups if group.kind == layer_type]
        if not kinds:
            names = ", ".join(dict.fromkeys(group.kind for group in self.groups if group.kind is not None))
            others = names or "one kind of layer, so leave it out"
            raise BadInput(f"layer_type is {shown(layer_type)}; config has {others}")
        return next((group for group in kinds if isinstance(group.encoding, Rotary)), kinds[0])


def _listing(groups: tuple[Layers, ...]) -> str:
    return "its layers have " + ", ".join(dict.fromkeys(_NAMES[type(group.encoding)] for group in groups))


_NAMES = {Rotary: "rotary positions", Alibi: "ALiBi", Learned: "learned positions", Unrotated: "no positions"}
