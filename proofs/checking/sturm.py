"""The signs that a rational polynomial in one variable takes on an open interval, by Sturm's theorem."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from .refusal import Refusal

Poly = list[Fraction]  # constant first, no zero at the end
End = Fraction | None  # None is infinity on that side
_DEGREE = 80
_SIZE = 20_000  # degree times bits


def polynomial(coefficients: dict[int, Fraction]) -> Poly:
    """{power: coefficient} as a list."""
    if max(coefficients, default=0) > _DEGREE:
        raise Refusal(f"has a polynomial of degree above {_DEGREE}")
    bits = max(
        (c.numerator.bit_length() + c.denominator.bit_length() for c in coefficients.values()), default=0
    )
    if max(coefficients, default=0) * bits > _SIZE:
        raise Refusal("has a polynomial too large for Sturm's theorem")
    return _trim([coefficients.get(k, Fraction(0)) for k in range(max(coefficients, default=-1) + 1)])


def at(p: Poly, x: Fraction) -> Fraction:
    value = Fraction(0)
    for c in reversed(p):
        value = value * x + c
    return value


def sign(x: Fraction | int) -> int:
    return (x > 0) - (x < 0)


def open_signs(p: Poly, low: End, high: End) -> frozenset[int]:
    """{-1, 0, 1} restricted to what p takes on low < x < high."""
    if not p:
        return frozenset((0,))
    factors = _square_free(p)
    if not any(_roots(f, low, high) for f in factors.values()):
        return frozenset((_sample(p, low, high),))
    if any(_roots(f, low, high) for k, f in factors.items() if k % 2):
        return frozenset((-1, 0, 1))
    return frozenset((0, _sample(p, low, high)))


def _sample(p: Poly, low: End, high: End) -> int:
    """The sign of p at some point of the interval that is no root."""
    if high is None:
        return sign(p[-1])
    if low is None:
        return sign(p[-1]) * (-1) ** (len(p) - 1)
    points = (low + (high - low) * Fraction(k, len(p) + 1) for k in range(1, len(p) + 1))
    return next(s for x in points if (s := sign(at(p, x))))


def _roots(p: Poly, low: End, high: End) -> int:
    """How many different roots a square-free p has in low < x < high."""
    if len(p) < 2:
        return 0
    chain = [p, _derivative(p)]
    while chain[-1]:
        chain.append(_scaled([-c for c in _divmod(chain[-2], chain[-1])[1]]))
    chain.pop()
    count = _changes(chain, low, -1) - _changes(chain, high, 1)
    return count - (high is not None and not at(p, high))


def _changes(chain: list[Poly], end: End, side: int) -> int:
    if end is None:
        signs = [sign(p[-1]) * (side ** (len(p) - 1)) for p in chain]
    else:
        signs = [sign(at(p, end)) for p in chain]
    signs = [s for s in signs if s]
    return sum(a != b for a, b in pairwise(signs))


def _square_free(p: Poly) -> dict[int, Poly]:
    """Yun: p = c Π f_k^k with square-free f_k."""
    out: dict[int, Poly] = {}
    common = _gcd(p, _derivative(p))
    b, c = _divmod(p, common)[0], _divmod(_derivative(p), common)[0]
    k = 1
    while len(b) > 1:
        d = _minus(c, _derivative(b))
        factor = _gcd(b, d)
        out[k] = factor
        b, c = _divmod(b, factor)[0], _divmod(d, factor)[0]
        k += 1
    return out


def _trim(p: Poly) -> Poly:
    while p and not p[-1]:
        p.pop()
    return p


def _derivative(p: Poly) -> Poly:
    return [k * c for k, c in enumerate(p)][1:]


def _minus(p: Poly, q: Poly) -> Poly:
    size = max(len(p), len(q))
    p, q = p + [Fraction(0)] * (size - len(p)), q + [Fraction(0)] * (size - len(q))
    return _trim([a - b for a, b in zip(p, q, strict=True)])


def _divmod(p: Poly, q: Poly) -> tuple[Poly, Poly]:
    rest, quotient = list(p), [Fraction(0)] * max(len(p) - len(q) + 1, 0)
    for k in range(len(quotient) - 1, -1, -1):
        quotient[k] = c = rest[k + len(q) - 1] / q[-1]
        for j, d in enumerate(q):
            rest[k + j] -= c * d
    return _trim(quotient), _trim(rest)


def _gcd(p: Poly, q: Poly) -> Poly:
    while q:
        p, q = q, _scaled(_divmod(p, q)[1])
    return [c / p[-1] for c in p]


def _scaled(p: Poly) -> Poly:
    """The polynomial over the size of its leading coefficient: the same signs, smaller numbers."""
    return [c / abs(p[-1]) for c in p]
