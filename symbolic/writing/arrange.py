"""What comes in which order in a written formula, what goes under a bar, and what is cut short with dots."""

from __future__ import annotations

import sympy as sp
from sympy.matrices.expressions import MatAdd, MatMul
from sympy.tensor.indexed import Indexed

MOST_DIGITS = 1000  # of a number that is written out
_ENDS = 6  # digits of a longer one that are kept on either side
_LONGEST = 8  # more rows or columns than this are elided with dots
_POSITIONS = frozenset({"t", "s", "u", "v"})  # written after what multiplies them: γ t, as are clocks τ
_SHOWN = (4, 2)  # how many of them are kept before and after the dots


def is_exp(node: sp.Expr) -> bool:
    return isinstance(node, sp.exp)


def terms(node: sp.Add | MatAdd) -> list[sp.Expr]:
    return list(node.args) if isinstance(node, MatAdd) else list(node.as_ordered_terms())


def cut(written: str) -> tuple[str, str, int]:
    """The first digits of a long number, its last ones, and how many it has."""
    return written[:_ENDS], written[-_ENDS:], len(written)


def negated(node: sp.Mul | MatMul) -> sp.Expr:
    """-node, without evaluating anything else."""
    first, *rest = node.args
    factors = rest if first == -1 else [-first, *rest]
    return factors[0] if len(factors) == 1 else node.func(*factors, evaluate=False)


def sorted_factors(factors: list[sp.Expr]) -> tuple[list[sp.Expr], list[sp.Expr], list[sp.Expr]]:
    """Factors above the bar, below it, and trailing: exponentials, then functions and operators."""
    above: list[sp.Expr] = []
    below: list[sp.Expr] = []
    trailing: list[sp.Expr] = []
    for factor in sorted(factors, key=_rank):
        if factor.is_Rational:
            above += [] if factor.p == 1 and len(factors) > 1 else [sp.Integer(factor.p)]
            below += [] if factor.q == 1 else [sp.Integer(factor.q)]
        elif (
            isinstance(factor, sp.Pow)
            and factor.args[1].is_Rational
            and factor.args[1] < 0
            and _plain(factor)
        ):
            below.append(factor.args[0] if factor.args[1] == -1 else sp.Pow(factor.args[0], -factor.args[1]))
        elif _rank(factor) < 4:
            above.append(factor)
        else:
            trailing.append(factor)
    return above, below, trailing


def _plain(power: sp.Pow) -> bool:
    """Whether the exponent is a whole or a half number, so that a bar or a root reads better."""
    return power.args[1].q in (1, 2)


def _rank(factor: sp.Expr) -> float:
    """Numbers and roots, queries, other symbols, positions, sums, exponentials, functions, then operators."""
    base = factor.args[0] if isinstance(factor, sp.Pow) else factor
    if base.is_number:
        return 0
    if isinstance(base, (sp.Symbol, Indexed)):
        name = str(base)
        return 1 if name.startswith("q") else 2.5 if name in _POSITIONS or name.startswith("tau") else 2
    if is_exp(base):
        return 5
    if isinstance(base, sp.Function):
        return 6
    if isinstance(base, (sp.Derivative, sp.Subs, sp.Sum, sp.Product)):
        return 7
    return 3


def kept(count: int) -> list[int | None]:
    """Which indices are shown; None stands for the dots."""
    if count <= _LONGEST:
        return list(range(count))
    before, after = _SHOWN
    return [*range(before), None, *range(count - after, count)]


def shared_operator(matrix: sp.MatrixBase) -> sp.Derivative | sp.Subs | None:
    """The d/dt or |t=a that every entry of the matrix carries, if one does: 0 carries any derivative."""
    entries = matrix.flat()
    carried = [entry for entry in entries if isinstance(entry, (sp.Derivative, sp.Subs))]
    if not carried or any(x.args[1:] != carried[0].args[1:] for x in carried):
        return None
    free = [entry for entry in entries if not isinstance(entry, (sp.Derivative, sp.Subs))]
    untouched = all(x == 0 if isinstance(carried[0], sp.Derivative) else x.is_number for x in free)
    return carried[0] if untouched and len({type(x) for x in carried}) == 1 else None


def operand(entry: sp.Expr) -> sp.Expr:
    """What the shared operator acts on; 0, and a number that is not touched, stands for itself."""
    return entry.args[0] if isinstance(entry, (sp.Derivative, sp.Subs)) else entry
