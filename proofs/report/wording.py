"""Owns the short sentences about proofs as a whole: how many steps of which kind there are."""

from __future__ import annotations

from collections.abc import Sequence

from .data import StepLike, evidence


def steps_in_words(steps: Sequence[StepLike]) -> str:
    """`5 steps: 3 computed, 2 cited`."""
    kinds = [evidence(step) for step in steps]
    parts = [f"{kinds.count(kind)} {kind}" for kind in ("computed", "enclosed", "cited") if kind in kinds]
    return f"{len(steps)} step{'s' * (len(steps) != 1)}: {', '.join(parts)}"
