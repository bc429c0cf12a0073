"""Owns the short sentences about steps: what was found, and how many steps of which kind there are."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from .data import StepLike, evidence
from .formulas import decimal

_GREEK = {unicodedata.name(letter).split()[-1].lower(): letter for letter in "αβγδεζηθικλμνξπρστυφχψω"}
_GREEK["lambda"] = "λ"
_PRINTED = {**_GREEK, "+/-": "±", "-": "−", "oo": "∞"}
_NAMES = re.compile(rf"\b(?:{'|'.join(_GREEK)})(?=\b|\d)|\+/-|\boo\b|(?<![\w.])-(?=[\d.]|oo)|\d+/\d{{6,}}")


def finding(executed: StepLike) -> str:
    """What deciding a step found: the reason, symbols as printed, and the witness unless it is named."""
    named = sorted((str(symbol), str(value)) for symbol, value in (executed.witness or {}).items())
    told = all(re.search(rf"\b{re.escape(s)} ?= ?{re.escape(v)}", executed.reason) for s, v in named)
    witness = "" if told else f". Witness: {', '.join(f'{s} = {v}' for s, v in named)}"
    return _NAMES.sub(lambda found: _PRINTED.get(found[0]) or decimal(found[0]), executed.reason + witness)


def steps_in_words(steps: Sequence[StepLike]) -> str:
    """`5 steps: 3 computed, 2 cited`."""
    kinds = [evidence(step) for step in steps]
    parts = [f"{kinds.count(kind)} {kind}" for kind in ("computed", "enclosed", "cited") if kind in kinds]
    return f"{len(steps)} step{'s' * (len(steps) != 1)}: {', '.join(parts)}"
