"""A bias formula on one interval, rewritten into what the reader reads; what that costs is written down.

Absolute values, minima and branches take the side they have at a point of the interval. `log(c e^P Π q^m)`
is `log c + P + Σ m θ_q` with one symbol θ_q = log|q| per irreducible polynomial q; `b^e` is `exp(e log b)`.
Logarithms of primes and irrational rates become free symbols: what holds for every value holds for theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import sympy as sp
from sympy import S

from ..errors import BadInput, Unsupported
from ..exppoly import ExpPoly
from ..freed import is_rational_polynomial
from ..limits import expression
from ..ratio import Ratio
from ..reader import Reader
from ..walk import free_symbols, text
from .places import known_sign, steady_sign

_TURNS = sp.sin | sp.cos | sp.tan | sp.cot | sp.sinh | sp.cosh | sp.tanh | sp.coth


@dataclass
class Names:
    """Free real symbols for values, the same symbol for the same value."""

    stem: str
    taken: set[str]
    symbols: dict[sp.Expr, sp.Symbol] = field(default_factory=dict)

    @property
    def values(self) -> dict[sp.Symbol, sp.Expr]:
        """Symbol -> value."""
        return {symbol: value for value, symbol in self.symbols.items()}

    def name(self, value: sp.Expr, positive: bool = False) -> sp.Symbol:
        """The symbol of a value, with its sign where that is known, or taken to be positive."""
        if value not in self.symbols:
            count = len(self.symbols)
            while f"{self.stem}{count}" in self.taken:
                count += 1
            self.taken.add(f"{self.stem}{count}")
            signs = {"positive": positive or value.is_positive, "negative": value.is_negative}
            known = {key: True for key, holds in signs.items() if holds} or {"real": True}
            self.symbols[value] = sp.Symbol(f"{self.stem}{count}", **known)
        return self.symbols[value]


@dataclass
class Rewriter:
    """Rewrites formulas in u near the point `where`.

    constants, logs: symbol names, shared by all intervals; `turning`: the polynomials whose sign was used.
    whole: u runs through the integers, so that (-a)^u = a^u cos(πu). endless: the formula has steps for ever.
    within: the open interval on which signs are asked for.
    """

    u: sp.Symbol
    where: sp.Rational
    constants: Names
    logs: Names
    whole: bool = False
    within: tuple[sp.Expr, sp.Expr] = (S.NegativeInfinity, S.Infinity)
    turning: set[sp.Expr] = field(default_factory=set)
    endless: bool = False

    def rewrite(self, node: sp.Expr) -> sp.Expr:
        """The formula that equals `node` where it is defined and no turning polynomial changes sign."""
        if not node.args or isinstance(node, sp.Rational):
            return node
        if isinstance(node, sp.Piecewise):
            return self._branch(node)
        parts = [self.rewrite(part) for part in node.args]
        if isinstance(node, sp.Add | sp.Mul):
            return node.func(*parts)
        if isinstance(node, sp.exp):
            return sp.exp(self._argument(parts[0]))
        if isinstance(node, _TURNS):
            return node.func(self._argument(parts[0]))
        rule = self._rules().get(type(node))
        if rule is None:
            raise Unsupported(
                f"{text(node)} ({type(node).__name__}) is outside what a bias may contain; write it with "
                "powers, exp, log, sin, cos, Abs, Min, Max or Piecewise"
            )
        return rule(*parts)

    def _rules(self) -> dict[Any, Callable[..., sp.Expr]]:
        return {
            sp.Pow: self._power,
            sp.log: self._log,
            sp.floor: self._floor,
            sp.ceiling: lambda x: -self._floor(-x),
            sp.Mod: lambda x, n: x - n * self._floor(x / n),
            sp.Abs: lambda x: self.side(x) * x,
            sp.sign: lambda x: sp.Integer(self.side(x)),
            sp.Heaviside: lambda x, *_: sp.Integer(self.side(x) > 0),
            sp.KroneckerDelta: lambda x, y: sp.Integer(self.side(x - y) == 0),
            sp.Max: lambda *x: self._extreme(x, 1),
            sp.Min: lambda *x: self._extreme(x, -1),
        }

    # ---- signs ----

    def _branch(self, node: sp.Piecewise) -> sp.Expr:
        for value, condition in node.args:
            if self._true(condition):
                return self.rewrite(value)
        raise BadInput(
            f"bias has no value near {self.u} = {self.where}; end the Piecewise with (value, True)"
        )

    def _true(self, condition: Any) -> bool:
        if condition in (S.true, S.false):
            return condition is S.true
        if isinstance(condition, sp.And | sp.Or):
            holds = [self._true(part) for part in condition.args]
            return all(holds) if isinstance(condition, sp.And) else any(holds)
        if isinstance(condition, sp.Not):
            return not self._true(condition.args[0])
        if not isinstance(condition, sp.core.relational.Relational):
            raise Unsupported(f"the condition {text(condition)} is not understood; write comparisons")
        side = self.side(self.rewrite(condition.lhs - condition.rhs))
        return bool(condition.func(sp.Integer(side), 0))

    def _floor(self, x: sp.Expr) -> sp.Integer:
        """The whole part at `where`; the steps go on for ever, so only the nearest are asked for again."""
        if self.whole or sp.Poly(x, self.u).degree() != 1 or x.free_symbols != {self.u}:
            raise Unsupported(f"the whole part of {text(x)} is decided for rational a*u + b and real u only")
        value = sp.floor(x.xreplace({self.u: self.where}))
        self.endless = True
        self.turning |= {sp.expand(x - value), sp.expand(x - value - 1)}
        return value

    def _extreme(self, values: tuple[sp.Expr, ...], way: int) -> sp.Expr:
        best = values[0]
        for value in values[1:]:
            if self.side(value - best) == way:
                best = value
        return best

    def side(self, formula: sp.Expr) -> int:
        """The sign at `where` of c·e^P·Π q^m."""
        flat = sp.expand(formula)
        if flat.is_zero:
            return 0
        slope, rest = flat.coeff(self.u), flat.coeff(self.u, 0)
        if slope.is_Rational and rest.is_Rational and flat == slope * self.u + rest:  # nothing to factor
            return int(sp.sign(slope)) * self._sign(self.u + rest / slope) if slope else int(sp.sign(rest))
        constant, _, factors = self._factors(formula)
        return self._sign(constant) * sp.prod(self._sign(q) for q, m in factors if m % 2)

    def _sign(self, q: sp.Expr) -> int:
        """The sign of a polynomial: at `where`, and asked for again where it changes, or one for all u."""
        true = sp.expand(q.xreplace(self.constants.values))
        if free_symbols(true) == {self.u}:
            self.turning.add(true)
            sign = known_sign(true.xreplace({self.u: self.where}))
            sign = sign or (
                None if sign is None else 1
            )  # at a cut, where no interval has its point in the end
        elif self.u in true.free_symbols:
            sign = steady_sign(true, self.u, *self.within)
        else:
            sign = known_sign(true)
        if sign is None:
            raise Unsupported(
                f"the sign of {text(true.xreplace(self.logs.values))} is not known for all {self.u} that "
                "occur; give numbers, or declare symbols positive or negative"
            )
        return sign

    # ---- logarithms and powers ----

    def _log(self, argument: sp.Expr) -> sp.Expr:
        constant, power, factors = self._factors(argument)
        return self._log_constant(constant) + power + sp.Add(*(m * self._theta(q, m) for q, m in factors))

    def _log_constant(self, value: sp.Expr) -> sp.Expr:
        """Σ m log p over the primes of a positive rational; one symbol for anything else."""
        value = sp.Abs(value)
        if not isinstance(value, sp.Rational):
            return self.constants.name(sp.log(value.xreplace(self.constants.values)))
        if max(value.p, value.q) > 10**24:
            raise Unsupported(f"log({text(value)}) is too large to be factorised; use a free positive symbol")
        primes = sp.factorrat(value)
        return sp.Add(*(m * self.constants.name(sp.log(p)) for p, m in primes.items()))

    def _theta(self, q: sp.Expr, m: sp.Expr) -> sp.Symbol:
        """The symbol of log|q|, written with the sign of q at `where`; an even m may see it change."""
        if m % 2 == 0:
            return self.logs.name(sp.log(self._sign(q) * q))
        value = q.xreplace({self.u: self.where}).xreplace(self.constants.values)
        return self.logs.name(sp.log(-q if value.is_negative else q))

    def _power(self, base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
        moving = {self.u, *self.logs.values}
        if isinstance(exponent, sp.Integer):
            return base**exponent
        if base is S.Exp1:
            return sp.exp(self._argument(exponent))
        if not (base.free_symbols | exponent.free_symbols) & moving:
            return self._constant(base**exponent)
        if not base.free_symbols & moving:
            return self._growth(base, exponent)
        if isinstance(exponent, sp.Rational):
            return self._root(base, exponent)
        if exponent.free_symbols and not exponent.free_symbols & moving:
            raise Unsupported(
                f"the power {text(exponent)} of {text(base)} must be a number: whole powers differ"
            )
        return sp.exp(self._argument(sp.expand(exponent * self._log(base))))

    def _constant(self, value: sp.Expr) -> sp.Expr:
        """Itself if it can be read, else a symbol."""
        try:
            Reader.of(value).read(value)
        except Unsupported:
            return self.constants.name(value.xreplace(self.constants.values))
        return value

    def _growth(self, base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
        """b^e = exp(e log b) for b > 0; on the integers also |b|^e cos(πe) for b < 0 and whole e."""
        if base.is_positive:
            return sp.exp(self._argument(sp.expand(exponent * self._log(base))))
        steps = sp.Poly(exponent, self.u).all_coeffs() if exponent.is_polynomial(self.u) else [S.Half]
        if self.whole and base.is_negative and all(isinstance(step, sp.Integer) for step in steps):
            return self._growth(-base, exponent) * sp.cos(sp.pi * exponent)
        raise Unsupported(
            f"{text(sp.Pow(base, exponent, evaluate=False))} is not real for all {self.u}; a positive base "
            "works, and on a domain of integers a negative one to a power with whole coefficients"
        )

    def _root(self, base: sp.Expr, exponent: sp.Rational) -> sp.Expr:
        """(c e^P Π q^m)^r = c^r e^{rP} Π |q|^{mr}."""
        constant, power, factors = self._factors(base)
        result = self._constant(sp.Abs(constant) ** exponent) * sp.exp(exponent * power)
        for q, m in factors:
            theta, r = self._theta(q, m), m * exponent
            result *= sp.exp(self.logs.values[theta]) ** r if r.is_integer else sp.exp(r * theta)
        return result

    def _factors(self, formula: sp.Expr) -> tuple[sp.Expr, sp.Expr, list[tuple[sp.Expr, sp.Integer]]]:
        """(c, P, [(q, m), …]) with formula = c·e^P·Π q^m, q irreducible in u, c and P free of it or real."""
        reader = Reader.of(formula, extra=[self.u])
        ratio = reader.read(formula)
        constant, power, factors = S.One, S.Zero, []
        for element, count in [(ratio.numerator, 1), *((f, -n) for f, n in reader.denominator(ratio))]:
            polynomial, exponent = self._monomial(element, reader, formula)
            content, parts = sp.factor_list(polynomial)
            constant *= content**count
            power += count * exponent
            for q, m in parts:
                if q.free_symbols & {self.u, *self.logs.values}:
                    factors.append((q, sp.Integer(m * count)))
                else:
                    constant *= q ** (m * count)
        return constant, power, factors

    def _monomial(self, element: ExpPoly, reader: Reader, formula: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
        """(polynomial, P) if the element is one polynomial times e^P with real P."""
        exponents = {reader.ring.exponents[number].transcendental for number in element.terms}
        if len(exponents) != 1 or any(next(iter(exponents))[1:]):
            given = text(formula.xreplace(self.logs.values))
            raise Unsupported(
                f"{given} stands in a logarithm, a root or an absolute value and is no polynomial times one "
                "real exponential, which is all that is decided there"
            )
        real = reader.ring.exponents[next(iter(element.terms))].real.as_expr(*reader.ring.symbols)
        return sp.expand(expression(reader, Ratio(element)) * sp.exp(-real)), real

    # ---- exponents ----

    def _argument(self, argument: sp.Expr) -> sp.Expr:
        """Irrational coefficients of u become symbols."""
        if any(part.has(*self.logs.values) for part in argument.atoms(sp.exp)):
            given = text(argument.xreplace(self.logs.values))
            raise Unsupported(
                f"bias has exp, sin or cos of {given}; only polynomials and logarithms are decided there"
            )
        terms = []
        for term in sp.Add.make_args(sp.expand(argument)):
            constant, rest = term.as_independent(self.u, *self.logs.values, as_Add=False)
            terms.append(self._rate(constant) * rest)
        return sp.Add(*terms)

    def _rate(self, value: sp.Expr) -> sp.Expr:
        plain = value.xreplace({S.Pi: sp.Dummy(), S.ImaginaryUnit: S.One})
        if is_rational_polynomial(plain):
            return value
        number, irrational = value.as_coeff_Mul()
        return number * self.constants.name(irrational.xreplace(self.constants.values))


__all__ = ["Names", "Rewriter"]
