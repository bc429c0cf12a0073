"""Guaranteed real numbers: intervals of integers over a power of two, rounded outwards.

Every elementary function is computed for an exact dyadic point with a counted error and then widened; an
interval [lo, hi] stands for lo/2^bits <= x <= hi/2^bits.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isqrt

from .refusal import Refusal

Interval = tuple[int, int]
_GUARD = 24
_LARGEST = 1 << 13  # exp is refused beyond e^8192, angles beyond 2^4096
_ANGLE = 4096


def floor_shift(n: int, bits: int) -> int:
    return n >> bits if bits >= 0 else n << -bits


def ceil_shift(n: int, bits: int) -> int:
    return -(-n >> bits) if bits >= 0 else n << -bits


@lru_cache(maxsize=64)
def pi(bits: int) -> Interval:
    """Machin: π = 16 arctan(1/5) - 4 arctan(1/239)."""
    w = bits + _GUARD
    (a, b), (c, d) = _arctan_inverse(5, w), _arctan_inverse(239, w)
    return floor_shift(16 * a - 4 * d, _GUARD), ceil_shift(16 * b - 4 * c, _GUARD)


def _arctan_inverse(n: int, bits: int) -> Interval:
    """arctan(1/n) = Σ (-1)^k / ((2k+1) n^(2k+1)): alternating, each quotient off by less than 2 units."""
    power, total, k = (1 << bits) // n, 0, 0
    while power:
        total += -(power // (2 * k + 1)) if k % 2 else power // (2 * k + 1)
        power //= n * n
        k += 1
    return total - 2 * k - 2, total + 2 * k + 2


@lru_cache(maxsize=64)
def log_two(bits: int) -> Interval:
    """ln 2 = 2 artanh(1/3) = 2 Σ 1/((2k+1) 3^(2k+1))"""
    power, total, k = (1 << bits + _GUARD) // 3, 0, 0
    while power:
        total += power // (2 * k + 1)
        power //= 9
        k += 1
    return floor_shift(2 * (total - 2 * k - 2), _GUARD), ceil_shift(2 * (total + 2 * k + 4), _GUARD)


def exp_point(n: int, bits: int) -> Interval:
    """exp(n/2^bits) = 2^k exp(r), r = x - k ln 2 in about [-0.35, 0.35]."""
    if abs(n) >> bits >= _LARGEST:
        raise Refusal(f"needs exp of a number beyond ±{_LARGEST}; a witness with smaller numbers works")
    k = (2 * n * 1_000_000 // ((1 << bits) * 693_147) + 1) // 2
    w = bits + _GUARD + max(k, 0)
    low, _ = log_two(w)
    r = (n << w - bits) - k * low
    total, term, i = 1 << w, 1 << w, 0
    while abs(term) > 1:
        i += 1
        term = (term * r >> w) // i
        total += term
    slack = 4 * i + 16 + 4 * (4 * abs(k) + 1)
    return floor_shift(total - slack, w - bits - k), ceil_shift(total + slack, w - bits - k)


def sin_cos_point(n: int, bits: int) -> tuple[Interval, Interval]:
    """sin and cos of n/2^bits: r = x - k π/2 in about [-0.8, 0.8], then Taylor and the quadrant of k."""
    if abs(n) >> bits >> _ANGLE:
        raise Refusal(f"needs an angle beyond 2^{_ANGLE}; a witness with smaller numbers works")
    p = 64 + max(n.bit_length() - bits, 0)
    k = ((n << 2 + p) // (pi(p)[0] << bits)) + 1 >> 1
    w = bits + _GUARD + k.bit_length()
    low, high = pi(w)
    r = (n << w - bits) - (k * low >> 1)
    error = abs(k) * (high - low) + 2
    sine, cosine = _taylor(r, w, error)
    for _ in range(k % 4):
        sine, cosine = cosine, (-sine[1], -sine[0])
    return _out(sine, w - bits), _out(cosine, w - bits)


def _taylor(r: int, w: int, error: int) -> tuple[Interval, Interval]:
    """sin r and cos r from the terms r^i/i!; each term is off by at most 4 units, the rest by one term."""
    sums, term, i = [0, 1 << w], 1 << w, 0
    while abs(term) > 1:
        i += 1
        term = (term * r >> w) // i
        sums[(i + 1) % 2] += -term if i % 4 in (2, 3) else term
    slack = 4 * i + 16 + error
    return (sums[0] - slack, sums[0] + slack), (sums[1] - slack, sums[1] + slack)


def _out(x: Interval, bits: int) -> Interval:
    return floor_shift(x[0], bits), ceil_shift(x[1], bits)


def log_point(n: int, bits: int) -> Interval:
    """log(n/2^bits) for n > 0: m 2^j with 1/2 <= m < 1, log m = 2 artanh((m-1)/(m+1))."""
    size = n.bit_length()
    w = bits + _GUARD + size.bit_length()
    m = n << w - size if size <= w else n >> size - w
    one = 1 << w
    z = (m - one << w) // (m + one)
    square, power, total, k = z * z >> w, z, z, 0
    while abs(power) > 1:
        k += 1
        power = power * square >> w
        total += power // (2 * k + 1)
    low, high = log_two(w)
    j = size - bits
    slack = 8 * k + 32
    ends = (j * low, j * high)
    return floor_shift(2 * total + min(ends) - slack, w - bits), ceil_shift(
        2 * total + max(ends) + slack, w - bits
    )


class Arithmetic:
    """Interval arithmetic with a fixed number of binary places."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.one = 1 << bits

    def enclose(self, x: Fraction) -> Interval:
        n = x.numerator << self.bits
        return n // x.denominator, -(-n // x.denominator)

    def pi(self) -> Interval:
        return pi(self.bits)

    @staticmethod
    def add(a: Interval, b: Interval) -> Interval:
        return a[0] + b[0], a[1] + b[1]

    @staticmethod
    def negative(a: Interval) -> Interval:
        return -a[1], -a[0]

    def multiply(self, a: Interval, b: Interval) -> Interval:
        products = (a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1])
        return min(products) >> self.bits, -(-max(products) >> self.bits)

    def inverse(self, a: Interval) -> Interval | None:
        """1/a, None if a contains 0."""
        if a[0] <= 0 <= a[1]:
            return None
        n = 1 << 2 * self.bits
        return n // a[1], -(-n // a[0])

    def exp(self, a: Interval) -> Interval:
        return max(exp_point(a[0], self.bits)[0], 0), exp_point(a[1], self.bits)[1]

    def sin_cos(self, a: Interval) -> tuple[Interval, Interval]:
        """Both functions move by at most as much as their argument."""
        middle = a[0] + a[1] >> 1
        radius = a[1] - middle
        sine, cosine = (
            (max(x[0] - radius, -self.one), min(x[1] + radius, self.one))
            for x in sin_cos_point(middle, self.bits)
        )
        return sine, cosine

    def log(self, a: Interval) -> Interval | None:
        """log a, None if a is not certainly positive."""
        if a[0] <= 0:
            return None
        return log_point(a[0], self.bits)[0], log_point(a[1], self.bits)[1]

    def sqrt(self, x: Fraction) -> Interval:
        n = (x.numerator << 2 * self.bits) // x.denominator
        return isqrt(n), isqrt(n) + 1
