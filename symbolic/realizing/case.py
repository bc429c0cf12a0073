"""A bias with its variable and domain, admitted once: what every part of `realize` is given."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import sympy as sp

from ..admit import admit_scalar, admit_together, check_symbol
from ..defined import NOT_ZERO, Demand, demands
from ..errors import BadInput, WrongType
from ..parse import evaluated
from ..premises import Premises
from ..walk import all_atoms, applications, free_symbols, text
from .elementary import Names, Rewriter
from .intervals import Interval, intervals
from .modes import Denominator, Spectrum, spectrum
from .places import known_sign, steady_sign
from .quotient import exact_quotient

DOMAINS = ("real", "causal", "integers", "causal-integers")


@dataclass
class Case:
    """bias, exact and real, as a formula in u; domain, one of DOMAINS; the names of its freed constants.

    demands: what the bias as it was given asks for to have a value, beyond what the domain grants; `bias` is
    what it evaluates to.
    """

    bias: sp.Expr
    u: sp.Symbol
    domain: str
    modulo_row_constant: bool
    constants: Names = field(init=False)
    logs: Names = field(init=False)
    demands: tuple[Demand, ...] = field(init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.u, sp.Symbol):
            raise WrongType(f"u is {text(self.u)}; the symbol of the gap, such as Symbol('u'), works")
        if self.domain not in DOMAINS:
            raise BadInput(f"domain is {self.domain!r}; one of {', '.join(map(repr, DOMAINS))} works")
        if not isinstance(self.modulo_row_constant, bool):
            raise WrongType(f"modulo_row_constant is {self.modulo_row_constant!r}; True or False works")
        self._admit()
        taken = {symbol.name for symbol in all_atoms(self.bias, self.u)[0]}
        self.constants, self.logs = Names("L", taken), Names("theta", taken)

    def _admit(self) -> None:
        """A variable declared whole or of one sign is replaced: it runs through the whole domain."""
        declared = (self.u.is_integer, self.u.is_positive, self.u.is_negative, self.u.is_zero)
        if any(known is not None for known in declared):
            free = sp.Symbol(self.u.name, real=True)
            self.bias = self.bias.xreplace({self.u: free}) if isinstance(self.bias, sp.Expr) else self.bias
            self.u = free
        check_symbol(self.u, "u")
        self.bias = admit_scalar(self.bias, "bias")
        admit_together((self.bias, self.u), "bias")
        if applications(self.bias):
            raise BadInput(f"bias contains an undefined function: {text(self.bias)}; give its formula")
        self.demands = self._demands()
        self.bias = admit_scalar(evaluated(self.bias), "bias")

    def _demands(self) -> tuple[Demand, ...]:
        causal = [sp.Ge(self.u, 0)] if self.start.is_finite else []
        known = Premises.of(causal, free_symbols(self.bias))
        found = demands(self.bias, known=known)
        return tuple(d for d in found if not (self.whole and _between_integers(d, self.u)))

    @property
    def whole(self) -> bool:
        """Whether u runs through integers."""
        return self.domain.endswith("integers")

    @property
    def start(self) -> sp.Expr:
        """The lower end of the domain."""
        return sp.S.Zero if self.domain.startswith("causal") else sp.S.NegativeInfinity

    def intervals(self) -> list[Interval]:
        """The bias on the intervals of the domain."""
        return intervals(self.bias, self.u, self.start, self.constants, self.logs, self.whole)

    def pieces(self) -> list[Interval]:
        """The intervals of the domain on which the bias has a value."""
        asked = [d for d in self.demands if d.signs != NOT_ZERO and d.formula.has(self.u)]
        found = intervals(
            self.bias,
            self.u,
            self.start,
            self.constants,
            self.logs,
            self.whole,
            [demand.formula for demand in asked],
        )
        kept = [piece for piece in found if not self._unmet(asked, piece.sample)]
        if not kept:
            raise BadInput(f"bias {text(self.bias)} has a real value nowhere on the domain {self.domain!r}")
        return kept

    def lacks(self, at: sp.Expr) -> bool:
        """Whether the bias as it was given surely has no value at a place."""
        return self._unmet(self.demands, at)

    def _unmet(self, asked: Iterable[Demand], at: sp.Expr) -> bool:
        values = [(demand.signs, demand.formula.xreplace({self.u: at}).doit()) for demand in asked]
        if any(value.has(sp.zoo, sp.nan) for _, value in values):
            return True  # it divides by what has no value there
        signs = ((allowed, known_sign(value)) for allowed, value in values)
        return any(sign is not None and sign not in allowed for allowed, sign in signs)

    def granted(self, demand: Demand, lower: sp.Rational, upper: sp.Rational) -> bool:
        """Whether a demand on u is surely met on [lower, upper]."""
        q = demand.formula
        if not q.is_polynomial(self.u):
            return False
        ends = (known_sign(q.xreplace({self.u: end})) for end in (lower, upper))
        return {steady_sign(q, self.u, lower, upper), *ends} <= demand.signs

    def value(self, at: int | sp.Rational, formula: sp.Expr | None = None) -> sp.Expr:
        """The bias, or a rewritten formula, at a point; equal constants have equal names."""
        value = (self.bias if formula is None else formula.xreplace(self.constants.values)).subs(self.u, at)
        if value.has(sp.nan, sp.zoo, sp.oo):
            raise BadInput(f"bias has no finite value at {self.u} = {text(at)}; give it one by a Piecewise")
        return Rewriter(self.u, sp.S.One, self.constants, self.logs, self.whole).rewrite(value)

    def spectrum(self, formula: sp.Expr) -> Spectrum:
        """Modes and foreign terms of a rewritten formula, frequencies positive where their values are."""
        found = spectrum(formula, self.u, self.logs.values)
        return Spectrum(
            tuple(mode.turned(self.constants.values) for mode in found.modes), found.foreign, found.cleared
        )

    def undivided(self, piece: Interval) -> Interval | None:
        """The interval, a quotient divided out; None if the formula surely is no exponential polynomial."""
        try:
            spectrum(piece.formula, self.u, self.logs.values)
        except Denominator:
            if piece.formula.free_symbols & set(self.logs.values):
                raise
            logs = (x for x, value in self.constants.values.items() if isinstance(value, sp.log))
            rates = frozenset(x for x in logs if self.constants.values[x].args[0].is_Integer)
            formula = exact_quotient(piece.formula, self.u, rates)
            return None if formula is None else replace(piece, formula=formula)
        return piece


def _between_integers(demand: Demand, u: sp.Symbol) -> bool:
    """Whether a formula that must not vanish is a polynomial over Q that has no whole zero."""
    q = demand.formula
    if demand.signs != NOT_ZERO or q.free_symbols != {u} or not q.is_polynomial(u):
        return False
    return not any(root.is_integer for root in sp.roots(sp.Poly(q, u), filter="Q"))


__all__ = ["DOMAINS", "Case"]
