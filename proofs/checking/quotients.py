"""Fractions of exponential sums: arithmetic, exact derivative, substitution, and exp of a polynomial."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from .division import quotient
from .refusal import Refusal
from .roots import square_root
from .sums import PI, WIDTH, Exponent, Ring, Sum


@dataclass(frozen=True, eq=False)
class Quotient:
    """num / den, den not zero; `den is ring.one` for whatever needs no denominator."""

    num: Sum
    den: Sum


@dataclass(frozen=True)
class Function:
    """The key of an opaque value: name, order of the derivative in each argument, number of the arguments."""

    name: str
    orders: tuple[int, ...]
    number: int


class Field:
    """Quotients over one ring."""

    def __init__(self) -> None:
        self.ring = Ring()
        self.zero = Quotient(self.ring.zero, self.ring.one)
        self.one = Quotient(self.ring.one, self.ring.one)
        self._arguments: list[tuple[Quotient, ...]] = []

    def whole(self, a: Sum) -> Quotient:
        return Quotient(a, self.ring.one)

    def constant(self, value: Fraction | int) -> Quotient:
        return self.whole(self.ring.constant(value))

    def symbol(self, key: Hashable) -> Quotient:
        return self.whole(self.ring.symbol(key))

    def square_root(self, value: Fraction) -> Quotient:
        return self.whole(square_root(self.ring, value))

    # Arithmetic

    def add(self, a: Quotient, b: Quotient) -> Quotient:
        ring = self.ring
        if a.den is b.den or (a.den.terms == b.den.terms and a.den.den == b.den.den):
            return Quotient(ring.add(a.num, b.num), a.den)
        left, right = ring.multiply(a.num, b.den), ring.multiply(b.num, a.den)
        return Quotient(ring.add(left, right), ring.multiply(a.den, b.den))

    def negative(self, a: Quotient) -> Quotient:
        return Quotient(self.ring.negative(a.num), a.den)

    def subtract(self, a: Quotient, b: Quotient) -> Quotient:
        return self.add(a, self.negative(b))

    def multiply(self, a: Quotient, b: Quotient) -> Quotient:
        if not a.num or not b.num:
            return self.zero
        den = self.ring.multiply(a.den, b.den)
        num = self.ring.multiply(a.num, b.num)
        return Quotient(num, den) if den is self.ring.one else self.tidy(num, den)

    def inverse(self, a: Quotient) -> Quotient:
        if self.is_zero(a):
            raise Refusal("divides by something that is identically zero")
        return self.tidy(a.den, a.num)

    def power(self, a: Quotient, n: int) -> Quotient:
        if n < 0:
            a, n = self.inverse(a), -n
        return Quotient(self.ring.power(a.num, n), self.ring.power(a.den, n))

    def is_zero(self, a: Quotient) -> bool:
        return self.ring.is_zero(a.num)

    def equal(self, a: Quotient, b: Quotient) -> bool:
        return self.is_zero(self.subtract(a, b))

    def tidy(self, num: Sum, den: Sum) -> Quotient:
        """A denominator of one term gives number and exponential to the numerator; common powers cancel."""
        ring = self.ring
        if len(den.terms) > 1:
            return Quotient(num, den)
        (((e, m), c),) = den.terms.items()
        exponent, q = ring.exponentials[e]
        opposite, minus = ring.exponential({k: (-a, -b) for k, (a, b) in exponent.items()}, -q)
        factor = Sum({(opposite, 0): den.den if (c > 0) != minus else -den.den}, abs(c))
        num = ring.multiply(num, factor)
        if not m:
            return self.whole(num)
        m, shift = self._common(num, m)
        if shift:
            num = Sum({(f, n - shift): c for (f, n), c in num.terms.items()}, num.den, num.degree)
        return self.whole(num) if not m else Quotient(num, Sum({(ring.unit, m): 1}, 1, den.degree))

    def _common(self, num: Sum, monomial: int) -> tuple[int, int]:
        """(what remains of the monomial, the part that divides every term)."""
        shift, mask = 0, (1 << WIDTH) - 1
        for place, power in self.ring.powers(monomial):
            least = min((n >> WIDTH * place & mask for _, n in num.terms), default=power)
            shift += min(power, least) << WIDTH * place
        return monomial - shift, shift

    # Exponentials

    def exponential(self, a: Quotient) -> Quotient:
        """exp(a) for a polynomial a with Gaussian-rational coefficients, plus rational multiples of iπ."""
        ring = self.ring
        num = a.num if a.den is ring.one else quotient(ring, a.num, a.den)
        if num is None:
            raise Refusal(
                "has an exponent or an angle that is no polynomial; a free symbol for the fraction works"
            )
        exponent: dict[int, tuple[Fraction, Fraction]] = {}
        for (e, m), c in ring.reduced(num).terms.items():
            inner, q = ring.exponentials[e]
            if inner or q not in (0, Fraction(1, 2)):
                what = "an exponential" if inner else "an irrational number"
                raise Refusal(f"has {what} inside an exponent or an angle; a free symbol for it works")
            real, imaginary = exponent.get(m, (Fraction(0), Fraction(0)))
            value = Fraction(c, num.den)
            exponent[m] = (real + value, imaginary) if q == 0 else (real, imaginary + value)
        number, minus = ring.exponential(*self._turns(exponent))
        return self.whole(Sum({(number, 0): -1 if minus else 1}))

    def _turns(self, exponent: dict[int, tuple[Fraction, Fraction]]) -> tuple[Exponent, Fraction]:
        """Split off the constant rational multiple of iπ."""
        if PI not in self.ring.variables:
            return exponent, Fraction(0)
        pure = 1 << WIDTH * self.ring.variables[PI]
        real, q = exponent.get(pure, (Fraction(0), Fraction(0)))
        if not q:
            return exponent, Fraction(0)
        rest = {m: c for m, c in exponent.items() if m != pure}
        return (rest | {pure: (real, Fraction(0))} if real else rest), q

    # Opaque functions

    def function(self, name: str, arguments: tuple[Quotient, ...], orders: tuple[int, ...] = ()) -> Quotient:
        """An opaque value; arguments that are equal as fractions give the same symbol."""
        orders = orders or (0,) * len(arguments)
        for number, known in enumerate(self._arguments):
            same = len(known) == len(arguments) and all(map(self.equal, known, arguments))
            if same:
                return self.symbol(Function(name, orders, number))
        self._arguments.append(arguments)
        return self.symbol(Function(name, orders, len(self._arguments) - 1))

    def arguments(self, place: int) -> tuple[Quotient, ...] | None:
        """The arguments of the opaque value at this place, None for a plain symbol."""
        key = self.ring.names[place]
        return self._arguments[key.number] if isinstance(key, Function) else None

    def places(self, a: Quotient) -> set[int]:
        return self.ring.places(a.num) | self.ring.places(a.den)

    # Derivative

    def derivative(self, a: Quotient, name: str) -> Quotient:
        """(n/d)' = (n' d - n d')/d²"""
        num = self._derivative(a.num, name)
        if a.den is self.ring.one:
            return num
        den = self._derivative(a.den, name)
        top = self.subtract(self.multiply(num, self.whole(a.den)), self.multiply(self.whole(a.num), den))
        return self.multiply(top, self.inverse(self.whole(self.ring.power(a.den, 2))))

    def _derivative(self, a: Sum, name: str) -> Quotient:
        """The chain rule over the symbol itself and every opaque value that depends on it."""
        total = self.zero
        for place in sorted(self.ring.places(a)):
            inner = self._rate(place, name)
            if inner.num:
                total = self.add(total, self.multiply(self.whole(self._partial(a, place)), inner))
        return total

    def _rate(self, place: int, name: str) -> Quotient:
        arguments, key = self.arguments(place), self.ring.names[place]
        if arguments is None:
            return self.one if key == name else self.zero
        assert isinstance(key, Function)  # only opaque values have arguments
        total = self.zero
        for i, argument in enumerate(arguments):
            inner = self.derivative(argument, name)
            if inner.num:
                orders = tuple(k + (i == j) for j, k in enumerate(key.orders))
                total = self.add(total, self.multiply(self.function(key.name, arguments, orders), inner))
        return total

    def _partial(self, a: Sum, place: int) -> Sum:
        """d/dv of c · v^k · m · exp(P) is c (k v^(k-1) m + v^k m dP/dv) exp(P)."""
        ring, unit, mask = self.ring, 1 << WIDTH * place, (1 << WIDTH) - 1
        parts = []
        direct = {}
        for (e, m), c in a.terms.items():
            power = m >> WIDTH * place & mask
            if power:
                direct[e, m - unit] = c * power
            slope = self._slope(e, place)
            if slope:
                parts.append(ring.multiply(Sum({(e, m): c}, a.den, a.degree), slope))
        return ring.total([Sum(direct, a.den, a.degree), *parts])

    def _slope(self, e: int, place: int) -> Sum:
        """dP/dv as a sum."""
        unit, mask = 1 << WIDTH * place, (1 << WIDTH) - 1
        slope: dict[int, tuple[Fraction, Fraction]] = {}
        for m, (real, imaginary) in self.ring.exponentials[e][0].items():
            power = m >> WIDTH * place & mask
            if power:
                slope[m - unit] = (real * power, imaginary * power)
        return self.polynomial(slope)

    def polynomial(self, exponent: Exponent) -> Sum:
        """The polynomial P of an exponential as an element of the ring."""
        ring = self.ring
        turn = ring.root(Fraction(1, 2))
        (((i, _), _),) = turn.terms.items()
        degree = max((k for m in exponent for _, k in ring.powers(m)), default=0)
        parts = []
        for m, (real, imaginary) in exponent.items():
            if real:
                parts.append(Sum({(ring.unit, m): real.numerator}, real.denominator, degree))
            if imaginary:
                parts.append(Sum({(i, m): imaginary.numerator}, imaginary.denominator, degree))
        return ring.total(parts)

    # Substitution

    def substitute(self, a: Quotient, values: Mapping[str, Quotient]) -> Quotient:
        """Every named symbol replaced at once, also in exponents and inside opaque functions."""
        values = {name: v for name, v in values.items() if name in self.ring.variables}
        if not values:
            return a
        return _Substitution(self, values).quotient(a)


