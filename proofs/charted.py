"""An encoding of the catalogue as a document: what is published of it, and what is computed, in text."""

from __future__ import annotations

from typing import Any

import sympy as sp

from ..symbolic.catalogue.registry import Entry
from ..symbolic.encoding import Encoding
from ..symbolic.typeset import to_text
from ..symbolic.verdict import Status, Verdict
from ..symbolic.verdicts import Answer, Verdicts, verdicts
from .generators import generator_document, verdict_document

WRITTEN_OUT = 4  # up to so many features the score is worked out
READABLE = 250  # characters of a score that is written out


def encoding_document(entry: Entry, found: Encoding) -> dict[str, Any]:
    """Formula, source and danger of the entry; answers, generators and exact score of this encoding."""
    row = verdicts(found)
    first = found.heads[0]
    return {
        "name": entry.name,
        "published": entry.published,
        "source": entry.source,
        "danger": entry.danger,
        "read": found.sentence,
        "parameters": {key: str(value) for key, value in found.parameters.items() if value is not None},
        "region": (where := region(row)),
        "answer": REGIONS[where],
        "answers": {question: answer_document(answer) for question, answer in row.answers().items()},
        "heads": len(found.heads),
        "generators": [generator_document(generator) for generator in first.generators],
        "score": None if (score := exact_score(found)) is None else [score[0], to_text(score[1])],
    }


def answer_document(answer: Answer) -> dict[str, Any]:
    """The word, the verdict behind it, and for a refutation the two position pairs."""
    return {"word": answer.word, **verdict_document(answer.verdict), "pairs": pairs(answer.verdict)}


REGIONS = {
    "inside": "Inside: a generator, read at the position",
    "clocks": "Inside in their clocks: a generator, read at sums of gates",
    "ordered": "Products in order: they compose along the path, and no clock is enough",
    "relative": "Relative, but no exp(uX)",
    "outside": "Not relative",
    "undecided": "Undecided",
}


def region(row: Verdicts) -> str:
    """Where on the map a row stands; one of REGIONS."""
    if "undecided" in (row.relative.word, row.family.word):
        return "undecided"
    if row.family.word == "yes":
        return "inside"
    if row.family.word.startswith("in its"):
        return "clocks"
    if row.group.word == "cocycle":
        return "ordered"
    return "relative" if row.relative.word == "yes" else "outside"


def pairs(verdict: Verdict) -> list[str]:
    """The two position pairs (t, s) of one gap that a refutation tells apart: (s + u, s) and (u, 0)."""
    at = {str(symbol): value for symbol, value in (verdict.witness or {}).items()}
    if verdict.status is not Status.REFUTED:
        return []
    if {"s", "u"} <= at.keys():
        return [f"({at['s'] + at['u']}, {at['s']})", f"({at['u']}, 0)"]
    axes = [str(i) for i in range(len(at)) if {f"s{i}", f"u{i}"} <= at.keys()]
    if not axes:
        return []
    key, gap = [at[f"s{i}"] for i in axes], [at[f"u{i}"] for i in axes]
    query = [a + b for a, b in zip(key, gap, strict=True)]
    return [f"({_tuple(query)}, {_tuple(key)})", f"({_tuple(gap)}, {_tuple([0] * len(axes))})"]


def _tuple(values: list[Any]) -> str:
    return f"({', '.join(map(str, values))})"


def exact_score(found: Encoding) -> tuple[str, sp.Expr] | None:
    """("score(t, s)", the exact score), where it is small enough to be read."""
    first = found.heads[0]
    if first.head_dim not in range(1, WRITTEN_OUT + 1):
        return None
    t, s = first.shown_positions()
    score = first.score(t, s)
    return (f"score({t}, {s})", score) if len(to_text(score)) <= READABLE else None
