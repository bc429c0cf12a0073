"""Recursions as formulas: the equations of base and step, and the values of the first few n."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from .admit import admit_scalar
from .errors import BadInput, WrongType
from .walk import free_symbols, text

Values = dict[sp.Symbol, sp.Expr]


@dataclass(frozen=True)
class Obligation:
    """`actual` must equal, or be at least, `claimed`: at the base, at the step, or at one n."""

    place: str
    symbol: sp.Symbol
    actual: sp.Expr
    claimed: sp.Expr


@dataclass(frozen=True)
class Recursion:
    """Scalar state a, with a at start and a at n+1, and the values claimed of it."""

    index: sp.Symbol
    start: int
    state: Mapping[sp.Symbol, tuple[sp.Expr, sp.Expr]]
    claim: Mapping[sp.Symbol, sp.Expr]

    def obligations(self, slack: bool) -> Iterator[Obligation]:
        """Base and step with the index as start + n, n >= 0; with slack, claimed values are f + h, h >= 0."""
        yield from self._at(self.start, {a: first for a, (first, _) in self.state.items()}, "base")
        n = sp.Symbol(self.index.name, nonnegative=True)
        free = {a: sp.Symbol(a.name, real=True) for a in self.state}
        now = {a: r for a, r in free.items() if a not in self.claim}
        for a, f in self.claim.items():
            h = sp.Symbol(a.name, nonnegative=True) if slack else sp.S.Zero
            now[a] = f.xreplace(now) + h
        after = {a: following.xreplace(now) for a, (_, following) in self.state.items()}
        yield from self._compared(after, self.index + 1, {self.index: self.start + n}, "step")

    def values(self, count: int) -> Iterator[Obligation]:
        """Actual and claimed values for the first `count` indices, by running the recursion."""
        now = {a: first for a, (first, _) in self.state.items()}
        for n in range(self.start, self.start + count):
            yield from self._at(n, now, str(n))
            now = {
                a: following.xreplace({**now, self.index: sp.Integer(n)})
                for a, (_, following) in self.state.items()
            }

    def _at(self, n: int, now: Values, place: str) -> Iterator[Obligation]:
        yield from self._compared(now, self.index, {self.index: sp.Integer(n)}, place)

    def _compared(self, now: Values, index: sp.Expr, last: Values, place: str) -> Iterator[Obligation]:
        """Actual and claimed values with the index put in last."""
        for a, f in self.claim.items():
            claimed = f.xreplace({**now, self.index: index})
            yield Obligation(place, a, now[a].xreplace(last), claimed.xreplace(last))


# ---- the door ----


def scalar_pairs(given: Any, name: str, width: int) -> Iterator[tuple[sp.Symbol, tuple[Any, ...]]]:
    """(symbol, values) one by one; a key may be a Matrix of symbols with values of its shape."""
    if not isinstance(given, Mapping) or not given:
        raise WrongType(f"{name} is {text(given)}; a mapping from state symbols works")
    for key, value in given.items():
        values = tuple(value) if width > 1 and isinstance(value, (tuple, list)) else (value,)
        if len(values) != width:
            raise BadInput(f"{name}[{text(key)}] is {text(value)}; a pair (first, next) works")
        if isinstance(key, sp.MatrixBase):
            yield from _entries(key, values, name)
        elif isinstance(key, sp.Symbol):
            yield key, values
        else:
            raise WrongType(f"{name} has the key {text(key)}; a symbol or a Matrix of symbols works")


def _entries(
    key: sp.MatrixBase, values: tuple[Any, ...], name: str
) -> Iterator[tuple[sp.Symbol, tuple[Any, ...]]]:
    explicit = [value.as_explicit() if hasattr(value, "as_explicit") else value for value in values]
    for value in explicit:
        if getattr(value, "shape", None) != key.shape:
            raise BadInput(
                f"{name}[{text(key)}] has the value {text(value)}; matrices of shape {key.shape} work"
            )
    for symbol, *parts in zip(key.flat(), *(value.flat() for value in explicit), strict=True):
        if not isinstance(symbol, sp.Symbol):
            raise WrongType(f"{name} has the key entry {text(symbol)}; a Matrix of symbols works")
        yield symbol, tuple(parts)


def check_formulas(
    index: sp.Symbol, state: Mapping[sp.Symbol, tuple[sp.Expr, sp.Expr]], claim: Mapping[sp.Symbol, sp.Expr]
) -> None:
    """First values are free of the state, claims of claimed symbols, calculus of both."""
    moving = {index, *state}
    if index in state:
        raise BadInput(f"state contains the index {index}; its next value is {index} + 1 already")
    for a, (first, following) in state.items():
        if free_symbols(first) & moving:
            raise BadInput(
                f"state[{a}] starts with {text(first)}; a value free of the index and the state works"
            )
        _check_frozen(following, moving, f"state[{a}]")
    for a, f in claim.items():
        if a not in state:
            raise BadInput(
                f"claim speaks of {a}, which is no state symbol; claim one of {', '.join(map(str, state))}"
            )
        if free_symbols(f) & set(claim):
            raise BadInput(f"claim[{a}] is {text(f)}; it may use state symbols that are not claimed only")
        _check_frozen(f, moving, f"claim[{a}]")


def _check_frozen(formula: sp.Expr, moving: set[sp.Symbol], name: str) -> None:
    for node in formula.atoms(sp.Derivative, sp.Subs):
        if node.atoms(sp.Symbol) & moving:
            raise BadInput(f"{name} contains {text(node)}; carry the derivative as a state symbol of its own")


def pair(first: Any, following: Any) -> tuple[sp.Expr, sp.Expr]:
    """Both parts, exact."""
    return admit_scalar(first, "the first value"), admit_scalar(following, "the next value")
