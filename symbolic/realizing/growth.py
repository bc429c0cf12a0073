"""Why a sequence solves no linear recurrence: it grows or fades at a rate that no such sequence has.

Growth lemma: for a sequence b(n) = Σ p_j(n) μ_jⁿ that is not 0 from some place on there are ρ > 0 and a whole
k >= 0 with 0 < limsup |b(n)|/(n^k ρⁿ) < ∞.
"""

from __future__ import annotations

import sympy as sp
from sympy import S

from ..errors import Unsupported
from ..walk import free_symbols, text
from .case import Case
from .fence import generic, hankel_witness
from .modes import Foreign, Spectrum
from .nonvanishing import factored, nonvanishing
from .realized import NotRealizable

LEMMA = (
    "growth lemma: a sum of polynomials times μⁿ that does not end has limsup |b(n)|/(n^k ρⁿ) in (0, ∞) "
    "for some ρ > 0 and whole k (an exponential sum with |μ_j| = 1 is almost periodic)"
)


def unsteady(case: Case, spectrum: Spectrum) -> NotRealizable:
    """The refusal on integers; Unsupported where the growth alone does not decide.

    The modes may be taken away: what is left must be realizable as well, and is not.
    """
    terms = [_with_values(term, case) for term in spectrum.foreign]
    if any(term.phase != 0 for term in terms):
        raise _open(case)
    slow = all(_powers_of_logs(term, case) is not None for term in terms)
    reason, conditions = _slow(case, terms) if slow else _fast(case, terms)
    conditions = tuple(dict.fromkeys((*conditions, *generic(case, spectrum.foreign))))
    return NotRealizable(case.bias, case.u, case.domain, reason, LEMMA, hankel_witness(case), conditions)


def _open(case: Case) -> Unsupported:
    return Unsupported(
        f"bias contains functions whose values at integers are not decided on {case.domain!r}; "
        "domain 'real' or 'causal' is"
    )


def _with_values(term: Foreign, case: Case) -> Foreign:
    values = case.constants.values
    growth, phase, coefficient = (x.xreplace(values) for x in (term.growth, term.phase, term.coefficient))
    return Foreign(growth, phase, term.degree, term.powers, coefficient)


def _powers_of_logs(term: Foreign, case: Case) -> dict[sp.Symbol, sp.Expr] | None:
    """{θ: r} if the term is a constant times u^d Π q^r Π (log q)^k without other exponentials."""
    logs = list(case.logs.values)
    powers = {theta: sp.expand(term.growth).coeff(theta) for theta in logs}
    rest = sp.expand(term.growth - sp.Add(*(r * theta for theta, r in powers.items())))
    plain = all(r.is_number and r.is_real for r in powers.values())
    return powers if rest.is_zero and plain else None


def _slow(case: Case, terms: list[Foreign]) -> tuple[str, tuple[sp.Expr, ...]]:
    """b ~ C n^a (log n)^k in the end, with a not whole or k not 0."""
    orders: dict[tuple[sp.Expr, int], sp.Expr] = {}
    for term in terms:
        a, k, constant = sp.Integer(term.degree), 0, term.coefficient
        powers = _powers_of_logs(term, case) or {}
        for theta, value in case.logs.values.items():
            q = sp.Poly(sp.exp(value), case.u)
            r, count = powers.get(theta, S.Zero), term.powers.get(theta, 0)
            a, k = a + r * q.degree(), k + count
            constant *= q.LC() ** r * sp.Integer(q.degree()) ** count
        orders[a, k] = orders.get((a, k), S.Zero) + constant
    a, k = max(orders, key=lambda order: (sp.N(order[0], 30), order[1]))
    leading = factored(orders[a, k])
    if leading.is_zero or (k == 0 and a.is_integer and a >= 0):
        raise _open(case)
    conditions = nonvanishing(leading, {}, "the leading coefficient of the bias")
    law = f"n^({a})" if k == 0 else f"(log n)^{k}" if a == 0 else f"n^({a}) (log n)^{k}"
    return (
        f"up to exponential polynomials it grows like {law} along the integers, which none of them does",
        conditions,
    )


def _fast(case: Case, terms: list[Foreign]) -> tuple[str, tuple[sp.Expr, ...]]:
    """b ~ C n^d e^{P(n)} in the end, with deg P >= 2."""
    u, logs = case.u, set(case.logs.values)
    for term in terms:
        polynomial = term.growth.is_polynomial(u) and free_symbols(term.growth) <= {u}
        if term.powers or not polynomial or logs & free_symbols(term.growth):
            raise _open(case)
    top = terms[0]
    for term in terms[1:]:
        if sp.Poly(term.growth - top.growth, u).LC() > 0:
            top = term
    if sp.Poly(top.growth, u).degree() < 2:
        raise _open(case)
    conditions = nonvanishing(top.coefficient, {}, "the leading coefficient of the bias")
    return (
        f"up to exponential polynomials it behaves like exp({text(top.growth)}) times a power of n along "
        "the integers, faster than any μⁿ",
        conditions,
    )


__all__ = ["unsteady"]
