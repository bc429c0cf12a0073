"""What the author of an implementation says about it; it is judged by that and by nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...numeric.layout import LAYOUTS
from ...numeric.rounding import FORMATS
from ...symbolic.configs.description import Alibi, Rotary
from ...symbolic.encoding import Encoding
from ..errors import BadClaim

PAIRINGS = ("half", "interleaved")
DIRECTIONS = ("counter-clockwise", "clockwise")
POSITIONS = ("ids", "offset", "lengths", "none")
FORMS = ("parallel", "recurrent", "chunked")


@dataclass(frozen=True)
class Claims:
    """What an implementation is said to do; None where nothing is said, and then it is not judged by it.

    encoding: rule, base and sizes as a config holds them, ALiBi, or an `exptx.symbolic.Encoding` for kinds
    that return logits or outputs. head_dim: features of a head. heads, kv_heads: of queries and of keys
    (None: as many). pairing: half (i, i + r/2) or interleaved (2i, 2i + 1). direction: counter-clockwise is
    x0 cos - x1 sin. layout: of x. dtype: of the inputs that are tried. angles, table, arithmetic: the formats
    in which angles are formed, cos and sin are kept, and products are summed; they set the budgets, so that a
    coarser one that is not claimed is a finding. positions: what the last argument of a rotary kernel is
    (ids, an integer offset, cu_seqlens of packed rows, or no argument). causal: whether later keys are
    hidden. inplace: whether the input may be overwritten. gradient: whether it can be trained through.
    amplitude: the length of (cos, sin). forms: what a recurrence offers. longest: positions below it are
    tried. config: the mapping that the encoding was read from.
    """

    encoding: Rotary | Alibi | Encoding | None = None
    head_dim: int = 64
    pairing: str | None = None
    direction: str | None = None
    layout: str = "bhtd"
    heads: int = 4
    kv_heads: int | None = None
    dtype: str = "float32"
    angles: str = "float32"
    table: str = "float32"
    arithmetic: str = "float32"
    positions: str = "ids"
    causal: bool = True
    inplace: bool = False
    gradient: bool = True
    amplitude: float | None = None
    forms: tuple[str, ...] = FORMS
    longest: int = 4096
    config: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        one_of("pairing", self.pairing, (None, *PAIRINGS))
        one_of("direction", self.direction, (None, *DIRECTIONS))
        one_of("layout", self.layout, LAYOUTS)
        one_of("positions", self.positions, POSITIONS)
        for name in ("dtype", "angles", "table", "arithmetic"):
            one_of(name, getattr(self, name), tuple(FORMATS))
        for form in self.forms:
            one_of("forms", form, FORMS)
        _at_least("head_dim", self.head_dim, 2, "features")
        _at_least("heads", self.heads, 1, "heads")
        _at_least("longest", self.longest, 16, "positions")
        if self.kv_heads is not None and (self.kv_heads < 1 or self.heads % self.kv_heads):
            raise BadClaim(f"kv_heads is {self.kv_heads}; a divisor of heads = {self.heads} works")
        if isinstance(self.encoding, Rotary) and self.encoding.head_dim != self.head_dim:
            raise BadClaim(f"head_dim is {self.head_dim}, but encoding has {self.encoding.head_dim}")

    @property
    def rotary(self) -> Rotary | None:
        """The encoding, where it is a rotary one."""
        return self.encoding if isinstance(self.encoding, Rotary) else None


def rope(
    base: float, head_dim: int, rotary_dim: int | None = None, interleaved: bool | None = None
) -> Rotary:
    """The plain rule w_i = base^(-2i/r), as a claim; r = head_dim without rotary_dim."""
    given: dict[str, Any] = {"rope_type": "default", "rope_theta": base}
    return Rotary(head_dim, rotary_dim or head_dim, "default", given, interleaved=interleaved)


def one_of(name: str, value: object, allowed: tuple) -> None:
    """BadClaim unless it is one of the values."""
    if value not in allowed:
        raise BadClaim(f"{name} is {value!r}; {' or '.join(repr(a) for a in allowed if a)} works")


def _at_least(name: str, value: int, least: int, unit: str) -> None:
    if value < least:
        raise BadClaim(f"{name} is {value}; {least} or more {unit} work")
