"""Exact values beside printed decimals."""

import sympy as sp
from exptx.symbolic.balls import enclose


def printed(expression, decimal):
    """Whether the exact value rounds to the decimal, in every digit that is written."""
    found, shown = enclose(expression, 40), sp.Rational(decimal)
    places = len(decimal.lower().partition("e")[0].partition(".")[2])
    exponent = int(decimal.lower().partition("e")[2] or 0)
    half = sp.Rational(1, 2) * sp.Integer(10) ** (exponent - places)
    return shown - half <= found.lower and found.upper <= shown + half
