"""When two encodings are one up to a change of basis: the intertwiner that W_q and W_k absorb, or the reason.

S X_a = X_b S   =>   S exp(uX_a) = exp(uX_b) S,   so with W_q' = S⁻ᵀ W_q and W_k' = S W_k
the encoding b on (W_q', W_k') scores as a on (W_q, W_k).
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from .decide import Status, Verdict, decide
from .encoding import Encoding
from .entries import GAP, Identities
from .errors import BadInput, Undecidable, WrongType
from .generator import Generator
from .kinds.generated import FreeNames, Generated
from .separate import apart
from .spectral.classify import AnyBlock


@dataclass(frozen=True)
class Intertwiner:
    """S with S X_a = X_b S, invertible, on the content features; `verdict` says what was decided.

    matrix: S, which multiplies W_k; inverse: S⁻¹, whose transpose multiplies W_q; both (head_dim, head_dim).
    """

    matrix: sp.ImmutableMatrix
    inverse: sp.ImmutableMatrix
    verdict: Verdict

    @property
    def query_matrix(self) -> sp.ImmutableMatrix:
        """S⁻ᵀ: W_q' = S⁻ᵀ W_q."""
        return self.inverse.T

    @property
    def key_matrix(self) -> sp.ImmutableMatrix:
        """S: W_k' = S W_k."""
        return self.matrix

    @property
    def query_rows(self) -> tuple[int, ...] | None:
        """Row i of W_q' is row `query_rows[i]` of W_q, times `signs[i]`; None if S mixes features."""
        return _rows(self.query_matrix)

    @property
    def key_rows(self) -> tuple[int, ...] | None:
        """Row i of W_k' is row `key_rows[i]` of W_k, times `signs[i]`; None if S mixes features."""
        return _rows(self.key_matrix)

    @property
    def signs(self) -> tuple[int, ...] | None:
        """1 or -1 for every row; None if S mixes features."""
        rows = self.key_rows
        return rows and tuple(int(self.matrix[i, j]) for i, j in enumerate(rows))


@dataclass(frozen=True)
class Inequivalent:
    """No change of basis carries one encoding to the other, for this `reason`."""

    reason: str


def _rows(matrix: sp.MatrixBase) -> tuple[int, ...] | None:
    """The column of the only entry of each row, when that is 1 or -1 throughout."""
    entries = matrix.todok()
    if len(entries) != matrix.rows or any(abs(x) != 1 for x in entries.values()):
        return None
    rows = dict(entries)
    return tuple(j for _, j in sorted(rows)) if len({i for i, _ in rows}) == matrix.rows else None


def interleaved_row(row: sp.Expr, planes: sp.Expr) -> sp.Expr:
    """Which row of an interleaved W_q or W_k goes to `row` of the half-split one, for any number of planes n.

    p(i) = 2i for i < n, else 2(i - n) + 1.
    """
    return sp.Piecewise((2 * row, row < planes), (2 * (row - planes) + 1, True))


def equivalent(a: Encoding, b: Encoding) -> Intertwiner | Inequivalent:
    """The change of basis that carries the encoding a to b, or why there is none.

    Both must be members of the family with one head; others are refused with BadInput. Biases are compared
    up to a constant, which softmax does not see.
    """
    left, right = _member("a", a), _member("b", b)
    return _outside_the_content(left, right) or _content(left, right)


def _member(name: str, given: object) -> Generated:
    if not isinstance(given, Encoding):
        raise WrongType(f"{name} is a {type(given).__name__}; an Encoding works")
    if len(given.heads) > 1:
        raise BadInput(
            f"{name} is {given.name} with {len(given.heads)} heads; compare heads: {name}.heads[0]"
        )
    if not isinstance(given, Generated):
        raise BadInput(
            f"{name} is {given.name}, which is no generator on q and k themselves, so no basis is changed; "
            "compare nope, rope, decay, damped_rope, alibi and their sums"
        )
    return given


