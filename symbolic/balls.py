"""Guaranteed evaluation by ball arithmetic (Arb through python-flint): numbers, witnesses, cross-examination.

This evaluator reads sympy trees by itself and shares nothing with the normal form, so that each can catch
the other's mistakes. A ball is an `acb`: a complex rectangle that surely contains the true value.
Source: F. Johansson, Arb: efficient arbitrary-precision midpoint-radius interval arithmetic (IEEE TC 2017).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy as sp
from flint import acb, acb_mat, acb_poly, arb, ctx, fmpq
from sympy import S
from sympy.core.function import AppliedUndef
from sympy.matrices import MatrixBase
from sympy.matrices.expressions import MatAdd, MatMul, MatPow, Transpose

from .admit import admit, exact_rational
from .errors import BadInput, SingularPoint, Unsupported
from .walk import shown, text

MAX_BITS = 1 << 14
MAX_EXPONENT = 1 << 20  # of two, in exact ends: numbers of 300 000 digits
_METHODS = {
    f: f.__name__ for f in (sp.exp, sp.sin, sp.cos, sp.tan, sp.cot, sp.sinh, sp.cosh, sp.tanh, sp.coth)
}


@dataclass(frozen=True)
class Enclosure:
    """lower <= value <= upper, both exact rationals."""

    lower: sp.Rational
    upper: sp.Rational

    def __post_init__(self) -> None:
        if self.lower > self.upper:
            raise BadInput(f"an enclosure needs lower <= upper, not {self.lower} > {self.upper}")

    @property
    def width(self) -> sp.Rational:
        """upper - lower."""
        return self.upper - self.lower

    def __contains__(self, value: Any) -> bool:
        """lower <= value <= upper for an exact rational value."""
        return bool(self.lower <= exact_rational(value, "value") <= self.upper)


def enclose(expr: sp.Expr, digits: int = 20, at: Mapping[sp.Symbol, sp.Rational] | None = None) -> Enclosure:
    """A guaranteed enclosure of a real number, of relative width at most 10^-digits.

    expr: a sympy expression without free symbols beyond those given in `at` (symbol -> rational).
    Numbers may use roots, logarithms, π and E. A value that cannot be told from 0 gets an absolute width.
    Errors: WrongType for floats; BadInput if a symbol has no value, the value is not real, or digits < 1;
    SingularPoint at a pole; Unsupported for functions that have no ball.
    """
    if isinstance(digits, bool) or not isinstance(digits, int) or digits < 1:
        raise BadInput(f"digits is {shown(digits)}; it must be a whole number of at least 1")
    formula = admit(expr, "expr")
    point = {symbol: exact_rational(value, f"at[{symbol}]") for symbol, value in (at or {}).items()}
    if isinstance(formula, sp.Rational):
        return Enclosure(formula, formula)
    bits = 4 * digits + 32
    while True:
        found = outward(_real(ball(formula, point, bits), formula), digits)
        size = max(abs(found.lower), abs(found.upper))
        if found.width * 10**digits <= size or bits > MAX_BITS:
            return found
        bits *= 2


def _real(value: acb, formula: sp.Expr) -> arb:
    if not value.is_finite():
        raise SingularPoint(f"{text(formula)} is not finite at this point")
    if not value.imag.is_zero():
        raise BadInput(f"expr {text(formula)} is not visibly real: {value.str(10)}; write it without I")
    return value.real


def outward(value: arb, digits: int) -> Enclosure:
    """A real ball as decimals rounded outward, keeping `digits` significant digits and the sign."""
    lower, upper = _ends(value)
    size = min(abs(lower), abs(upper)) or max(abs(lower), abs(upper))
    if lower == upper or not size:
        return Enclosure(lower, upper)
    grid = sp.Integer(10) ** (_log10(size) - digits - 1)
    return Enclosure(sp.floor(lower / grid) * grid, sp.ceiling(upper / grid) * grid)


def _log10(size: sp.Rational) -> int:
    """A whole number near the decimal exponent of a positive rational, rounded down."""
    return (int(size.p).bit_length() - int(size.q).bit_length() - 1) * 30103 // 100000


def _ends(value: arb) -> tuple[sp.Rational, sp.Rational]:
    """The exact dyadic ends of a real ball."""
    if not value.is_finite():
        raise SingularPoint("the value is not finite at this point")
    middle, radius = _dyadic(value.mid()), _dyadic(value.rad())
    return middle - radius, middle + radius


def _dyadic(value: arb) -> sp.Rational:
    mantissa, exponent = value.man_exp()
    if abs(exponent) > MAX_EXPONENT:
        raise Unsupported(
            f"a number near {value.str(5, radius=False)} is too large or too small to be written out"
        )
    return sp.Rational(int(mantissa)) * sp.Integer(2) ** int(exponent)


def ball(formula: sp.Expr, point: Mapping[sp.Symbol, sp.Rational], bits: int) -> acb:
    """The value of a formula at a rational point as a complex ball, computed with `bits` bits."""
    with ctx.workprec(bits):
        return Evaluator(point).value(formula)


def excludes_zero(value: acb) -> bool:
    """The ball is finite and surely not zero."""
    return bool(value.is_finite()) and not value.contains(0)


@dataclass
class Opaque:
    """One consistent choice of rational values for undefined functions.

    Arguments whose balls overlap get the same value, disjoint ones a fresh value: a function that takes
    these values exists, whatever the true arguments are.
    """

    values: tuple[sp.Rational, ...]
    _seen: list[tuple[str, list[tuple[acb, ...]]]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    applications: list[sp.Expr] = field(default_factory=list)

    def choose(self, node: AppliedUndef, arguments: tuple[acb, ...]) -> sp.Rational:
        """The value of this application."""
        name = str(node.func)
        hits = [
            k for k, (known, calls) in enumerate(self._seen) if known == name and _overlap(calls, arguments)
        ]
        if len(hits) > 1:
            raise SingularPoint(f"the arguments of {text(node)} cannot be told apart at this point")
        if hits:
            self._seen[hits[0]][1].append(arguments)
            return self.values[hits[0]]
        if len(self._seen) == len(self.values):
            raise Unsupported(f"more than {len(self.values)} values of undefined functions")
        self._seen.append((name, [arguments]))
        self.applications.append(node)
        return self.values[len(self._seen) - 1]


def _overlap(calls: list[tuple[acb, ...]], arguments: tuple[acb, ...]) -> bool:
    return any(
        len(call) == len(arguments) and all(a.overlaps(b) for a, b in zip(call, arguments, strict=True))
        for call in calls
    )


class Evaluator:
    """Evaluates trees at one point and one precision, each subexpression once."""

    def __init__(self, point: Mapping[sp.Symbol, Any], opaque: Opaque | None = None) -> None:
        self._opaque = opaque
        self._point = {x: v if isinstance(v, acb) else acb(_rational(v)) for x, v in point.items()}
        self._memo: dict[Any, acb] = dict(self._point)
        self._moved: dict[Any, Evaluator] = {}

    def value(self, node: sp.Expr) -> acb:
        """The ball of an expression."""
        found = self._memo.get(node)
        if found is None:
            found = self._memo[node] = self._visit(node)
        return found

    def matrix(self, node: Any) -> acb_mat:
        """The ball matrix of an explicit or unevaluated matrix."""
        if isinstance(node, MatrixBase):
            zero = acb(0)
            entries = [zero if entry is S.Zero else self.value(entry) for entry in node.flat()]
            return acb_mat(node.rows, node.cols, entries)
        if isinstance(node, MatMul):
            return self._matrix_product(node)
        if isinstance(node, MatAdd):
            total = self.matrix(node.args[0])
            for part in node.args[1:]:
                total = total + self.matrix(part)
            return total
        if isinstance(node, Transpose):
            return self.matrix(node.args[0]).transpose()
        if isinstance(node, MatPow) and isinstance(node.args[1], sp.Integer) and node.args[1] >= 0:
            return self._matrix_product(MatMul(sp.Identity(node.rows), *[node.args[0]] * int(node.args[1])))
        if isinstance(node, sp.Identity | sp.ZeroMatrix):
            return self.matrix(node.as_explicit().as_immutable())
        raise Unsupported(f"{text(node)} has no ball evaluation ({type(node).__name__})")

    def _matrix_product(self, node: MatMul) -> acb_mat:
        scale, result = acb(1), None
        for factor in node.args:
            if isinstance(factor, sp.Expr) and not getattr(factor, "is_Matrix", False):
                scale = scale * self.value(factor)
            else:
                part = self.matrix(factor)
                result = part if result is None else result * part
        return result * scale

    def _visit(self, node: sp.Expr) -> acb:
        if isinstance(node, sp.Rational):
            return acb(_rational(node))
        if isinstance(node, sp.Symbol):
            raise BadInput(f"the symbol {node} has no value; give it one in `at`")
        if isinstance(node, sp.Add):
            return self._sum(node.args)
        if isinstance(node, sp.Mul):
            return self._product(node.args)
        if isinstance(node, sp.Pow):
            return self._power(node)
        if type(node) in _METHODS:
            return getattr(self.value(node.args[0]), _METHODS[type(node)])()
        if node is S.Pi:
            return acb(arb.pi())
        if node is S.ImaginaryUnit:
            return acb(0, 1)
        if node is S.Exp1:
            return acb(arb(1).exp())
        return self._rare(node)

    def _rare(self, node: sp.Expr) -> acb:
        if isinstance(node, sp.log):
            return self._logarithm(node.args[0], node)
        if isinstance(node, sp.RootSum):
            return self._over_roots(*node.args)
        if isinstance(node, sp.Abs):
            return acb(abs(self.value(node.args[0])))
        if isinstance(node, sp.Derivative):
            return self._derivative(node)
        if isinstance(node, sp.Subs):
            return self._at(*node.args[1:]).value(node.args[0])
        if isinstance(node, AppliedUndef) and self._opaque is not None:
            arguments = tuple(self.value(argument) for argument in node.args)
            return acb(_rational(self._opaque.choose(node, arguments)))
        raise Unsupported(f"{text(node)} has no ball evaluation ({type(node).__name__})")

    def _over_roots(self, polynomial: sp.Expr, function: sp.Lambda, unknown: sp.Symbol) -> acb:
        """The sum of a real function over the roots of a real squarefree polynomial, which is real."""
        bits = ctx.prec
        with ctx.workprec(4 * bits):
            exact = Evaluator(self._point)
            coefficients = [exact.value(c) for c in reversed(sp.Poly(polynomial, unknown).all_coeffs())]
            try:
                roots = acb_poly(coefficients).roots(tol=arb(2) ** -bits, maxprec=4 * bits)
            except ValueError:
                raise SingularPoint(f"the roots of {text(polynomial)} cannot be told apart here") from None
        (variable,), body = function.variables, function.expr
        total = sum((Evaluator(self._point | {variable: root}).value(body) for root in roots), acb(0))
        real = not (body.has(sp.I) or polynomial.has(sp.I)) and all(v.imag == 0 for v in self._point.values())
        return acb(total.real) if real else total

    def _at(self, variables: sp.Tuple, point: sp.Tuple) -> Evaluator:
        """The evaluator with variables := point, one for all formulas taken there."""
        if (variables, point) not in self._moved:
            values = {x: self.value(v) for x, v in zip(variables, point, strict=True)}
            self._moved[variables, point] = Evaluator(self._point | values, self._opaque)
        return self._moved[variables, point]

    def _sum(self, nodes: tuple[sp.Expr, ...]) -> acb:
        total = acb(0)
        for node in nodes:
            total = total + self.value(node)
        return total

    def _product(self, nodes: tuple[sp.Expr, ...]) -> acb:
        total = acb(1)
        for node in nodes:
            total = total * self.value(node)
        return total

    def _power(self, node: sp.Pow) -> acb:
        """Whole powers by multiplication, all others as exp(r·log b) on the principal branch."""
        base, exponent = node.args
        value = self.value(base)
        if isinstance(exponent, sp.Integer):
            if exponent < 0 and value.contains(0):
                raise SingularPoint(f"{text(base)} cannot be told from 0 at this point")
            return value ** int(exponent)
        return (self._logarithm(base, node) * self.value(exponent)).exp()

    def _logarithm(self, argument: sp.Expr, node: sp.Expr) -> acb:
        """log on the positive axis; on the principal branch only for constants, where no choice is hidden."""
        value = self.value(argument)
        if value.contains(0):
            raise SingularPoint(f"{text(node)}: its base cannot be told from 0 at this point")
        if argument.free_symbols and not (value.imag.is_zero() and value.real > 0):
            raise SingularPoint(f"{text(node)}: its base is not surely positive at this point")
        return value.log()

    def _derivative(self, node: sp.Derivative) -> acb:
        """By sympy's own differentiation, an independent route to the derivative in the ring."""
        body, *steps = node.args
        result = body.doit()
        for symbol, count in steps:
            if symbol not in self._memo:
                raise BadInput(f"the symbol {symbol} has no value; give it one in `at`")
            result = result.diff(symbol, int(count))
        if result.has(sp.Derivative, sp.Subs):
            raise Unsupported(f"{text(node)} has no ball evaluation: its derivative has no closed form")
        return self.value(result)


def _rational(value: Any) -> arb:
    rational = sp.Rational(value)
    return arb(fmpq(int(rational.p), int(rational.q)))
