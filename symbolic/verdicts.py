"""The five questions of the map, asked of one encoding, with a word for each answer."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from .encoding import Encoding
from .verdict import Status, Verdict

QUESTIONS = {
    "group": "group law",
    "relative": "relative",
    "family": "in the family",
    "bidirectional": "bidirectional",
    "bounded": "bounded",
}


@dataclass(frozen=True)
class Answer:
    """yes, no, forward only, in its clocks, cocycle, not applicable or undecided; and the verdict behind."""

    word: str
    verdict: Verdict


@dataclass(frozen=True)
class Verdicts:
    """One row of the map.

    group          A(u+v) = A(u)A(v) and A(0) = I for the map on lifted features
    relative       scores and value maps depend on the gap only
    family         they are φ(q)ᵀ C exp(uX) B ψ(k) with one fixed X, or commuting ones on several axes
    bounded        what multiplies the content or the values, and the bias, stay bounded over all gaps;
                   without a function of the gap, over all positions of the factors F(t) and G(s)
    bidirectional  the same, but the bias from above only

    Not applicable where no formula says: opaque tables, positions made of content.
    """

    group: Answer
    relative: Answer
    family: Answer
    bidirectional: Answer
    bounded: Answer

    def answers(self) -> dict[str, Answer]:
        """The question's name -> its answer, in order."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def verdicts(encoding: Encoding) -> Verdicts:
    """The five answers, each computed from the formulas of the encoding."""
    clocks = encoding.is_relative_in_clocks()
    word = "" if clocks is None else "in its clock" if len(encoding.generators) == 1 else "in its clocks"
    return Verdicts(
        group=_in_time(encoding.has_group_law(), encoding.is_cocycle(), "cocycle"),
        relative=_in_time(encoding.is_relative(), clocks, word),
        family=_in_time(encoding.in_family(), encoding.in_family_in_clocks(), word),
        bidirectional=_plain(encoding.is_bidirectional()),
        bounded=_bounded(encoding),
    )


_WORDS = {
    Status.PROVED: "yes",
    Status.REFUTED: "no",
    Status.UNDECIDED: "undecided",
    Status.NOT_CHECKED: "not applicable",
}


def _plain(verdict: Verdict) -> Answer:
    return Answer(_WORDS[verdict.status], verdict)


def _in_time(of_positions: Verdict, of_clocks: Verdict | None, word: str) -> Answer:
    """The answer for positions; where that is no, what holds along the clocks instead."""
    refuted = of_positions.status is Status.REFUTED
    if refuted and of_clocks is not None and of_clocks.status is Status.PROVED:
        return Answer(word, of_clocks)
    return _plain(of_positions)


def _bounded(encoding: Encoding) -> Answer:
    everywhere = encoding.is_bounded()
    if everywhere.status is not Status.REFUTED:
        return _plain(everywhere)
    forward = encoding.is_bounded("causal")
    if forward.status is not Status.PROVED:
        return _plain(everywhere)
    more = "" if forward.reason == everywhere.reason else f"; forward: {forward.reason}"
    return Answer("forward only", replace(everywhere, reason=everywhere.reason + more))
