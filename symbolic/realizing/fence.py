"""Why a bias has no generator: what it contains that no exponential polynomial does, with finite evidence."""

from __future__ import annotations

import sympy as sp
from flint import acb_mat, ctx

from ..balls import ball, excludes_zero, outward
from ..decide import Status, decide
from ..errors import BadInput, Unsupported
from ..walk import free_symbols, text
from .case import Case
from .intervals import Interval
from .modes import Foreign, Spectrum
from .nonvanishing import BITS, factored, nonvanishing, trial_values
from .realized import NotRealizable, Witness

ENTIRE = (
    "a continuous c' exp(uX) v is an exponential polynomial, hence entire, and two entire functions that "
    "agree on an interval are equal (Rudin, Principles of Mathematical Analysis, 3rd ed., Theorem 8.5)"
)
INVERTIBLE = (
    "on all integers A is invertible, so the recurrence that holds in the end runs backwards and "
    "fixes every value"
)
INDEPENDENT = (
    "exponentials of polynomials that differ by more than a constant are linearly independent over the "
    "rational functions (differentiate a shortest relation)"
)


def foreign(case: Case, piece: Interval, spectrum: Spectrum) -> NotRealizable:
    """The refusal for a formula with terms that are no modes, on the reals or u >= 0."""
    term, conditions = _surely(spectrum.foreign, case)
    values = {**case.constants.values, **case.logs.values}
    thetas = [x for x in case.logs.values if x in term.powers or term.growth.has(x) or term.phase.has(x)]
    if thetas:
        q = sp.exp(case.logs.values[thetas[0]])
        what = f"log({text(q)})" if thetas[0] in term.powers else f"a power of {text(q)} that is not whole"
        reason = (
            f"it contains {what}, which does not come back to itself when {case.u} goes once around the zero "
            f"of {text(q)} in the complex plane; every exponential polynomial does"
        )
        cited = ENTIRE
    else:
        phase = sp.exp((term.growth + sp.I * term.phase).xreplace(values))
        reason = (
            f"its canonical form keeps {text(phase)}, whose exponent is not linear in {case.u}; no sum of "
            "polynomials times e^(λu) can equal it"
        )
        cited = INDEPENDENT
    conditions = tuple(dict.fromkeys((*conditions, *generic(case, spectrum.foreign))))
    return NotRealizable(case.bias, case.u, case.domain, reason, cited, hankel_witness(case), conditions)


def generic(case: Case, terms: tuple[Foreign, ...]) -> tuple[sp.Expr, ...]:
    """What must not vanish for the terms to stay apart: they are so for free symbols, not for all values.

    Polynomials keep their degree, are squarefree and without common roots; exponents stay different and keep
    their degree.
    """
    u, values, doubtful = case.u, case.constants.values, []
    used = {x for term in terms for x in (*term.powers, *(term.growth + sp.I * term.phase).free_symbols)}
    bases = [sp.Poly(sp.exp(value), u) for theta, value in case.logs.values.items() if theta in used]
    for k, q in enumerate(bases):
        doubtful += [q.LC(), *([q.discriminant()] if q.degree() > 1 else [])]
        doubtful += [q.resultant(other) for other in bases[:k]]
    exponents = list(dict.fromkeys(sp.expand(term.growth + sp.I * term.phase) for term in terms))
    moving = (u, *case.logs.values)
    for k, exponent in enumerate(exponents):
        doubtful += [sp.Poly(exponent, *moving).LC()] if exponent != 0 else []
        doubtful += [sp.Poly(exponent - other, *moving).LC() for other in exponents[:k]]
    found = (nonvanishing(factored(x), values, "the terms of the bias") for x in doubtful)
    return tuple(dict.fromkeys(condition for part in found for condition in part))


def fractional(case: Case) -> NotRealizable:
    """The refusal for a quotient that does not come out."""
    reason = (
        "it is a quotient of exponential polynomials whose denominator does not divide its numerator "
        "in the ring that their exponents span; no other exponents could help"
    )
    return NotRealizable(case.bias, case.u, case.domain, reason, INDEPENDENT, hankel_witness(case))


def _surely(terms: tuple[Foreign, ...], case: Case) -> tuple[Foreign, tuple[sp.Expr, ...]]:
    """A term whose coefficient is not 0 for the true constants."""
    problem: Unsupported | None = None
    for term in terms:
        try:
            return term, nonvanishing(term.coefficient, case.constants.values, "a coefficient of the bias")
        except Unsupported as error:
            problem = error
    raise problem or Unsupported("no term of the bias is foreign")


def kinked(case: Case, pieces: list[Interval]) -> NotRealizable | None:
    """The refusal for a bias that is different exponential polynomials on two intervals, or jumps between."""
    last = pieces[-1]
    for piece in reversed(pieces[:-1]):
        if decide(piece.formula, last.formula).status is not Status.PROVED:
            return parted(case, piece.sample, last, f"for {case.u} > {text(last.lower)}")
    for at in (piece.lower for piece in pieces if piece.lower.is_finite):
        if case.lacks(at) or case.bias.subs(case.u, at).has(sp.nan, sp.zoo):
            continue  # a quotient has a gap there
        value = case.value(at)
        if decide(value, case.value(at, last.formula)).status is not Status.PROVED:
            return parted(case, at, last, f"near {case.u} = {text(at)}")
    return None


def parted(case: Case, at: sp.Rational, last: Interval, where: str) -> NotRealizable:
    """The refusal by one point at which the bias is not what it is beside or in the end."""
    values = case.constants.values
    here, there = case.bias.subs(case.u, at), last.formula.xreplace(values).subs(case.u, at)
    free = free_symbols(here, there)
    trials = trial_values(free), trial_values(free, apart=True)
    trial = next((x for x in trials if excludes_zero(ball(here - there, x, BITS))), None)
    if trial is None:
        raise Unsupported(
            f"at {case.u} = {text(at)} the branches of the bias cannot be told apart; write them alike"
        )
    beside = "".join(f", {x} = {value}" for x, value in trial.items())
    law = text(last.formula.xreplace(values))
    carried = (
        "whose recurrence would carry it to all integers"
        if case.whole
        else "an exponential polynomial, which would have to hold everywhere"
    )
    return NotRealizable(
        case.bias,
        case.u,
        case.domain,
        f"{where} it equals {law}, {carried}; at {case.u} = {text(at)} it does not",
        INVERTIBLE if case.whole else ENTIRE,
        Witness(
            f"at {case.u} = {text(at)}{beside} the bias is {text(here)} and not {text(there)}",
            {"point": {case.u: at, **trial}, "bias": here, "continued": there},
        ),
    )


def hankel_witness(case: Case, size: int = 4) -> Witness | None:
    """A ball for det [b(n+i+j)], i, j < size, which excludes orders below `size` and nothing else."""
    trial = trial_values(free_symbols(case.bias) - {case.u})
    for first in (0, 1):
        try:
            samples = [
                ball(case.bias.subs(case.u, n), trial, BITS) for n in range(first, first + 2 * size - 1)
            ]
        except (Unsupported, BadInput):
            continue
        with ctx.workprec(BITS):
            value = acb_mat([[samples[i + j] for j in range(size)] for i in range(size)]).det()
        if excludes_zero(value):
            found = outward(value.real, 15)
            return Witness(
                f"det [b({first}+i+j)], i, j < {size}, is not 0, which excludes orders below {size}; that no "
                "order works is the reason, not this number",
                {"first": first, "size": size, "determinant": found, "parameters": trial},
            )
    return None


__all__ = ["foreign", "fractional", "generic", "hankel_witness", "kinked", "parted"]
