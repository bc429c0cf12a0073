"""Codes of slopes, biases, scores and attention without a cache."""

from .code import Code

CODES: dict[str, Code] = {}
