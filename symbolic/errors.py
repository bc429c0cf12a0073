"""Every refusal of the symbolic room, one class per cause."""

from __future__ import annotations


class ExptxError(Exception):
    """Root of all exptx errors; each says in one sentence what was given and what would work."""


class BadInput(ExptxError, ValueError):
    """A value of the right type that makes no sense here: a shape, a sign, a zero denominator."""


class Unreadable(BadInput):
    """Text that is no formula; the message shows the text and a caret under the column."""


class WrongType(ExptxError, TypeError):
    """A value of the wrong type: a float, a string, None, a truth value."""


class Unsupported(ExptxError):
    """Outside the decidable class; the message names the subexpression and what to write instead."""


class Undecidable(ExptxError):
    """`Verdict.holds` was asked although the status is neither proved nor refuted."""


class SingularPoint(BadInput):
    """A ball evaluation met a division by an interval that contains zero."""


class Disagreement(ExptxError, AssertionError):
    """Normal form and ball arithmetic contradict each other: a defect of exptx, never of the input."""
