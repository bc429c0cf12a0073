"""The ring of exponential polynomials over Q: arithmetic, derivative, substitution, exact zero test.

An element is a finite map  exponent -> coefficient  that stands for

    Σ  c(x) · exp(P(x) + iπq) · √r · (product of opaque values),

with c in Q[x], P in Q(i)[x], q in Q/2Z, r squarefree. The real symbols x may include π as one more
indeterminate. For distinct P the functions exp(P) are linearly independent over the algebraic closure of
Q(x) (differentiate a shortest relation; for equal non-constant parts use Lindemann-Weierstrass), so an
element is zero exactly if for each P the coefficients vanish as a combination of roots of unity. With
turns and surds kept inside the coefficient field the ring is a group ring of a torsion-free group over a
field: a domain, in which fractions are compared by cross-multiplication.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import sympy as sp
from sympy.polys.domains import QQ
from sympy.polys.rings import PolyElement, PolyRing

from .cyclotomic import vanishes
from .errors import Unsupported
from .exponent import HALF, ZERO, Exponent, fold_turn

MAX_TERMS = 20_000
MAX_EXPONENTS = 10_000


class Ring:
    """Exponential polynomials in the given symbols; exponents are interned as small integers."""

    def __init__(self, symbols: Iterable[sp.Expr]) -> None:
        self.symbols = tuple(symbols)
        self.index = {symbol: i for i, symbol in enumerate(self.symbols)}
        self.polynomials = PolyRing([f"x{i}" for i in range(len(self.symbols))] or ["x"], QQ)
        self.exponents: list[Exponent] = []
        self._numbers: dict[Exponent, int] = {}
        self._products: dict[tuple[int, int], tuple[int, int]] = {}
        self._derivatives: dict[tuple[int, int], ExpPoly] = {}
        zero = self.polynomials.zero
        self.unit = self.number(Exponent(zero, zero))
        self.zero = ExpPoly(self, {})
        self.one = self.polynomial(self.polynomials.one)
        self.i = self.root_of_unity(HALF)

    def number(self, exponent: Exponent) -> int:
        """The interned number of an exponent."""
        found = self._numbers.get(exponent)
        if found is None:
            if len(self.exponents) == MAX_EXPONENTS:
                raise Unsupported(
                    f"too large for the exact procedure: more than {MAX_EXPONENTS} exponentials"
                )
            found = self._numbers[exponent] = len(self.exponents)
            self.exponents.append(exponent)
        return found

    def polynomial(self, polynomial: PolyElement) -> ExpPoly:
        """c(x) · exp(0)."""
        return ExpPoly(self, {self.unit: polynomial} if polynomial else {})

    def constant(self, numerator: int, denominator: int = 1) -> ExpPoly:
        """numerator/denominator."""
        return self.polynomial(self.polynomials.ground_new(QQ(numerator, denominator)))

    def generator(self, symbol: sp.Expr) -> ExpPoly:
        """x."""
        return self.polynomial(self.polynomials.gens[self.index[symbol]])

    def exponential(self, real: PolyElement, imaginary: PolyElement, turn: Fraction) -> ExpPoly:
        """exp(real + i·imaginary + iπ·turn)."""
        sign, turn = fold_turn(turn)
        one = self.polynomials.one
        return ExpPoly(self, {self.number(Exponent(real, imaginary, turn)): one * sign})

    def root_of_unity(self, turn: Fraction) -> ExpPoly:
        """exp(iπ·turn)."""
        zero = self.polynomials.zero
        return self.exponential(zero, zero, turn)

    def surd(self, squarefree: int) -> ExpPoly:
        """√squarefree."""
        zero, one = self.polynomials.zero, self.polynomials.one
        return ExpPoly(self, {self.number(Exponent(zero, zero, ZERO, squarefree)): one})

    def opaque(self, number: int) -> ExpPoly:
        """The value of an undefined function, as one more independent symbol."""
        zero, one = self.polynomials.zero, self.polynomials.one
        return ExpPoly(self, {self.number(Exponent(zero, zero, opaque=((number, 1),))): one})

    def product(self, a: int, b: int) -> tuple[int, int]:
        """exponent a · exponent b = factor · exponent c, as (c, factor)."""
        if a > b:
            a, b = b, a
        found = self._products.get((a, b))
        if found is None:
            exponent, factor = self.exponents[a].times(self.exponents[b])
            found = self._products[a, b] = (self.number(exponent), factor)
        return found

    def log_derivative(self, number: int, i: int) -> ExpPoly:
        """∂P/∂x_i of exp(P)."""
        found = self._derivatives.get((number, i))
        if found is None:
            exponent = self.exponents[number]
            if exponent.opaque:
                raise Unsupported("the derivative of an undefined function; use a free symbol for it")
            real, imaginary = (p.diff(i) for p in (exponent.real, exponent.imaginary))
            found = self.polynomial(real) + self.polynomial(imaginary) * self.i
            self._derivatives[number, i] = found
        return found

    def exponential_of(self, argument: ExpPoly) -> ExpPoly:
        """exp(argument), for a polynomial with Gaussian-rational coefficients plus a rational times iπ."""
        real, imaginary = argument.gaussian_parts()
        turn = ZERO
        position = self.index.get(sp.pi)
        if position is not None:
            pi = self.polynomials.gens[position]
            coefficient = imaginary.coeff(pi)
            imaginary = imaginary - pi * coefficient
            turn = Fraction(int(QQ.numer(coefficient)), int(QQ.denom(coefficient)))
        return self.exponential(real, imaginary, turn)


class ExpPoly:
    """An element of a Ring; immutable by convention."""

    __slots__ = ("ring", "terms")

    def __init__(self, ring: Ring, terms: dict[int, PolyElement]) -> None:
        self.ring = ring
        self.terms = terms

    def __bool__(self) -> bool:
        """Has terms; `is_zero` decides, for the terms may still cancel as roots of unity."""
        return bool(self.terms)

    def __add__(self, other: ExpPoly) -> ExpPoly:
        if not other.terms:
            return self
        if not self.terms:
            return other
        terms = dict(self.terms)
        for number, coefficient in other.terms.items():
            _accumulate(terms, number, coefficient)
        return ExpPoly(self.ring, terms)

    def __neg__(self) -> ExpPoly:
        return ExpPoly(self.ring, {number: -c for number, c in self.terms.items()})

    def __sub__(self, other: ExpPoly) -> ExpPoly:
        return self + -other

    def __mul__(self, other: ExpPoly) -> ExpPoly:
        if self is self.ring.one:
            return other
        if other is self.ring.one:
            return self
        _check_product_size(self, other)
        terms: dict[int, PolyElement] = {}
        product = self.ring.product
        for a, c in self.terms.items():
            for b, d in other.terms.items():
                number, factor = product(a, b)
                coefficient = c * d
                _accumulate(terms, number, coefficient if factor == 1 else coefficient * factor)
        return ExpPoly(self.ring, terms)

    def __pow__(self, power: int) -> ExpPoly:
        """self^power for power >= 0, by repeated squaring."""
        result, square = self.ring.one, self
        while power:
            if power & 1:
                result = result * square
            power >>= 1
            if power:
                square = square * square
        return result

    def __eq__(self, other: object) -> bool:
        """Same terms; equality of values is `(a - b).is_zero()`."""
        return isinstance(other, ExpPoly) and self.ring is other.ring and self.terms == other.terms

    __hash__ = None

    def diff(self, i: int) -> ExpPoly:
        """∂/∂x_i:  (c·exp(P))' = (c' + c·P')·exp(P)."""
        result = ExpPoly(self.ring, {n: d for n, c in self.terms.items() if (d := c.diff(i))})
        for number, c in self.terms.items():
            rate = self.ring.log_derivative(number, i)
            if rate:
                result = result + ExpPoly(self.ring, {number: c}) * rate
        return result

    def compose(self, values: dict[int, ExpPoly], opaque: dict[int, ExpPoly] | None = None) -> ExpPoly:
        """x_i := values[i] at once, and opaque value k := opaque[k]."""
        powers = _Powers(values)
        result = self.ring.zero
        for number, c in self.terms.items():
            result = result + powers.evaluate(self.ring, c) * self._compose_exponent(number, powers, opaque)
        return result

    def _compose_exponent(self, number: int, powers: _Powers, opaque: dict[int, ExpPoly] | None) -> ExpPoly:
        ring, exponent = self.ring, self.ring.exponents[number]
        argument = powers.evaluate(ring, exponent.real) + powers.evaluate(ring, exponent.imaginary) * ring.i
        value = ring.exponential_of(argument) * ring.root_of_unity(exponent.turn)
        if exponent.surd != 1:
            value = value * ring.surd(exponent.surd)
        for k, power in exponent.opaque:
            value = value * (opaque[k] if opaque and k in opaque else ring.opaque(k)) ** power
        return value

    def is_zero(self) -> bool:
        """Exact zero test, sound and complete on the class (π taken as a transcendental)."""
        groups: dict[Any, list[tuple[Fraction, int, PolyElement]]] = defaultdict(list)
        for number, c in self.terms.items():
            exponent = self.ring.exponents[number]
            groups[exponent.transcendental].append((exponent.turn, exponent.surd, c))
        return all(vanishes(group) for group in groups.values())

    def surviving_term(self, names: Sequence[str] = ()) -> sp.Expr:
        """The first term, as a formula, of the first exponent whose coefficients do not cancel.

        names: what to call the opaque values.
        """
        symbols = self.ring.symbols or (sp.Symbol("x"),)
        for number, c in self.terms.items():
            exponent = self.ring.exponents[number]
            alike = [
                (other.turn, other.surd, d)
                for n, d in self.terms.items()
                if (other := self.ring.exponents[n]).transcendental == exponent.transcendental
            ]
            if not vanishes(alike):
                turn = sp.Rational(exponent.turn.numerator, exponent.turn.denominator)
                opaque = sp.Mul(*(sp.Symbol(names[k]) ** power for k, power in exponent.opaque))
                argument = exponent.real.as_expr(*symbols) + sp.I * exponent.imaginary.as_expr(*symbols)
                root = (
                    sp.exp(sp.I * sp.pi * turn)
                    if turn.q <= 2
                    else sp.exp(sp.I * sp.pi * turn, evaluate=False)
                )
                return c.as_expr(*symbols) * sp.exp(argument) * root * opaque * sp.sqrt(exponent.surd)
        return sp.S.Zero

    def gaussian_parts(self) -> tuple[PolyElement, PolyElement]:
        """(re, im) with self = re + i·im, both in Q[x]; ValueError with the offending exponent if not so."""
        zero = self.ring.polynomials.zero
        real, imaginary = zero, zero
        for number, c in self.terms.items():
            exponent = self.ring.exponents[number]
            if exponent.real or exponent.imaginary or exponent.opaque or exponent.surd != 1:
                raise NotPolynomial(exponent, c)
            if exponent.turn == ZERO:
                real = real + c
            elif exponent.turn == HALF:
                imaginary = imaginary + c
            else:
                raise NotPolynomial(exponent, c)
        return real, imaginary

    def quotient(self, divisor: ExpPoly) -> ExpPoly | None:
        """self/divisor where the divisor is a polynomial that divides every coefficient, else None."""
        if set(divisor.terms) != {self.ring.unit}:
            return None
        terms: dict[int, PolyElement] = {}
        for number, c in self.terms.items():
            terms[number], remainder = c.div(divisor.terms[self.ring.unit])
            if remainder:
                return None
        return ExpPoly(self.ring, terms)

    def unit_inverse(self) -> ExpPoly | None:
        """1/self if self is a single term with a constant coefficient, else None."""
        if len(self.terms) != 1:
            return None
        ((number, c),) = self.terms.items()
        exponent = self.ring.exponents[number]
        if not c.is_ground or exponent.opaque:
            return None
        ring = self.ring
        inverse = ring.exponential(-exponent.real, -exponent.imaginary, -exponent.turn)
        scale = 1 / c.coeff(1) / exponent.surd
        inverse = inverse * ring.polynomial(ring.polynomials.ground_new(scale))
        return inverse if exponent.surd == 1 else inverse * ring.surd(exponent.surd)

    def depends_on(self, indices: Iterable[int]) -> bool:
        """Whether a symbol with one of these numbers occurs, in a coefficient or an exponent."""
        wanted = set(indices)
        parts = [p for n, c in self.terms.items() for p in (c, *self.ring.exponents[n].transcendental[:2])]
        return any(monomial[i] for p in parts for monomial in p for i in wanted)

    def size(self) -> int:
        """Number of monomials."""
        return sum(len(c) for c in self.terms.values())


