"""Questions typed at the command line: asked in a process with limits, answered as documents, shown as lines.

Nothing heavy is imported here; the other process does that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import __version__
from .errors import Stopped
from .worker import within

SHOWN = 300  # characters of a formula on one line


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


def decided_lines(document: dict[str, Any]) -> list[str]:
    """What a person reads of the document of `exptx decide`."""
    read = document["read"]
    rows = {
        "reason": document["reason"],
        "witness": ", ".join(f"{x} = {value}" for x, value in (document["witness"] or {}).items()),
        "entry": document["entry"] and "({}, {}), counted from 0".format(*document["entry"]),
        "gap": document["gap"] and f"lhs - rhs = {document['gap']}",
        "where": ", ".join(document["side_conditions"]),
        "given": ", ".join(document["assume"]),
        "exact": ", ".join(f"{number} is read as {value}" for number, value in document["decimals"].items()),
    }
    first = f"{document['status']}: {_short(read['lhs'])} = {_short(read['rhs'])}"
    return [first, *(f"{name + ':':9}{text}" for name, text in rows.items() if text)]


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
