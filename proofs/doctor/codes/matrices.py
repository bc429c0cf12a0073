"""Codes of matrix exponentials."""

from .code import Code

CODES: dict[str, Code] = {}
