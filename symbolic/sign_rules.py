"""Rules by which signs are found: structure of the formula, terms of the canonical form, Sturm's theorem."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import reduce
from itertools import product
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.polys.domains import QQ
from sympy.polys.rings import PolyElement

from .errors import BadInput, Unsupported
from .exponent import Exponent
from .exppoly import ExpPoly
from .premises import Premises
from .reader import Ratio, Reader
from .walk import fold

Signs = frozenset[int]
_DIVISORS = {sp.tan: sp.cos, sp.cot: sp.sin, sp.coth: sp.sinh}
POSITIVE, NULL, ANY = frozenset([1]), frozenset([0]), frozenset([-1, 0, 1])


def signs_of(expression: sp.Expr, known: Premises) -> Signs:
    """The signs of the value wherever it has one, for all symbols as known: maybe too many, never too few.

    Errors: BadInput if the value is not real.
    """
    found = structural(expression, known)
    if len(found) == 1:
        return found
    try:
        reader = Reader.of(expression)
        return found & ratio_signs(reader, reader.read(expression), known)
    except Unsupported:
        return found


def doubtful_divisor(expression: sp.Expr, known: Premises) -> sp.Expr | None:
    """The first formula that the expression divides by although it may vanish."""
    powers = [node.args[0] for node in expression.atoms(sp.Pow) if node.args[1].is_negative]
    hidden = [f(node.args[0]) for g, f in _DIVISORS.items() for node in expression.atoms(g)]
    for divisor in sorted({*powers, *hidden}, key=sp.default_sort_key):
        if 0 in signs_of(divisor, known):
            return divisor
    return None


# ---- sign arithmetic ----


def plus(a: Signs, b: Signs) -> Signs:
    """Signs of x + y."""
    return frozenset().union(*(ANY if x * y < 0 else {x or y} for x in a for y in b))


def times(a: Signs, b: Signs) -> Signs:
    """Signs of x y."""
    return frozenset(x * y for x in a for y in b)


def power(a: Signs, n: int) -> Signs:
    """Signs of x^n where it has a value."""
    return frozenset(x ** abs(n) for x in a if x or n >= 0)


# ---- by structure ----


def structural(expression: sp.Expr, known: Premises) -> Signs:
    """exp, cosh > 0, even powers >= 0, sums and products of known signs."""
    memo: dict[Any, Signs] = {}

    def visit(node: Any) -> Signs:
        if isinstance(node, sp.Symbol):
            return known.of_symbol(node)
        if isinstance(node, sp.Rational):
            return frozenset({int(sp.sign(node))})
        if isinstance(node, sp.Add):
            return reduce(plus, (memo[x] for x in node.args))
        if isinstance(node, sp.Mul):
            return reduce(times, (memo[x] for x in node.args)) if not node.has(sp.I) else ANY
        if isinstance(node, sp.Pow):
            return _power_signs(node, memo)
        if node in (sp.pi, sp.E) or (isinstance(node, (sp.exp, sp.cosh)) and not node.has(sp.I)):
            return POSITIVE
        if isinstance(node, (sp.sinh, sp.tanh)) and not node.has(sp.I):
            return memo[node.args[0]]
        if isinstance(node, sp.Abs):
            return frozenset(abs(sign) for sign in memo[node.args[0]])
        if isinstance(node, sp.Max | sp.Min):
            best = max if isinstance(node, sp.Max) else min
            return frozenset(map(best, product(*(memo[part] for part in node.args))))
        return ANY

    found = fold(expression, _children, visit, memo)
    return found if all(memo.get(base) == POSITIVE for base in _bases(expression)) else ANY


def _bases(expression: sp.Expr) -> Iterable[sp.Expr]:
    """What must be positive for roots and logarithms to be real: (-1)**(1/3) is not, and has no I in it."""
    yield from (node.args[0] for node in expression.atoms(sp.Pow) if not node.args[1].is_Integer)
    yield from (node.args[0] for node in expression.atoms(sp.log))


def _power_signs(node: sp.Pow, memo: dict[Any, Signs]) -> Signs:
    base, exponent = node.args
    if node.has(sp.I):
        return ANY
    if isinstance(exponent, sp.Integer):
        return power(memo[base], int(exponent))
    return POSITIVE if memo[base] == POSITIVE else ANY


def _children(node: Any) -> Iterable[Any]:
    if isinstance(node, (sp.Derivative, sp.Subs, AppliedUndef)):
        return ()
    return node.args


# ---- by canonical form ----


def ratio_signs(reader: Reader, ratio: Ratio, known: Premises) -> Signs:
    """Signs of numerator / Π factor^power."""
    total = element_signs(ratio.numerator, known)
    for factor, exponent in reader.denominator(ratio):
        total = times(total, power(element_signs(factor, known), -exponent))
    return total


def element_signs(element: ExpPoly, known: Premises) -> Signs:
    """Signs of Σ c(x) exp(P(x)), by its terms, then by Sturm's theorem in each symbol."""
    if element.is_zero():
        return NULL
    require_real(element)
    if any(not _is_positive(element.ring.exponents[n]) for n in element.terms):
        return ANY
    found = ANY
    for position in (None, *range(len(element.ring.symbols))):
        found &= _grouped(element, known, position)
        if len(found) == 1:
            break
    return found


