"""Codes of decoding with a cache, and whole modules."""

from .code import Code

CODES: dict[str, Code] = {}
