"""Where a bias is infinite at a finite place: zeros of its divisors and of what stands in logarithms.

Near a zero z of q a term C·|q|^r (log|q|)^k / D behaves like C(z)·|u - z|^(r - m) (log|u - z|)^k, m being how
often D vanishes there. The terms of least r, and of greatest k among them, decide if their sum is not 0.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import sympy as sp
from sympy import S

from ..errors import Unsupported
from ..walk import free_symbols, text
from .case import Case
from .intervals import Interval
from .places import compared, known_sign, real_roots, steady_sign


@dataclass(frozen=True)
class Quotient:
    """top / below on an interval: below a polynomial in u, top without negative powers of polynomials."""

    piece: Interval
    top: sp.Expr
    below: sp.Expr


class Pole(NamedTuple):
    """The place, the side it is seen from (-1 below, 1 above), and the sign there; None: unknown."""

    place: sp.Expr
    way: int
    sign: int | None


def quotient(case: Case, piece: Interval) -> Quotient:
    """The formula of an interval as a quotient. Unsupported where a divisor is no polynomial in u."""
    top, below = _fraction(case, piece.formula)
    if below.has(case.u):
        try:
            whole = case.undivided(piece)
        except Unsupported:  # a quotient of polynomials all the same
            whole = None
        if whole is not None:
            return Quotient(piece, whole.formula, S.One)
    for theta, value in case.logs.values.items():
        lowest = max([0, *(-sp.floor(_power(case, term, theta)) for term in sp.Add.make_args(top))])
        if lowest:
            top = sp.expand(sp.Add(*(term * sp.exp(lowest * theta) for term in sp.Add.make_args(top))))
            below *= sp.exp(value) ** lowest
    return Quotient(piece, top, sp.expand(below))


def _fraction(case: Case, formula: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """(N, D) with formula = N/D, N expanded."""
    names: dict[sp.Expr, sp.Dummy] = {}
    calls = sorted(formula.atoms(sp.Function, sp.exp), key=sp.default_sort_key)
    hidden = formula.xreplace({call: names.setdefault(call, sp.Dummy()) for call in calls})
    top, below = sp.fraction(sp.together(hidden))
    if below.free_symbols & ({*names.values()} | set(case.logs.values)):
        back = below.xreplace({name: call for call, name in names.items()})
        if case.u in free_symbols(back) or free_symbols(back) & set(case.logs.values):
            raise Unsupported(f"{text(case.bias)} has a denominator that depends on {case.u}")
    if below.has(case.u):
        top, below = sp.fraction(sp.cancel(top / below))
    back = {name: call for call, name in names.items()}
    return sp.expand(top.xreplace(back)), below.xreplace(back)


def _power(case: Case, term: sp.Expr, theta: sp.Symbol) -> sp.Expr:
    """r, a number, of a term with the factor e^{rθ}."""
    found = sp.expand(_split(term)[1]).coeff(theta).xreplace(case.constants.values)
    if not found.is_number:
        raise Unsupported(f"the power {text(found)} of a polynomial is no number")
    return found


def _split(term: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """(a, b) with term = a·e^b, all exponentials in b."""
    parts = sp.Mul.make_args(term)
    exponents = [part.args[0] for part in parts if isinstance(part, sp.exp)]
    return sp.Mul(*(part for part in parts if not isinstance(part, sp.exp))), sp.Add(*exponents)


def poles(case: Case, given: Quotient) -> Iterator[Pole]:
    """Where the bias is unbounded near a place of the closed interval, from every side that lies in it."""
    values = case.constants.values
    piece, below = given.piece, given.below.xreplace(values)
    factors = sp.factor_list(below, case.u)[1] if below.has(case.u) else []
    bases = {theta: sp.exp(value).xreplace(values) for theta, value in case.logs.values.items()}
    used = [q for theta, q in bases.items() if given.top.has(theta)]
    for place in dict.fromkeys(
        z for q in [*(q for q, _ in factors), *used] for z in _zeros(q, case.u, piece)
    ):
        order = sum(m for q, m in factors if known_sign(sp.expand(q.xreplace({case.u: place}))) == 0)
        singular = [x for x, q in bases.items() if known_sign(sp.expand(q.xreplace({case.u: place}))) == 0]
        sign = _sign_at(case, given.top, place, order, singular)
        if sign == 0:
            continue
        for way, inside in ((-1, place != piece.lower), (1, place != piece.upper)):
            if inside:
                side = _side(factors, below, case.u, place, way) if order else known_sign(below)
                yield Pole(place, way, None if sign is None or side is None else sign * side)


def _zeros(q: sp.Expr, u: sp.Symbol, piece: Interval) -> list[sp.Expr]:
    """The zeros of a polynomial on the closed interval. Unsupported where they are not known."""
    lower, upper = piece.lower, piece.upper
    if free_symbols(q) == {u}:
        polynomial = sp.Poly(q, u)
        if all(isinstance(c, sp.Rational) for c in polynomial.all_coeffs()) and not polynomial.count_roots():
            return []
        return [z for z in real_roots(q, u) if compared(z, lower) >= 0 and compared(upper, z) >= 0]
    if u not in free_symbols(q):
        return []
    signs = {end: known_sign(q.xreplace({u: end})) for end in (lower, upper) if not end.is_infinite}
    if steady_sign(q, u, lower, upper) is None or None in signs.values():
        raise Unsupported(f"it is not known where {text(q)} vanishes; give numbers")
    return [end for end, sign in signs.items() if sign == 0]


def _sign_at(case: Case, top: sp.Expr, place: sp.Expr, order: int, singular: list[sp.Symbol]) -> int | None:
    """The sign of what is singular in top near the place, 0 if nothing is, None if that is not known."""
    groups: dict[tuple[sp.Expr, int], list[sp.Expr]] = defaultdict(list)
    for term in sp.Add.make_args(top.xreplace(case.constants.values)):
        moved = [x for x in singular if term.has(x)]
        r, k, rest = S.Zero, 0, term
        for x in moved:
            r = _power(case, term, x)
            others, exponent = _split(term)
            rest = others * sp.exp(sp.expand(exponent - r * x))
            if len(moved) > 1 or not rest.is_polynomial(x):
                return None
            k = int(sp.degree(rest, x))
            rest = rest.coeff(x, k)
        groups[r, k].append(rest)
    for r, k in sorted(groups, key=lambda key: (key[0], -key[1])):
        if r > order or (r == order and k == 0):
            return 0
        value = _value(case, sp.Add(*groups[r, k]), place)
        sign = known_sign(value)
        if sign:
            return sign * (-1) ** k
        if sign is None or r != order or order:
            return None
    return 0


def _value(case: Case, formula: sp.Expr, place: sp.Expr) -> sp.Expr:
    """A formula in u and logarithms at a place where these are finite."""
    logs = {theta: value.xreplace({case.u: place}) for theta, value in case.logs.values.items()}
    given = {**logs, case.u: place}
    return sp.expand(formula.xreplace(given).xreplace(case.constants.values))


def _side(
    factors: list[tuple[sp.Expr, int]], below: sp.Expr, u: sp.Symbol, place: sp.Expr, way: int
) -> int | None:
    """The sign of the divisor just beside one of its zeros."""
    content = known_sign(sp.factor_list(below, u)[0])
    signs = [content]
    for q, m in factors:
        value, slope = (known_sign(sp.expand(f.xreplace({u: place}))) for f in (q, sp.diff(q, u)))
        beside = value if value else None if value is None or not slope else slope * way
        signs.append(None if beside is None else beside**m)
    return None if None in signs else int(sp.prod(signs))


__all__ = ["Pole", "Quotient", "poles", "quotient"]
