"""`realize`: a bias b(u) as cᵀ exp(uX) v with the least possible X, or the reason why there is none.

Kronecker's theorem for continuous b: cᵀ exp(uX) v are exactly the real exponential polynomials, of order
Σ (degree + 1) over their exponents, conjugates counted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .errors import BadInput, Unsupported
from .realizing.approximation import Approximation, approximate
from .realizing.case import Case
from .realizing.fence import foreign, fractional, kinked
from .realizing.flowing import flowing
from .realizing.realized import NotRealizable, Realization, Slots, Witness
from .realizing.stepped import stepped


def realize(
    bias: Any,
    u: Any,
    *,
    domain: str = "real",
    modulo_row_constant: bool = False,
    tolerance: Any = None,
    window: Any = None,
) -> Realization | Approximation | NotRealizable:
    """Decide whether bias(u) = cᵀ exp(uX) v for all u of the domain, and give the least X, c and v.

    bias: exact sympy expression in the gap u (positions) and real symbols, added to the logits.
    domain: "real" all u, "causal" u >= 0; "integers" and "causal-integers" only whole u, where
        bias(n) = cᵀ Aⁿ v and A = `step` may be singular.
    modulo_row_constant: count the order up to a constant per query, which softmax ignores.
    tolerance, window: both or none; both ask for a constant plus decays within tolerance for all real u of
        the window (a, b), a >= 0: an Approximation with a proved bound.
    Returns Realization, NotRealizable, or the Approximation; where the bias has no value, as log(u) for
    u <= 0, nothing is claimed, and `defined` says so. Errors: WrongType and BadInput for
    malformed input, Unsupported where the question is not decided, each with what would work.
    """
    case = Case(bias, u, domain, modulo_row_constant)
    found = _answer(case, tolerance, window)
    asked = case.demands
    if isinstance(found, Approximation):
        asked = tuple(demand for demand in asked if not case.granted(demand, *found.window))
    return replace(found, defined=tuple(demand.relation for demand in asked))


def _answer(case: Case, tolerance: Any, window: Any) -> Realization | Approximation | NotRealizable:
    if tolerance is not None or window is not None:
        if tolerance is None or window is None:
            raise BadInput("tolerance and window belong together; give both, or none for an exact answer")
        return approximate(case, tolerance, window)
    if case.whole:
        return stepped(case)
    whole = [case.undivided(piece) for piece in case.pieces()]
    pieces = [piece for piece in whole if piece is not None]
    if len(pieces) < len(whole):
        return fractional(case)
    found = [case.spectrum(piece.formula) for piece in pieces]
    for piece, spectrum in zip(pieces, found, strict=True):
        if spectrum.foreign:
            return foreign(case, piece, spectrum)
    broken = kinked(case, pieces)
    if broken is None and case.intervals()[-1].upper.is_finite:
        raise Unsupported("bias has steps for ever that cancel where it was looked at; write it without them")
    return flowing(case, pieces[-1].formula, found[-1].modes) if broken is None else broken


__all__ = ["Approximation", "NotRealizable", "Realization", "Slots", "Witness", "realize"]
