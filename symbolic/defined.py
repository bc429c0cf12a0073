"""Where a formula has a value: what its logarithms, roots and divisors ask of their arguments.

It is asked of a formula as it was typed. Evaluation makes x of exp(log(x)) and 1 of x/x, which are equal
where the left side has a value, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import sympy as sp
from sympy import S

from .errors import BadInput
from .premises import Premises
from .sign_rules import ANY, POSITIVE, Signs, signs_of
from .walk import free_symbols, text

NOT_NEGATIVE, NOT_ZERO = frozenset([0, 1]), frozenset([-1, 1])
_RELATIONS = {POSITIVE: sp.Gt, NOT_NEGATIVE: sp.Ge, NOT_ZERO: sp.Ne}
_BOUND = sp.Subs | sp.Derivative | sp.Integral | sp.Sum | sp.Product | sp.Piecewise
_WHOLE = 10_000  # characters that demands are put in order by


@dataclass(frozen=True)
class Demand:
    """The sign of a formula is one of `signs`: {1}, {0, 1} or {-1, 1}."""

    formula: sp.Expr
    signs: Signs

    @property
    def relation(self) -> sp.Rel:
        """formula > 0, formula >= 0 or Ne(formula, 0), as it stands."""
        return _RELATIONS[self.signs](self.formula, S.Zero, evaluate=False)


def demands(*formulas: sp.Basic, known: Premises) -> tuple[Demand, ...]:
    """What is asked for the formulas to have real values and is not true of all symbols as known, in order.

    Arguments of logarithms are positive, bases of even and other broken powers at least 0, divisors not 0.
    Branches of a Piecewise, and what is differentiated or summed, are not looked into.
    """
    asked: dict[sp.Expr, Signs] = {}
    for node in _nodes(formulas):
        for formula, signs in _asks(node):
            asked[formula] = asked.get(formula, ANY) & signs
    found = (_left(formula, signs, known) for formula, signs in asked.items())
    unique = {demand for demand in found if demand is not None}
    return tuple(sorted(_merged(unique), key=lambda demand: text(demand.formula, _WHOLE)))


def _nodes(formulas: Iterable[sp.Basic]) -> Iterator[sp.Basic]:
    """Every different node once."""
    seen: set[sp.Basic] = set()
    stack = list(formulas)
    while stack:
        node = stack.pop()
        if node not in seen and not isinstance(node, _BOUND):
            seen.add(node)
            yield node
            stack.extend(node.args)


def _asks(node: sp.Basic) -> Iterator[tuple[sp.Expr, Signs]]:
    if isinstance(node, sp.log):
        yield node.args[0], NOT_ZERO if node.has(sp.I) else POSITIVE
    elif isinstance(node, sp.tan):
        yield sp.cos(node.args[0]), NOT_ZERO
    elif isinstance(node, sp.Pow):
        base, exponent = node.args
        whole, falls = isinstance(exponent, sp.Integer), exponent.is_positive is not True
        if whole or base.has(sp.I):
            yield base, NOT_ZERO if falls and exponent is not S.Zero else ANY
        else:
            yield base, POSITIVE if falls else NOT_NEGATIVE


def _left(formula: sp.Expr, signs: Signs, known: Premises) -> Demand | None:
    """What a demand comes to beside what is known; nothing is left of one about constants."""
    if not free_symbols(formula):
        return None
    try:
        possible = signs_of(formula, known)
    except BadInput:  # not real
        possible = ANY
    if possible <= signs:
        return None
    if signs & possible == possible - {0} and 0 not in signs:
        return Demand(_root(formula), NOT_ZERO)
    constant, moving = formula.as_independent(*formula.free_symbols, as_Add=False)
    return Demand(moving if constant.is_positive else formula, signs)


def _root(formula: sp.Expr) -> sp.Expr:
    """A formula that vanishes where the given one does: without constant factors and outer powers."""
    _, moving = formula.as_independent(*formula.free_symbols, as_Add=False)
    if isinstance(moving, sp.Pow) and isinstance(moving.args[1], sp.Rational) and moving.args[1] > 0:
        return _root(moving.args[0])
    return moving


def _merged(found: Iterable[Demand]) -> Iterator[Demand]:
    """One demand a formula."""
    signs: dict[sp.Expr, Signs] = {}
    for demand in found:
        signs[demand.formula] = signs.get(demand.formula, ANY) & demand.signs
    return (Demand(formula, left) for formula, left in signs.items())


__all__ = ["Demand", "demands"]
