"""Codes of decays and recurrences."""

from .code import Code

CODES: dict[str, Code] = {}
