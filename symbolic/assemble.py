"""Parts of a formula put together as sympy objects: as typed, nothing but rational numbers is worked out.

sympy's own evaluation asks for signs and numerical values and can take for ever on a short text, so nodes are
built without it. For whoever evaluates later, every part carries a weight: a bound on the bits of any number,
and on the degree of any power, that can come out (`(9^(u + n))·9^(-u)` is `9^n`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import Any

import sympy as sp

from .matrices import MAX_MATRIX_POWER, is_matrix
from .tokens import Source

MAX_WEIGHT = 14_000  # bits: numbers of 4200 digits (Python writes no more than 4300), powers up to 14 000
ROOT_BITS = 128  # sqrt(8) is 2·sqrt(2); sympy looks for such squares in longer numbers too slowly
FUNCTIONS: dict[str, Any] = {
    "exp": sp.exp,
    "sin": sp.sin,
    "cos": sp.cos,
    "tan": sp.tan,
    "sinh": sp.sinh,
    "cosh": sp.cosh,
    "tanh": sp.tanh,
    "sqrt": sp.sqrt,
    "log": sp.log,
    "ln": sp.log,
    "abs": sp.Abs,
}
OF_SEVERAL: dict[str, Any] = {"min": sp.Min, "max": sp.Max}
_TOO_LARGE = (
    f"a number or power of more than {MAX_WEIGHT} bits could arise here; use a symbol for the large number"
)


@dataclass(frozen=True)
class Part:
    """A formula (scalar or matrix), its weight, and the column where it begins."""

    formula: Any
    weight: int
    column: int

    @property
    def is_matrix(self) -> bool:
        return is_matrix(self.formula)


def number(text: str, column: int) -> Part:
    """Digits with or without a point, exactly: 0.1 is 1/10."""
    value = Fraction(text)
    exact = sp.Rational(value.numerator, value.denominator)
    return Part(exact, _bits(exact), column)


def total(source: Source, parts: Sequence[Part]) -> Part:
    """The sum of one or more parts, all scalars or all matrices of one shape."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    for part in parts[1:]:
        if part.is_matrix != first.is_matrix:
            raise source.refuse(
                part.column, "a sum of a matrix and a number; multiply the number by a matrix"
            )
        if first.is_matrix and part.formula.shape != first.formula.shape:
            raise source.refuse(part.column, _shapes("sum", first, part))
    return _weighed(source, _mat_add if first.is_matrix else _add, parts)


def product(source: Source, parts: Sequence[Part]) -> Part:
    """The product of one or more parts in order; matrices are left to be multiplied out in the ring."""
    if len(parts) == 1:
        return parts[0]
    matrices = [part for part in parts if part.is_matrix]
    for left, right in pairwise(matrices):
        if left.formula.shape[1] != right.formula.shape[0]:
            raise source.refuse(right.column, _shapes("product", left, right))
    return _weighed(source, _mat_mul if matrices else _mul, parts)


def negative(part: Part) -> Part:
    """-part."""
    times = _mat_mul if part.is_matrix else _mul
    return Part(times(sp.S.NegativeOne, part.formula), part.weight, part.column)


def inverse(source: Source, part: Part) -> Part:
    """1/part."""
    if part.is_matrix:
        raise source.refuse(part.column, "division by a matrix; write its inverse out")
    if part.formula is sp.S.Zero:
        raise source.refuse(part.column, "division by zero")
    return Part(_pow(part.formula, sp.S.NegativeOne), part.weight, part.column)


def power(source: Source, base: Part, exponent: Part) -> Part:
    """base ^ exponent."""
    if exponent.is_matrix:
        raise source.refuse(exponent.column, "a matrix as exponent; exponents are numbers or formulas")
    if base.is_matrix:
        return _matrix_power(source, base, exponent)
    weight = base.weight * _reach(exponent.formula) + exponent.weight
    if weight > MAX_WEIGHT:
        raise source.refuse(base.column, _TOO_LARGE)
    if base.formula is sp.S.Zero and not _is_positive(exponent.formula):
        raise source.refuse(base.column, "zero to a power that is not a positive number")
    return Part(_pow(base.formula, exponent.formula), weight, base.column)


def call(source: Source, name: str, arguments: Sequence[Part], column: int) -> Part:
    """A function of the language at its argument, or min and max at two or more."""
    several = name in OF_SEVERAL
    if several != (len(arguments) > 1):
        wanted = "two or more arguments" if several else "one argument"
        raise source.refuse(arguments[-1].column, f"{name} takes {wanted}")
    for part in arguments:
        if part.is_matrix:
            raise source.refuse(part.column, f"{name} takes a number or formula, not a matrix")
    if several:
        return replace(_weighed(source, _several(OF_SEVERAL[name]), arguments), column=column)
    return _of_one(source, name, arguments[0], column)


def _several(function: Any) -> Callable[..., sp.Expr]:
    return lambda *formulas: function(*formulas, evaluate=all(f.is_Rational for f in formulas))


