"""When a sum of coefficients times roots of unity and square roots vanishes: exact, sparse, complete.

A term is `c · exp(iπq) · √r` with q rational and r a squarefree positive integer. Coefficients c only
need addition, negation and truth; they are polynomials over Q in independent symbols.

Why it is complete. Let N be the common order of the roots. If p² divides N, ζ_N has degree p over
Q(ζ_{N/p}), so residues of the exponent modulo p separate. If p divides N exactly once, the only relation
among 1, ζ_p, …, ζ_p^{p-1} over Q(ζ_{N/p}) is that their sum is zero, so the p parts must be equal.
√p for odd p not dividing N ramifies at p and is independent of Q(ζ_{8N}); for odd p dividing N it is
written as a Gauss sum, and √2 = ζ_8 + ζ_8⁻¹. (Washington, Introduction to Cyclotomic Fields, ch. 2.)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import sympy as sp
from flint import fmpz

from .errors import Unsupported
from .walk import text

MAX_ORDER = 10**12
MAX_GAUSS_PRIME = 2000
TRIALS = 10**5  # smaller primes are divided out; what is left must be a prime or its square
MAX_PRIME_BITS = 512  # proved prime within a second

Term = tuple[Fraction, int, Any]  # (q, r, c) for c·exp(iπq)·√r


def vanishes(terms: Iterable[Term]) -> bool:
    """Σ c exp(iπq) √r = 0."""
    terms = list(terms)
    if len(terms) == 1:
        return not terms[0][2]
    order = lcm(8, *(2 * q.denominator for q, _, _ in terms))
    if order > MAX_ORDER:
        raise Unsupported(
            f"too large for the exact procedure: roots of unity of order {text(order)}; use a free symbol "
            "instead"
        )
    by_surd: dict[int, dict[int, Any]] = defaultdict(dict)
    for q, surd, coefficient in terms:
        independent, roots = _expand_surd(surd, order)
        for exponent, sign in roots.items():
            place = (int(q * order / 2) + exponent) % order
            _accumulate(by_surd[independent], place, coefficient * sign)
    return all(_vanishes(order, parts) for parts in by_surd.values())


def _accumulate(parts: dict[int, Any], place: int, coefficient: Any) -> None:
    parts[place] = parts[place] + coefficient if place in parts else coefficient


def _vanishes(order: int, parts: dict[int, Any]) -> bool:
    """Σ c_e ζ_order^e = 0, by descent through the prime factors of the order."""
    parts = {e: c for e, c in parts.items() if c}
    if len(parts) < 2:
        return not parts
    prime = min(sp.primefactors(order))
    rest = order // prime
    classes: dict[int, dict[int, Any]] = defaultdict(dict)
    if rest % prime == 0:
        for e, c in parts.items():
            classes[e % prime][e // prime] = c
        return all(_vanishes(rest, part) for part in classes.values())
    inverse = pow(prime, -1, rest) if rest > 1 else 0
    for e, c in parts.items():
        classes[e % prime][e * inverse % rest] = c
    if len(classes) < prime:
        return all(_vanishes(rest, part) for part in classes.values())
    first = classes.pop(0)
    return all(_vanishes(rest, _difference(part, first)) for part in classes.values())


def _difference(a: dict[int, Any], b: dict[int, Any]) -> dict[int, Any]:
    out = dict(a)
    for e, c in b.items():
        _accumulate(out, e, -c)
    return out


def _expand_surd(surd: int, order: int) -> tuple[int, dict[int, int]]:
    """√surd = √independent · Σ sign·ζ_order^exponent, expanding 2 and the primes that divide the order."""
    shared, roots = gcd(surd, 2 * order), {0: 1}
    for prime in sp.primefactors(shared):
        factor = {order // 8: 1, -order // 8: 1} if prime == 2 else _gauss_sum(prime, order)
        product: dict[int, int] = defaultdict(int)
        for e, a in roots.items():
            for f, b in factor.items():
                product[(e + f) % order] += a * b
        roots = dict(product)
    return surd // shared, roots


def _gauss_sum(prime: int, order: int) -> dict[int, int]:
    """√p = Σ (k/p) ζ_p^k, divided by i when p ≡ 3 mod 4 (4 and p divide the order)."""
    if prime > MAX_GAUSS_PRIME:
        raise Unsupported(
            f"too large for the exact procedure: sqrt({prime}) beside roots of unity of order {order}; "
            "use a free positive symbol for the square root"
        )
    step, shift = order // prime, 0 if prime % 4 == 1 else -order // 4
    return {
        (k * step + shift) % order: 1 if pow(k, (prime - 1) // 2, prime) == 1 else -1 for k in range(1, prime)
    }


def split_square(n: int) -> tuple[int, int]:
    """n = a²·r with r squarefree, for a positive integer n."""
    square, squarefree = 1, 1
    for prime, power in fmpz(n).factor(trial_limit=TRIALS):
        root = prime.isqrt()
        if root * root == prime:
            prime, power = root, 2 * power
        if prime.bit_length() > MAX_PRIME_BITS or not prime.is_prime():
            raise Unsupported(
                f"too large for the exact procedure: the square root of {text(n)}; use a free positive "
                "symbol for it"
            )
        square *= int(prime) ** (power // 2)
        squarefree *= int(prime) ** (power % 2)
    return square, squarefree
