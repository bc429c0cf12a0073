"""Canonical form: exponential sums with inverses, whether such a sum is zero, which signs it can have.

A sum {(monomial, exponent): c} is Σ c · monomial · exp(exponent), c rational. A monomial {symbol: power} and
an exponent {(monomial, imaginary?): coefficient} are frozensets of their pairs. Symbols are names, π, opaque
values and `Inverse`s of sums; a root of unity is an exponent q·iπ with 0 <= q < 1. A sum is zero if no term
is left when inverses are cleared and roots of unity stand on a basis.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cache, lru_cache, reduce
from math import isqrt, lcm
from operator import mul
from typing import Any

from .reading import need, spend
from .trees import HALF, Node

BITS, TERMS, ORDER, PRIME = 20_000, 5000, 4000, 400
Pairs = frozenset[tuple[Any, Any]]
Term = tuple[Pairs, Pairs]
Signs = frozenset[int]
NONE, ANY, POSITIVE = Pairs(), Signs((-1, 0, 1)), Signs((1,))
PI = ("pi",)
TURN = (Pairs({(PI, 1)}), True)  # iπ in an exponent


class Inverse(frozenset):
    """A symbol: one over the sum with these terms."""


@lru_cache(maxsize=1 << 16)
def merged(a: Pairs, b: Pairs) -> Pairs:
    """The product of two monomials, or the sum of two exponents."""
    out = dict(a)
    for key, value in b:
        out[key] = out.get(key, 0) + value
    return Pairs(pair for pair in out.items() if pair[1])


@lru_cache(maxsize=1 << 16)
def joined(a: Pairs, b: Pairs) -> tuple[Pairs, int]:
    """(exponent, sign) of exp(a) exp(b), where exp(iπ) = -1."""
    out = dict(merged(a, b))
    q = out.pop(TURN, Fraction(0)) % 2
    return Pairs((out | {TURN: q % 1} if q % 1 else out).items()), 1 if q < 1 else -1


class Sum(dict[Term, Fraction]):
    """An exponential sum; never changed once it is made."""

    @classmethod
    def of(cls, terms: Iterable[tuple[Term, Fraction]]) -> Sum:
        found: dict[Term, Fraction] = {}
        for key, c in terms:
            found[key] = found.get(key, 0) + c
        out = cls((key, c) for key, c in found.items() if c)
        need(len(out) <= TERMS, f"has more than {TERMS} terms")
        need(out.bits <= BITS, f"has coefficients of more than {BITS} bits")
        return out

    @classmethod
    def total(cls, sums: Iterable[Sum]) -> Sum:
        return cls.of(term for a in sums for term in a.items())

    @property
    def bits(self) -> int:
        return max((max(abs(c.numerator), c.denominator).bit_length() for c in self.values()), default=0)

    def __mul__(self, other: Sum) -> Sum:
        longest = max((len(m) + len(e) for a in (self, other) for m, e in a), default=0)
        spend(len(self) * len(other) * (1 + longest // 4 + (self.bits + other.bits) // 256))
        pairs = ((p, q, c * d) for p, c in self.items() for q, d in other.items())
        joins = ((merged(m, n), joined(e, f), c) for (m, e), (n, f), c in pairs)
        return Sum.of(((m, e), c if sign > 0 else -c) for m, (e, sign), c in joins)

    def __pow__(self, n: int) -> Sum:
        a, out = self if n >= 0 else self.inverse(), constant(1)
        need(abs(n) * a.bits <= 2 * BITS, "has a power of too many bits")
        for digit in f"{abs(n):b}":
            out = out * out * a if digit == "1" else out * out
        return out

    def inverse(self) -> Sum:
        """A sum of one term has negative powers; any other is a symbol of its own, and cleared later."""
        above, below = self.cleared()
        need(above, "divides by something that is identically zero")
        if len(above) > 1:
            return below * symbol(Inverse(above.items()))
        (((m, e), c),) = above.items()
        exponent, sign = joined(NONE, Pairs((key, -value) for key, value in e))
        return below * Sum({(Pairs((x, -k) for x, k in m), exponent): sign / c})

    @property
    def inverses(self) -> list[Inverse]:
        return [x for m, _ in self for x, _ in m if isinstance(x, Inverse)]

    def cleared(self) -> tuple[Sum, Sum]:
        """(n, d) with self = n/d and no inverse in n, which has no term if the sum is zero."""
        a, below = self, constant(1)
        while found := a.inverses:
            groups: dict[int, Sum] = {}
            for (m, e), c in a.items():
                rest = dict(m)
                groups.setdefault(rest.pop(found[0], 0), Sum())[Pairs(rest.items()), e] = c
            factor, most = Sum(found[0]), max(groups)
            a = Sum.total(group * factor ** (most - k) for k, group in groups.items())
            below = below * factor**most
        return a.reduced(), below

    @property
    def zero(self) -> bool:
        return not self.cleared()[0]

    def reduced(self) -> Sum:
        """The same sum with its roots of unity on a basis."""
        groups: dict[Term, dict[Fraction, Fraction]] = {}
        for (m, e), c in self.items():
            q = dict(e).get(TURN, Fraction(0))
            groups.setdefault((m, e - {(TURN, q)}), {})[q / 2] = c
        if all(x.denominator in (1, 4) for turns in groups.values() for x in turns):
            return self
        terms = ((key, turn) for key, turns in groups.items() for turn in on_basis(turns).items())
        return Sum.total(Sum({key: c}) * unity(2 * x) for key, (x, c) in terms)

    def signs(self, assumed: Mapping[Any, Signs]) -> Signs:
        """The signs the sum can have, term by term; exponentials are positive, what divides is not zero."""

        def of(a: Sum) -> Signs:
            if any(imaginary for _, e in a for (_, imaginary), _ in e):
                return ANY
            out = Signs((0,))
            for (m, _), c in a.items():
                term = Signs((1 if c > 0 else -1,))
                for x, k in m:
                    one = POSITIVE if x == PI else assumed.get(x, ANY)
                    term = Signs(s * t ** abs(k) for s in term for t in (one if k > 0 else one - {0}))
                out = Signs(s for x in out for y in term for s in ((x or y,) if x * y >= 0 else ANY))
            return out

        above, below = map(of, self.cleared())
        return Signs(s * t for s in above for t in below - {0})


def on_basis(turns: dict[Fraction, Fraction]) -> dict[Fraction, Fraction]:
    """{x: c} for Σ c exp(2πix), with no x whose leading digit at a prime p is p - 1.

    The numbers exp(2πi(x + j/p)) for j = 0, …, p - 1 have the sum 0, so that the one with the digit p - 1 is
    minus the others. What is left has as many members as the cyclotomic field has dimensions: a basis.
    """
    n = lcm(*(x.denominator for x in turns))
    need(n <= ORDER, f"needs roots of unity of order {n}; at most {ORDER} is supported")
    for p in (p for p in range(2, n + 1) if n % p == 0 and all(p % d for d in range(2, isqrt(p) + 1))):
        m = max(p**k for k in range(1, 12) if n % p**k == 0)
        for x in [x for x in turns if int(x * n) * pow(n // m, -1, m) % m >= m - m // p]:
            spend(p)
            c = turns.pop(x)
            for y in ((x + Fraction(j, p)) % 1 for j in range(1, p)):
                turns[y] = turns.get(y, Fraction(0)) - c
    return turns


def constant(value: Fraction | int) -> Sum:
    return Sum.of([((NONE, NONE), Fraction(value))])


def symbol(key: Any) -> Sum:
    return Sum({(Pairs({(key, 1)}), NONE): Fraction(1)})


def unity(q: Fraction, c: int = 1) -> Sum:
    """c exp(iπq)"""
    exponent, sign = joined(NONE, Pairs({(TURN, q)}))
    return Sum({(NONE, exponent): Fraction(c * sign)})


def square_root(value: Fraction) -> Sum:
    """√(p/q) = √(pq)/q; √2 = 2 cos(π/4); Σ (k/p) exp(2πik/p) is √p, or i√p where p = 3 mod 4 (Gauss)."""
    need(value > 0, "has the square root of a number that is not positive")
    n, out = value.numerator * value.denominator, constant(Fraction(1, value.denominator))
    for p in range(2, PRIME):
        while n % (p * p) == 0:
            n, out = n // (p * p), out * constant(p)
        if n % p == 0:
            squares, shift = {k * k % p for k in range(p)}, Fraction(1 - p % 4, 4)
            gauss = [unity(Fraction(2 * k, p) + shift, 1 if k in squares else -1) for k in range(1, p)]
            n, out = n // p, out * Sum.total(gauss if p > 2 else [unity(HALF / 2), unity(-HALF / 2)])
    need(isqrt(n) ** 2 == n, f"has the square root of a prime above {PRIME}")
    return out * constant(isqrt(n))


def exponential(a: Sum) -> Sum:
    """exp(a) for a polynomial with rational and imaginary rational coefficients."""
    need(not a.inverses, "has a fraction inside an exponent or an angle; a free symbol for it works")
    exponent: dict[Any, Fraction] = {}
    for (m, e), c in a.reduced().items():
        imaginary = e == {(TURN, HALF)}
        need(imaginary or not e, "has an exponential or an irrational number inside an exponent or an angle")
        exponent[m, imaginary] = c
    found, sign = joined(NONE, Pairs(exponent.items()))
    return Sum({(NONE, found): Fraction(sign)})


@cache
def form(a: Node) -> Sum:
    """The canonical form of a tree."""
    kind, args = a.kind, a.args
    if kind == "num":
        return constant(args[0])
    if kind in ("sym", "pi"):
        return symbol(args[0] if args else PI)
    if kind in ("add", "mul"):
        return Sum.total(map(form, args)) if kind == "add" else reduce(mul, map(form, args))
    if kind == "pow":
        return form(args[0]) ** args[1]
    if kind == "i":
        return unity(HALF)
    if kind == "root" and args[1] == HALF:
        return square_root(args[0])
    if kind == "fn":
        inner = [form(b) for b in args[1:]]
        need(not any(b.inverses for b in inner), "has an opaque function of a fraction")
        return symbol((args[0], *(Pairs(b.reduced().items()) for b in inner)))
    need(kind in ("exp", "sin", "cos"), f"uses {kind}, which has no canonical form, only an enclosed value")
    if kind == "exp":
        return exponential(form(args[0]))
    turn = HALF if kind == "sin" else Fraction(0)  # sin a = cos(a - π/2)
    up, down = (exponential(form(args[0]) * unity(q)) for q in (HALF, -HALF))
    return constant(HALF) * Sum.total((up * unity(-turn), down * unity(turn)))
