"""From closed forms to straight-line programs, by common-subexpression elimination.

What depends on the position only gets a name in a table. A block that turns and slides is turned first,
    exp(tB) = (Σ t^k/k! N^k ⊗ I_2) · (I_m ⊗ e^{-γt} R(ωt)),
so that a turned plane is computed once for all the planes it slides to; every other block is one factor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache

import sympy as sp

from .block import Block
from .errors import WrongType
from .program import Program, Step, Term

DECAY, FREQUENCY = sp.Symbol("gamma", real=True), sp.Symbol("omega", positive=True)

# An input, or a sum of (sign, table or None for 1, node); equal sums are equal nodes.
Node = sp.Symbol | tuple[tuple[int, sp.Symbol | None, "Node"], ...]


@lru_cache(maxsize=256)
def shape_program(
    size: int,
    *,
    turns: bool,
    fades: bool,
    transpose: bool = False,
    inverse: bool = False,
    signs: tuple[int, ...] | None = None,
) -> Program:
    """The program of all blocks of one shape, as `lower`; DECAY and FREQUENCY stand for their rates."""
    block = Block(DECAY if fades else 0, FREQUENCY if turns else 0, size)
    return lower(block, transpose=transpose, inverse=inverse, signs=signs)


def lower(
    block: Block,
    *,
    transpose: bool = False,
    inverse: bool = False,
    signs: tuple[int, ...] | None = None,
) -> Program:
    """The program of y = exp(tB) x, of its transpose, of its inverse exp(-tB), or of both.

    Where nothing fades the inverse has the same tables, and other signs in the steps. The arithmetic and the
    names depend on the shape of the block only, not on its rates. signs: ±1 for every coordinate; the program
    is then that of D exp(tB) D, D = diag(signs). Errors: WrongType unless a Block.
    """
    if not isinstance(block, Block):
        raise WrongType(f"block is a {type(block).__name__}; a Block works")
    t = _position(block)
    time = -t if inverse else t
    names = _tables(block, t, time)
    inputs = _symbols("x", block.dim)
    values: list[Node] = list(inputs)
    for factor in _factors(block, time):
        moved = _mirrored(factor.T if transpose else factor, signs)
        values = [_row(row, values, names) for row in moved.tolist()]
    outputs = _symbols("y", block.dim)
    closed = _mirrored(block.exp(time), signs)
    return Program(
        name=_name(block, signs is not None, transpose, inverse),
        inputs=inputs,
        tables=tuple((symbol, value) for value, symbol in names.items()),
        steps=_steps(values, outputs),
        outputs=outputs,
        closed_form=closed.T if transpose else closed,
        position=t,
    )


def _symbols(letter: str, count: int) -> tuple[sp.Symbol, ...]:
    return tuple(sp.Symbol(f"{letter}{i}", real=True) for i in range(count))


def _position(block: Block) -> sp.Symbol:
    """t, or t_0, … where a rate already has that name."""
    taken = {symbol.name for symbol in block.decay.free_symbols | block.frequency.free_symbols}
    names = ["t", *(f"t_{i}" for i in range(len(taken)))]
    return sp.Symbol(next(name for name in names if name not in taken), real=True)


def _mirrored(matrix: sp.MatrixBase, signs: tuple[int, ...] | None) -> sp.MatrixBase:
    """D M D with D = diag(signs)."""
    if signs is None:
        return matrix
    return matrix.from_dok(
        *matrix.shape, {(i, j): signs[i] * signs[j] * x for (i, j), x in matrix.todok().items()}
    )


def _name(block: Block, mirrored: bool, transpose: bool, inverse: bool) -> str:
    """A name in C and Python: fade, turn, damped_turn, faded_slide2, damped_turning_slide3_transposed, …"""
    faded, slid = block.decay != 0, block.size > 1
    if block.turns:
        words = ["damped"] * faded + (["turning", f"slide{block.size}"] if slid else ["turn"])
    elif slid:
        words = ["faded"] * faded + [f"slide{block.size}"]
    else:
        words = ["fade" if faded else "hold"]
    return "_".join(words + ["mirrored"] * mirrored + ["transposed"] * transpose + ["inverse"] * inverse)


def _tables(block: Block, t: sp.Expr, time: sp.Expr) -> dict[sp.Expr, sp.Symbol]:
    """What depends on position only, in the order it is shown: value -> name."""
    fade = sp.exp(-block.decay * time)
    powers = {str(k) if k > 1 else "": t**k / sp.factorial(k) for k in range(1, block.size)}
    if block.turns:
        angle = block.frequency * t
        named = {"c": fade * sp.cos(angle), "s": fade * sp.sin(angle)}
        named |= {f"t{k}": power for k, power in powers.items()}
    elif block.decay == 0:
        named = {f"t{k}": power for k, power in powers.items()}
    else:
        named = {"f": fade} | {f"f{k or 1}": fade * power for k, power in powers.items()}
    return {value: sp.Symbol(name, real=True) for name, value in named.items()}


def _factors(block: Block, time: sp.Expr) -> tuple[sp.MatrixBase, ...]:
    """Matrices whose product is exp(time·B), the one that is applied first in front."""
    if not block.turns or block.size == 1:
        return (block.exp(time),)
    one = Block(block.decay, block.frequency).exp(time)
    slide = Block(0, size=block.size).exp(time)
    return sp.kronecker_product(sp.eye(block.size), one), sp.kronecker_product(slide, sp.eye(2))


def _row(row: list[sp.Expr], values: list[Node], names: Mapping[sp.Expr, sp.Symbol]) -> Node:
    """Σ_j row_j values_j, a positive term first; a single value times 1 is that value."""
    terms = [
        (*_coefficient(entry, names), value) for entry, value in zip(row, values, strict=True) if entry != 0
    ]
    if len(terms) == 1 and terms[0][:2] == (1, None):
        return terms[0][2]
    first = next((i for i, term in enumerate(terms) if term[0] > 0), 0)
    return (terms[first], *terms[:first], *terms[first + 1 :])


def _coefficient(entry: sp.Expr, names: Mapping[sp.Expr, sp.Symbol]) -> tuple[int, sp.Symbol | None]:
    """(sign, table) of an entry that is ± an entry of a table, or ±1."""
    if abs(entry) == 1:
        return int(entry), None
    return (1, names[entry]) if entry in names else (-1, names[-entry])


def _steps(values: list[Node], outputs: tuple[sp.Symbol, ...]) -> tuple[Step, ...]:
    """A step for every output, and for every other sum that is used more than once or multiplied."""
    sums = sorted(dict.fromkeys(node for value in values for node in _sums(value)), key=_level)
    parts = [(table, value) for node in sums for _, table, value in node]
    uses = Counter(value for _, value in parts)
    multiplied = {value for table, value in parts if table is not None}
    names = dict(zip(values, outputs, strict=True))
    shared = [node for node in sums if node not in names and (uses[node] > 1 or node in multiplied)]
    names |= zip(shared, _symbols("z", len(shared)), strict=False)
    steps = [Step(names[node], _terms(node, names)) for node in sums if node in names]
    copies = [Step(names[x], (Term(1, (x,)),)) for x in values if isinstance(x, sp.Symbol)]
    return (*steps, *copies)


def _sums(node: Node) -> Iterator[tuple]:
    """The sums in a node, inner ones first."""
    if not isinstance(node, sp.Symbol):
        for _, _, value in node:
            yield from _sums(value)
        yield node


def _level(node: Node) -> int:
    """How many sums stand inside each other."""
    return 0 if isinstance(node, sp.Symbol) else 1 + max(_level(value) for _, _, value in node)


def _terms(node: tuple, names: Mapping[Node, sp.Symbol]) -> tuple[Term, ...]:
    """The terms of a sum; a sum inside it without a name of its own is opened."""
    found = []
    for sign, table, value in node:
        if isinstance(value, sp.Symbol) or value in names:
            symbol = value if isinstance(value, sp.Symbol) else names[value]
            found.append(Term(sign, (symbol,) if table is None else (symbol, table)))
        else:
            found += [Term(sign * term.sign, term.factors) for term in _terms(value, names)]
    return tuple(found)


__all__ = ["DECAY", "FREQUENCY", "lower", "shape_program"]
