"""Where a long formula may be broken: before relations and signs, between factors that are matrices or sums.

The pieces are finished Typst math; set side by side, in order, they are the whole formula.
"""

from __future__ import annotations

import sympy as sp
from sympy.matrices.expressions import MatAdd, MatMul

from .arrange import negated, sorted_factors, terms
from .dialects import MUL, OPERATOR, Typst
from .writer import Writer

Piece = tuple[str, ...]
"""What belongs on one line, itself in the parts at which it may be broken if it is too long for one."""


def typst_pieces(formula: sp.Basic | sp.MatrixBase) -> list[Piece]:
    """The formula as Typst math in pieces that may stand on lines of their own."""
    writer = Writer(Typst())
    if not isinstance(formula, (sp.Add, MatAdd)):
        return _factors(writer, formula)
    signed = [(_is_negative(term), term) for term in terms(formula)]
    first = next((i for i, (negative, _) in enumerate(signed) if not negative), 0)
    signed.insert(0, signed.pop(first))
    pieces: list[Piece] = []
    for place, (negative, term) in enumerate(signed):
        sign = "- " if negative and place else "-" if negative else "+ " if place else ""
        (head, *tail), *rest = _factors(writer, _size(term) if negative else term, OPERATOR)
        pieces += [(sign + head, *tail), *rest]
    return pieces


def _is_negative(term: sp.Expr) -> bool:
    number = term.args[0] if isinstance(term, (sp.Mul, MatMul)) else term
    return bool(number.is_Rational and number < 0)


def _size(term: sp.Expr) -> sp.Expr:
    return -term if term.is_Rational else negated(term)


def _factors(writer: Writer, node: sp.Basic | sp.MatrixBase, level: int = -2) -> list[Piece]:
    """Factors of a matrix product as pieces of their own; a product of numbers is one piece, in parts."""
    if isinstance(node, (sp.Mul, MatMul)) and _is_negative(node):
        (head, *tail), *rest = _factors(writer, negated(node), OPERATOR)
        return [("-" + head, *tail), *rest]
    if isinstance(node, MatMul):
        pieces = [writer.grouped(factor, MUL) for factor in node.args]
        if node.args[0].is_number and len(pieces) > 1:
            pieces[:2] = [f"{pieces[0]} {pieces[1]}"]
        return [(piece,) for piece in pieces]
    return [tuple(_parts(writer, node)) or (writer.grouped(node, level),)]


def _parts(writer: Writer, node: sp.Basic | sp.MatrixBase) -> list[str]:
    """A product of numbers, broken before each factor that is a sum; nothing where that is no help."""
    if not isinstance(node, sp.Mul) or not all(factor.is_commutative for factor in node.args):
        return []
    above, below, trailing = sorted_factors(list(node.args))
    if below:
        return []
    parts: list[str] = []
    for factor in above + trailing:
        text = writer.grouped(factor, MUL)
        base = factor.args[0] if isinstance(factor, sp.Pow) else factor
        if parts and not isinstance(base, sp.Add):
            dot = writer.out.dot if text[0].isdigit() else writer.out.times
            parts[-1] += dot + text
        else:
            parts.append(text)
    return parts if len(parts) > 1 else []
