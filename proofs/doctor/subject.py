"""What is examined: a callable, its kind, and what its author claims about it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...numeric.layout import LAYOUTS
from ...symbolic.configs.description import Rotary
from ..errors import BadClaim

KINDS = ("rotary", "tables")
PAIRINGS = ("half", "interleaved")
DIRECTIONS = ("counter-clockwise", "clockwise")
ANGLES = ("float32", "float64")


@dataclass(frozen=True)
class Claims:
    """What an implementation is said to do; None where nothing is said, and then it is not judged by it.

    encoding: rule, base and sizes as a config holds them. head_dim: features of a head. pairing: half
    (i, i + r/2) or interleaved (2i, 2i + 1). direction: counter-clockwise is x0 cos - x1 sin.
    layout: of x. angles: the format in which angles are formed, which sets the budget.
    longest: positions below it are tried.
    """

    encoding: Rotary | None = None
    head_dim: int = 64
    pairing: str | None = None
    direction: str | None = None
    layout: str = "bhtd"
    angles: str = "float32"
    longest: int = 4096

    def __post_init__(self) -> None:
        _one_of("pairing", self.pairing, (None, *PAIRINGS))
        _one_of("direction", self.direction, (None, *DIRECTIONS))
        _one_of("layout", self.layout, LAYOUTS)
        _one_of("angles", self.angles, ANGLES)
        if self.head_dim < 2:
            raise BadClaim(f"head_dim is {self.head_dim}; 2 or more works")
        if self.longest < 16:
            raise BadClaim(f"longest is {self.longest}; 16 or more positions work")
        if self.encoding is not None and self.encoding.length_dependent:
            raise BadClaim(
                f"encoding has the rule {self.encoding.rule!r}, whose frequencies follow the length of the "
                "text; a rule that does not works"
            )
        if self.encoding is not None and self.encoding.head_dim != self.head_dim:
            raise BadClaim(f"head_dim is {self.head_dim}, but encoding has {self.encoding.head_dim}")


@dataclass(frozen=True)
class Subject:
    """A callable of a kind.

    rotary: apply(x, position_ids) -> y, or apply(q, k, position_ids) -> (q, k); x is (batch, heads, time,
    head_dim) or as claims.layout says. tables: apply(position_ids) -> (cos, sin), half width or full.
    position_ids: int64, (batch, time), or (time,) where that is refused.
    """

    apply: Callable[..., Any]
    kind: str
    claims: Claims = field(default_factory=Claims)

    def __post_init__(self) -> None:
        _one_of("kind", self.kind, KINDS)

    @property
    def name(self) -> str:
        """How the callable calls itself."""
        return getattr(self.apply, "__name__", type(self.apply).__name__)

    @property
    def arguments(self) -> int:
        """How many arguments have no default: 1 for tables, 2 for x, 3 for q and k."""
        return required(self.apply)


def rope(
    base: float, head_dim: int, rotary_dim: int | None = None, interleaved: bool | None = None
) -> Rotary:
    """The plain rule w_i = base^(-2i/r), as a claim; r = head_dim without rotary_dim."""
    given = {"rope_type": "default", "rope_theta": base}
    return Rotary(head_dim, rotary_dim or head_dim, "default", given, interleaved=interleaved)


def subject(apply: Callable[..., Any], claims: Claims | None = None) -> Subject:
    """The subject that a callable is, by the number of its arguments; BadClaim for others."""
    if not callable(apply):
        raise BadClaim(f"the target is a {type(apply).__name__}, which cannot be called; a function works")
    count = required(apply)
    expected = {1: "tables", 2: "rotary", 3: "rotary"}.get(count)
    if expected is None:
        raise BadClaim(
            f"the target has {count} arguments without a default; (position_ids), (x, position_ids) or "
            "(q, k, position_ids) works; wrap it in a function of that form"
        )
    return Subject(apply, expected, claims or Claims())


def required(apply: Callable[..., Any]) -> int:
    """Positional arguments without a default."""
    try:
        parameters = inspect.signature(apply).parameters.values()
    except (TypeError, ValueError):
        raise BadClaim(
            "the target has no readable signature; wrap it in a function of two arguments"
        ) from None
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in kinds and p.default is inspect.Parameter.empty for p in parameters)


def _one_of(name: str, value: object, allowed: tuple) -> None:
    if value not in allowed:
        raise BadClaim(f"{name} is {value!r}; {' or '.join(repr(a) for a in allowed if a)} works")