class NotPolynomial(Unsupported):
    """An element is no polynomial over Q(i); carries the exponent and coefficient that stand in the way."""

    def __init__(self, exponent: Exponent, coefficient: PolyElement) -> None:
        super().__init__("the argument is not a polynomial with Gaussian-rational coefficients")
        self.exponent = exponent
        self.coefficient = coefficient


class _Powers:
    """Evaluates polynomials at elements of the ring, remembering powers."""

    def __init__(self, values: dict[int, ExpPoly]) -> None:
        self._values = values
        self._powers: dict[tuple[int, int], ExpPoly] = {}

    def power(self, i: int, exponent: int) -> ExpPoly:
        if (i, exponent) not in self._powers:
            self._powers[i, exponent] = self._values[i] ** exponent
        return self._powers[i, exponent]

    def evaluate(self, ring: Ring, polynomial: PolyElement) -> ExpPoly:
        """p(values)."""
        result, untouched = ring.zero, {}
        for monomial, coefficient in polynomial.items():
            touched = [i for i in self._values if monomial[i]]
            if not touched:
                untouched[monomial] = coefficient
                continue
            kept = list(monomial)
            for i in touched:
                kept[i] = 0
            term = ring.polynomial(ring.polynomials.from_dict({tuple(kept): coefficient}))
            for i in touched:
                term = term * self.power(i, monomial[i])
            result = result + term
        return result + ring.polynomial(ring.polynomials.from_dict(untouched))


def _accumulate(terms: dict[int, PolyElement], number: int, coefficient: PolyElement) -> None:
    """terms[number] += coefficient, dropping zeros."""
    if number in terms:
        coefficient = terms[number] + coefficient
    if coefficient:
        terms[number] = coefficient
    else:
        terms.pop(number, None)


def _check_product_size(a: ExpPoly, b: ExpPoly) -> None:
    if len(a.terms) * len(b.terms) > MAX_TERMS or (a.size() * b.size() > 50 * MAX_TERMS):
        raise Unsupported(
            f"too large for the exact procedure: a product of {a.size()} by {b.size()} terms; "
            "state the identity in smaller pieces"
        )
