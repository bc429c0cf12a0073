"""What to write instead of a subexpression that lies outside the decidable class."""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy import S
from sympy.polys.domains import QQ

from .walk import text

_INSTEAD = {
    "Abs": "write {0} itself where {0} > 0 and -({0}) where {0} < 0, as two statements",
    "sign": "write 1 where {0} > 0 and -1 where {0} < 0, as two statements",
    "log": "state it through the inverse, with a free symbol L and exp(L)",
    "floor": "use a free symbol for the whole part",
    "ceiling": "use a free symbol for the whole part",
    "Mod": "use a free symbol for the remainder",
    "frac": "use a free symbol for the fractional part",
    "Piecewise": "write each branch itself, one statement a branch",
    "Max": "write the largest argument itself, one statement a case",
    "Min": "write the smallest argument itself, one statement a case",
    "Sum": "state one term, or write the finite sum out; sums of symbolic length are induction steps",
    "Product": "state one factor, or write the product out; products of symbolic length are induction steps",
    "Integral": "state the identity through the derivative",
    "factorial": "write the number, or use a free symbol with its recurrence in an induction step",
    "sec": "write 1/cos(a)",
    "csc": "write 1/sin(a)",
    "sech": "write 1/cosh(a)",
    "csch": "write 1/sinh(a)",
    "conjugate": "every symbol is real, so write the conjugate out",
    "re": "every symbol is real, so write the real part out",
    "im": "every symbol is real, so write the imaginary part out",
    "MatrixSymbol": "write an explicit Matrix, or use a words step for unknown matrices",
    "Indexed": "use a free symbol for the entry",
    "MatrixElement": "use a free symbol for the entry",
}


def advice(node: Any) -> str:
    """One sentence: the subexpression, why it cannot be decided, what to write instead."""
    if isinstance(node, sp.Pow):
        return _power_advice(node)
    instead = _INSTEAD.get(type(node).__name__, "use a free symbol for it")
    if node.args:
        instead = instead.replace("-({0})", f"-{_factor(node.args[0])}").replace("{0}", text(node.args[0]))
    return f"{text(node)} is outside the decidable class ({type(node).__name__}); {instead}"


def _factor(argument: sp.Basic) -> str:
    return text(argument) if argument.is_Atom else f"({text(argument)})"


def _power_advice(node: sp.Pow) -> str:
    base, exponent = node.args
    name = text(node)
    if not isinstance(exponent, sp.Rational):
        if isinstance(base, sp.Symbol):
            return f"{name} has a symbolic exponent; write {base} = exp(L) with a free symbol L"
        return f"{name} has a symbolic exponent; write it as exp(L*({text(exponent)})) with a free symbol L"
    if isinstance(base, sp.Rational):
        return f"{name} is no rational and no root of a positive rational; use a free positive symbol"
    if isinstance(base, sp.Symbol):
        return f"{name} is a root of a symbol; write {base} = r**{exponent.q} with a free positive symbol r"
    return f"{name} is a root of a formula; use a free symbol for it"


def irrational_argument(node: sp.Expr, exponent: Any, coefficient: Any) -> str:
    """Why exp, sin or cos of this argument cannot be read."""
    if exponent.opaque:
        return f"{text(node)} has an undefined function in its argument; use a free symbol for that value"
    if exponent.real or exponent.imaginary:
        return f"{text(node)} has an exponential in its argument; use a free symbol for the inner exponential"
    number = _irrational_number(exponent, coefficient)
    return f"{text(node)} has an irrational argument; use a free symbol for the frequency {number}"


def _irrational_number(exponent: Any, coefficient: Any) -> str:
    content = next(iter(coefficient.values()))
    rational = sp.Rational(int(QQ.numer(content)), int(QQ.denom(content)))
    if exponent.turn == 0 and rational * exponent.surd == 1:
        return f"1/sqrt({exponent.surd})"
    turn = sp.Rational(exponent.turn.numerator, exponent.turn.denominator)
    root = S.One if not turn else sp.exp(S.ImaginaryUnit * sp.pi * turn, evaluate=turn.q <= 4)
    return text(rational * sp.sqrt(exponent.surd) * root)