def _of_one(source: Source, name: str, argument: Part, column: int) -> Part:
    if name == "sqrt":
        return replace(power(source, argument, number("0.5", column)), column=column)
    if name in ("log", "ln") and argument.formula is sp.S.Zero:
        raise source.refuse(column, "the logarithm of zero")
    weight = argument.weight + 1
    if argument.formula.has(sp.log):  # exp(n·log(2)) is 2^n
        weight = argument.weight * _reach(argument.formula)
    if weight > MAX_WEIGHT:
        raise source.refuse(column, _TOO_LARGE)
    return Part(FUNCTIONS[name](argument.formula, evaluate=False), weight, column)


def matrix(source: Source, rows: Sequence[Sequence[Part]], column: int) -> Part:
    """An explicit matrix from rows of scalars."""
    for row in rows:
        if len(row) != len(rows[0]):
            sizes = f"{len(row)} entries where the first row has {len(rows[0])}"
            raise source.refuse(row[0].column, f"a row of {sizes}; rows of a matrix are equally long")
        for entry in row:
            if entry.is_matrix:
                raise source.refuse(entry.column, "a matrix as an entry of a matrix; entries are scalars")
    entries = [[entry.formula for entry in row] for row in rows]
    return Part(sp.ImmutableMatrix(entries), max(e.weight for row in rows for e in row), column)


def _add(*formulas: sp.Expr) -> sp.Expr:
    """a + b + …: sums in sums opened, rationals collected, nothing else."""
    return _gathered(sp.Add, sp.S.Zero, formulas)


def _mul(*formulas: sp.Expr) -> sp.Expr:
    """a·b·…: products in products opened, rationals collected in front, nothing else."""
    return _gathered(sp.Mul, sp.S.One, formulas)


def _gathered(node: Any, neutral: sp.Rational, formulas: Sequence[sp.Expr]) -> sp.Expr:
    constant, others = neutral, []
    for formula in formulas:
        for piece in formula.args if isinstance(formula, node) else (formula,):
            if isinstance(piece, sp.Rational):
                constant = node(constant, piece)
            else:
                others.append(piece)
    if not others:
        return constant  # but 0·log(x) stays: it has no value at x = 0
    pieces = others if constant is neutral else [constant, *others]
    return pieces[0] if len(pieces) == 1 else node(*pieces, evaluate=False)


def _mat_add(*formulas: Any) -> Any:
    return sp.MatAdd(*formulas, evaluate=False)


def _mat_mul(*formulas: Any) -> Any:
    return sp.MatMul(*formulas, evaluate=False)


def _pow(base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    """base^exponent: worked out for rationals, exp(z) for e^z, and x^1 = x."""
    if base is sp.S.Exp1:
        return sp.exp(exponent, evaluate=False)
    if isinstance(base, sp.Rational) and isinstance(exponent, sp.Rational):
        return sp.Pow(base, exponent, evaluate=exponent.is_Integer or _bits(base) <= ROOT_BITS)
    if exponent is sp.S.One:
        return base
    return sp.Pow(base, exponent, evaluate=False)


def _bits(value: sp.Rational) -> int:
    return int(value.p).bit_length() + int(value.q).bit_length()


def _is_positive(formula: sp.Expr) -> bool:
    return isinstance(formula, sp.Rational) and formula > 0


def _weighed(source: Source, build: Callable[..., Any], parts: Sequence[Part]) -> Part:
    weight = sum(part.weight for part in parts)
    if weight > MAX_WEIGHT:
        raise source.refuse(parts[0].column, _TOO_LARGE)
    return Part(build(*(part.formula for part in parts)), weight, parts[0].column)


def _matrix_power(source: Source, base: Part, exponent: Part) -> Part:
    n = exponent.formula
    if not (isinstance(n, sp.Integer) and 0 <= n <= MAX_MATRIX_POWER):
        sentence = f"a matrix to the power {n}; whole powers from 0 to {MAX_MATRIX_POWER} are taken"
        raise source.refuse(exponent.column, sentence)
    if base.formula.shape[0] != base.formula.shape[1]:
        raise source.refuse(
            base.column, f"a power of a matrix of shape {base.formula.shape}; square ones work"
        )
    return Part(sp.MatPow(base.formula, n), base.weight * max(1, int(n)), base.column)


def _reach(exponent: sp.Expr) -> int:
    """How many times a base may come to be multiplied: 1 + Σ ⌈|r|⌉ over the rationals in the exponent."""
    if isinstance(exponent, sp.Rational):
        return max(1, _ceiling(exponent))
    return 1 + sum(map(_ceiling, exponent.atoms(sp.Rational)))


def _ceiling(value: sp.Rational) -> int:
    return ceil(abs(Fraction(int(value.p), int(value.q))))


def _shapes(what: str, left: Part, right: Part) -> str:
    return f"a {what} of matrices of shapes {left.formula.shape} and {right.formula.shape}"
