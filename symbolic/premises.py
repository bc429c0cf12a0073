"""Assumptions about signs of single symbols, from `assume=` and from the symbols' own declarations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy import S

from .admit import check_symbol
from .errors import BadInput, WrongType
from .walk import text

_FORMS = "assume takes x > 0, x < 0, x >= 0, x <= 0 or Ne(x, 0) on single symbols"
_ALLOWED = {  # relation -> signs (of -1, 0, 1) that it leaves
    sp.StrictGreaterThan: frozenset([1]),
    sp.StrictLessThan: frozenset([-1]),
    sp.GreaterThan: frozenset([0, 1]),
    sp.LessThan: frozenset([-1, 0]),
    sp.Unequality: frozenset([-1, 1]),
}
_ALL = frozenset([-1, 0, 1])


@dataclass(frozen=True)
class Premises:
    """The signs (-1, 0, 1) each symbol may have; a symbol not listed may have all three."""

    signs: tuple[tuple[sp.Symbol, frozenset[int]], ...] = ()

    def __post_init__(self) -> None:
        for symbol, signs in self.signs:
            if not signs & {-1, 1}:
                what = "contradict each other" if not signs else f"force {symbol} = 0; substitute it"
                raise BadInput(f"the assumptions on {symbol} {what}")

    @classmethod
    def of(cls, assume: Any, symbols: Iterable[sp.Symbol]) -> Premises:
        """Premises from relations and from what the symbols declare (positive=True, nonzero=True, …)."""
        signs = {symbol: _declared(symbol) for symbol in symbols}
        names = {symbol.name: symbol for symbol in signs}
        for relation in _listed(assume):
            symbol, allowed = _read(relation)
            if symbol is not None:
                if names.setdefault(symbol.name, symbol) != symbol:
                    raise BadInput(f"assume is about another symbol named {symbol} (its assumptions differ)")
                signs[symbol] = signs.get(symbol, _declared(symbol)) & allowed
        ordered = sorted(signs.items(), key=lambda item: item[0].name)
        return cls(tuple((symbol, allowed) for symbol, allowed in ordered if allowed != _ALL))

    def of_symbol(self, symbol: sp.Symbol) -> frozenset[int]:
        """The signs a symbol may have."""
        return dict(self.signs).get(symbol, _ALL)

    def nonzero(self, formula: sp.Expr) -> bool:
        """Whether this formula is non-zero on sight: a symbol of known sign, or cosh of a real formula."""
        if isinstance(formula, sp.Symbol):
            return 0 not in self.of_symbol(formula)
        return isinstance(formula, sp.cosh) and not formula.has(sp.I)

    def adjust(self, symbol: sp.Symbol, value: sp.Rational) -> sp.Rational:
        """A value near the given one that respects the premises: its sign is flipped if need be."""
        allowed = self.of_symbol(symbol)
        if sp.sign(value) in allowed:
            return value
        return -value if value else sp.Integer(max(allowed & {-1, 1}))


def _listed(assume: Any) -> tuple[Any, ...]:
    if isinstance(assume, sp.Basic | bool):
        return (assume,)
    if isinstance(assume, str) or not isinstance(assume, Iterable):
        raise WrongType(f"assume is {text(assume)}; {_FORMS}, in a tuple")
    return tuple(assume)


def _read(relation: Any) -> tuple[sp.Symbol | None, frozenset[int]]:
    """(symbol, signs it may have); a relation sympy already knows to be true says nothing."""
    if relation is S.true or relation is True:
        return None, _ALL
    if relation is S.false or relation is False:
        raise BadInput("assume contains a false relation; it contradicts what the symbols declare")
    if not isinstance(relation, sp.core.relational.Relational):
        raise WrongType(f"assume contains {text(relation)}; {_FORMS}")
    if relation.lhs is S.Zero:
        relation = relation.reversed
    allowed = _ALLOWED.get(type(relation))
    if allowed is None or not isinstance(relation.lhs, sp.Symbol) or relation.rhs is not S.Zero:
        raise BadInput(f"assume contains {text(relation)}; {_FORMS}")
    check_symbol(relation.lhs, "assume")
    return relation.lhs, allowed


def _declared(symbol: sp.Symbol) -> frozenset[int]:
    excluded = {
        1: symbol.is_positive is False or symbol.is_nonpositive,
        0: symbol.is_zero is False,
        -1: symbol.is_negative is False or symbol.is_nonnegative,
    }
    return frozenset(sign for sign, out in excluded.items() if not out)
