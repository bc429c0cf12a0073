"""A bias replaced on a window by one that has a generator, a constant and decays, with a proved error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import sympy as sp
from flint import acb, arb, ctx, fmpq

from ..admit import exact_rational
from ..balls import Evaluator
from ..errors import BadInput, SingularPoint, Unsupported, WrongType
from ..walk import free_symbols, text
from .case import Case
from .certified import Bound, Error, TooLarge, certify, rational, rounded_up
from .flowing import flowing
from .mixture import BITS, Mixture, decimal, fit
from .onesided import starting_range
from .realized import Realization

MAX_DECAYS = 24
FEWEST_DIGITS = 4


@dataclass(frozen=True, eq=False)
class Approximation:
    """|bias(u) - constant - Σ weight·e^{-rate·u}| <= bound for every real u of the window.

    decays: (weight, rate) with rate > 0 (1/position); they and the constant are decimals of as many digits as
    the bound needs, and it is these that it holds for. bound is proved by ball arithmetic over the whole
    window, cut into `intervals` pieces; nothing is claimed outside the window, nor where the bias as it was
    given has no value: `defined` says what that asks of u.
    """

    bias: sp.Expr
    u: sp.Symbol
    window: tuple[sp.Rational, sp.Rational]
    tolerance: sp.Rational
    constant: sp.Rational
    decays: tuple[tuple[sp.Rational, sp.Rational], ...]
    bound: sp.Rational
    intervals: int
    modulo_row_constant: bool
    defined: tuple[sp.Rel, ...] = ()

    @property
    def formula(self) -> sp.Expr:
        """constant + Σ weight·e^{-rate·u}."""
        return self.constant + sp.Add(*(w * sp.exp(-rate * self.u) for w, rate in self.decays))

    @cached_property
    def amplification(self) -> sp.Rational:
        """(|constant| + Σ |weight|·e^{-rate·a}) / tolerance, a the start of the window, rounded up.

        Floats whose rounding is relative to ε move the sum by about 2ε·amplification tolerances: terms that
        cancel are carried only where that is small.
        """
        with ctx.workprec(BITS):
            a = rational(self.window[0])
            terms = (abs(rational(w)) * (-rational(rate) * a).exp() for w, rate in self.decays)
            size = sum(terms, abs(rational(self.constant))) / rational(self.tolerance)
        return rounded_up(size)

    @cached_property
    def realization(self) -> Realization:
        """The formula as cᵀ exp(uX) v, whose `slots` go into any kernel."""
        case = Case(self.formula, self.u, "real", self.modulo_row_constant)
        (piece,) = case.intervals()
        return flowing(case, piece.formula, case.spectrum(piece.formula).modes)

    def __str__(self) -> str:
        a, b = self.window
        return (
            f"{len(self.decays)} decays and a constant, within {text(self.bound)} on [{text(a)}, {text(b)}]"
        )


def approximate(case: Case, tolerance: object, window: object) -> Approximation:
    """The fewest decays found whose error is certified; Unsupported if none of up to 24 is.

    tolerance: exact and > 0. window: (a, b) exact with 0 <= a < b (positions).
    """
    limit = _tolerance(tolerance)
    a, b = _window(window)
    f = _formula(case, a, b)
    scale = _scale(f, case.u, a, b)
    count = 1
    while count <= MAX_DECAYS:
        found = fit(_value(f, case.u, a), rational(a), rational(b - a), scale, count, rational(limit) / 2)
        if found.error < rational(limit):
            try:
                return _certified(case, f, found, (a, b), limit)
            except TooLarge:
                pass
        count += _more(found.error, limit)
    raise Unsupported(
        f"no constant with up to {MAX_DECAYS} decays was found within {text(limit)} of {text(case.bias)} on "
        f"[{text(a)}, {text(b)}]; a larger tolerance or a shorter window may work"
    )


def _certified(
    case: Case, f: sp.Expr, found: Mixture, window: tuple[sp.Rational, sp.Rational], limit: sp.Rational
) -> Approximation:
    """Decimal coefficients with the window's start as origin undone, and the proof of their error."""
    a, _ = window
    digits = _digits(found, limit)
    decays = []
    for weight, rate in found.terms:
        exact = decimal(rate, digits)
        with ctx.workprec(BITS):
            decays.append((decimal(weight * (rational(exact) * rational(a)).exp(), digits), exact))
    constant = decimal(found.constant, digits)
    bound: Bound = certify(Error(f, case.u, constant, decays), *window, limit)
    return Approximation(
        case.bias,
        case.u,
        window,
        limit,
        constant,
        tuple(decays),
        bound.upper,
        bound.intervals,
        case.modulo_row_constant,
    )


