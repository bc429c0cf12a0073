"""Exact tests of symmetric matrices: positive definite, positive semidefinite, and the condition number."""

from __future__ import annotations

import sympy as sp
from sympy.polys.matrices import DomainMatrix

from ..balls import Enclosure, enclose
from ..premises import Premises
from ..sign_rules import Signs, signs_of
from .isolate import isolate
from .spectrum import in_field


def is_positive_definite(matrix: sp.ImmutableMatrix) -> bool:
    """Whether every leading principal minor is positive, for all values of the symbols (Sylvester)."""
    field = _over_field(matrix)
    for n in range(1, matrix.rows + 1):
        corner = field.extract(list(range(n)), list(range(n)))
        if possible_signs(field.domain.to_sympy(corner.det())) != {1}:
            return False
    return True


def is_positive_semidefinite(matrix: sp.ImmutableMatrix) -> bool:
    """Whether all e_k >= 0 in det(λ - M) = Σ (-1)^k e_k λ^(n-k), for all values of the symbols.

    All eigenvalues of a symmetric M are real, and real roots are all >= 0 exactly if the signs alternate.
    """
    field = _over_field(matrix)
    coefficients = [field.domain.to_sympy(c) for c in field.charpoly()]
    return all(-1 not in possible_signs(sp.expand((-1) ** k * c)) for k, c in enumerate(coefficients))


def root_of_condition(matrix: sp.ImmutableMatrix, digits: int = 20) -> Enclosure | None:
    """√(λ_max/λ_min) of a positive definite matrix of numbers; None if symbols are left."""
    if matrix.free_symbols:
        return None
    field = _over_field(matrix)
    polynomial = sp.Poly.from_list(field.charpoly(), sp.Dummy("lambda"), domain=field.domain).sqf_part()
    values = [root.real for root in isolate(polynomial.monic(), digits + 5)]
    low, high = min(v.lower for v in values), max(v.upper for v in values)
    if len(values) == 1:
        return Enclosure(sp.S.One, sp.S.One)
    least, most = max(v.lower for v in values), min(v.upper for v in values)
    return Enclosure(enclose(sp.sqrt(least / most), digits).lower, enclose(sp.sqrt(high / low), digits).upper)


def _over_field(matrix: sp.MatrixBase) -> DomainMatrix:
    return in_field(matrix).to_dense()


def possible_signs(number: sp.Expr) -> Signs:
    """The signs that the value may have: exact for numbers of a field, by sign rules with symbols."""
    if number.free_symbols:
        return signs_of(sp.factor(number), Premises.of((), number.free_symbols))
    return frozenset([0 if number == 0 else 1 if enclose(number, 5).lower > 0 else -1])
