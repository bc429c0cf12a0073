"""Two typed formulas decided: the work behind `exptx decide`, from text to a document and on to lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import sympy as sp

from .. import __version__
from ..symbolic import errors
from ..symbolic.decide import Status, Verdict
from ..symbolic.decide import decide as decide_formulas
from ..symbolic.parse import parse, parse_signs
from ..symbolic.tokens import decimals
from ..symbolic.typeset import to_text
from .errors import Stopped
from .worker import within

SHOWN = 300  # characters of a formula on one line


def decision(lhs: str, rhs: str, assume: Sequence[str], seconds: float, megabytes: int) -> dict[str, Any]:
    """The document of `exptx decide`; a limit that is reached is a reason to be undecided.

    Errors: those of `parse`, `parse_signs` and `decide`.
    """
    try:
        return within(seconds, megabytes, _decision, lhs, rhs, tuple(assume))
    except Stopped as stopped:
        return _document(lhs, rhs, assume, Verdict(Status.UNDECIDED, str(stopped)))


def _decision(lhs: str, rhs: str, assume: tuple[str, ...]) -> dict[str, Any]:
    signs = parse_signs(assume)
    left, right = parse(lhs, name="lhs", signs=signs), parse(rhs, name="rhs", signs=signs)
    unknown = sorted(signs.keys() - {symbol.name for symbol in left.free_symbols | right.free_symbols})
    if unknown:
        raise errors.BadInput(f"assume is about {unknown[0]}, which is on neither side")
    found = _document(lhs, rhs, assume, _decided(left, right))
    numbers = decimals(lhs) + decimals(rhs)
    return found | {
        "read": {"lhs": _line(left), "rhs": _line(right)},
        "decimals": {number: str(parse(number)) for number in numbers},
    }


def _decided(left: Any, right: Any) -> Verdict:
    """The verdict on both sides as typed; where that is open, on what sympy itself makes of them."""
    verdict = decide_formulas(left, right)
    if verdict.status is not Status.UNDECIDED:
        return verdict
    worked = left.doit(), right.doit()
    if worked == (left, right):
        return verdict
    try:
        second = decide_formulas(*worked)
    except errors.ExptxError:
        return verdict
    sides = " = ".join(map(_line, worked))
    reason = f"sympy's own evaluation makes this {sides}, and then {second.reason}"
    return verdict if second.status is Status.UNDECIDED else replace(second, reason=reason)


def _document(lhs: str, rhs: str, assume: Sequence[str], verdict: Verdict) -> dict[str, Any]:
    witness = verdict.witness
    return {
        "schema": "exptx-decide/1",
        "version": __version__,
        "lhs": lhs,
        "rhs": rhs,
        "assume": list(assume),
        "status": verdict.status.value,
        "reason": verdict.reason,
        "witness": None if witness is None else {_line(x): str(value) for x, value in witness.items()},
        "entry": None if verdict.entry is None else list(verdict.entry),
        "gap": verdict.gap,
        "side_conditions": [f"{_line(formula)} ≠ 0" for formula in verdict.side_conditions],
    }


def _line(formula: sp.Basic) -> str:
    try:
        return to_text(formula)
    except (RecursionError, ValueError):
        return "a very large formula"


def lines(document: dict[str, Any]) -> list[str]:
    """What a person reads of the document."""
    read = document.get("read", document)
    found = [f"{document['status']}: {_short(read['lhs'])} = {_short(read['rhs'])}"]
    rows = {
        "reason": document["reason"],
        "witness": ", ".join(f"{x} = {value}" for x, value in (document["witness"] or {}).items()),
        "entry": document["entry"] and "({}, {}), counted from 0".format(*document["entry"]),
        "gap": document["gap"] and f"lhs - rhs = {document['gap']}",
        "where": ", ".join(document["side_conditions"]),
        "given": ", ".join(document["assume"]),
        "exact": ", ".join(f"{n} is read as {value}" for n, value in document.get("decimals", {}).items()),
    }
    return found + [f"{name + ':':9}{text}" for name, text in rows.items() if text]


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
