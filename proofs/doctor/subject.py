"""What is examined: a callable, its kind, what its author claims, and which findings are expected."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import BadClaim
from .claims import Claims, one_of
from .codes import CODES
from .kinds import GUESSED, KINDS


@dataclass(frozen=True)
class Subject:
    """A callable of a kind.

    apply: by kind, as `KINDS` writes the signature; x is (batch, heads, time, head_dim) or as claims.layout
    says; position_ids: int64, (batch, time), or (time,) where that is refused. make: builds such a callable
    from a config mapping; with it, instances are compared and every key of a config must have an effect.
    expected_failures: findings that are known, by code, each with its reason; one that does not occur is
    itself a finding. notes: what cannot be judged here, in sentences that are repeated. BadClaim for an
    unknown kind or code.
    """

    apply: Callable[..., Any]
    kind: str
    claims: Claims = field(default_factory=Claims)
    make: Callable[[Mapping[str, Any]], Callable[..., Any]] | None = None
    expected_failures: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        one_of("kind", self.kind, tuple(KINDS))
        for code, reason in self.expected_failures.items():
            if code not in CODES:
                raise BadClaim(f"expected_failures has {code!r}, which is no code; {', '.join(CODES)} work")
            if not (isinstance(reason, str) and reason.strip()):
                raise BadClaim(f"expected_failures[{code!r}] is {reason!r}; a reason in words works")

    @property
    def name(self) -> str:
        """How the callable calls itself."""
        return getattr(self.apply, "__name__", type(self.apply).__name__)

    @property
    def arguments(self) -> int:
        """How many arguments have no default."""
        return required(self.apply)

    @property
    def both(self) -> bool:
        """Whether a rotary kernel takes queries and keys."""
        return self.kind == "rotary" and self.arguments == 2 + (self.claims.positions != "none")


def subject(apply: Callable[..., Any], claims: Claims | None = None, kind: str | None = None) -> Subject:
    """The subject that a callable is; without a kind, by the number of its arguments. BadClaim for others."""
    if not callable(apply):
        raise BadClaim(f"the target is a {type(apply).__name__}, which cannot be called; a function works")
    found = kind or GUESSED.get(required(apply))
    if found is None:
        raise BadClaim(
            f"the target has {required(apply)} arguments without a default; (position_ids), "
            f"(x, position_ids) or (q, k, position_ids) works, or kind= one of {', '.join(KINDS)}"
        )
    return Subject(apply, found, claims or Claims())


def required(apply: Callable[..., Any]) -> int:
    """Positional arguments without a default."""
    return len(required_names(apply))


def required_names(apply: Callable[..., Any]) -> list[str]:
    """Positional arguments without a default, of a module those of its forward; BadClaim for a class."""
    if inspect.isclass(apply):
        raise BadClaim(
            f"the target {apply.__name__} is a class; an instance, as a name of the file or module, works"
        )
    try:
        parameters = inspect.signature(getattr(apply, "forward", apply)).parameters.values()
    except (TypeError, ValueError):
        raise BadClaim(
            "the target has no readable signature; wrap it in a function of two arguments"
        ) from None
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in parameters if p.kind in kinds and p.default is inspect.Parameter.empty]
