"""Questions typed at the command line: asked in a process with limits, answered as documents.

Nothing heavy is imported here; the other process does that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import __version__
from ..symbolic.errors import BadInput
from .errors import Stopped
from .worker import within


def decide(lhs: str, rhs: str, assume: Sequence[str], seconds: float, megabytes: int) -> dict[str, Any]:
    """The document of `exptx decide`; a limit that is reached is a reason to be undecided.

    Errors: those of `decision.decision`.
    """
    document: dict[str, Any] = {
        "schema": "exptx-decide/1",
        "version": __version__,
        "lhs": lhs,
        "rhs": rhs,
        "assume": list(assume),
    }
    try:
        return document | within(seconds, megabytes, _decision, lhs, rhs, list(assume))
    except Stopped as stopped:
        nothing = dict.fromkeys(("witness", "entry", "gap"))
        read, empty = {"lhs": lhs, "rhs": rhs}, {"decimals": {}, "side_conditions": []}
        return document | nothing | empty | {"read": read, "status": "undecided", "reason": str(stopped)}


def _decision(lhs: str, rhs: str, assume: list[str]) -> dict[str, Any]:
    from .decision import decision

    return decision(lhs, rhs, assume)


def classify(
    what: str,
    assume: Sequence[str],
    asked: Mapping[str, Any],
    parameters: Mapping[str, str],
    seconds: float,
    megabytes: int,
) -> dict[str, Any]:
    """The document of `exptx classify`; asked: keywords of `realize`, as text where they are numbers.

    Errors: those of `classification.classification`, and Stopped.
    """
    found = within(seconds, megabytes, _classification, what, list(assume), dict(asked), dict(parameters))
    return {"schema": "exptx-classify/1", "version": __version__, "what": what, **found}


def _classification(
    what: str, assume: list[str], asked: dict[str, Any], parameters: dict[str, str]
) -> dict[str, Any]:
    from .classification import classification

    return classification(what, assume, asked, parameters)


def lower(
    what: str,
    assume: Sequence[str],
    to: str | None,
    factor: str | None,
    parameters: Mapping[str, str],
    seconds: float,
    megabytes: int,
) -> dict[str, Any]:
    """The document of `exptx lower`. Errors: those of `lowering.lowering`, and Stopped."""
    found = within(seconds, megabytes, _lowering, what, list(assume), to, factor, dict(parameters))
    return {"schema": "exptx-lower/1", "version": __version__, "what": what, **found}


def _lowering(
    what: str, assume: list[str], to: str | None, factor: str | None, parameters: dict[str, str]
) -> dict[str, Any]:
    from .lowering import lowering

    return lowering(what, assume, to, factor, parameters)


def settings(texts: Sequence[str]) -> dict[str, str]:
    """{name: value} from 'name=value'; BadInput for anything else."""
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name.strip() and equals and value.strip()):
            raise BadInput(f"--set is {text!r}; name=value works, such as head_dim=8")
        found[name.strip()] = value.strip()
    return found
