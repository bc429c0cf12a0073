"""Sign claims: a real formula is > 0, < 0, = 0, >= 0 or <= 0 for all values allowed (`sign` steps)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, product
from typing import Any

import sympy as sp

from .admit import admit_scalar, admit_together
from .balls import enclose
from .decide import Status, Verdict
from .errors import BadInput, SingularPoint, Unsupported
from .premises import Premises
from .reader import Reader
from .sign_rules import Signs, doubtful_divisor, signs_of
from .tree import to_tree
from .walk import free_symbols, text

CLAIMS: dict[str, Signs] = {
    "+": frozenset([1]),
    "-": frozenset([-1]),
    "0": frozenset([0]),
    "+0": frozenset([0, 1]),
    "-0": frozenset([-1, 0]),
}
_RELATION = {"+": ">", "-": "<", "0": "=", "+0": "≥", "-0": "≤"}
_VALUES = [
    sp.Rational(p, q) for p, q in ((1, 1), (2, 1), (0, 1), (-1, 1), (1, 2), (-2, 1), (3, 1), (10, 1), (1, 10))
]
_GRID, _DRAWN = 300, 200


@dataclass(frozen=True)
class Sign:
    """The claim `expr > 0` ("+"), `< 0` ("-"), `= 0` ("0"), `>= 0` ("+0") or `<= 0` ("-0"), at all points.

    expr    a real formula
    assume  relations x > 0, x < 0, x >= 0, Ne(x, 0) on symbols, beside what the symbols declare

    Proved by sign rules: structure; terms of the canonical form; Sturm's theorem in one symbol. Refuted by a
    rational point at which balls, or exact zero, contradict the claim. Otherwise undecided.
    """

    expr: sp.Expr
    sign: str
    assume: Sequence[Any] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "expr", admit_scalar(self.expr, "expr"))
        object.__setattr__(self, "assume", tuple(self.assume))
        if self.sign not in CLAIMS:
            raise BadInput(f"sign is {self.sign!r}; one of {', '.join(map(repr, CLAIMS))} works")
        admit_together((self.expr, *self.assume), "the claim")
        premises_tree(self.premises)

    @property
    def premises(self) -> Premises:
        """What is known of the symbols."""
        return Premises.of(self.assume, free_symbols(self.expr))

    def tree(self) -> dict:
        """The claim as JSON: expr, sign, assume."""
        assume = premises_tree(self.premises)
        return {"kind": "sign", "expr": to_tree(self.expr), "sign": self.sign, "assume": assume}

    def formula(self) -> tuple[sp.Expr, str, sp.Expr]:
        """(expr, relation, 0)"""
        return self.expr, _RELATION[self.sign], sp.S.Zero

    def check(self) -> Verdict:
        """Apply the rules; look for a contradicting point when they do not settle the claim."""
        return check_sign(self.expr, CLAIMS[self.sign], self.premises)

    def outcome(self, verdict: Verdict) -> dict:
        """What a checker needs besides the claim."""
        return dict(verdict.certificate)


def premises_tree(premises: Premises) -> list[list[str]]:
    """[["pos", "x"], ["nonneg", "y"], ...] in the order of names."""
    names = {CLAIMS["+"]: "pos", CLAIMS["-"]: "neg", CLAIMS["+0"]: "nonneg", frozenset([-1, 1]): "ne"}
    for symbol, signs in premises.signs:
        if signs not in names:
            raise BadInput(
                f"assume allows {symbol} <= 0; write -{symbol} for {symbol} and assume {symbol} >= 0"
            )
    return [[names[signs], symbol.name] for symbol, signs in premises.signs]


def check_sign(expr: sp.Expr, claimed: Signs, premises: Premises) -> Verdict:
    """Whether the signs of the value are among the claimed ones, for all values of the symbols."""
    try:
        found = signs_of(expr, premises)
    except BadInput as error:
        return Verdict(Status.UNDECIDED, str(error))
    divisor = doubtful_divisor(expr, premises)
    if found <= claimed and divisor is None:
        return Verdict(Status.PROVED, f"the signs of its parts leave {_words(found)}")
    try:
        contradiction = _contradiction(expr, claimed, premises)
    except (BadInput, Unsupported) as error:
        return Verdict(Status.UNDECIDED, str(error))
    return _unsettled(expr, found, divisor) if contradiction is None else contradiction


def _unsettled(expr: sp.Expr, found: Signs, divisor: sp.Expr | None) -> Verdict:
    if divisor is not None:
        return Verdict(
            Status.UNDECIDED, f"the divisor {text(divisor)} may vanish; assume signs of its symbols"
        )
    reason = f"the sign rules leave {_words(found)} for {text(expr)}; assume signs of symbols, or shift them"
    return Verdict(Status.UNDECIDED, f"{reason} (x = 1 + y, y >= 0)")


def _words(signs: Signs) -> str:
    return " or ".join(
        word for sign, word in ((1, "positive"), (0, "zero"), (-1, "negative")) if sign in signs
    )


# ---- refutation ----


def _contradiction(expr: sp.Expr, claimed: Signs, premises: Premises) -> Verdict | None:
    """A point against the claim; one where balls alone show it, before one that needs an exact zero."""
    exact_zero = None
    for point in points(expr, premises):
        found = sign_at(expr, point)
        if found is None or found[0] in claimed:
            continue
        if found[0] or expr.is_rational_function(*point):
            return _refuted(point, *found)
        exact_zero = exact_zero or (point, *found)
    return _refuted(*exact_zero) if exact_zero else None


def _refuted(point: dict[sp.Symbol, sp.Rational], sign: int, words: str) -> Verdict:
    where = ", ".join(f"{x} = {value}" for x, value in point.items()) or "its only value"
    return Verdict(
        Status.REFUTED,
        f"it is {_words(frozenset([sign]))} at {where}",
        witness=point,
        gap=words,
        certificate={"witness": {x.name: str(value) for x, value in point.items()}},
    )


def sign_at(expr: sp.Expr, point: dict[sp.Symbol, sp.Rational]) -> tuple[int, str] | None:
    """(sign, value in words) of the value at a point: by balls, or zero exactly; None if unclear."""
    try:
        value = enclose(expr, digits=8, at=point)
    except (SingularPoint, ZeroDivisionError):
        return None
    words = f"about {sp.N(value.lower, 6)}"
    if value.lower > 0 or value.upper < 0:
        return (1 if value.lower > 0 else -1), words
    at_point = expr.doit().xreplace(point)  # a derivative is taken before its variable has a value
    return (0, "0") if value.lower == value.upper or is_zero(at_point) else None


def is_zero(expr: sp.Expr) -> bool:
    """Whether an expression vanishes identically, by its canonical form."""
    reader = Reader.of(expr)
    return reader.is_zero(reader.read(expr))


def points(expr: sp.Expr, premises: Premises) -> Iterator[dict[sp.Symbol, sp.Rational]]:
    """Rational points that the premises allow: between roots of a polynomial, on a small grid, drawn."""
    symbols = sorted(free_symbols(expr), key=lambda symbol: symbol.name)
    allowed = {x: premises.of_symbol(x) for x in symbols}
    if len(symbols) == 1:
        yield from ({symbols[0]: v} for v in _near_roots(expr) if sp.sign(v) in allowed[symbols[0]])
    grids = [[v for v in _VALUES if sp.sign(v) in allowed[x]] for x in symbols]
    yield from (dict(zip(symbols, values, strict=True)) for values in islice(product(*grids), _GRID))
    rng = random.Random(0)
    for _ in range(_DRAWN if symbols else 0):
        drawn = {x: sp.Rational(rng.randint(-15, 15), rng.choice((1, 1, 2, 3, 7))) for x in symbols}
        yield {x: premises.adjust(x, value) for x, value in drawn.items()}


def _near_roots(expr: sp.Expr) -> Iterator[sp.Rational]:
    """Rational roots, and points between the roots of a polynomial numerator in one symbol."""
    (symbol,) = free_symbols(expr)
    try:
        reader = Reader.of(expr)
        element = reader.read(expr).numerator
        if set(element.terms) != {element.ring.unit} or len(element.ring.symbols) != 1:
            return
    except Unsupported:
        return
    polynomial = sp.Poly(element.terms[element.ring.unit].as_expr(symbol), symbol, domain="QQ")
    yield from (root for root in polynomial.ground_roots())
    ends = sorted({end for (pair, _) in polynomial.intervals(eps=sp.Rational(1, 1000)) for end in pair})
    if ends:
        yield from (ends[0] - 1, ends[-1] + 1)
        yield from ((a + b) / 2 for a, b in pairwise(ends))


__all__ = ["CLAIMS", "Sign", "check_sign", "is_zero", "points", "premises_tree", "sign_at"]