class _Substitution:
    def __init__(self, field: Field, values: Mapping[str, Quotient]) -> None:
        self.field, self.values = field, values
        self.images: dict[int, Quotient | None] = {}
        self.exponentials: dict[int, Quotient] = {}

    def image(self, place: int) -> Quotient | None:
        """What the symbol at this place becomes; None if it stays."""
        if place not in self.images:
            self.images[place] = self._image(place)
        return self.images[place]

    def _image(self, place: int) -> Quotient | None:
        arguments, key = self.field.arguments(place), self.field.ring.names[place]
        if arguments is None:
            return self.values.get(key) if isinstance(key, str) else None
        assert isinstance(key, Function)
        touched = any(self.image(p) is not None for a in arguments for p in self.field.places(a))
        if not touched:
            return None
        return self.field.function(key.name, tuple(map(self.quotient, arguments)), key.orders)

    def quotient(self, a: Quotient) -> Quotient:
        num = self.sum(a.num)
        if a.den is self.field.ring.one:
            return num
        return self.field.multiply(num, self.field.inverse(self.sum(a.den)))

    def sum(self, a: Sum) -> Quotient:
        """Terms that need the same denominator are collected in one addition."""
        ring, whole, fractions = self.field.ring, [], self.field.zero
        for (e, m), c in a.terms.items():
            term = self._term(e, m, c, a.den)
            if term.den is ring.one:
                whole.append(term.num)
            else:
                fractions = self.field.add(fractions, term)
        return self.field.add(self.field.whole(ring.total(whole)), fractions)

    def _term(self, e: int, m: int, c: int, den: int) -> Quotient:
        field = self.field
        kept, result = m, self._exponential(e)
        for place, power in field.ring.powers(m):
            image = self.image(place)
            if image is not None:
                kept -= power << WIDTH * place
                result = field.multiply(result, field.power(image, power))
        degree = max((k for _, k in field.ring.powers(kept)), default=0)
        return field.multiply(field.whole(Sum({(field.ring.unit, kept): c}, den, degree)), result)

    def _exponential(self, e: int) -> Quotient:
        if e not in self.exponentials:
            self.exponentials[e] = self._moved(e)
        return self.exponentials[e]

    def _moved(self, e: int) -> Quotient:
        field, (exponent, q) = self.field, self.field.ring.exponentials[e]
        places = {place for m in exponent for place, _ in field.ring.powers(m)}
        if all(self.image(place) is None for place in places):
            return field.whole(Sum({(e, 0): 1}))
        inner = self.sum(field.polynomial(exponent))
        return field.multiply(field.whole(field.ring.root(q)), field.exponential(inner))
