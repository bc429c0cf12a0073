"""Two typed formulas decided: from text to the document that `exptx decide` prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import sympy as sp

from ..symbolic.decide import Status, Verdict, decide
from ..symbolic.defined import demands
from ..symbolic.errors import BadInput, ExptxError
from ..symbolic.parse import evaluated, parse, parse_signs
from ..symbolic.premises import Premises
from ..symbolic.tokens import decimals
from ..symbolic.typeset import to_text
from ..symbolic.walk import free_symbols


def decision(lhs: str, rhs: str, assume: Sequence[str]) -> dict[str, Any]:
    """Both sides read and decided; every value is text or a list or dictionary of texts.

    Errors: those of `parse`, `parse_signs` and `decide`; BadInput for an assumption about neither side.
    """
    signs = parse_signs(assume)
    left, right = parse(lhs, name="lhs", signs=signs), parse(rhs, name="rhs", signs=signs)
    unknown = sorted(signs.keys() - {symbol.name for symbol in left.free_symbols | right.free_symbols})
    if unknown:
        raise BadInput(f"assume is about {unknown[0]}, which is on neither side")
    numbers = decimals(lhs) + decimals(rhs)
    return {
        "read": {"lhs": _line(left), "rhs": _line(right)},
        "decimals": {number: str(parse(number)) for number in numbers},
        **_evidence(*_decided(left, right)),
    }


def _decided(left: Any, right: Any) -> tuple[Verdict, list[str]]:
    """The verdict on both sides as typed; where that is open, on what sympy itself makes of them.

    With it, under which conditions: of a formula that was worked out, those of what was typed.
    """
    verdict = decide(left, right)
    if verdict.status is not Status.UNDECIDED:
        return verdict, _nonzero(verdict)
    try:
        worked = evaluated(left), evaluated(right)
        second = decide(*worked)
        asked = demands(left, right, known=Premises.of((), free_symbols(left, right)))
    except ExptxError:
        return verdict, _nonzero(verdict)
    if second.status is Status.UNDECIDED or (second.witness is not None and asked):
        return verdict, _nonzero(verdict)  # the witness may lie where what was typed has no value
    sides = " = ".join(map(_line, worked))
    reason = f"sympy's own evaluation makes this {sides}, and then {second.reason}"
    where = dict.fromkeys([*(_line(demand.relation) for demand in asked), *_nonzero(second)])
    return replace(second, reason=reason), list(where)


def _nonzero(verdict: Verdict) -> list[str]:
    return [f"{_line(formula)} ≠ 0" for formula in verdict.side_conditions]


def _evidence(verdict: Verdict, where: list[str]) -> dict[str, Any]:
    witness = verdict.witness
    return {
        "status": verdict.status.value,
        "reason": verdict.reason,
        "witness": None if witness is None else {_line(x): str(value) for x, value in witness.items()},
        "entry": None if verdict.entry is None else list(verdict.entry),
        "gap": verdict.gap,
        "side_conditions": where,
    }


def _line(formula: sp.Basic) -> str:
    try:
        return to_text(formula)
    except (RecursionError, ValueError):
        return "a very large formula"
