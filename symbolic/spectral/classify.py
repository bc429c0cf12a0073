"""The real Jordan type of any exact matrix: X = S (⊕ blocks) S⁻¹, part by connected part.

A part that already is a canonical block is read off. Any other goes through its Jordan form over the field
of its entries, whose blocks are then brought to J_m(-γ) or C_m(γ, ω) where eigenvalues are at most quadratic:

    p = λ² + 2γλ + γ² + ω²:  C(p) U = U [[-γ, -ω], [ω, -γ]],  U = [[ω, γ], [0, 1]]
    p = (λ - λ₁)(λ - λ₂):    C(p) U = U diag(λ₁, λ₂),          U = [[-λ₂, -λ₁], [1, 1]]

and kept as companion blocks otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from ..block import Block
from ..errors import Unsupported
from ..walk import text
from .companion import CompanionBlock
from .definite import possible_signs
from .jordan import Chain, FieldForm, field_form
from .recognise import recognise
from .rootflow import LAMBDA
from .sparse import diagonal, from_sparse, product
from .spectrum import Factor, connected_parts, over_a_field

AnyBlock = Block | CompanionBlock


@dataclass(frozen=True)
class Classified:
    """X = basis · (⊕ blocks) · inverse."""

    blocks: tuple[AnyBlock, ...]
    basis: sp.ImmutableMatrix
    inverse: sp.ImmutableMatrix


def classify(matrix: sp.ImmutableMatrix) -> Classified:
    """Blocks and bases of an exact real square matrix.

    Errors: Unsupported for entries outside the fields of `over_a_field`, and for symbolic entries whose
    assumptions leave the type open; the message names the discriminant.
    """
    blocks: list[AnyBlock] = []
    columns: dict[tuple[int, int], sp.Expr] = {}
    rows: dict[tuple[int, int], sp.Expr] = {}
    for part in connected_parts(matrix):
        start = sum(block.dim for block in blocks)
        found = _classify_part(sp.ImmutableMatrix(matrix.extract(part, part)))
        blocks += found.blocks
        columns.update({(part[i], start + j): x for (i, j), x in found.basis.todok().items()})
        rows.update({(start + i, part[j]): x for (i, j), x in found.inverse.todok().items()})
    return Classified(tuple(blocks), from_sparse(matrix.rows, columns), from_sparse(matrix.rows, rows))


def _classify_part(part: sp.ImmutableMatrix) -> Classified:
    known = recognise(part)
    if known is not None:
        block, signs = known
        flip = diagonal([sp.Matrix([[sign]]) for sign in signs])
        return Classified((block,), flip, flip)
    form = field_form(over_a_field(part))
    pieces = [_real_blocks(chain) for chain in form.chains]
    _check_poles(form)
    change = diagonal([piece.basis for piece in pieces])
    back = diagonal([piece.inverse for piece in pieces])
    basis = product(form.basis.to_Matrix(), change).applyfunc(_tidy)
    inverse = product(back, form.inverse.to_Matrix()).applyfunc(_tidy)
    return Classified(tuple(block for piece in pieces for block in piece.blocks), basis, inverse)


def _tidy(entry: sp.Expr) -> sp.Expr:
    """Numbers a + b√d written out; symbolic entries stay as they are."""
    return entry if entry.is_Rational or entry.free_symbols else sp.expand(entry)


def _real_blocks(chain: Chain) -> Classified:
    """The real blocks of I_m ⊗ C(p) + N_m ⊗ I_r, and U, U⁻¹."""
    p, m = chain.factor, chain.size
    if p.degree == 1:
        unit = sp.ImmutableMatrix(sp.eye(m))
        return Classified((Block(p.numbers[1], 0, m),), unit, unit)
    if p.degree == 2:
        _, b, c = p.numbers
        square = sp.expand(b**2 / 4 - c)  # a quarter of the discriminant
        if square.is_Rational or square.free_symbols:
            return _quadratic(p, m, b / 2, square)
    if any(c.free_symbols for c in p.numbers):
        whole = _polynomial(p)
        raise Unsupported(
            f"matrix has a characteristic polynomial that does not split: {text(whole.as_expr())} is "
            f"irreducible, with discriminant {text(sp.factor(whole.discriminant()))}; put numbers for its "
            "symbols, or give Generator.direct_sum(Block(...), ..., basis=S)"
        )
    unit = sp.ImmutableMatrix(sp.eye(chain.dim))
    return Classified((CompanionBlock(_polynomial(p), m, p.multiplicity),), unit, unit)


def _polynomial(p: Factor) -> sp.Poly:
    return sp.Poly.from_list(list(p.coefficients), LAMBDA, domain=p.field)


def _quadratic(p: Factor, m: int, decay: sp.Expr, square: sp.Expr) -> Classified:
    """λ = -γ ± √`square`: a turning block, or two blocks with different real eigenvalues."""
    signs = possible_signs(square)
    if signs == {-1}:
        w = sp.sqrt(-square)
        change = sp.Matrix([[w, decay], [0, 1]])
        back = sp.Matrix([[1 / w, -decay / w], [0, 1]])
        return Classified((Block(decay, w, m),), diagonal([change] * m), diagonal([back] * m))
    if signs == {1}:
        root = sp.sqrt(square)
        low, high = decay - root, decay + root  # the decays: λ₁ = -low, λ₂ = -high
        return _split(m, low, high, root)
    raise Unsupported(
        f"matrix has the factor {text(_polynomial(p).as_expr())} of its characteristic polynomial, whose "
        f"discriminant {text(sp.factor(4 * square))} has no sign that follows from the assumptions; declare "
        "its symbols with signs, e.g. Symbol('k', positive=True)"
    )


def _split(m: int, low: sp.Expr, high: sp.Expr, root: sp.Expr) -> Classified:
    """[[-λ₂, -λ₁], [1, 1]] per cell, with the first columns of all cells before the second ones."""
    change = diagonal([sp.Matrix([[high, low], [1, 1]])] * m)
    back = diagonal([sp.Matrix([[1, -low], [-1, high]]) / (2 * root)] * m)
    order = [*range(0, 2 * m, 2), *range(1, 2 * m, 2)]
    everything = list(range(2 * m))
    return Classified(
        (Block(low, 0, m), Block(high, 0, m)),
        sp.ImmutableMatrix(change.extract(everything, order)),
        sp.ImmutableMatrix(back.extract(order, everything)),
    )


def _check_poles(form: FieldForm) -> None:
    """The form holds wherever S and S⁻¹ have no pole: Unsupported unless no denominator can vanish."""
    if form.matrix.domain.is_Numerical:
        return
    entries = [*form.basis.to_Matrix().flat(), *form.inverse.to_Matrix().flat()]
    divisors = {sp.fraction(sp.together(entry))[1] for entry in entries}
    for divisor in sorted(divisors, key=sp.default_sort_key):
        for factor, _ in sp.factor_list(divisor)[1]:
            if 0 in possible_signs(factor):
                raise Unsupported(
                    f"matrix changes its type where {text(factor)} = 0, which the assumptions allow "
                    f"(discriminant of its different factors: {text(_discriminant(form))}); declare the "
                    f"symbols so that {text(factor)} cannot vanish, or put numbers for them"
                )


def _discriminant(form: FieldForm) -> sp.Expr:
    """The discriminant of the product of the irreducible factors, each once."""
    once = {_polynomial(chain.factor) for chain in form.chains}
    return sp.factor(sp.prod(once).discriminant()) if sp.prod(once).degree() > 1 else sp.S.One
