"""What a code stands for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Code:
    """A kind of finding: the law that is broken, what follows for a model, and what mends it."""

    law: str
    consequence: str
    fix: str
