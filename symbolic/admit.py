"""The door: which inputs exact mathematics accepts, and the sentence for each that it does not."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from typing import Any

import sympy as sp
from flint import fmpz
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import Boolean
from sympy.matrices import MatrixBase
from sympy.matrices.expressions.matexpr import MatrixExpr

from .errors import BadInput, WrongType
from .walk import check_depth, text

Formula = sp.Expr | MatrixExpr
_MEANT_DIGITS = 12  # up to so many, a decimal is taken as meant: 0.1 is, 0.3333333333333333 is not
MOST_DIGITS = 4_200  # of a number: Python writes no more than 4300
_HOME = " (from sympy import Rational)"
_NOT_A_NUMBER = (sp.S.NaN, sp.S.ComplexInfinity, sp.S.Infinity, sp.S.NegativeInfinity)


def admit(value: Any, name: str) -> Formula:
    """`value` as an immutable sympy expression or matrix, refused unless every leaf is exact.

    Errors: WrongType for floats (also deep inside), strings, truth values, None, relations;
    BadInput for nan, infinities and symbols that are not real; Unsupported when nested too deeply.
    """
    formula = _as_sympy(value, name)
    check_depth(formula)
    _check_leaves(formula, name, {})
    return formula


def admit_pair(lhs: Any, rhs: Any) -> tuple[Formula, Formula]:
    """Both sides of an equation, one name meaning one symbol across them."""
    names: dict[Any, Any] = {}
    sides = []
    for value, name in ((lhs, "lhs"), (rhs, "rhs")):
        formula = _as_sympy(value, name)
        check_depth(formula)
        _check_leaves(formula, name, names)
        sides.append(formula)
    return sides[0], sides[1]


def admit_scalar(value: Any, name: str) -> sp.Expr:
    """`value` as an exact expression that is no matrix."""
    formula = admit(value, name)
    if getattr(formula, "is_Matrix", False) or isinstance(formula, MatrixExpr):
        raise BadInput(f"{name} is a matrix of shape {formula.shape}; give one entry at a time")
    return formula


def admit_together(parts: Iterable[Any], name: str) -> None:
    """Refuse two different symbols of one name anywhere in the parts (expressions, symbols, relations)."""
    names: dict[str, sp.Symbol] = {}
    for part in parts:
        for symbol in getattr(part, "free_symbols", ()):
            if names.setdefault(symbol.name, symbol) != symbol:
                raise BadInput(
                    f"{name} contains two different symbols named {symbol.name} (their assumptions differ); "
                    "build both from one Symbol"
                )


def exact_rational(value: Any, name: str) -> sp.Rational:
    """`value` as a sympy Rational; floats and anything inexact are refused."""
    formula = admit(value, name)
    if not isinstance(formula, sp.Rational):
        raise BadInput(f"{name} is {text(formula)}; it must be a rational number such as Rational(1, 3)")
    return formula


def _as_sympy(value: Any, name: str) -> Formula:
    truth = isinstance(value, bool | Boolean) and not isinstance(value, sp.Symbol)
    if truth or type(value).__name__ in ("bool_", "bool"):
        raise WrongType(f"{name} is the truth value or relation {text(value)}; give an expression")
    if isinstance(value, MatrixBase):
        return value.as_immutable()
    if isinstance(value, (sp.Expr, MatrixExpr)):
        return value
    if isinstance(value, numbers.Rational):
        return sp.Rational(int(value.numerator), int(value.denominator))
    if isinstance(value, numbers.Number):
        raise WrongType(_float_sentence(name, value))
    if isinstance(value, str):
        raise WrongType(
            f"{name} is the string {text(value)!r}; read it with exptx.symbolic.parse, or build an expression"
        )
    raise WrongType(f"{name} is of type {type(value).__name__}; give a sympy expression or Matrix")


def _float_sentence(name: str, value: Any, inside: bool = False) -> str:
    where = f"{name} contains" if inside else f"{name} is"
    kind = "a Decimal" if isinstance(value, Decimal) else "a float"
    return f"{where} {text(value)}, which is {kind}; {write_exactly(value)}"


def write_exactly(value: Any) -> str:
    """What to write instead of a number that is not exact: the decimal that it shows, as a fraction."""
    try:
        shown = Decimal(str(value)).normalize()
    except InvalidOperation:  # complex
        return f"write an exact number such as Rational(1, 10){_HOME}"
    if not shown.is_finite():
        return f"write a finite exact number such as Rational(1, 10){_HOME}"
    digits, exponent = len(shown.as_tuple().digits), int(shown.as_tuple().exponent)
    if digits > _MEANT_DIGITS or abs(exponent) > 2 * _MEANT_DIGITS:
        return "write the exact number that it stands for, such as sympy's Rational(1, 3), sqrt(2) or pi"
    numerator, denominator = shown.as_integer_ratio()
    return f"write {numerator}" if denominator == 1 else f"write Rational({numerator}, {denominator}){_HOME}"


def _check_leaves(formula: Formula, name: str, names: dict[Any, Any]) -> None:
    seen: set[int] = set()
    stack: list[sp.Basic] = [formula]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, sp.Symbol):
            check_symbol(node, name)
            if names.setdefault(node.name, node) != node:
                raise BadInput(
                    f"{name} contains two different symbols named {node.name} (their assumptions differ); "
                    "build both from one Symbol"
                )
        elif isinstance(node, AppliedUndef):
            _check_function(node, name, names)
        elif isinstance(node, Boolean):
            _check_relation(node, formula, name)
        elif isinstance(node, sp.Subs):
            _check_subs(node, name)
        elif not node.args:
            _check_leaf(node, name)
        stack.extend(node.args)


def _check_function(node: AppliedUndef, name: str, names: dict[Any, Any]) -> None:
    function = str(node.func)
    if names.setdefault((function,), node.func) != node.func:
        raise BadInput(
            f"{name} contains two different functions named {function} (their assumptions differ); "
            "build both from one Function"
        )


def check_length(node: sp.Basic, name: str, digits: int = MOST_DIGITS) -> None:
    """Refuse a rational number whose numerator or denominator is of more than so many digits."""
    if not isinstance(node, sp.Rational):
        return
    longest = max(abs(int(node.p)), int(node.q))
    if longest.bit_length() * 30103 > (digits + 1) * 100_000:  # log10(2) = 0.30103
        raise BadInput(
            f"{name} contains a number of {len(fmpz(longest).str())} digits; up to {digits} digits work, so "
            "use a symbol for it"
        )


def _check_leaf(node: sp.Basic, name: str) -> None:
    check_length(node, name)
    if isinstance(node, sp.Float):
        raise WrongType(_float_sentence(name, node, inside=True))
    if node in _NOT_A_NUMBER:
        raise BadInput(f"{name} contains {text(node)}; only finite values can be compared")


def _check_subs(node: sp.Subs, name: str) -> None:
    """Several substitutions in one node must mean the same at once and one after the other."""
    _, variables, point = node.args
    for variable, value in zip(variables, point, strict=True):
        if not isinstance(variable, sp.Symbol):
            raise BadInput(
                f"{name} contains {text(node)}; only symbols can be substituted, not {text(variable)}"
            )
        if value.free_symbols & (set(variables) - {variable}):
            raise BadInput(
                f"{name} contains {text(node)}, which reads differently at once and one by one; "
                "use fresh symbols for the values"
            )


def _check_relation(node: sp.Basic, formula: Formula, name: str) -> None:
    if not formula.has(sp.Piecewise):
        raise WrongType(f"{name} contains the truth value or relation {text(node)}; give an expression")


def check_symbol(symbol: sp.Symbol, name: str) -> None:
    """Every symbol stands for an arbitrary real number, or one of a sign."""
    if not symbol.is_commutative:
        raise BadInput(
            f"{name} contains the non-commutative symbol {symbol}; decide takes real symbols, "
            "matrix words are the business of a words step"
        )
    if symbol.is_integer:
        raise BadInput(
            f"{name} contains the integer symbol {symbol}; integer statements are induction steps, "
            "here every symbol is real"
        )
    if symbol.is_finite is False or symbol.is_real is False or (symbol.is_complex and not symbol.is_real):
        raise BadInput(f"{name} contains {symbol}, not declared real; write Symbol('{symbol}', real=True)")
    if symbol.is_rational is False or symbol.is_integer is False:
        what = "irrational" if symbol.is_rational is False else "no integer"
        raise BadInput(f"{name} contains {symbol}, declared {what}; declare it real instead")
