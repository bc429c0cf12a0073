"""Formulas as people type them, read by a small grammar: text is never run, and names are only symbols.

sum     = product {("+" | "-") product}
product = signed {("*" | "/") signed}
signed  = ["+" | "-"] signed | power
power   = atom ["^" signed]
atom    = number | name | function "(" sum ")" | "(" sum ")" | "[" row {"," row} "]"
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, TypeVar

import sympy as sp

from .assemble import (
    FUNCTIONS,
    OF_SEVERAL,
    Part,
    call,
    inverse,
    matrix,
    negative,
    number,
    power,
    product,
    total,
)
from .errors import BadInput, Unreadable, Unsupported
from .tokens import Source, Token, tokens
from .walk import text as text_of

MAX_NESTED = 50
CONSTANTS = {"pi": sp.pi, "e": sp.E, "I": sp.I}
_AMBIGUOUS = {
    "i": "I for the imaginary unit, or another name such as i0 for a symbol",
    "E": "e for Euler's number, or another name such as E0 for a symbol",
    "j": "I for the imaginary unit, or another name such as j0 for a symbol",
    **dict.fromkeys(
        ("oo", "zoo", "inf", "infinity", "nan"), "a finite number, or another name such as n0 for a symbol"
    ),
}
_NAMES = (*FUNCTIONS, *OF_SEVERAL)
_RELATIONS = {
    ">": frozenset([1]),
    "<": frozenset([-1]),
    ">=": frozenset([0, 1]),
    "<=": frozenset([-1, 0]),
    "!=": frozenset([-1, 1]),
}
_MIRRORED = {">": "<", "<": ">", ">=": "<=", "<=": ">=", "!=": "!="}
_DECLARED = {
    frozenset([1]): {"positive": True},
    frozenset([-1]): {"negative": True},
    frozenset([0, 1]): {"nonnegative": True},
    frozenset([-1, 0]): {"nonpositive": True},
    frozenset([-1, 1]): {"real": True, "nonzero": True},
    frozenset([-1, 0, 1]): {"real": True},
}
Signs = Mapping[str, frozenset[int]]
Item = TypeVar("Item")


def parse(text: str, *, name: str = "formula", signs: Signs | None = None) -> Any:
    """The sympy expression or matrix that a text stands for, every number exact and every name a real symbol.

    text: numbers (decimals are exact: 0.1 is 1/10), names (Greek letters and their names are one symbol),
        + - * / ^ ** and parentheses, the functions exp sin cos tan sinh cosh tanh sqrt log abs min max, the
        constants pi, e, I, matrices [[0, 1], [0, 0]] and their sums, products and whole powers.
    name: what to call the text in an error.   signs: what `parse_signs` returns; other symbols are real.
    Errors: Unreadable with the column and a caret; also for what would take long or grow large (20 000
        characters, 50 nested parentheses, numbers of 4200 digits). Nothing in the text is ever run.
    """
    source = Source(text, name)
    try:
        parser = _Parser(source, dict(signs or {}))
        return parser.whole().formula
    except RecursionError:
        raise Unreadable(f"{name} is nested too deeply; use symbols for inner parts") from None


def evaluated(formula: Any) -> Any:
    """What sympy's own evaluation makes of a formula that was read as typed.

    It may take for ever on a short text. Errors: Unsupported where sympy cannot.
    """
    try:
        return formula.doit()
    except (RecursionError, ValueError, TypeError) as problem:
        raise Unsupported(f"sympy cannot evaluate {text_of(formula)}: {problem}") from None


def parse_signs(relations: Iterable[str], *, name: str = "assume") -> dict[str, frozenset[int]]:
    """{name: signs it may have (of -1, 0, 1)} from texts such as 'x > 0', '0 <= y', 'omega != 0'.

    Errors: Unreadable for anything else; BadInput for relations that contradict each other or force zero.
    """
    signs: dict[str, frozenset[int]] = {}
    for text in relations:
        symbol, allowed = _relation(Source(text, name))
        signs[symbol] = signs.get(symbol, frozenset([-1, 0, 1])) & allowed
        if signs[symbol] not in _DECLARED:
            raise BadInput(f"{name}: the relations on {symbol} leave it no sign but zero, or none at all")
    return signs


def _relation(source: Source) -> tuple[str, frozenset[int]]:
    found = list(tokens(source))
    words = [token.text for token in found]
    match [token.kind for token in found], words:
        case ["name", "sign", "number", "end"], [name, sign, "0", _] if sign in _RELATIONS:
            column = 0
        case ["number", "sign", "name", "end"], ["0", sign, name, _] if sign in _RELATIONS:
            sign, column = _MIRRORED[sign], 2
        case _:
            raise source.refuse(
                0, "an assumption is the sign of one name: x > 0, x < 0, x >= 0, x <= 0, x != 0"
            )
    if name in CONSTANTS or name in _AMBIGUOUS or name in _NAMES:
        raise source.refuse(found[column].column, f"{name} is no symbol")
    return name, _RELATIONS[sign]


class _Parser:
    """Recursive descent over the tokens of one text; every method reads one rule of the grammar."""

    def __init__(self, source: Source, signs: dict[str, frozenset[int]]) -> None:
        self.source, self.signs = source, signs
        self.tokens = list(tokens(source))
        self.place, self.depth = 0, 0

    @property
    def here(self) -> Token:
        return self.tokens[self.place]

    def take(self) -> Token:
        token = self.here
        self.place += token.kind != "end"
        return token

    def takes(self, *signs: str) -> Token | None:
        """The next token if it is one of these signs."""
        return self.take() if self.here.kind == "sign" and self.here.text in signs else None

    def refuse(self, sentence: str, token: Token | None = None) -> Unreadable:
        return self.source.refuse((token or self.here).column, sentence)

    @contextmanager
    def nested(self, token: Token):
        """One level deeper, and back."""
        self.depth += 1
        if self.depth > MAX_NESTED:
            raise self.refuse(f"nested more than {MAX_NESTED} deep; use symbols for inner parts", token)
        yield
        self.depth -= 1

    def whole(self) -> Part:
        part = self.sum()
        if self.here.kind != "end":
            raise self.refuse(self.misplaced())
        return part

    def sum(self) -> Part:
        parts = [self.product()]
        while sign := self.takes("+", "-"):
            part = self.product()
            parts.append(negative(part) if sign.text == "-" else part)
        return total(self.source, parts)

    def product(self) -> Part:
        parts = [self.signed()]
        while sign := self.takes("*", "/"):
            part = self.signed()
            parts.append(inverse(self.source, part) if sign.text == "/" else part)
        if self.here.kind in ("number", "name") or self.here.text in ("(", "["):
            raise self.refuse("a sign is missing before this; a product is written with *, as in 2*x")
        return product(self.source, parts)

    def signed(self) -> Part:
        column, minus = self.here.column, False
        while sign := self.takes("+", "-"):
            minus ^= sign.text == "-"
        part = self.power()
        return replace(negative(part) if minus else part, column=column)

    def power(self) -> Part:
        base = self.atom()
        if sign := self.takes("^"):
            with self.nested(sign):
                return power(self.source, base, self.signed())
        return base

    def atom(self) -> Part:
        token = self.here
        if token.kind == "number":
            return self.number()
        if token.kind == "name":
            return self.name()
        if self.takes("("):
            return replace(self.closed(token, ")", self.sum), column=token.column)
        if self.takes("["):
            return matrix(self.source, self.closed(token, "]", lambda: self.listed(self.row)), token.column)
        raise self.refuse(self.misplaced())

    def number(self) -> Part:
        token = self.take()
        after = self.here
        if after.text[:1] in ("e", "E") and after.column == token.column + len(token.text):
            raise self.refuse("a sign is missing before this; a power of ten is written 10^-3, a product 2*e")
        return number(token.text, token.column)

    def name(self) -> Part:
        token = self.take()
        if self.here.text == "(":
            return self.function(token)
        if token.text in _NAMES:
            raise self.refuse(f"{token.text} is a function; write {token.text}(…)", token)
        if token.text in _AMBIGUOUS:
            raise self.refuse(f"{token.text} is ambiguous; write {_AMBIGUOUS[token.text]}", token)
        known = CONSTANTS.get(token.text)
        formula = known if known is not None else self.symbol(token.text)
        return Part(formula, 1, token.column)

    def symbol(self, name: str) -> sp.Symbol:
        return sp.Symbol(name, **_DECLARED[self.signs.get(name, frozenset([-1, 0, 1]))])

    def function(self, token: Token) -> Part:
        if token.text not in _NAMES:
            near = get_close_matches(token.text, _NAMES, 1)
            meant = f"did you mean {near[0]}? " if near else ""
            known = ", ".join(name for name in _NAMES if name != "ln")
            raise self.refuse(
                f"{token.text} is no function here; {meant}a product is written {token.text}*(…), "
                f"the functions are {known}",
                token,
            )
        arguments = self.closed(self.take(), ")", lambda: self.listed(self.sum))
        return call(self.source, token.text, arguments, token.column)

    def row(self) -> list[Part]:
        token = self.here
        if not self.takes("["):
            raise self.refuse("a matrix is a list of rows: [[0, 1], [0, 0]]")
        return self.closed(token, "]", lambda: self.listed(self.sum))

    def listed(self, item: Callable[[], Item]) -> list[Item]:
        """item {"," item}."""
        items = [item()]
        while self.takes(","):
            items.append(item())
        return items

    def closed(self, opening: Token, closing: str, inside: Callable[[], Item]) -> Item:
        """What stands between an opening bracket, already read, and its closing one."""
        with self.nested(opening):
            if self.here.text == closing:
                raise self.refuse(f"nothing stands between {opening.text} and {closing}")
            found = inside()
        if not self.takes(closing):
            if self.here.kind == "end":
                raise self.refuse(f"this {opening.text} is never closed", opening)
            raise self.refuse(self.misplaced())
        return found

    def misplaced(self) -> str:
        """Why the next token cannot stand where it stands."""
        token = self.here
        if token.kind == "end":
            return "the formula ends here; a number, a name or ( should follow"
        if token.text in ("=", *_RELATIONS):
            return "a relation; this is one side of an equation, the other is an argument of its own"
        if token.text == ",":
            return "a comma separates entries of a matrix; decimals are written with a point"
        if token.text in (")", "]"):
            return f"a {token.text} that nothing opened, or something is missing before it"
        return f"{token.text} cannot stand here; a number, a name or ( should"