def _digits(found: Mixture, limit: sp.Rational) -> int:
    """So many that rounding takes up an eighth of what the error leaves of the tolerance.

    Relative errors δ of a weight w and its rate move w·e^{-γx} by |w|·δ and at most |w|·δ/e.
    """
    size = sum((abs(w) for w, _ in found.terms), abs(found.constant))
    wanted = 16 * size / (rational(limit) - found.error)
    return max(FEWEST_DIGITS, 1 + math.ceil(float(wanted.log().upper()) / math.log(10)))


def _more(error: arb, limit: sp.Rational) -> int:
    """How many more decays to try: each is worth a factor of about 3."""
    missing = error / rational(limit)
    return max(1, int(float(missing.log().mid()) / 1.6)) if missing > 1 else 1


def _formula(case: Case, a: sp.Rational, b: sp.Rational) -> sp.Expr:
    """The one formula that the bias is on the window, with its true constants."""
    extra = free_symbols(case.bias) - {case.u}
    if extra:
        names = ", ".join(sorted(map(str, extra)))
        raise BadInput(f"bias contains the symbols {names}; an approximation needs numbers for them")
    pieces = [piece for piece in case.intervals() if piece.lower < b and piece.upper > a]
    if len(pieces) > 1:
        raise Unsupported(
            f"bias changes its formula at {pieces[0].upper}, inside the window; use shorter ones"
        )
    return pieces[0].formula.xreplace(case.logs.values).xreplace(case.constants.values)


def _value(f: sp.Expr, u: sp.Symbol, start: sp.Rational):
    """Its values, where the first may be a limit."""

    def value(at: arb) -> arb:
        try:
            return Evaluator({u: acb(at)}).value(f).real
        except SingularPoint as problem:
            if at.overlaps(rational(start)):
                return _limit(f, u, start)
            raise Unsupported(
                f"bias has no ball at {at.str(6, radius=False)} ({problem}); let the window begin elsewhere"
            ) from None

    return value


def _limit(f: sp.Expr, u: sp.Symbol, start: sp.Rational) -> arb:
    """The limit at the start of the window."""
    a = fmpq(int(start.p), int(start.q))
    try:
        return starting_range(f, u, a, a + fmpq(1, 2 ** (4 * BITS)))
    except SingularPoint as problem:
        raise Unsupported(
            f"bias has no limit at {text(start)} that is found ({problem}); let the window begin elsewhere"
        ) from None


def _scale(f: sp.Expr, u: sp.Symbol, a: sp.Rational, b: sp.Rational) -> arb:
    """|f'/f''| at the start, the shortest length on which f changes; if unknown a millionth of the window."""
    with ctx.workprec(BITS):
        width = rational(b - a)
        try:
            first, second = (Evaluator({u: acb(rational(a))}).value(sp.diff(f, u, k)).real for k in (1, 2))
        except (SingularPoint, Unsupported):
            return width / 10**6
        length = abs(first / second).mid() if not second.contains(0) and not first.contains(0) else width / 10
        return max(width / 10**6, min(width, length))


def _tolerance(value: object) -> sp.Rational:
    limit = exact_rational(value, "tolerance")
    if limit <= 0:
        raise BadInput(
            f"tolerance is {text(limit)}; a positive exact number such as Rational(1, 10**4) works"
        )
    return limit


def _window(value: object) -> tuple[sp.Rational, sp.Rational]:
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise WrongType(f"window is {value!r}; a pair (a, b) of exact positions works")
    a, b = (exact_rational(x, f"window[{i}]") for i, x in enumerate(value))
    if not 0 <= a < b:
        raise BadInput(
            f"window is ({text(a)}, {text(b)}); 0 <= a < b works, for decays are no help at negative gaps"
        )
    return a, b


__all__ = ["Approximation", "approximate"]
