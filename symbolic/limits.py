"""Limits of exponential polynomials at infinity, by their dominant exponent (`limit` steps)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy import S
from sympy.polys.rings import PolyElement

from .admit import admit_scalar, admit_together, check_symbol
from .decide import Status, Verdict
from .errors import BadInput, Unsupported, WrongType
from .exppoly import ExpPoly
from .premises import Premises
from .reader import Ratio, Reader
from .sign_rules import Signs, doubtful_divisor, element_signs, power, require_real, times
from .signs import premises_tree
from .tree import to_tree
from .walk import free_symbols, text

_ENDS = {S.Infinity: "+oo", S.NegativeInfinity: "-oo"}


class Unsettled(Unsupported):
    """The limit depends on a sign that is not known, or does not exist in this form."""


@dataclass(frozen=True)
class Limit:
    """The claim lim expr = value as `variable` tends to `to`, for all allowed values of the other symbols.

    expr      a real exponential polynomial in `variable`; denominators must be free of it
    to        oo or -oo
    value     an expression free of `variable`, or oo, or -oo
    assume    relations x > 0, x < 0, x >= 0, Ne(x, 0) on the other symbols, beside what they declare

    Terms are ordered by the real parts of their exponents; signs of differences must follow from assumptions.
    A claim with another limit than the true one is refuted; a dominant term that oscillates is undecided.
    """

    expr: sp.Expr
    variable: sp.Symbol
    to: sp.Expr
    value: sp.Expr
    assume: Sequence[Any] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.variable, sp.Symbol):
            raise WrongType(f"variable is {self.variable!r}; a real symbol such as Symbol('t') works")
        check_symbol(self.variable, "variable")
        if self.to not in _ENDS:
            raise BadInput(f"to is {self.to}; oo or -oo works (a limit at a point is the value there)")
        object.__setattr__(self, "expr", admit_scalar(self.expr, "expr"))
        if self.value not in _ENDS:
            object.__setattr__(self, "value", admit_scalar(self.value, "value"))
        object.__setattr__(self, "assume", tuple(self.assume))
        if self.variable in self.value.free_symbols:
            raise BadInput(f"value is {text(self.value)}; a limit is free of {self.variable}")
        if self.variable in dict(Premises.of(self.assume, ()).signs):
            raise BadInput(f"assume speaks of {self.variable}, which tends to {self.to}; assume of others")
        admit_together((self.expr, self.value, self.variable, *self.assume), "the claim")
        premises_tree(self.premises)

    @property
    def premises(self) -> Premises:
        """What is known of the other symbols."""
        symbols = free_symbols(self.expr) | free_symbols(self.value)
        return Premises.of(self.assume, symbols - {self.variable})

    def tree(self) -> dict:
        """The claim as JSON: expr, variable, to, value, assume."""
        return {
            "kind": "limit",
            "expr": to_tree(self.expr),
            "variable": self.variable.name,
            "to": _ENDS[self.to],
            "value": _ENDS.get(self.value) or to_tree(self.value),
            "assume": premises_tree(self.premises),
        }

    def formula(self) -> tuple[sp.Expr, str, sp.Expr]:
        """(lim expr, "=", value)"""
        return sp.Limit(self.expr, self.variable, self.to), "=", self.value

    def outcome(self, verdict: Verdict) -> dict:
        """What a checker needs besides the claim."""
        return dict(verdict.certificate)

    def check(self) -> Verdict:
        """Find the true limit and compare."""
        divisor = None if self.value in _ENDS else doubtful_divisor(self.value, self.premises)
        if divisor is not None:
            return Verdict(Status.UNDECIDED, f"the divisor {text(divisor)} of the value may vanish")
        try:
            reader = Reader.of(
                self.expr, S.Zero if self.value in _ENDS else self.value, extra=[self.variable]
            )
            actual = self._actual(reader)
            claimed = self.value if self.value in _ENDS else reader.read(self.value)
            if _same(reader, actual, claimed):
                return Verdict(Status.PROVED, "by the dominant exponent")
        except (Unsupported, BadInput) as error:
            return Verdict(Status.UNDECIDED, str(error))
        true = actual if actual in _ENDS else expression(reader, actual)
        return Verdict(
            Status.REFUTED,
            f"the limit is {text(true)}, not {text(self.value)}",
            certificate={"actual": _ENDS.get(true) or to_tree(true)},
        )

    def _actual(self, reader: Reader) -> Ratio | sp.Expr:
        """The true limit: a fraction, oo or -oo."""
        ratio, i = reader.read(self.expr), reader.ring.index[self.variable]
        divisor = self._divisor_signs(reader, ratio, i)
        numerator = ratio.numerator
        require_real(numerator)
        if self.to is S.NegativeInfinity:
            numerator = numerator.compose(_mirror(reader, i))
        found = dominant(numerator, i, self.premises)
        if isinstance(found, ExpPoly):
            return Ratio(found, ratio.factors, ratio.nonzero)
        signs = times(found, divisor)
        if len(signs) != 1 or 0 in signs:
            raise Unsettled(f"it is unbounded, with an unknown sign; assume the signs in {text(self.expr)}")
        return S.Infinity if signs == frozenset([1]) else S.NegativeInfinity

    def _divisor_signs(self, reader: Reader, ratio: Ratio, i: int) -> Signs:
        total: Signs = frozenset([1])
        for factor, count in reader.denominator(ratio):
            if factor.depends_on([i]):
                raise Unsettled(f"a denominator depends on {self.variable}; state the limits of both parts")
            signs = element_signs(factor, self.premises)
            if 0 in signs:
                raise Unsettled(
                    f"a denominator of {text(self.expr)} may vanish; assume Ne(x, 0) for its symbols"
                )
            total = times(total, power(signs, count))
        return total


def _mirror(reader: Reader, i: int) -> dict[int, ExpPoly]:
    """All symbols as they are, but the i-th with the opposite sign."""
    gens = {k: reader.ring.generator(x) for k, x in enumerate(reader.ring.symbols)}
    return {**gens, i: -gens[i]}


def _same(reader: Reader, actual: Ratio | sp.Expr, claimed: Ratio | sp.Expr) -> bool:
    if actual in _ENDS or claimed in _ENDS:
        return actual is claimed
    return reader.is_zero(reader.add(actual, reader.negate(claimed)))


# ---- the dominant term as x_i -> +oo ----


def dominant(element: ExpPoly, i: int, premises: Premises) -> ExpPoly | Signs:
    """The finite limit, or the possible signs of an infinite one. Raises Unsettled."""
    groups = _grouped(element, i, "real")
    top, leader = None, element.ring.zero
    for growth, part in groups.items():
        if top is None or _exponent_sign(growth - top, element, i, premises) > 0:
            top, leader = growth, part
    speed = 0 if top is None else _exponent_sign(top, element, i, premises)
    if top is None or speed < 0:
        return element.ring.zero
    return _steady(leader, i, premises, may_stay=speed == 0)


def _steady(leader: ExpPoly, i: int, premises: Premises, may_stay: bool) -> ExpPoly | Signs:
    """Limit of Σ_k t^k a_k, unless oscillating terms of the same growth reach its degree."""
    turning = _grouped(leader, i, "imaginary")
    rest = turning.pop(leader.ring.polynomials.zero, leader.ring.zero)
    degree, coefficient = _leading(rest, i)
    if any(_leading(part, i)[0] >= degree for part in turning.values()):
        raise Unsettled("the dominant term oscillates; state the limit of a squared norm instead")
    if degree == 0 and may_stay:
        return coefficient
    return element_signs(coefficient, premises)


def _grouped(element: ExpPoly, i: int, part: str) -> dict[PolyElement, ExpPoly]:
    """(x_i-dependent share of the exponents' real or imaginary part) -> terms that do not cancel."""
    groups: dict[PolyElement, dict[int, PolyElement]] = defaultdict(dict)
    for number, c in element.terms.items():
        exponent = element.ring.exponents[number]
        if exponent.opaque:
            raise Unsettled("an undefined function occurs; use a free symbol for its value")
        groups[_share(getattr(exponent, part), i)][number] = c
    found = {key: ExpPoly(element.ring, terms) for key, terms in groups.items()}
    return {key: value for key, value in found.items() if not value.is_zero()}


def _share(polynomial: PolyElement, i: int) -> PolyElement:
    """The terms with x_i in them."""
    ring = polynomial.ring
    return ring.from_dict({monomial: c for monomial, c in polynomial.items() if monomial[i]})


def _exponent_sign(polynomial: PolyElement, element: ExpPoly, i: int, premises: Premises) -> int:
    """The sign of a polynomial without constant term, as x_i -> +oo."""
    if not polynomial:
        return 0
    _, coefficient = _leading(element.ring.polynomial(polynomial), i)
    signs = element_signs(coefficient, premises)
    if len(signs) != 1:
        word = polynomial_text(coefficient)
        raise Unsettled(f"the dominant exponent depends on the sign of {word}; assume signs of its symbols")
    return next(iter(signs))


def _leading(element: ExpPoly, i: int) -> tuple[int, ExpPoly]:
    """(degree, coefficient) of the highest power of x_i that does not vanish; (0, 0) for zero."""
    by_degree: dict[int, ExpPoly] = defaultdict(lambda: element.ring.zero)
    for number, c in element.terms.items():
        for monomial, value in c.items():
            rest = tuple(0 if k == i else n for k, n in enumerate(monomial))
            term = c.ring.from_dict({rest: value})
            by_degree[monomial[i]] = by_degree[monomial[i]] + ExpPoly(element.ring, {number: term})
    alive = [k for k, coefficient in by_degree.items() if not coefficient.is_zero()]
    return (max(alive), by_degree[max(alive)]) if alive else (0, element.ring.zero)


# ---- back to formulas ----


def polynomial_text(element: ExpPoly) -> str:
    """A polynomial in words."""
    return text(_expression(element))


def expression(reader: Reader, ratio: Ratio) -> sp.Expr:
    """The formula of a fraction."""
    divisor = [_expression(factor) ** count for factor, count in reader.denominator(ratio)]
    return _expression(ratio.numerator) / sp.Mul(*divisor)


def _expression(element: ExpPoly) -> sp.Expr:
    ring, total = element.ring, []
    for number, c in element.terms.items():
        e = ring.exponents[number]
        turn = sp.Rational(e.turn.numerator, e.turn.denominator)
        real, imaginary = e.real.as_expr(*ring.symbols), e.imaginary.as_expr(*ring.symbols)
        phase = sp.exp(real + S.ImaginaryUnit * (imaginary + sp.pi * turn))
        total.append(c.as_expr(*ring.symbols) * phase * sp.sqrt(e.surd))
    return sp.Add(*total)


__all__ = ["Limit"]
