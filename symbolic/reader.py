"""From sympy trees to fractions of exponential polynomials, by structural recursion only.

No sympy rewriting takes part: each node is read by its own definition, so that the canonical form owes
nothing to heuristics. What cannot be read raises Unsupported and says what to write instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import sympy as sp
from sympy import S
from sympy.core.function import AppliedUndef
from sympy.polys.domains import QQ

from .advice import advice, irrational_argument
from .cyclotomic import split_square
from .errors import BadInput, Unsupported
from .exponent import ZERO
from .exppoly import ExpPoly, NotPolynomial, Ring
from .ratio import Fractions, Ratio
from .walk import all_atoms, applications, fold, text

_TRIGONOMETRIC = sp.sin | sp.cos | sp.tan | sp.cot
_HYPERBOLIC = sp.sinh | sp.cosh | sp.tanh | sp.coth
_READ_THROUGH = sp.Add | sp.Mul | sp.exp | AppliedUndef | _TRIGONOMETRIC | _HYPERBOLIC


@dataclass
class Reader(Fractions):
    """Reads expressions over one ring and remembers every subexpression."""

    _memo: dict[Any, Ratio] = field(default_factory=dict)
    _opaque: list[tuple[str, tuple[Ratio, ...]]] = field(default_factory=list)

    @classmethod
    def of(cls, *formulas: sp.Basic, extra: Iterable[sp.Symbol] = ()) -> Reader:
        """A reader whose ring has every symbol of the formulas, by name, and π if it occurs."""
        symbols, has_pi = all_atoms(*formulas)
        ordered: list[sp.Expr] = sorted(symbols | set(extra), key=lambda symbol: symbol.name)
        return cls(Ring([*ordered, sp.pi] if has_pi else ordered))

    def read(self, expression: sp.Expr) -> Ratio:
        """The fraction that an expression stands for."""
        found = self._memo.get(expression)
        return found if found is not None else fold(expression, _children, self._visit, self._memo)

    def substitute(self, a: Ratio, values: dict[sp.Symbol, Ratio], point: dict[sp.Symbol, sp.Expr]) -> Ratio:
        """x := value for all pairs at once, in coefficients, exponents, denominators and opaque arguments."""
        polynomial = {self.ring.index[x]: self._polynomial_value(x, v, point) for x, v in values.items()}
        opaque = self._substituted_opaque(a, values, point)
        result = Ratio(
            self._compose(a.numerator, polynomial, opaque),
            (),
            frozenset(_taken_at(formula, point) for formula in a.nonzero),
        )
        for k, power in a.factors:
            factor = self._compose(self._factors[k], polynomial, opaque)
            inverse = self.inverse(factor, f"of a formula taken at {text(point)}")
            for _ in range(power):
                result = self.multiply(result, inverse)
        return result

    def surviving(self, a: Ratio) -> sp.Expr:
        """A term of the numerator that does not cancel, as a formula."""
        return a.numerator.surviving_term([f"{name}(…)" for name, _ in self._opaque])

    def _polynomial_value(self, symbol: sp.Symbol, value: Ratio, point: dict[sp.Symbol, sp.Expr]) -> ExpPoly:
        if value.factors:
            raise Unsupported(
                f"substituting {text(point[symbol])} for {symbol}: the value has a denominator; "
                "use a free symbol for the quotient"
            )
        return value.numerator

    def _compose(self, element: ExpPoly, values: dict[int, ExpPoly], opaque: dict[int, ExpPoly]) -> ExpPoly:
        try:
            return element.compose(values, opaque)
        except NotPolynomial:
            raise Unsupported(
                "a substituted value stands in an exponent and is not a polynomial with Gaussian-rational "
                "coefficients; use a free symbol for it"
            ) from None

    def _substituted_opaque(
        self, a: Ratio, values: dict[sp.Symbol, Ratio], point: dict[sp.Symbol, sp.Expr]
    ) -> dict[int, ExpPoly]:
        elements = [a.numerator, *(self._factors[k] for k, _ in a.factors)]
        numbers = {k for e in elements for n in e.terms for k, _ in self.ring.exponents[n].opaque}
        out = {}
        for k in numbers:
            name, arguments = self._opaque[k]
            moved = tuple(self.substitute(argument, values, point) for argument in arguments)
            out[k] = self._application(name, moved).numerator
        return out

    def _application(self, name: str, arguments: tuple[Ratio, ...]) -> Ratio:
        """f(arguments): the same independent symbol whenever the arguments are provably equal."""
        k = self._known_application(name, arguments)
        if k is None:
            k = len(self._opaque)
            self._opaque.append((name, arguments))
        nonzero = frozenset().union(*(argument.nonzero for argument in arguments))
        return Ratio(self.ring.opaque(k), (), nonzero)

    def _known_application(self, name: str, arguments: tuple[Ratio, ...]) -> int | None:
        for k, (known, values) in enumerate(self._opaque):
            if known == name and len(values) == len(arguments) and self._all_equal(values, arguments):
                return k
        return None

    def _all_equal(self, a: tuple[Ratio, ...], b: tuple[Ratio, ...]) -> bool:
        return all(self.is_zero(self.subtract(x, y)) for x, y in zip(a, b, strict=True))

    # ---- one node, children already read ----

    def _visit(self, node: Any) -> Ratio:
        if isinstance(node, sp.Rational):
            return self.constant(node)
        if node in self.ring.index:
            return Ratio(self.ring.generator(node))
        if isinstance(node, sp.Add):
            return self._sum(node.args)
        if isinstance(node, sp.Mul):
            return self._product(node.args)
        if node is S.ImaginaryUnit:
            return Ratio(self.ring.i)
        if node is S.Exp1:
            return Ratio(self.ring.exponential_of(self.ring.one))
        if isinstance(node, sp.exp):
            return self._exponential(node.args[0], node)
        if isinstance(node, sp.Pow):
            return self._pow(node)
        if isinstance(node, _TRIGONOMETRIC | _HYPERBOLIC):
            return self._circular(node)
        if isinstance(node, sp.Derivative):
            return self._derivative(node)
        if isinstance(node, sp.Subs):
            return self._subs(node)
        if isinstance(node, AppliedUndef):
            return self._application(str(node.func), tuple(self._memo[a] for a in node.args))
        raise Unsupported(advice(node))

    def _sum(self, nodes: Iterable[sp.Expr]) -> Ratio:
        total = Ratio(self.ring.zero)
        for node in nodes:
            total = self.add(total, self._memo[node])
        return total

    def _product(self, nodes: Iterable[sp.Expr]) -> Ratio:
        total = Ratio(self.ring.one)
        for node in nodes:
            total = self.multiply(total, self._memo[node])
        return total

    def _argument(self, argument: sp.Expr, node: sp.Expr) -> tuple[ExpPoly, frozenset[sp.Expr]]:
        value = self.cancelled(self._memo[argument])
        if value.factors:
            raise Unsupported(
                f"{text(node)}: its argument has a denominator; use a free symbol for the quotient in "
                f"{text(argument)}"
            )
        try:
            value.numerator.gaussian_parts()
        except NotPolynomial as problem:
            raise Unsupported(irrational_argument(node, problem.exponent, problem.coefficient)) from None
        return value.numerator, value.nonzero

    def _exponential(self, argument: sp.Expr, node: sp.Expr) -> Ratio:
        """exp(P + iπq)."""
        element, nonzero = self._argument(argument, node)
        return Ratio(self.ring.exponential_of(element), (), nonzero)

    def _circular(self, node: sp.Function) -> Ratio:
        """cos z = (e^{iz} + e^{-iz})/2 and its relatives, with e^{z} when hyperbolic."""
        element, nonzero = self._argument(node.args[0], node)
        ring, half = self.ring, self.ring.constant(1, 2)
        turning = isinstance(node, _TRIGONOMETRIC)
        exponent = element * ring.i if turning else element
        forward, backward = ring.exponential_of(exponent), ring.exponential_of(-exponent)
        even, odd = (forward + backward) * half, (forward - backward) * half
        if turning:
            odd = -(odd * ring.i)
        if isinstance(node, sp.cos | sp.cosh):
            return Ratio(even, (), nonzero)
        if isinstance(node, sp.sin | sp.sinh):
            return Ratio(odd, (), nonzero)
        direct = isinstance(node, sp.tan | sp.tanh)
        top, bottom = (odd, even) if direct else (even, odd)
        below = ((sp.cos if turning else sp.cosh) if direct else (sp.sin if turning else sp.sinh))(
            node.args[0]
        )
        return self.multiply(Ratio(top, (), nonzero), self.invert(Ratio(bottom), below))

    def _pow(self, node: sp.Pow) -> Ratio:
        base, exponent = node.args
        if isinstance(exponent, sp.Integer):
            return self.power(self._memo[base], int(exponent), base)
        if isinstance(exponent, sp.Rational):
            return self._rational_power(node, base, exponent)
        raise Unsupported(advice(node))

    def _rational_power(self, node: sp.Pow, base: sp.Expr, exponent: sp.Rational) -> Ratio:
        """√(p/q), (-1)^r = exp(iπr), and (c·exp(P))^r = c^r·exp(rP) for real P and positive rational c."""
        value = self._memo[base]
        if base is S.NegativeOne:
            return Ratio(self.ring.root_of_unity(_fraction(exponent)))
        parts = _positive_exponential(value)
        if parts is None:
            raise Unsupported(advice(node))
        constant, real = parts
        scale = QQ(int(exponent.p), int(exponent.q))
        root = self._root(constant, exponent, node)
        zero = self.ring.polynomials.zero
        return Ratio(root * self.ring.exponential(real * scale, zero, ZERO), (), value.nonzero)

    def _root(self, constant: sp.Rational, exponent: sp.Rational, node: sp.Pow) -> ExpPoly:
        """c^r for 2r an integer: √(p/q) = √(pq)/q."""
        if constant == 1:
            return self.ring.one
        if exponent.q != 2:
            raise Unsupported(advice(node))
        square, squarefree = split_square(int(constant.p) * int(constant.q))
        root = self.ring.surd(squarefree) * self.ring.constant(square, int(constant.q))
        value = self.power(Ratio(root), int(exponent.p), node)
        return value.numerator

    def _derivative(self, node: sp.Derivative) -> Ratio:
        value = self._memo[node.args[0]]
        for symbol, count in node.args[1:]:
            if symbol not in self.ring.index or not isinstance(count, sp.Integer):
                raise Unsupported(f"{text(node)}: derivatives are taken a whole number of times in a symbol")
            if applications(node.args[0]):
                raise Unsupported(
                    f"{text(node)} differentiates an undefined function; use a free symbol for it"
                )
            for _ in range(int(count)):
                value = self.differentiate(value, symbol)
        return value

    def _subs(self, node: sp.Subs) -> Ratio:
        body, variables, points = node.args
        point = dict(zip(variables, points, strict=True))
        values = {x: self._memo[v] for x, v in point.items()}
        if any(value.factors for value in values.values()) and not body.has(sp.Derivative, sp.Subs):
            replaced = self.read(body.xreplace(point))
            nonzero = frozenset().union(*(value.nonzero for value in values.values()))
            return Ratio(replaced.numerator, replaced.factors, replaced.nonzero | nonzero)
        return self.substitute(self._memo[body], values, point)


def _children(node: Any) -> Iterable[Any]:
    """The subexpressions whose values a node needs."""
    if isinstance(node, sp.Derivative):
        return node.args[:1]
    if isinstance(node, sp.Subs):
        return (node.args[0], *node.args[2])
    if isinstance(node, sp.Pow):
        return node.args[:1]
    return node.args if isinstance(node, _READ_THROUGH) else ()


def _taken_at(formula: sp.Expr, point: dict[sp.Symbol, sp.Expr]) -> sp.Expr:
    """A side condition after substitution; operators inside keep their own variable."""
    if formula.has(sp.Derivative, sp.Subs):
        return sp.Subs(formula, tuple(point), tuple(point.values()))
    taken = formula.xreplace(point)
    if taken is S.Zero or taken.has(S.ComplexInfinity, S.NaN):
        raise BadInput(f"malformed: the denominator {text(formula)} is identically zero at {text(point)}")
    return taken


def _fraction(value: sp.Rational) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def _positive_exponential(value: Ratio) -> tuple[sp.Rational, Any] | None:
    """(c, P) if the value is c·exp(P) with a positive rational c and real P."""
    if value.factors or len(value.numerator.terms) != 1:
        return None
    ((number, c),) = value.numerator.terms.items()
    exponent = value.numerator.ring.exponents[number]
    if exponent.imaginary or exponent.turn or exponent.opaque or exponent.surd != 1 or not c.is_ground:
        return None
    constant = c.coeff(1)
    if constant <= 0:
        return None
    return sp.Rational(int(QQ.numer(constant)), int(QQ.denom(constant))), exponent.real
