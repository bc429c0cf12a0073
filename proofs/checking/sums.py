"""Exponential sums: finite sums of c · x^m · exp(P) · exp(iπq), the ring in which everything is compared.

c is rational, x^m a monomial in symbols (π and opaque functions are symbols of their own), P a polynomial
without constant multiples of iπ whose coefficients are Gaussian rationals, q rational with 0 <= q < 1.
A monomial is one integer with `WIDTH` bits for each exponent, so that products are additions; an
exponential is a number into a table kept by the ring.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from math import gcd, lcm

from .refusal import Refusal
from .roots import reduced_groups

WIDTH = 24
_DEGREE = 1 << (WIDTH - 2)
_BITS = 50_000
WORK = 4_000_000
PI = ("pi",)

Exponent = Mapping[int, tuple[Fraction, Fraction]]  # monomial -> (real, imaginary) coefficient
Term = tuple[int, int]  # (exponential, monomial)


class Sum:
    """terms {(exponential, monomial): integer} over one positive integer; `degree` bounds all exponents."""

    __slots__ = ("degree", "den", "terms")

    def __init__(self, terms: dict[Term, int], den: int = 1, degree: int = 0) -> None:
        self.terms, self.den, self.degree = terms, den, degree

    def __bool__(self) -> bool:
        return bool(self.terms)


class Ring:
    """Symbols, exponentials and arithmetic of one document, with a budget of term products."""

    def __init__(self) -> None:
        self.work = 0
        self.variables: dict[Hashable, int] = {}
        self.names: list[Hashable] = []
        self.exponentials: list[tuple[Exponent, Fraction]] = []
        self._numbers: dict[tuple[frozenset, Fraction], int] = {}
        self._joined: list[dict[int, tuple[int, bool]]] = []
        self.zero = Sum({})
        self.unit = self.exponential({}, Fraction(0))[0]
        self.one = Sum({(self.unit, 0): 1})

    # Symbols and monomials

    def variable(self, key: Hashable) -> int:
        """The place of a symbol in monomials."""
        if key not in self.variables:
            self.variables[key] = len(self.names)
            self.names.append(key)
        return self.variables[key]

    def symbol(self, key: Hashable) -> Sum:
        return Sum({(self.unit, 1 << WIDTH * self.variable(key)): 1}, degree=1)

    def constant(self, value: Fraction | int) -> Sum:
        return Sum({(self.unit, 0): value.numerator}, value.denominator) if value else self.zero

    # Exponentials

    def exponential(self, exponent: Exponent, q: Fraction) -> tuple[int, bool]:
        """(number, sign) with exp(P + iπq) = ± the exponential of that number; True is minus."""
        q %= 2
        minus, q = (True, q - 1) if q >= 1 else (False, q)
        key = (frozenset(exponent.items()), q)
        if key not in self._numbers:
            self._numbers[key] = len(self.exponentials)
            self.exponentials.append((dict(exponent), q))
            self._joined.append({})
        return self._numbers[key], minus

    def _join(self, e: int, f: int) -> tuple[int, bool]:
        (p, q), (r, s) = self.exponentials[e], self.exponentials[f]
        self.spend(30 + 4 * (len(p) + len(r)))  # a new exponential costs as much as so many products
        total = dict(p)
        for m, (a, b) in r.items():
            c, d = total.get(m, (0, 0))
            total[m] = (a + c, b + d)
            if total[m] == (0, 0):
                del total[m]
        joined = self._joined[e][f] = self.exponential(total, q + s)
        return joined

    def root(self, q: Fraction) -> Sum:
        """exp(iπq)"""
        number, minus = self.exponential({}, q)
        return Sum({(number, 0): -1 if minus else 1})

    # Arithmetic

    def spend(self, steps: int) -> None:
        self.work += steps
        if self.work > WORK:
            raise Refusal(f"needs more than {WORK} term products; state it in smaller steps")

    def add(self, a: Sum, b: Sum) -> Sum:
        """a + b"""
        if not a or not b:
            return a or b
        self.spend(len(b.terms))
        den = lcm(a.den, b.den)
        u, v = den // a.den, den // b.den
        out = dict(a.terms) if u == 1 else {k: c * u for k, c in a.terms.items()}
        for k, c in b.terms.items():
            total = out.get(k, 0) + c * v
            if total:
                out[k] = total
            else:
                del out[k]
        return Sum(out, den, max(a.degree, b.degree))

    def negative(self, a: Sum) -> Sum:
        return Sum({k: -c for k, c in a.terms.items()}, a.den, a.degree)

    def subtract(self, a: Sum, b: Sum) -> Sum:
        return self.add(a, self.negative(b))

    def total(self, parts: Iterable[Sum]) -> Sum:
        """The sum of many, collected once."""
        parts = [p for p in parts if p]
        if len(parts) < 2:
            return parts[0] if parts else self.zero
        den = lcm(*(p.den for p in parts))
        out: dict[Term, int] = {}
        for part in parts:
            self.spend(len(part.terms))
            factor = den // part.den
            for k, c in part.terms.items():
                out[k] = out.get(k, 0) + c * factor
        return _lowest({k: c for k, c in out.items() if c}, den, max(p.degree for p in parts))

    def multiply(self, a: Sum, b: Sum) -> Sum:
        """a b"""
        if a is self.one or not b:
            return b
        if b is self.one or not a:
            return a
        bits = next(iter(a.terms.values())).bit_length() + next(iter(b.terms.values())).bit_length()
        self.spend(len(a.terms) * len(b.terms) * (1 + (bits >> 9)))
        if a.degree + b.degree > _DEGREE:
            raise Refusal("has powers that are too high to expand")
        out: dict[Term, int] = {}
        for (e, m), c in a.terms.items():
            joined = self._joined[e]
            for (f, n), d in b.terms.items():
                g, minus = joined.get(f) or self._join(e, f)
                key = (g, m + n)
                out[key] = out.get(key, 0) + (-c * d if minus else c * d)
        if len(out) > 1 or not all(out.values()):
            out = {k: c for k, c in out.items() if c}
        return _lowest(out, a.den * b.den, a.degree + b.degree)

    def power(self, a: Sum, n: int) -> Sum:
        """a^n for n >= 0, by squaring."""
        if n * max((c.bit_length() for c in (*a.terms.values(), a.den)), default=1) > _BITS:
            raise Refusal(f"has coefficients of more than {_BITS} bits when expanded")
        result = self.one
        while n:
            if n & 1:
                result = self.multiply(result, a)
            n >>= 1
            if n:
                a = self.multiply(a, a)
        return result

    # Structure

    def is_zero(self, a: Sum) -> bool:
        """Exact: different P are independent, and the roots of unity beside each P are reduced."""
        return not a or not self.reduced(a)

    def reduced(self, a: Sum) -> Sum:
        """The same sum with every root of unity on a basis of its cyclotomic field."""
        halves = all(self.exponentials[e][1].denominator <= 2 for e, _ in a.terms)
        if halves:
            return a
        out: dict[Term, int] = {}
        for exponent, roots in reduced_groups(self, a):
            for q, poly in roots.items():
                number, minus = self.exponential(exponent, q)
                for m, c in poly.items():
                    out[number, m] = out.get((number, m), 0) + (-c if minus else c)
        return Sum({k: c for k, c in out.items() if c}, a.den, a.degree)

    def powers(self, monomial: int) -> list[tuple[int, int]]:
        """[(symbol place, exponent), …] of a monomial."""
        out, place, mask = [], 0, (1 << WIDTH) - 1
        while monomial:
            if monomial & mask:
                out.append((place, monomial & mask))
            else:
                skip = ((monomial & -monomial).bit_length() - 1) // WIDTH
                monomial >>= WIDTH * skip
                place += skip
                continue
            monomial >>= WIDTH
            place += 1
        return out

    def places(self, a: Sum) -> set[int]:
        """The symbols that occur in coefficients or exponents."""
        monomials = {m for _, m in a.terms}
        for e in {e for e, _ in a.terms}:
            monomials.update(self.exponentials[e][0])
        return {place for m in monomials for place, _ in self.powers(m)}


def _lowest(terms: dict[Term, int], den: int, degree: int) -> Sum:
    if terms and next(iter(terms.values())).bit_length() > _BITS:
        raise Refusal(f"has coefficients of more than {_BITS} bits when expanded")
    if den > 1:
        common = gcd(den, *terms.values()) if terms else den
        if common > 1:
            return Sum({k: c // common for k, c in terms.items()}, den // common, degree)
    return Sum(terms, den, degree)
