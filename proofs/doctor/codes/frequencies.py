"""Codes of frequencies as a function of a config and a length, and of several axes."""

from .code import Code

CODES: dict[str, Code] = {}
