"""The modes u^k e^{ρu} cos ωu, u^k e^{ρu} sin ωu that a formula consists of, read off its canonical form.

The canonical form lists exponents: those linear in the variable are modes, all others are `Foreign` terms,
linearly independent of every exponential polynomial.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

import sympy as sp
from sympy import S
from sympy.polys.rings import PolyElement

from ..errors import BadInput, Unsupported
from ..exponent import Exponent
from ..exppoly import ExpPoly
from ..limits import expression
from ..reader import Ratio, Reader
from ..walk import text

Key = tuple[
    PolyElement, PolyElement, tuple[int, ...]
]  # moving share of Re and Im of an exponent, foreign powers


@dataclass(frozen=True)
class Mode:
    """e^{ρu} Σ_k u^k (cosines[k] cos ωu + sines[k] sin ωu); ω = 0 has no sines.

    rate ρ and frequency ω >= 0 (1/position and radians/position), coefficients free of u; the last one is
    not zero.
    """

    rate: sp.Expr
    frequency: sp.Expr
    cosines: tuple[sp.Expr, ...]
    sines: tuple[sp.Expr, ...]

    @property
    def size(self) -> int:
        """Number of powers of u, which is the size of the Jordan block."""
        return len(self.cosines)

    @property
    def dim(self) -> int:
        """Its share of the order: one a power, two where it turns."""
        return self.size if self.frequency.is_zero else 2 * self.size

    def at(self, u: sp.Expr) -> sp.Expr:
        """The value of the mode."""
        turn = self.frequency * u
        terms = (
            u**k * (a * sp.cos(turn) + b * sp.sin(turn))
            for k, (a, b) in enumerate(zip(self.cosines, self.sines, strict=True))
        )
        return sp.exp(self.rate * u) * sp.Add(*terms)

    def turned(self, values: Mapping[sp.Symbol, sp.Expr]) -> Mode:
        """The same mode with the frequency that is positive for these values of its symbols."""
        if not self.frequency.xreplace(values).is_negative:
            return self
        return replace(self, frequency=-self.frequency, sines=tuple(-x for x in self.sines))

    def mapped(self, values: Mapping[sp.Symbol, sp.Expr]) -> Mode:
        """The mode with symbols replaced."""
        cosines, sines = (tuple(x.xreplace(values) for x in part) for part in (self.cosines, self.sines))
        return Mode(self.rate.xreplace(values), self.frequency.xreplace(values), cosines, sines)


@dataclass(frozen=True)
class Foreign:
    """coefficient · u^degree · exp(growth + i·phase) · Π symbol^power: the leading part of no mode."""

    growth: sp.Expr
    phase: sp.Expr
    degree: int
    powers: dict[sp.Symbol, int]
    coefficient: sp.Expr


@dataclass(frozen=True)
class Spectrum:
    """What a formula consists of: its modes, and one term for each exponent that is no mode.

    cleared: it is that of the formula times powers of polynomials in the variable.
    """

    modes: tuple[Mode, ...]
    foreign: tuple[Foreign, ...]
    cleared: bool = False


def spectrum(formula: sp.Expr, u: sp.Symbol, logs: Mapping[sp.Symbol, sp.Expr] | None = None) -> Spectrum:
    """The modes and foreign terms of a real formula whose denominators are free of u.

    logs: symbol θ -> log(q) for different irreducible polynomials q of u; e^{nθ} is read as q^n for whole n.
    Errors: Unsupported where the reader has none; Denominator if one depends on u; BadInput if the formula
    is not real.
    """
    bases = {symbol: sp.exp(value) for symbol, value in (logs or {}).items()}
    reader = Reader.of(formula, *bases.values(), extra=[u, *bases])
    ratio = reader.cancelled(reader.read(formula))
    moving = tuple(reader.ring.index[symbol] for symbol in (u, *bases))
    if any(factor.depends_on(moving) for factor, _ in reader.denominator(ratio)):
        raise Denominator(f"{text(formula)} keeps a denominator that depends on {u}")
    numerator, cleared = _whole_powers(ratio.numerator, reader, bases)
    groups = _grouped(numerator, moving)
    tame = {key: part for key, part in groups.items() if _linear(key, moving)}
    if cleared and len(tame) == len(groups):
        raise Denominator(f"{text(formula)} has a negative power of a polynomial in {u}")
    scale = expression(reader, Ratio(reader.ring.one, ratio.factors))
    return Spectrum(
        tuple(sorted(_modes(tame, reader, scale, moving[0]), key=_order)),
        tuple(_foreign_term(key, groups[key], reader, tuple(bases)) for key in groups if key not in tame),
        cleared,
    )


def _whole_powers(
    element: ExpPoly, reader: Reader, bases: Mapping[sp.Symbol, sp.Expr]
) -> tuple[ExpPoly, bool]:
    """e^{nθ} -> q^⌊n⌋ e^{(n-⌊n⌋)θ}, all times one power of q if some ⌊n⌋ < 0 (then True)."""
    ring, cleared = reader.ring, False
    for symbol, q in bases.items():
        theta, base = ring.polynomials.gens[ring.index[symbol]], reader.read(q).numerator
        floors = {n: int(sp.floor(ring.exponents[n].real.coeff(theta))) for n in element.terms}
        lowest = min([0, *floors.values()])
        moved = ring.zero
        for number, c in element.terms.items():
            e = ring.exponents[number]
            rest = replace(e, real=e.real - theta * floors[number])
            moved = moved + ExpPoly(ring, {ring.number(rest): c}) * base ** (floors[number] - lowest)
        element, cleared = moved, cleared or lowest < 0
    return element, cleared


class Denominator(Unsupported):
    """A denominator depends on the variable and does not divide the numerator."""


def _linear(key: Key, moving: tuple[int, ...]) -> bool:
    """No foreign factor, and an exponent that is linear in u alone."""
    i = moving[0]
    others = [k for k in moving if k != i]
    return not any(key[2]) and all(
        monomial[i] == 1 and not any(monomial[k] for k in others) for part in key[:2] for monomial in part
    )


def _grouped(element: ExpPoly, moving: tuple[int, ...]) -> dict[Key, list[ExpPoly]]:
    """Moving share of the exponent, foreign powers -> coefficients of 1, u, u², …, the last one not zero."""
    ring, i = element.ring, moving[0]
    sums: dict[Key, dict[int, ExpPoly]] = defaultdict(lambda: defaultdict(lambda: ring.zero))
    for number, c in element.terms.items():
        e = ring.exponents[number]
        (real, real0), (imaginary, imaginary0) = (_split(p, moving) for p in (e.real, e.imaginary))
        rest = ring.number(Exponent(real0, imaginary0, e.turn, e.surd))
        for monomial, value in c.items():
            below = tuple(0 if k in moving else n for k, n in enumerate(monomial))
            part = sums[real, imaginary, tuple(monomial[k] for k in moving[1:])]
            part[monomial[i]] = part[monomial[i]] + ExpPoly(ring, {rest: c.ring.from_dict({below: value})})
    found = {}
    for key, part in sums.items():
        alive = [k for k, value in part.items() if not value.is_zero()]
        if alive:
            found[key] = [part[k] for k in range(max(alive) + 1)]
    return found


def _split(polynomial: PolyElement, moving: tuple[int, ...]) -> tuple[PolyElement, PolyElement]:
    """The terms with a moving symbol in them, and the others."""
    ring = polynomial.ring
    chosen = ring.from_dict({m: c for m, c in polynomial.items() if any(m[k] for k in moving)})
    return chosen, polynomial - chosen


def _modes(groups: dict[Key, list[ExpPoly]], reader: Reader, scale: sp.Expr, i: int) -> list[Mode]:
    """One mode per real exponent and per conjugate pair: α e^{iωu} + β e^{-iωu}, A = α + β, B = i(α - β)."""
    ring, found = reader.ring, []
    for (real, imaginary, powers), forward in groups.items():
        frequency = _slope(imaginary, i, ring.symbols)
        backward = groups.get((real, -imaginary, powers), []) if imaginary else []
        if imaginary and not backward:
            raise BadInput("bias is not real: a complex exponential stands without its conjugate")
        if frequency.is_negative or (frequency.is_positive is None and frequency.could_extract_minus_sign()):
            continue  # the conjugate stands for both
        width = max(len(forward), len(backward))
        a, b = (part + [ring.zero] * (width - len(part)) for part in (forward, backward))
        cosines = [x + y for x, y in zip(a, b, strict=True)]
        sines = [(x - y) * ring.i if backward else ring.zero for x, y in zip(a, b, strict=True)]
        cosines, sines = (tuple(_real_formula(x) * scale for x in part) for part in (cosines, sines))
        found.append(Mode(_slope(real, i, ring.symbols), frequency, cosines, sines))
    return found


def _slope(polynomial: PolyElement, i: int, symbols: tuple[sp.Expr, ...]) -> sp.Expr:
    """The coefficient of x_i in an exponent that is linear in it."""
    below = {tuple(0 if k == i else n for k, n in enumerate(m)): c for m, c in polynomial.items()}
    return polynomial.ring.from_dict(below).as_expr(*symbols) if below else S.Zero


def _real_formula(element: ExpPoly) -> sp.Expr:
    """Σ c·√r·e^P cos(Q + πq) over the terms c·√r·exp(P + iQ + iπq) of a real element."""
    ring = element.ring
    conjugate = ring.zero
    for number, c in element.terms.items():
        e = ring.exponents[number]
        phase = ring.exponential(e.real, -e.imaginary, -e.turn)
        conjugate = conjugate + phase * ring.surd(e.surd) * ring.polynomial(c)
    if not (element - conjugate).is_zero():
        raise BadInput("bias is not real; write it without the imaginary unit")
    total = []
    for number, c in element.terms.items():
        e = ring.exponents[number]
        angle = e.imaginary.as_expr(*ring.symbols) + sp.pi * sp.Rational(e.turn.numerator, e.turn.denominator)
        size = c.as_expr(*ring.symbols) * sp.sqrt(e.surd) * sp.exp(e.real.as_expr(*ring.symbols))
        total.append(size * sp.cos(angle))
    return sp.Add(*total)


def _foreign_term(key: Key, part: list[ExpPoly], reader: Reader, foreign: tuple[sp.Symbol, ...]) -> Foreign:
    """The exponential, the power of u and the foreign symbols of a term that is no mode."""
    real, imaginary, powers = key
    phase = [p.as_expr(*reader.ring.symbols) for p in (real, imaginary)]
    degree, factors = len(part) - 1, dict(zip(foreign, powers, strict=True))
    return Foreign(phase[0], phase[1], degree, {x: n for x, n in factors.items() if n}, _value(part[-1]))


def _value(element: ExpPoly) -> sp.Expr:
    """The formula of a coefficient, complex in general."""
    return expression(Reader(element.ring), Ratio(element))


def _order(mode: Mode) -> tuple:
    """Steady modes first, then by formula: any fixed order does."""
    return (
        not mode.frequency.is_zero,
        not mode.rate.is_zero,
        sp.default_sort_key(mode.rate),
        sp.default_sort_key(mode.frequency),
    )
