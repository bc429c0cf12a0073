"""Ho and Kalman's realisation of finitely many exact samples: b(n) = cᵀ Aⁿ v with A = H₁ H₀⁻¹ over Q.

H₀ = [b(i+j)], H₁ = [b(i+j+1)], i, j < d. (B. L. Ho, R. E. Kalman, Regelungstechnik 14 (1966) 545-548.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp
from sympy.polys.domains import QQ
from sympy.polys.matrices import DomainMatrix

from ..admit import exact_rational
from ..errors import BadInput, WrongType

MAX_SAMPLES = 512


@dataclass(frozen=True)
class Recurrence:
    """The least linear recurrence that all samples solve: its companion matrix, b(0..d-1), det H₀ ≠ 0."""

    step: sp.ImmutableMatrix
    start: tuple[sp.Rational, ...]
    determinant: sp.Rational


def exact_samples(samples: object) -> tuple[sp.Rational, ...]:
    """The samples as rationals, at least three of them."""
    if isinstance(samples, str) or not isinstance(samples, Sequence):
        raise WrongType(f"samples is {samples!r}; a list of exact numbers b(0), b(1), … works")
    if not 3 <= len(samples) <= MAX_SAMPLES:
        raise BadInput(f"samples has {len(samples)} entries; between 3 and {MAX_SAMPLES} work")
    return tuple(exact_rational(x, f"samples[{n}]") for n, x in enumerate(samples))


def recurrence(samples: tuple[sp.Rational, ...]) -> Recurrence:
    """The recurrence of least order d, which must leave at least one sample over as evidence.

    Errors: BadInput if every order that fits needs all samples, which any numbers would allow.
    """
    b = [QQ(int(x.p), int(x.q)) for x in samples]
    d = _hankel(b, 0, len(b) // 2).rank()
    if not d:
        return Recurrence(sp.ImmutableMatrix(0, 0, []), (), sp.S.One)
    if len(b) <= 2 * d:
        raise BadInput(
            f"samples are {len(b)} numbers without a recurrence of order below {len(b) / 2:g}; any {2 * d} "
            f"numbers fit order {d}, so give more samples"
        )
    head = _hankel(b, 0, d)
    determinant = head.det()
    step = _hankel(b, 1, d) * head.inv() if determinant else None
    if step is None or not _continues(step, b, d):
        raise BadInput(f"samples solve no recurrence that {len(b)} numbers determine; give more samples")
    return Recurrence(sp.ImmutableMatrix(step.to_Matrix()), samples[:d], QQ.to_sympy(determinant))


def _hankel(b: list, first: int, size: int) -> DomainMatrix:
    return DomainMatrix([[b[first + i + j] for j in range(size)] for i in range(size)], (size, size), QQ)


def _continues(step: DomainMatrix, b: list, d: int) -> bool:
    """Whether (b(n+1), …, b(n+d)) = A (b(n), …, b(n+d-1)) as long as there are samples."""
    state = DomainMatrix([[x] for x in b[:d]], (d, 1), QQ)
    for n in range(1, len(b) - d + 1):
        state = step * state
        if [row[0] for row in state.to_list()] != b[n : n + d]:
            return False
    return True


__all__ = ["Recurrence", "exact_samples", "recurrence"]
