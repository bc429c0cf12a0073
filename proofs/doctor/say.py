"""How an examination says where it is."""

from __future__ import annotations

from collections.abc import Callable

Say = Callable[[str], None]
LEVELS = ("quick", "full")


def silent(what: str) -> None:
    """No progress."""
