"""The spectrum over the field of the entries: connected parts, characteristic polynomial, factors.

The field is Q, Q with square roots of rationals, or either with symbols (and π) adjoined. Matrices are
sympy `DomainMatrix` objects, which over Q compute through python-flint's `fmpq_mat`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any

import sympy as sp
from sympy.polys.matrices import DomainMatrix

from ..errors import Unsupported
from ..walk import text

Coefficients = tuple[Any, ...]  # domain elements, highest power first, monic
MAX_ROOTS = 3  # square roots of different rationals in one part: a field of degree 8


@dataclass(frozen=True)
class Factor:
    """An irreducible monic factor of the characteristic polynomial over `field`, and its multiplicity."""

    coefficients: Coefficients
    multiplicity: int
    field: Any

    @property
    def degree(self) -> int:
        """Its degree."""
        return len(self.coefficients) - 1

    @property
    def numbers(self) -> tuple[sp.Expr, ...]:
        """The coefficients as sympy expressions, highest power first."""
        return tuple(self.field.to_sympy(c) for c in self.coefficients)


def connected_parts(matrix: sp.ImmutableMatrix) -> list[list[int]]:
    """The index sets between which no entry is non-zero, each sorted, in the order of their first index."""
    owner = list(range(matrix.rows))
    for i, j in matrix.todok():
        a, b = _root(owner, i), _root(owner, j)
        owner[max(a, b)] = min(a, b)
    parts: dict[int, list[int]] = {}
    for i in range(matrix.rows):
        parts.setdefault(_root(owner, i), []).append(i)
    return list(parts.values())


def _root(owner: list[int], i: int) -> int:
    while owner[i] != i:
        i = owner[i]
    return i


def over_a_field(matrix: sp.ImmutableMatrix, name: str = "matrix") -> DomainMatrix:
    """The matrix over the smallest field of its entries, dense.

    Unsupported for entries that are neither rational, nor square roots of positive rationals, nor rational
    functions in symbols and π of those: the message names the entry.
    """
    constants = _constants(matrix)
    for node in constants:
        if node is not sp.pi and not _square_root(node):
            raise Unsupported(
                f"{name} has the entry {text(_holder(matrix, node))}; outside canonical blocks rationals, "
                f"square roots of rationals and symbols work, so write a free symbol for {text(node)}"
            )
    roots = sorted(constants - {sp.pi}, key=sp.default_sort_key)
    if len(roots) > MAX_ROOTS:
        raise Unsupported(
            f"{name} has {len(roots)} different square roots in one part; up to {MAX_ROOTS} work, "
            "or write free positive symbols for them"
        )
    free = sorted(matrix.free_symbols | (constants & {sp.pi}), key=sp.default_sort_key)
    field = sp.QQ.algebraic_field(*roots) if roots else sp.QQ
    field = field.frac_field(*free) if free else field
    entries = {i: {} for i in range(matrix.rows)}
    for (i, j), entry in matrix.todok().items():
        entries[i][j] = field.from_sympy(entry)
    return DomainMatrix(entries, matrix.shape, field).to_dense()


def _constants(matrix: sp.ImmutableMatrix) -> set[sp.Expr]:
    """What stands in the entries besides rationals, symbols, sums, products and whole powers."""
    found: set[sp.Expr] = set()
    stack = [entry for entry in matrix.todok().values() if not entry.is_Rational]
    while stack:
        node = stack.pop()
        if isinstance(node, sp.Add | sp.Mul) or (isinstance(node, sp.Pow) and node.exp.is_Integer):
            stack += [part for part in node.args if not part.is_Rational]
        elif not isinstance(node, sp.Symbol):
            found.add(_upright(node))
    return found


def _upright(node: sp.Expr) -> sp.Expr:
    """1/√a as √a: the same field."""
    if isinstance(node, sp.Pow) and node.exp == sp.Rational(-1, 2):
        return sp.sqrt(node.base)
    return node


def _square_root(node: sp.Expr) -> bool:
    if not isinstance(node, sp.Pow):
        return False
    base, exponent = node.args
    return bool(base.is_Rational and base.is_positive and exponent.is_Rational and exponent.q == 2)


def _holder(matrix: sp.ImmutableMatrix, node: sp.Expr) -> sp.Expr:
    return next((entry for entry in matrix.todok().values() if entry.has(node)), node)


def factors(matrix: DomainMatrix) -> tuple[Factor, ...]:
    """The irreducible factors of det(λ - A) over the field, by degree, then by coefficients."""
    field, unknown = matrix.domain, sp.Dummy("lambda")
    whole = sp.Poly.from_list(matrix.charpoly(), unknown, domain=field)
    found = [
        Factor(tuple(field.convert(c) for c in _elements(part.monic(), field)), exponent, field)
        for part, exponent in whole.factor_list()[1]
    ]
    return tuple(sorted(found, key=lambda f: (f.degree, *map(sp.default_sort_key, f.numbers))))


def _elements(part: sp.Poly, field: Any) -> list[Any]:
    """The coefficients as elements of `field`."""
    own = part.domain
    return [field.convert_from(c, own) for c in part.rep.to_list()]


def squarefree(found: tuple[Factor, ...]) -> Coefficients:
    """The product of the irreducible factors, each once."""
    product: list[Any] = [found[0].field.one]
    for factor in found:
        product = _multiply(product, factor.coefficients)
    return tuple(product)


def _multiply(a: list[Any], b: Coefficients) -> list[Any]:
    result = [0 * a[0]] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            result[i + j] = result[i + j] + x * y
    return result


def derivative(coefficients: Coefficients) -> Coefficients:
    """The coefficients of p'."""
    return tuple(c * k for c, k in zip(coefficients, count(len(coefficients) - 1, -1), strict=False))[:-1]


def at_matrix(coefficients: Coefficients, matrix: DomainMatrix) -> DomainMatrix:
    """p(A) by Horner's rule."""
    unit = DomainMatrix.eye(matrix.shape[0], matrix.domain).to_dense()
    result = unit * coefficients[0]
    for c in coefficients[1:]:
        result = result * matrix + unit * c
    return result
