"""A call of somebody's code that cannot be used."""

from __future__ import annotations


class Failed(Exception):
    """A call that raised, or returned something else than asked for."""
