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
MAX_PRIME = 10_000  # dependent square roots are seen as such by their primes up to here
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
    roots = _independent(sorted(constants - {sp.pi}, key=sp.default_sort_key))
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
        entries[i][j] = _placed(entry, field, name)
    return DomainMatrix(entries, matrix.shape, field).to_dense()


def _placed(entry: sp.Expr, field: Any, name: str) -> Any:
    """The entry as an element of the field. Unsupported where sympy's search for it runs out of digits."""
    try:
        return field.from_sympy(entry)
    except ValueError as error:  # of PSLQ, for roots of long numbers
        raise Unsupported(
            f"{name} has the entry {text(entry)}, whose numbers are too long for a field; write a free "
            "symbol for it"
        ) from error


def in_field(matrix: sp.MatrixBase) -> DomainMatrix:
    """The matrix over a field of its entries in which 0 is recognised, as far as there is one.

    sympy finds none for √2 beside π or a symbol and leaves such entries as expressions, whose sums and
    products are not compared; `over_a_field` has one. Else expressions up to cancellation.
    """
    plain = matrix.to_DM(extension=True).to_field()
    if plain.domain != sp.EXRAW:
        return plain
    try:
        return over_a_field(sp.ImmutableMatrix(matrix))
    except Unsupported:
        return plain.convert_to(sp.EX)


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


def _independent(roots: list[sp.Expr]) -> list[sp.Expr]:
    """Those whose products give all of them up to rationals: √6 is in the field of √2 and √3."""
    kept, echelon = [], []
    for root in roots:
        found = sp.factorrat(root.base, limit=MAX_PRIME, use_rho=False, use_pm1=False)
        primes = frozenset(p for p, power in found.items() if power % 2)
        for row in echelon:
            primes = min(primes, primes ^ row, key=lambda x: sorted(x, reverse=True))
        if primes:
            echelon.append(primes)
            kept.append(root)
    return kept


def _holder(matrix: sp.ImmutableMatrix, node: sp.Expr) -> sp.Expr:
    return next((entry for entry in matrix.todok().values() if entry.has(node)), node)


def factors(matrix: DomainMatrix) -> tuple[Factor, ...]:
    """The irreducible factors of det(λ - A) over the field, by degree, then by coefficients."""
    field, unknown = matrix.domain, sp.Dummy("lambda")
    whole = sp.Poly.from_list(matrix.charpoly(), unknown, domain=field)
    found = [
        Factor(tuple(field.convert(c) for c in elements(part.monic(), field)), exponent, field)
        for part, exponent in whole.factor_list()[1]
    ]
    return tuple(sorted(found, key=lambda f: (f.degree, *map(sp.default_sort_key, f.numbers))))


def elements(part: sp.Poly, field: Any) -> list[Any]:
    """The coefficients as elements of `field`, highest power first."""
    own = part.domain
    return [monic_below(field.convert_from(c, own)) for c in part.rep.to_list()]


def monic_below(element: Any) -> Any:
    """The same element of a field; of fractions over an algebraic field the one with a monic denominator.

    There sympy cancels no constants: 16√2/16√2 is not 1 to it, and numbers grow with every step.
    """
    field = getattr(element, "field", None)
    if field is None or not field.domain.is_AlgebraicField:
        return element
    inverse = field.domain.one / element.denom.LC
    return field.raw_new(element.numer.mul_ground(inverse), element.denom.mul_ground(inverse))


def inverse_slope(irreducible: sp.Poly) -> sp.Poly:
    """q with q·p' = 1 modulo p."""
    field, gen = irreducible.domain, irreducible.gen
    found, unit = irreducible.diff().half_gcdex(irreducible)
    (unit,) = elements(unit, field)
    return sp.Poly.from_list([monic_below(c / unit) for c in elements(found, field)], gen, domain=field)


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