def require_real(element: ExpPoly) -> None:
    """Refuse an element that differs from its complex conjugate."""
    ring = element.ring
    conjugate = ring.zero
    for number, c in element.terms.items():
        e = ring.exponents[number]
        mirrored = ring.exponential(e.real, -e.imaginary, -e.turn)
        for k, count in e.opaque:
            mirrored = mirrored * ring.opaque(k) ** count
        conjugate = conjugate + mirrored * ring.surd(e.surd) * ring.polynomial(c)
    if not (element - conjugate).is_zero():
        raise BadInput("expr is not real; a sign or limit is asked of real formulas only")


def _is_positive(exponent: Exponent) -> bool:
    return not exponent.imaginary and exponent.turn == 0 and all(n % 2 == 0 for _, n in exponent.opaque)


def _grouped(element: ExpPoly, known: Premises, position: int | None) -> Signs:
    """Signs of the sum of (polynomial in one symbol) · (monomial in the others) · exp(P)."""
    total = NULL
    for number, c in element.terms.items():
        weight = POSITIVE if not element.ring.exponents[number].opaque else frozenset({0, 1})
        for rest, coefficients in _by_monomial(c, position).items():
            sign = _univariate(coefficients, element.ring.symbols, position, known)
            for i, count in enumerate(rest):
                if count:
                    sign = times(sign, power(_symbol_signs(element.ring.symbols[i], known), count))
            total = plus(total, times(sign, weight))
    return total


def _by_monomial(c: PolyElement, position: int | None) -> dict[tuple[int, ...], dict[int, Any]]:
    """monomial in the other symbols -> {power of the one: coefficient}."""
    groups: dict[tuple[int, ...], dict[int, Any]] = defaultdict(dict)
    for monomial, coefficient in c.items():
        degree = 0 if position is None else monomial[position]
        rest = tuple(0 if i == position else n for i, n in enumerate(monomial))
        groups[rest][degree] = coefficient
    return groups


def _univariate(coefficients: dict[int, Any], symbols: tuple, position: int | None, known: Premises) -> Signs:
    if position is None:
        return frozenset({1 if coefficients[0] > 0 else -1})
    x = sp.Dummy("x")
    rational = {k: sp.Rational(int(QQ.numer(c)), int(QQ.denom(c))) for k, c in coefficients.items()}
    return polynomial_signs(
        sp.Poly.from_dict(rational, x, domain="QQ"), _symbol_signs(symbols[position], known)
    )


def _symbol_signs(symbol: sp.Expr, known: Premises) -> Signs:
    return POSITIVE if symbol is sp.pi else known.of_symbol(symbol)


# ---- by Sturm's theorem ----


def polynomial_signs(polynomial: sp.Poly, domain: Signs) -> Signs:
    """The exact signs of a polynomial over Q on {x : sign of x in domain}."""
    found: set[int] = set()
    for side in domain:
        if side == 0:
            found.add(int(sp.sign(polynomial.eval(0))))
        else:
            mirror = polynomial.compose(sp.Poly(-polynomial.gen, polynomial.gen, domain="QQ"))
            found |= _half_line(polynomial if side > 0 else mirror)
    return frozenset(found)


def _half_line(polynomial: sp.Poly) -> Signs:
    """The signs on x > 0: at infinity, opposite if a root of odd order lies there, zero if any root does."""
    end = int(sp.sign(polynomial.LC()))
    roots = [(f, order) for f, order in polynomial.factor_list()[1] if _positive_roots(f)]
    odd = any(order % 2 for _, order in roots)
    return frozenset({end} | ({0} if roots else set()) | ({-end} if odd else set()))


def _positive_roots(polynomial: sp.Poly) -> int:
    at_zero = 1 if polynomial.eval(0) == 0 else 0
    return polynomial.count_roots(0, None) - at_zero
