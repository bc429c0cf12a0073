"""Where the roots of a real polynomial lie: exact counts left of, on and right of the imaginary axis.

Cauchy index by a Sturm chain (Routh-Hurwitz). Signs of coefficients are exact, so no root is computed.
Source: Gantmacher, The Theory of Matrices, vol. 2 (1959), ch. XV §§2-3, Thm 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import sympy as sp


@dataclass(frozen=True)
class HalfPlanes:
    """How many roots have Re λ < 0, = 0, > 0."""

    left: int
    axis: int
    right: int


def half_planes(irreducible: sp.Poly) -> HalfPlanes:
    """The count for an irreducible polynomial of degree >= 2 over a real field."""
    n = irreducible.degree()
    if _is_even(irreducible):  # p(λ) = q(λ²): the roots come in pairs ±λ
        imaginary = 2 * real_roots(_halved(irreducible), below_zero=True)
        return HalfPlanes((n - imaginary) // 2, imaginary, (n - imaginary) // 2)
    # a root iy would be shared with p(-λ), which an irreducible p that is not even cannot do
    excess = _cauchy_index(*_on_the_axis(irreducible))
    return HalfPlanes((n + excess) // 2, 0, (n - excess) // 2)


def real_roots(squarefree: sp.Poly, below_zero: bool = False) -> int:
    """How many different real roots, or negative roots, by Sturm's theorem; 0 is no root."""
    chain = _chain(squarefree, squarefree.diff())
    upper = [_sign_at_zero(p) for p in chain] if below_zero else [_leading_sign(p, 1) for p in chain]
    return _variations([_leading_sign(p, -1) for p in chain]) - _variations(upper)


def _is_even(p: sp.Poly) -> bool:
    return all(power % 2 == 0 for (power,), _ in p.terms())


def _halved(p: sp.Poly) -> sp.Poly:
    """q with p(λ) = q(λ²)."""
    return sp.Poly({(power // 2,): c for (power,), c in p.terms()}, p.gen, domain=p.domain)


def _on_the_axis(p: sp.Poly) -> tuple[sp.Poly, sp.Poly]:
    """(f, g) with p(iy) = iⁿ (f(y) - i g(y))."""
    n = p.degree()
    parts: tuple[dict, dict] = {}, {}
    for (power,), c in p.terms():
        back = n - power  # i^power = i^n (-i)^back
        parts[back % 2][(power,)] = c * (-1) ** (back // 2)
    f, g = (sp.Poly(part or {(0,): 0}, p.gen, domain=p.domain) for part in parts)
    return f, g


def _cauchy_index(f: sp.Poly, g: sp.Poly) -> int:
    """The index of g/f over the real line: roots on the left minus roots on the right."""
    chain = _chain(f, g)
    ends = [[_leading_sign(p, side) for p in chain] for side in (-1, 1)]
    return _variations(ends[0]) - _variations(ends[1])


def _chain(f: sp.Poly, g: sp.Poly) -> list[sp.Poly]:
    """f, g, and the negated remainders of Euclid's algorithm."""
    chain = [f]
    while not g.is_zero:
        chain.append(g)
        f, g = g, -f.rem(g)
    return chain


def _variations(signs: list[int]) -> int:
    present = [sign for sign in signs if sign]
    return sum(a != b for a, b in pairwise(present))


def _leading_sign(p: sp.Poly, side: int) -> int:
    """The sign of p far out on the positive (side 1) or negative (side -1) axis."""
    return _sign(p.LC()) * (side if p.degree() % 2 else 1)


def _sign_at_zero(p: sp.Poly) -> int:
    return _sign(p.nth(0))


def _sign(number: sp.Expr) -> int:
    """Exact: the numbers are rationals or real algebraic, in a form that is 0 only if it is 0."""
    return 0 if number.is_zero else 1 if number.is_positive else -1
