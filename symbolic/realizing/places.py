"""Places on the line where a formula may change: exact real numbers, told apart by balls, not by floats."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cmp_to_key

import sympy as sp
from sympy import S

from ..balls import ball, enclose, excludes_zero
from ..decide import Status, decide
from ..errors import BadInput, Unsupported
from ..walk import free_symbols, text

PRECISIONS = (64, 256, 1024)
DIGITS = 12


def number_sign(value: sp.Expr) -> int | None:
    """The sign of a real number by balls, 0 if that is decided exactly; None if neither tells."""
    if isinstance(value, sp.Rational) or value.is_infinite:
        return int(sp.sign(value))
    try:
        for bits in PRECISIONS:
            found = ball(value, {}, bits)
            if excludes_zero(found) and found.imag.contains(0):
                return 1 if found.real > 0 else -1 if found.real < 0 else None
        plain = sp.expand(sp.expand_log(value, factor=True))
        return 0 if plain.is_zero or decide(plain).status is Status.PROVED else None
    except (Unsupported, BadInput):
        return None


def known_sign(value: sp.Expr) -> int | None:
    """The sign of a number, or of a formula as far as its symbols are declared; None if it is not known."""
    if not free_symbols(value):
        return number_sign(value)
    if value.is_zero:
        return 0
    return 1 if value.is_positive else -1 if value.is_negative else None


def steady_sign(q: sp.Expr, u: sp.Symbol, lower: sp.Expr, upper: sp.Expr) -> int | None:
    """The sign that a polynomial in u surely has for all u of the open interval (lower, upper), else None.

    With u = (lower + upper p)/(1 + p), p > 0: the sign that all coefficients in p have.
    """
    if known_sign(q):
        return known_sign(q)
    if lower.is_infinite and upper.is_infinite:
        return None
    p = sp.Dummy("p", positive=True)
    top, below = lower + upper * p, 1 + p
    if upper.is_infinite or lower.is_infinite:
        top, below = (lower + p if upper.is_infinite else upper - p), S.One
    rows = sp.Poly(q, u).all_coeffs()[::-1]
    total = sp.Add(*(c * top**k * below ** (len(rows) - 1 - k) for k, c in enumerate(rows)))
    signs = {known_sign(c) for c in sp.Poly(sp.expand(total), p).coeffs()} - {0}
    return signs.pop() if len(signs) == 1 else None


def real_roots(q: sp.Expr, u: sp.Symbol) -> list[sp.Expr]:
    """All real roots of a polynomial with real numbers as coefficients, in closed form.

    Errors: Unsupported where they have none that is known here.
    """
    coefficients = sp.Poly(q, u).all_coeffs()
    while len(coefficients) > 1 and number_sign(coefficients[0]) == 0:
        coefficients = coefficients[1:]
    if len(coefficients) <= 3:
        return _of_low_degree(coefficients, q)
    if all(isinstance(c, sp.Rational) for c in coefficients):
        polynomial = sp.Poly(coefficients, u)
        found = [root for root in sp.roots(polynomial) if root.is_real and not root.has(sp.I)]
        if len(found) == polynomial.count_roots():
            return found
    raise Unsupported(
        f"bias changes its formula at roots of {text(q)} without a closed form; use breakpoints written with "
        "rationals, roots and logarithms"
    )


def _of_low_degree(coefficients: list[sp.Expr], q: sp.Expr) -> list[sp.Expr]:
    if len(coefficients) < 2:
        return []
    if len(coefficients) == 2:
        return [sp.expand(-coefficients[1] / coefficients[0])]
    a, b, c = coefficients
    inner = sp.expand(b**2 - 4 * a * c)
    sign = number_sign(inner)
    if sign is None:
        raise Unsupported(f"whether {text(q)} has a double root is not known: {text(inner)} may be 0")
    roots = {-1: [], 0: [S.Zero], 1: [sp.sqrt(inner), -sp.sqrt(inner)]}[sign]
    return [sp.expand((root - b) / (2 * a)) for root in roots]


def compared(a: sp.Expr, b: sp.Expr) -> int:
    """The sign of a - b. Errors: Unsupported if it is not known."""
    if a == b:
        return 0
    sign = number_sign(a - b)
    if sign is None:
        raise Unsupported(f"the places {text(a)} and {text(b)} cannot be told apart; write equal ones alike")
    return sign


def ordered(places: Iterable[sp.Expr]) -> list[sp.Expr]:
    """Different places in rising order, each once."""
    found: list[sp.Expr] = []
    for place in sorted(places, key=cmp_to_key(compared)):
        if not found or compared(place, found[-1]):
            found.append(place)
    return found


def between(lower: sp.Expr, upper: sp.Expr) -> sp.Rational:
    """A rational number inside an open interval."""
    if lower.is_infinite and upper.is_infinite:
        return S.One
    if upper.is_infinite:
        return _ends(lower, 1)[1] + 1
    if lower.is_infinite:
        return _ends(upper, 1)[0] - 1
    digits = 2
    while True:
        left, right = _ends(lower, digits)[1], _ends(upper, digits)[0]
        if left < right:
            return (left + right) / 2
        digits *= 2


def whole_part(place: sp.Expr) -> int:
    """The largest whole number that is not above a place."""
    left, right = map(sp.floor, _ends(place, DIGITS))
    return int(right if left == right or compared(place, right) >= 0 else left)


def _ends(place: sp.Expr, digits: int) -> tuple[sp.Rational, sp.Rational]:
    """Rational bounds, both the number itself if it is rational."""
    if isinstance(place, sp.Rational):
        return place, place
    found = enclose(place, digits)
    return found.lower, found.upper


__all__ = [
    "between",
    "compared",
    "known_sign",
    "number_sign",
    "ordered",
    "real_roots",
    "steady_sign",
    "whole_part",
]
