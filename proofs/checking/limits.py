"""`limit` steps: the limit of an exponential polynomial at ±oo, from its dominant terms.

limit  expr variable to ("+oo" | "-oo") value (tree | "+oo" | "-oo") assume
       refuted: actual (tree | "+oo" | "-oo")
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .context import Context, brief
from .quotients import Quotient
from .reading import one_of
from .refusal import Refusal, shown, within
from .signs import Assumed, Signs, assumptions, quotient_signs, sum_signs
from .sums import WIDTH, Sum
from .trees import Node, name
from .values import Evaluator, Point, settle

INFINITE = {"+oo": 1, "-oo": -1}
_TRIES = (1, 2, 3, 5, 7)


@dataclass(frozen=True)
class Growth:
    """exp(rate) x^power: the part of a term that moves its size; rate {power of x: coefficient sum}."""

    rate: Mapping[int, Sum]
    power: int


@dataclass(frozen=True)
class Leading:
    """The dominant growth of a sum, its coefficient, and whether the coefficient still turns with x."""

    growth: Growth
    coefficient: Sum
    turning: bool


def limit(context: Context, step: Mapping[str, Any]) -> None:
    expr = context.scalar(step, "expr")
    with within("variable"):
        variable = name(step["variable"])
    with within("to"):
        towards = INFINITE[one_of(step["to"], INFINITE)]
    with within("assume"):
        assumed = assumptions(step["assume"])
        if variable in assumed:
            raise Refusal(f"restricts the variable {shown(variable)}, which goes to infinity")
    value = _value(context, step, "value", variable)
    if isinstance(value, Node):
        with within("value"):
            context.divides_safely(value, assumed)
    if step["status"] == "proved":
        _confirm(context, expr, variable, towards, value, assumed)
        return
    if step.get("actual") is None:
        raise Refusal("is missing", "actual")
    actual = _value(context, step, "actual", variable)
    _confirm(context, expr, variable, towards, actual, assumed)
    _different(context, value, actual, assumed)


def _value(context: Context, step: Mapping[str, Any], key: str, variable: str) -> Node | int:
    value = step[key]
    if isinstance(value, str):
        with within(key):
            return INFINITE[one_of(value, INFINITE)]
    node = context.scalar(step, key)
    if variable in node.free:
        raise Refusal(f"depends on {shown(variable)}", key)
    return node


def _different(context: Context, value: Node | int, actual: Node | int, assumed: Assumed) -> None:
    """Two limits differ if they do at some point that the assumptions admit."""
    if isinstance(value, int) or isinstance(actual, int):
        if value == actual:
            raise Refusal("is the claimed limit; it refutes nothing", "actual")
        return
    gap = context.forest.node(
        "add", value, context.forest.node("mul", context.forest.number(Fraction(-1)), actual)
    )
    for shift in _TRIES:
        values = {
            s: Fraction((i + shift) * (-1 if 1 not in assumed.get(s, {1}) else 1))
            for i, s in enumerate(sorted(gap.free))
        }
        if settle(context.forest, Point(values), lambda evaluator: _nonzero(evaluator, gap)):
            return
    raise Refusal("does not differ from the claimed limit where it was tried", "actual")


def _nonzero(evaluator: Evaluator, node: Node) -> bool | None:
    """Whether the value is not 0, also where roots of unity leave its imaginary part open."""
    value = evaluator.value(node)
    if isinstance(value, Fraction):
        return value != 0
    return True if any(low > 0 or high < 0 for low, high in value) else None


def _confirm(
    context: Context, expr: Node, variable: str, towards: int, value: Node | int, assumed: Assumed
) -> None:
    field = context.forms.field
    with within("expr"):
        form = context.forms.scalar(expr)
        comparer = _Comparer(context, variable, assumed)
        mirrored = {variable: field.negative(field.symbol(variable))} if towards < 0 else {}
        for tree, divisor in context.divisors(expr):
            if not comparer.eventually_nonzero(field.substitute(divisor, mirrored)):
                raise Refusal(f"divides by {brief(tree)}, which may vanish for all large {variable}")
        found = _limit(context, field.substitute(form, mirrored), comparer)
    with within("value"):
        if isinstance(value, int):
            if found != value:
                raise Refusal(f"is {'+oo' if value > 0 else '-oo'}, which the dominant terms do not give")
        elif isinstance(found, int) or not field.equal(found, context.forms.scalar(value)):
            raise Refusal("is not the limit that the dominant terms give")


def _limit(context: Context, form: Quotient, comparer: _Comparer) -> Quotient | int:
    """The limit of num/den for x -> +oo from the two dominant terms: 1 or -1 for an infinite one."""
    field = context.forms.field
    if not comparer.eventually_nonzero(field.whole(form.den)):
        raise Refusal("divides by something whose dominant term may vanish or turns")
    top, bottom = comparer.leading(form.num), comparer.leading(form.den)
    if top is None:
        return field.zero
    assert bottom is not None  # a denominator is no zero sum
    order = comparer.compare(top.growth, bottom.growth)
    if order < 0:
        return field.zero
    if top.turning:
        raise Refusal("oscillates in its dominant term, so that the rule gives no limit")
    ratio = field.multiply(field.whole(top.coefficient), field.inverse(field.whole(bottom.coefficient)))
    if order == 0:
        return ratio
    signs = quotient_signs(context.forms, ratio, comparer.assumed)
    if len(signs) > 1 or 0 in signs:
        raise Refusal("grows, but the sign of its leading coefficient is not known")
    return next(iter(signs))


class _Comparer:
    """Orders growths for x -> +oo by the signs of the leading coefficients of their differences."""

    def __init__(self, context: Context, variable: str, assumed: Assumed) -> None:
        self.forms, self.assumed = context.forms, assumed
        self.ring = context.forms.field.ring
        self.place = self.ring.variable(variable)

    def _reaches(self, place: int) -> bool:
        """Whether the symbol at this place is an opaque function of the variable, at any depth."""
        field = self.forms.field
        inner = {p for a in field.arguments(place) or () for p in field.places(a)}
        return self.place in inner or any(map(self._reaches, inner))

    def leading(self, a: Sum) -> Leading | None:
        """The dominant part of a sum; None for the zero sum."""
        a = self.ring.reduced(a)
        if any(map(self._reaches, self.ring.places(a))):
            raise Refusal("has an opaque function of the variable")
        best: list[tuple[Growth, int, int, int]] = []
        for (e, m), c in a.terms.items():
            growth = self._growth(e, m)
            order = self.compare(growth, best[0][0]) if best else 1
            if order > 0:
                best = []
            if order >= 0:
                best.append((growth, e, m, c))
        return self._collected(best, a.den) if best else None

    def eventually_nonzero(self, a: Quotient) -> bool:
        """Whether a keeps away from 0 for all large x, whatever the other symbols are."""
        lead = self.leading(a.num)
        return (
            lead is not None
            and not lead.turning
            and 0 not in sum_signs(self.forms, lead.coefficient, self.assumed)
        )

    def _split(self, m: int) -> tuple[int, int]:
        """(power of x, the rest of the monomial)"""
        power = m >> WIDTH * self.place & (1 << WIDTH) - 1
        return power, m - (power << WIDTH * self.place)

    def _growth(self, e: int, m: int) -> Growth:
        rate: dict[int, dict[int, tuple[Fraction, Fraction]]] = {}
        for n, (real, _) in self.ring.exponentials[e][0].items():
            power, rest = self._split(n)
            if power and real:
                rate.setdefault(power, {})[rest] = (real, Fraction(0))
        polynomial = self.forms.field.polynomial
        return Growth({k: polynomial(p) for k, p in rate.items()}, self._split(m)[0])

    def compare(self, a: Growth, b: Growth) -> int:
        """1 if a outgrows b, -1 if b outgrows a, 0 if they are the same."""
        zero = self.ring.zero
        for k in sorted({*a.rate, *b.rate}, reverse=True):
            difference = self.ring.subtract(a.rate.get(k, zero), b.rate.get(k, zero))
            if difference:
                return self._decided(sum_signs(self.forms, difference, self.assumed))
        return (a.power > b.power) - (a.power < b.power)

    @staticmethod
    def _decided(signs: Signs) -> int:
        if len(signs) > 1 or 0 in signs:
            raise Refusal("has two exponents whose order the assumptions leave open")
        return next(iter(signs))

    def _collected(self, best: list[tuple[Growth, int, int, int]], den: int) -> Leading:
        """The coefficient: exponentials keep what does not move with x."""
        ring, parts, turning = self.ring, [], False
        for _, e, m, c in best:
            exponent, q = ring.exponentials[e]
            rest = {n: v for n, v in exponent.items() if not self._split(n)[0]}
            turning |= any(imaginary for n, (_, imaginary) in exponent.items() if self._split(n)[0])
            number, minus = ring.exponential(rest, q)
            parts.append(Sum({(number, self._split(m)[1]): -c if minus else c}, den, 1 << 12))
        total = ring.total(parts)
        if not turning and ring.is_zero(total):
            raise Refusal("cancels in its dominant terms")
        return Leading(best[0][0], total, turning)