def _outside_the_content(a: Generated, b: Generated) -> Inequivalent | None:
    """Differences that no change of basis of the content mends."""
    if a.head_dim != b.head_dim:
        return Inequivalent(f"head_dim is {a.head_dim} and {b.head_dim}")
    if a.scale != b.scale:
        return Inequivalent(f"the scales are {a.scale} and {b.scale}; only a factor on W_q changes that")
    if not _equal(a.amplitude, b.amplitude):
        return Inequivalent(
            f"the amplitudes are {a.amplitude} and {b.amplitude}; only a factor on W_q changes that"
        )
    if a.value_generator != b.value_generator:
        return Inequivalent("they move the values differently")
    mine, other = (one.relative_bias(GAP) - one.relative_bias(sp.S.Zero) for one in (a, b))
    verdict = decide(mine, other)
    if verdict.status is Status.PROVED:
        return None
    if verdict.status is Status.REFUTED:
        return Inequivalent(
            f"the biases differ by more than a constant: {mine} and {other}; {verdict.reason}"
        )
    return _numbers_apart(mine, other)


def _numbers_apart(mine: sp.Expr, other: sp.Expr) -> Inequivalent | None:
    """For biases with irrational coefficients: equal as they stand, or told apart at gap 1 by balls."""
    if mine == other:
        return None
    found = apart((mine - other).subs(GAP, 1))
    if found:
        return Inequivalent(f"the biases differ by more than a constant: {mine} and {other}")
    raise Undecidable(f"whether the biases {mine} and {other} are equal is not decided")


def _content(a: Generated, b: Generated) -> Intertwiner | Inequivalent:
    """Match the blocks of both generators; S = S_b Π S_a⁻¹ with Π moving the blocks."""
    order = _matching(a.content_generator.blocks, b.content_generator.blocks)
    if isinstance(order, Inequivalent):
        return order
    names = FreeNames()
    left, right = names.generator(a.content_generator), names.generator(b.content_generator)
    move = _block_permutation(left.blocks, right.blocks, order)
    forward = sp.ImmutableMatrix(right.basis * move * left.inverse_basis)
    backward = sp.ImmutableMatrix(left.basis * move.T * right.inverse_basis)
    return Intertwiner(forward, backward, _verified(forward, backward, left, right))


def _matching(mine: tuple[AnyBlock, ...], other: tuple[AnyBlock, ...]) -> list[int] | Inequivalent:
    """For each block of a the place of an equal block of b, each used once."""
    free, order = list(range(len(other))), []
    for index, block in enumerate(mine):
        place = next((i for i in free if _same(block, other[i])), None)
        if place is None:
            unused = ", ".join(map(repr, dict.fromkeys(other[i] for i in free)))
            return Inequivalent(
                f"block {index} of the first is {block!r}, and the second has no such block left (it has "
                f"{unused}); a change of basis leaves the blocks as they are"
            )
        free.remove(place)
        order.append(place)
    return order


def _same(a: AnyBlock, b: AnyBlock) -> bool:
    """Equality of canonical blocks; the parameters are told apart as numbers where they are numbers."""
    if a == b:
        return True
    if a.size != b.size or a.turns != b.turns:
        return False
    return all(_equal(x, y) for x, y in ((a.decay, b.decay), (a.frequency, b.frequency)))


def _equal(x: sp.Expr, y: sp.Expr) -> bool:
    difference = sp.expand(x - y)
    if difference == 0:
        return True
    if difference.free_symbols or apart(difference):
        return False
    raise Undecidable(f"whether {x} and {y} are equal is not decided")


def _block_permutation(
    mine: tuple[AnyBlock, ...], other: tuple[AnyBlock, ...], order: list[int]
) -> sp.ImmutableMatrix:
    """Π, which carries the coordinates of block i of a to those of block order[i] of b."""
    starts = [sum(block.dim for block in other[:i]) for i in range(len(other))]
    entries, column = {}, 0
    for block, place in zip(mine, order, strict=True):
        entries.update({(starts[place] + i, column + i): 1 for i in range(block.dim)})
        column += block.dim
    return sp.ImmutableMatrix(sp.SparseMatrix(column, column, entries))


def _verified(forward: sp.MatrixBase, backward: sp.MatrixBase, left: Generator, right: Generator) -> Verdict:
    """S X_a = X_b S and S S⁻¹ = I, decided for free rates."""
    identities = Identities()
    for lhs, rhs in (
        (forward * left.matrix, right.matrix * forward),
        (forward * backward, sp.eye(forward.rows)),
    ):
        verdict = identities.decide_matrices(lhs, rhs)
        if verdict.status is not Status.PROVED:
            return verdict
    return Verdict(status=Status.PROVED, reason="S X_a = X_b S and S S⁻¹ = I, decided entry by entry")
