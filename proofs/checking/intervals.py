"""Values of trees at rational points, enclosed between two rationals; exact where arithmetic alone tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache, reduce
from typing import Any

from .reading import need, spend
from .trees import Node

BITS, EXACT, POWER = 256, 30_000, 300_000


@dataclass(frozen=True, slots=True)
class Interval:
    """lo <= x <= hi"""

    lo: Fraction
    hi: Fraction

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.lo + other.lo, self.hi + other.hi)

    def __neg__(self) -> Interval:
        return Interval(-self.hi, -self.lo)

    def __mul__(self, other: Interval) -> Interval:
        ends = [a * b for a in {self.lo, self.hi} for b in {other.lo, other.hi}]
        return Interval(min(ends), max(ends))

    def __pow__(self, n: int) -> Interval:
        """An even power of what may be 0 may be 0."""
        if n < 0:
            need(not self.lo <= 0 <= self.hi, "divides by zero at this point, or by a number too near to it")
            return Interval(1 / self.hi, 1 / self.lo) ** -n
        need(n * max(size(self.lo), size(self.hi)) <= POWER, "has a power that is too large to evaluate")
        ends = [self.lo**n, self.hi**n, *([Fraction(0)] if n and self.lo < 0 < self.hi else [])]
        return Interval(min(ends), max(ends))

    def rounded(self, bits: int = BITS) -> Interval:
        """Outwards to multiples of 2^-bits; an exact number stays."""
        if self.lo == self.hi:
            need(size(self.lo) <= EXACT, "has a number that is too large to evaluate")
            return self
        (a, b), (c, d) = self.lo.as_integer_ratio(), self.hi.as_integer_ratio()
        return units((a << bits) // b, -((-c << bits) // d), bits)


Value = tuple[Interval, Interval]  # real and imaginary part


def size(x: Fraction) -> int:
    return max(abs(x.numerator), x.denominator).bit_length()


def point(x: Fraction | int) -> Interval:
    return Interval(Fraction(x), Fraction(x))


def units(lo: int, hi: int, bits: int) -> Interval:
    return Interval(Fraction(lo, 1 << bits), Fraction(hi, 1 << bits))


ZERO, ONE, TWO = point(0), point(1), point(2)


def odd_series(z: Fraction, sign: int) -> Interval:
    """Σ sign^k z^(2k+1)/(2k+1), artanh z or arctan z, for |z| <= 1/3: what follows a term is below it."""
    bits = BITS + 64
    lowest = (z.numerator << bits) // z.denominator
    power = out = x = units(lowest, lowest + 1, bits)
    for k in range(1, bits // 3 + 2):
        power = (power * x * x * point(sign)).rounded(bits)
        out += power * point(Fraction(1, 2 * k + 1))
    rest = max(-power.lo, power.hi)
    return (out + Interval(-rest, rest)).rounded(bits)


@cache
def pi() -> Interval:
    """Machin: π = 16 arctan(1/5) - 4 arctan(1/239)"""
    return point(16) * odd_series(Fraction(1, 5), -1) + point(-4) * odd_series(Fraction(1, 239), -1)


@lru_cache(maxsize=256)
def log(x: Fraction) -> Interval:
    """log x = j log 2 + log m for m = x/2^j in [1/2, 2]; log m = 2 artanh((m-1)/(m+1)), as for m = 2."""
    need(x > 0, "takes the logarithm of a number that is not positive, or too near to 0")
    spend(1000)
    j = x.numerator.bit_length() - x.denominator.bit_length()
    m = x / Fraction(2) ** j
    return point(2 * j) * odd_series(Fraction(1, 3), 1) + TWO * odd_series((m - 1) / (m + 1), 1)


def taylor(x: Fraction, bits: int) -> list[Interval]:
    """exp, sin and cos of 0 <= x <= 1/2.

    In units of 2^-bits, c[k] <= x^k/k! < c[k] + 2: the error of c[k-1] is at least quartered, and rounding x
    and the quotient adds less than 1/4 + 1. All terms from the first c[k] = 0 on have a sum below 4.
    """
    n, c, terms = (x.numerator << bits) // x.denominator, 1 << bits, list[int]()
    while c:
        terms.append(c)
        c = (c * n >> bits) // len(terms)
    error = 2 * len(terms) + 4
    sums = sum(terms), sum(terms[1::4]) - sum(terms[3::4]), sum(terms[::4]) - sum(terms[2::4])
    return [units(s - error, s + error, bits) for s in sums]


@lru_cache(maxsize=4096)
def exp(x: Fraction, y: Fraction) -> Value:
    """exp(x + iy) is the 2^m-th power of exp((x + iy)/2^m), by squaring; x or y is 0."""
    whole = int(abs(x)) + 1
    m = max(whole, int(abs(y)) + 1).bit_length() + 1
    need(whole <= 8192 and m <= BITS, f"needs exp beyond 8192, or an angle beyond 2^{BITS}")
    bits = BITS + 3 * m + 2 * whole + 16
    spend(bits // 4)
    length, (_, sin, cos) = taylor(abs(x) / 2**m, bits)[0], taylor(abs(y) / 2**m, bits)
    length = length ** (1 if x > 0 else -1) if x else ONE
    a, b = (length * cos, length * (sin if y > 0 else -sin)) if y else (length, ZERO)
    for _ in range(m):
        a, b = (a**2 + -(b**2)).rounded(bits), (TWO * a * b).rounded(bits)
    return a, b


class Evaluator:
    """Values of trees at one point, where opaque functions have tables."""

    def __init__(self, symbols: Mapping[Any, Interval], functions: Mapping[str, Any]) -> None:
        self.symbols, self.functions = symbols, functions
        self.known: dict[Node, Value] = {}

    def value(self, a: Node) -> Value:
        if a not in self.known:
            x, y = self._value(a.kind, a.args)
            spend(1 + size(x.lo) // 64)
            self.known[a] = x.rounded(), y.rounded()
        return self.known[a]

    def real(self, a: Node) -> Interval:
        need(self.value(a)[1] == ZERO, "may be complex; a real number is needed")
        return self.value(a)[0]

    def _value(self, kind: str, args: tuple[Any, ...]) -> Value:
        if kind in ("num", "pi", "i"):
            return (ZERO, ONE) if kind == "i" else (point(*args) if args else pi(), ZERO)
        if kind == "sym":
            need(args[0] in self.symbols, f"gives no value to {args[0]!r:.60}")
            return self.symbols[args[0]], ZERO
        if kind == "root":
            return self._exp(log(args[0]) * point(args[1]), ZERO)
        inner = [self.value(b) for b in args if isinstance(b, Node)]
        if kind == "add":
            return reduce(lambda z, w: (z[0] + w[0], z[1] + w[1]), inner)
        if kind == "mul":
            return reduce(self._times, inner)
        (x, y), *_ = inner
        if kind == "pow":
            return self._power(x, y, args[1])
        if kind == "exp":
            return self._exp(x, y)
        need(all(y == ZERO for _, y in inner), f"has a complex number inside {kind}")
        if kind == "fn":
            at = tuple(x.lo if x.lo == x.hi else None for x, _ in inner)
            need(at in self.functions.get(args[0], {}), f"gives no value of {args[0]!r:.60} at this point")
            return point(self.functions[args[0]][at]), ZERO
        if kind == "log":
            return Interval(log(x.lo).lo, log(x.hi).hi), ZERO
        return self._exp(ZERO, x)[kind == "sin"], ZERO

    def _times(self, z: Value, w: Value) -> Value:
        (a, b), (c, d) = z, w
        if b == d == ZERO:
            return (a * c).rounded(), ZERO
        return (a * c + -(b * d)).rounded(), (a * d + b * c).rounded()

    def _power(self, x: Interval, y: Interval, n: int) -> Value:
        if y == ZERO:
            return x**n, ZERO
        need(abs(n) <= 64, "has a high power of a complex number")
        below = (x**2 + y**2) ** -1 if n < 0 else ONE
        return reduce(self._times, [(x * below, (y if n > 0 else -y) * below)] * abs(n), (ONE, ZERO))

    def _exp(self, x: Interval, y: Interval) -> Value:
        """cos and sin move by at most as much as the angle."""
        zero, radius = Fraction(0), (y.hi - y.lo) / 2
        length = Interval(exp(x.lo, zero)[0].lo, exp(x.hi, zero)[0].hi)
        cos, sin = (part + Interval(-radius, radius) for part in exp(zero, y.lo + radius))
        return (length * cos, length * sin) if y != ZERO else (length, ZERO)
