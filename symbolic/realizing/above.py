"""Whether a bias is bounded above, or below, on the whole line, by its dominant terms towards both ends.

Towards an end x = |u| → ∞ the bias is a sum of terms C · e^{ρx} x^a (log x)^k, some times cosines and sines,
ordered by (ρ, a, k). It has no upper bound there if the dominant terms grow and their mean is not negative.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import sympy as sp
from sympy import S

from ..errors import BadInput, Unsupported
from ..typeset import to_text
from ..verdict import Status, Verdict, conjunction
from ..walk import text
from .case import Case
from .modes import Foreign, Mode
from .nonvanishing import factored, nonvanishing
from .places import known_sign
from .poles import Pole, Quotient, poles, quotient

Order = tuple[sp.Expr, sp.Expr, sp.Expr]  # (ρ, a, k)
X = sp.Symbol("x", positive=True)


@dataclass(frozen=True)
class Term:
    """coefficient · e^{ρx} x^a (log x)^k, times a cosine and sine of mean 0 if `turning`."""

    order: Order
    coefficient: sp.Expr
    turning: bool
    pair: bool = False
    parts: tuple[sp.Expr, sp.Expr] = (S.Zero, S.Zero)  # phase in x, coefficient that must not vanish
    slow: tuple[sp.Expr, sp.Expr] = (S.Zero, S.Zero)  # phase in logarithms alone, what it is per log x


class Side(NamedTuple):
    """The words for a bound: what it is, what goes past it, and what goes the other way."""

    bound: str
    past: str
    away: str


ABOVE = Side("upper", "grows", "falls to -∞")
BELOW = Side("lower", "falls", "rises to ∞")


def bounded_above(bias: sp.Expr, u: sp.Symbol, domain: str = "real") -> Verdict:
    """Decide sup bias(u) < ∞ over all real u, or over u >= 0 with domain "causal", where the bias has values.

    At poles and where logarithms have none it is what happens beside them that counts. UNDECIDED, with the
    reason, where a growth order or a sign is not known, or a divisor is no polynomial in u.
    """
    return _bounded(bias, u, domain, ABOVE)


def bounded_below(bias: sp.Expr, u: sp.Symbol, domain: str = "real") -> Verdict:
    """Decide inf bias(u) > -∞, as `bounded_above` does for -bias, with the words for a bound from below."""
    return _bounded(-bias, u, domain, BELOW)


def _bounded(bias: sp.Expr, u: sp.Symbol, domain: str, side: Side) -> Verdict:
    try:
        case = Case(bias, u, domain, False)
        pieces = case.pieces()
        parts = [quotient(case, piece) for piece in pieces]
        ends = [_end(case, parts[-1], 1, side)] if pieces[-1].upper.is_infinite else []
        ends += [_end(case, parts[0], -1, side)] if pieces[0].lower.is_infinite else []
        ends += [_pole(case, pole, side) for part in parts for pole in poles(case, part)]
    except (Unsupported, BadInput) as problem:
        a = "an" if side is ABOVE else "a"
        return Verdict(Status.UNDECIDED, f"not decided whether it has {a} {side.bound} bound: {problem}")
    if not case.intervals()[-1].upper.is_infinite:
        return Verdict(Status.UNDECIDED, f"{text(bias)} has steps for ever")
    return conjunction(ends or [Verdict(Status.PROVED, "bounded where it has values")])


def _pole(case: Case, pole: Pole, side: Side) -> Verdict:
    """The verdict beside a place where the bias has no finite value."""
    where = f"as {case.u} → {to_text(pole.place)} from {'above' if pole.way > 0 else 'below'}"
    if pole.sign is None:
        return Verdict(Status.UNDECIDED, f"what it does {where} is not known")
    if pole.sign > 0:
        return Verdict(Status.REFUTED, f"no {side.bound} bound {where}, where it {side.past} without limit")
    return Verdict(Status.PROVED, f"{side.away} {where}")


def _end(case: Case, given: Quotient, way: int, side: Side) -> Verdict:
    """The verdict for u → way · ∞."""
    where = f"as {case.u} → {'' if way > 0 else '-'}∞"
    leading: list[Term] = []
    for term in _terms(case, given, way):
        order = _compare(term.order, leading[0].order) if leading else 1
        leading = [term] if order > 0 else [*leading, term] if order == 0 else leading
    if not leading or _compare(leading[0].order, (S.Zero, S.Zero, S.Zero)) <= 0:
        return Verdict(Status.PROVED, f"bounded {where}")
    mean = sp.Add(*(term.coefficient for term in leading if not term.turning))
    turning = any(term.turning for term in leading)
    rho, a, k = leading[0].order
    growth = "faster than any exponential" if rho is S.Infinity else f"like {_size(rho, a, k, case.u)}"
    if rho is S.Infinity and sum(not term.turning for term in leading) > 1:
        raise Unsupported("several terms grow faster than any exponential; give the largest alone")
    if mean.is_positive or (turning and mean.is_zero):
        needed = _swings([term for term in leading if term.turning]) if turning else ()
        reason = f"no {side.bound} bound {where}, where it {side.past} {growth}"
        return Verdict(Status.REFUTED, reason, side_conditions=needed)
    if mean.is_negative and not turning:
        return Verdict(Status.PROVED, f"{side.away} {where}")
    why = "swings around its mean" if turning else "has no known sign; declare its symbols"
    return Verdict(Status.UNDECIDED, f"its leading part {why} {where}")


def _swings(turning: list[Term]) -> tuple[sp.Expr, ...]:
    """What must not vanish for the leading cosines to have a mean of 0 and not to cancel.

    Different phases are orthogonal in the logarithmic mean, so a sum of them that is not 0 rises above 0
    again and again. Errors: Unsupported where two phases, or a coefficient and 0, are not told apart.
    """
    found: list[sp.Expr] = []
    if _one_slow_pair(turning):
        return nonvanishing(factored(turning[0].parts[1]), {}, "the leading part of the bias")
    for k, term in enumerate(turning):
        phase, coefficient = term.parts
        if phase == 0:
            raise Unsupported("its leading terms turn with logarithms, and may cancel")
        found += [coefficient, sp.Poly(phase, X).LC()]
        for other in turning[:k]:
            sides = (phase - other.parts[0], phase + other.parts[0])
            halves = not (term.pair or other.pair) and sp.expand(sides[1]) == 0  # e^{iφ} and e^{-iφ}
            found += [sp.Poly(side, X).LC() for side in (sides[:1] if halves else sides)]
    conditions = (nonvanishing(factored(x), {}, "the leading part of the bias") for x in found)
    return tuple(dict.fromkeys(x for part in conditions for x in part))


def _one_slow_pair(turning: list[Term]) -> bool:
    """Whether they are e^{iφ} and e^{-iφ} alone, φ → ±∞ made of logarithms: a cosine that is 1 for ever."""
    if len(turning) != 2 or not all(known_sign(term.slow[1]) for term in turning):
        return False
    return sp.expand(turning[0].slow[0] + turning[1].slow[0]) == 0


def _size(rho: sp.Expr, a: sp.Expr, k: sp.Expr, u: sp.Symbol) -> str:
    size = to_text(sp.exp(rho * X) * X**a * sp.log(X) ** k)
    return size.replace("x", f"|{u}|").replace(f"e|{u}|p", "exp")


def _terms(case: Case, given: Quotient, way: int) -> Iterator[Term]:
    """The terms of the dividend, each divided by the leading term of the divisor."""
    found = case.spectrum(given.top)
    if found.cleared:
        raise Unsupported(f"{text(case.bias)} has a negative power of a polynomial in {case.u}")
    values = case.constants.values
    below = sp.Poly(given.below.xreplace(values), case.u)
    degree, leading = below.degree(), sp.Integer(way) ** below.degree() * below.LC()
    if not known_sign(leading):
        raise Unsupported(f"the sign of {text(leading)} is not known; declare its symbols")
    terms = [_mode_term(mode.mapped(values), way) for mode in found.modes]
    for term in [*terms, *(_foreign_term(term, case, way) for term in found.foreign)]:
        rho, a, k = term.order
        yield replace(term, order=(rho, a - degree, k), coefficient=term.coefficient / leading)


def _mode_term(mode: Mode, way: int) -> Term:
    """The highest power of a mode."""
    a = sp.Integer(mode.size - 1)
    turning = not mode.frequency.is_zero
    parts = (mode.frequency * X, mode.cosines[-1] ** 2 + mode.sines[-1] ** 2) if turning else (S.Zero, S.Zero)
    mean = S.Zero if turning else way**a * mode.cosines[-1]
    return Term((way * mode.rate, a, S.Zero), mean, turning, True, parts)


def _foreign_term(term: Foreign, case: Case, way: int) -> Term:
    """Its exponent is a polynomial in u plus multiples of logarithms; log|q| counts as deg q · log x."""
    values, constant = case.constants.values, sp.Integer(way) ** term.degree * term.coefficient
    a, k, growth = sp.Integer(term.degree), S.Zero, sp.expand(term.growth)
    for theta, value in case.logs.values.items():
        q, r, count = sp.Poly(sp.exp(value), case.u), growth.coeff(theta), term.powers.get(theta, 0)
        growth, a, k = sp.expand(growth - r * theta), a + r * q.degree(), k + count
        constant *= sp.Abs(q.LC()) ** r * sp.Integer(q.degree()) ** count
    known = {case.u, *values, *case.bias.free_symbols}
    if not growth.free_symbols <= known or case.u in a.free_symbols:
        raise Unsupported(f"the growth of exp({text(growth.xreplace(case.logs.values))}) is not known")
    exponent = sp.Poly(growth.xreplace(values).subs(case.u, way * case.u), case.u)
    turning = not term.phase.is_zero
    parts, slow = (S.Zero, constant.xreplace(values)), _slow(term.phase, case)
    if turning and not term.phase.has(*case.logs.values):
        parts = (term.phase.xreplace(values).subs(case.u, way * X), constant.xreplace(values))
    mean = S.Zero if turning else constant.xreplace(values)
    if exponent.degree() < 2:
        return Term(
            (exponent.coeff_monomial(case.u), a.xreplace(values), k), mean, turning, parts=parts, slow=slow
        )
    if exponent.LC().is_negative:
        return Term((-S.Infinity, S.Zero, S.Zero), mean, turning, parts=parts)
    if exponent.LC().is_positive:
        return Term((S.Infinity, S.Zero, S.Zero), mean, turning, parts=parts)
    raise Unsupported(f"the sign of {text(exponent.LC())} is not known; declare its symbols")


def _slow(phase: sp.Expr, case: Case) -> tuple[sp.Expr, sp.Expr]:
    """(φ, c) for a phase φ ~ c·log|u| that is a sum of logarithms; c = 0 for any other."""
    logs, plain = case.logs.values, sp.expand(phase)
    degrees = {theta: sp.degree(sp.exp(value), case.u) for theta, value in logs.items()}
    rates = {theta: plain.coeff(theta) for theta in logs}
    rest = sp.expand(plain - sp.Add(*(rate * theta for theta, rate in rates.items())))
    if case.u in plain.free_symbols or any(x.has(*logs) for x in (rest, *rates.values())):
        return plain, S.Zero
    return plain, sp.Add(*(rates[theta] * degrees[theta] for theta in logs)).xreplace(case.constants.values)


def _compare(a: Order, b: Order) -> int:
    """Lexicographic: 1, 0 or -1."""
    for x, y in zip(a, b, strict=True):
        difference = S.Zero if x == y else sp.expand(x - y)
        if difference.is_zero:
            continue
        if difference.is_positive or difference is S.Infinity:
            return 1
        if difference.is_negative or difference is -S.Infinity:
            return -1
        raise Unsupported(f"it is not known which of the growths {text(x)} and {text(y)} is larger")
    return 0


__all__ = ["bounded_above", "bounded_below"]
