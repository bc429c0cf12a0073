"""Which numbers are surely not 0, and which formulas must not be: guards of claims about orders."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from ..balls import ball, excludes_zero
from ..errors import BadInput, Disagreement, Unsupported
from ..walk import free_symbols, text

BITS = 256


def nonvanishing(product: sp.Expr, values: Mapping[sp.Symbol, sp.Expr], what: str) -> tuple[sp.Expr, ...]:
    """The symbolic factors of a product that are not known to be non-zero; numbers must be so by balls.

    Errors: Unsupported if a number cannot be told from 0, naming `what` it belongs to.
    """
    doubtful = []
    for factor in sp.Mul.make_args(product.xreplace(dict(values))):
        base = factor.args[0] if isinstance(factor, sp.Pow) else factor
        if free_symbols(base):
            if not (base.is_nonzero or base.is_positive or base.is_negative):
                doubtful.append(base)
        elif not excludes_zero(ball(base, {}, BITS)):
            raise Unsupported(f"{what}: {text(base)} cannot be told from 0; write equal numbers in one way")
    return tuple(dict.fromkeys(doubtful))


def factored(formula: sp.Expr) -> sp.Expr:
    """The formula as a product of factors, its constants left alone: sympy writes out exp(10**6)."""
    constants: dict[sp.Expr, sp.Symbol] = {}

    def hidden(node: sp.Expr) -> sp.Expr:
        if node.is_Rational or node.is_Symbol:
            return node
        if not free_symbols(node):
            return constants.setdefault(node, sp.Dummy())
        return node.func(*map(hidden, node.args))

    back = sp.factor(hidden(formula))
    return back.xreplace({name: constant for constant, name in constants.items()})


def trial_values(symbols: set[sp.Symbol], apart: bool = False) -> dict[sp.Symbol, sp.Rational]:
    """Small whole numbers that respect the declared signs: 1 or -1 for every symbol, apart: 2, 3, 5, … ."""
    sizes = [sp.prime(i + 1) if apart else 1 for i in range(len(symbols))]
    ordered = zip(sorted(symbols, key=str), sizes, strict=True)
    return {x: sp.Integer(-size if x.is_negative else size) for x, size in ordered}


def examine(bias: sp.Expr, found: sp.Expr, u: sp.Symbol, points: list[sp.Rational]) -> int:
    """Compare the bias as given with what was found for it, by balls; the number of points compared.

    Errors: Disagreement if they surely differ: a defect of this package.
    """
    compared = 0
    for point in points:
        at = {**trial_values(free_symbols(bias, found) - {u}), u: point}
        try:
            gap = ball(bias.subs(u, point) - found, at, BITS)
        except (Unsupported, BadInput):
            continue
        if not gap.is_finite():
            continue
        if not gap.contains(0):
            raise Disagreement(f"at {u} = {point} the bias and its realisation differ by {gap.str(10)}")
        compared += 1
    return compared


__all__ = ["examine", "factored", "nonvanishing", "trial_values"]
