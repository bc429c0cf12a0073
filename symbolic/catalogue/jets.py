"""What implementations make of the Jordan form: a shear that saturates, free coefficients, a clamped fade.

    q̃ = A(-t)^{-T} q,  k̃ = A(-s) k,  A(u) = g(u) Σ_r c_r(u) N^r ⊗ R(uω)

is relative for g = e^{-γu}, c_r = (ηu)^r/r!, where A(-t)^{-1} A(-s) = A(t-s); here one of these is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import factorial

import sympy as sp

from ..encoding import Encoding
from ..errors import BadInput
from ..exact import exact_entry, positive, rational_power, whole
from ..kinds.formula import Formula
from ..separate import POSITIONS
from .columns import column, reals
from .registry import register

_CODE = "Jordan-RoPE, arXiv 2605.04217; ybzhang-nxu/jordan_rope, `positional.py`"

Growth = Callable[[sp.Expr], sp.Expr]
Coefficient = Callable[[int, sp.Expr], sp.Expr]


@register(
    published="`A(u) = e^{-γu} exp(ητ(u)N) ⊗ R(uω)`, `τ(u) = u/(1 + |u|/L)`, on either side alone",
    source=f"{_CODE} with `bounded_tau`",
    danger="exact for gaps near the start only; the authors say that it is not relative",
    example={"head_dim": 4, "gamma": sp.Symbol("gamma", positive=True), "length": 4},
)
def jordan_stabilised(
    head_dim: int,
    gamma: object,
    length: object = 1024,
    order: int = 2,
    shear: object = 1,
    rope_theta: object = 10000,
) -> Encoding:
    """The shear exp(ητ(u)N) saturates: τ(u) = u/(1 + |u|/L) of each position, not of the gap.

    gamma (1/position), length L (positions) and shear η: positive, exact or symbolic. order m: planes in one
    block; head_dim is a multiple of 2m; block b turns by rope_theta^(-2b/head_dim).
    """
    scale, eta, rate = positive(length, "length"), positive(shear, "shear"), exact_entry(gamma, "gamma")
    given = {"gamma": rate, "length": scale, "order": order, "shear": eta}

    def coefficient(r: int, u: sp.Expr) -> sp.Expr:
        return (eta * u / (1 + sp.Abs(u) / scale)) ** r / factorial(r)

    return _jets("jordan_stabilised", head_dim, order, rope_theta, given, _fade(rate), coefficient)


@register(
    published="`A(u) = e^{-γu} Σ_r c_r u^r/r! N^r ⊗ R(uω)`, `c_r` free",
    source=f"{_CODE} with `jet_coefficients`",
    danger="grows as jordan_rope does, and the score changes with the position as well",
    example={"head_dim": 6, "gamma": sp.Symbol("gamma", positive=True)},
)
def jetmix(
    head_dim: int,
    gamma: object,
    order: int = 3,
    coefficients: Sequence | None = None,
    rope_theta: object = 10000,
) -> Encoding:
    """The coefficients of the shear are free: c_r u^r/r! in place of (ηu)^r/r!; relative iff c_r = c_1^r.

    gamma (1/position), exact or symbolic. order m >= 2: planes in one block; head_dim is a multiple of 2m.
    coefficients: c_1 … c_{m-1}, free symbols c1, c2, … if None.
    """
    rate, m = exact_entry(gamma, "gamma"), whole(order, "order", 2)
    c = reals("c", m)[1:] if coefficients is None else column(coefficients, "coefficients", m - 1)

    def coefficient(r: int, u: sp.Expr) -> sp.Expr:
        return c[r - 1] * u**r / factorial(r) if r else sp.S.One

    given = {"gamma": rate, "order": m, "coefficients": c}
    return _jets("jetmix", head_dim, m, rope_theta, given, _fade(rate), coefficient)


@register(
    published="`A(u) = e^{clip(-γu, ±30)} exp(ηuN) ⊗ R(uω)`, on either side alone",
    source=f"{_CODE} with `max_exponent` 30",
    danger="no overflow, but relative only up to position 30/γ",
    example={"head_dim": 4, "gamma": sp.Rational(1, 10)},
)
def jordan_clamped(
    head_dim: int,
    gamma: object,
    max_exponent: object = 30,
    order: int = 2,
    shear: object = 1,
    rope_theta: object = 10000,
) -> Encoding:
    """The exponent γu is clamped to ±max_exponent on each side: relative up to position max_exponent/γ.

    gamma (1/position), max_exponent and shear η: positive, exact or symbolic. order m: planes in one block;
    head_dim is a multiple of 2m; block b turns by rope_theta^(-2b/head_dim).
    """
    rate, most, eta = (
        positive(gamma, "gamma"),
        positive(max_exponent, "max_exponent"),
        positive(shear, "shear"),
    )
    given = {"gamma": rate, "max_exponent": most, "order": order, "shear": eta}

    def growth(u: sp.Expr) -> sp.Expr:
        return sp.exp(sp.Max(-most, sp.Min(most, -rate * u)))

    def coefficient(r: int, u: sp.Expr) -> sp.Expr:
        return (eta * u) ** r / factorial(r)

    last = sp.ceiling(most / rate)
    trials = ((int(last), 1), *POSITIONS) if last.is_Integer else POSITIONS
    return _jets("jordan_clamped", head_dim, order, rope_theta, given, growth, coefficient, trials)


def _fade(rate: sp.Expr) -> Growth:
    return lambda u: sp.exp(-rate * u)


def _jets(
    name: str,
    head_dim: object,
    order: object,
    rope_theta: object,
    given: dict[str, object],
    growth: Growth,
    coefficient: Coefficient,
    trials: Sequence[tuple[int, int]] = POSITIONS,
) -> Formula:
    """F(t) = A(-t)^{-T}, G(s) = A(-s) on blocks of `order` planes, the blocks after each other."""
    size, m, theta = whole(head_dim, "head_dim", 2), whole(order, "order"), positive(rope_theta, "rope_theta")
    if size % (2 * m):
        raise BadInput(f"head_dim is {size}, no multiple of {2 * m}, the size of a block of order {m}")
    turns = [rational_power(theta, sp.Rational(-2 * b, size)) for b in range(size // (2 * m))]

    def blocks(scale: sp.Expr, series: Sequence[sp.Expr], u: sp.Expr) -> sp.Matrix:
        shear = sp.Matrix(m, m, lambda i, j: series[j - i] if j >= i else 0)
        return sp.diag(*(scale * sp.kronecker_product(shear, _turn(u * w)) for w in turns))

    def query(_, t: sp.Expr) -> sp.Matrix:
        inverse = _reciprocal([coefficient(r, -t) for r in range(m)])
        return blocks(1 / growth(-t), inverse, t).T

    def key(_, s: sp.Expr) -> sp.Matrix:
        return blocks(growth(-s), [coefficient(r, -s) for r in range(m)], -s)

    parameters = {"head_dim": size, **given, "rope_theta": theta}
    return Formula(name, parameters, size, query=query, key=key, trials=trials)


def _turn(angle: sp.Expr) -> sp.Matrix:
    c, s = sp.cos(angle), sp.sin(angle)
    return sp.Matrix([[c, -s], [s, c]])


def _reciprocal(series: Sequence[sp.Expr]) -> list[sp.Expr]:
    """The coefficients of 1/(c_0 + c_1 N + …), as many as given."""
    found = [1 / series[0]]
    for r in range(1, len(series)):
        found.append(sp.expand(-sum(series[j] * found[r - j] for j in range(1, r + 1)) * found[0]))
    return found
