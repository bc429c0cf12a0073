"""Biases on whole positions: recurrences with their least order, and signs that alternate."""

from dataclasses import dataclass
from typing import Any

import sympy as sp

from ...symbolic.block import Block
from ...symbolic.decide import Status
from ...symbolic.induction import Induction
from ...symbolic.signs import Sign
from ...symbolic.tree import At
from ..law import Law
from ..step import Determinant, Exact, Identity
from .common import g, product, w
from .realisation import CHAPTER, companion

n = sp.Symbol("n", nonnegative=True)
a, b, c, p, q = sp.symbols("a b c x y", real=True)


@dataclass(frozen=True)
class Sequence:
    """A bias on n = 0, 1, …: recurrence (a₀, a₁, …), claimed entries, helpers, first values, determinant."""

    title: str
    formula: str
    equation: str
    low: tuple[Any, ...]
    claim: tuple[sp.Expr, ...]
    helpers: dict[sp.Symbol, tuple[Any, Any]]
    values: tuple[Any, ...]
    determinant: sp.Expr
    comment: str


half = sp.Rational(1, 2)
SEQUENCES = {
    "square": Sequence(
        "The square, at whole gaps",
        "n²",
        "(x - 1)³",
        (-1, 3, -3),
        (n**2, (n + 1) ** 2, (n + 2) ** 2),
        {},
        (0, 1, 4, 9, 16),
        -sp.Integer(8),
        "The same order as on the line.",
    ),
    "alternating": Sequence(
        "Growth and an alternating sign",
        "2ⁿ + (-1)ⁿ",
        "(x - 2)(x + 1)",
        (-2, -1),
        (p + q, 2 * p - q),
        {p: (1, 2 * p), q: (1, -q)},
        (2, 1, 5),
        sp.Integer(9),
        "The root -1 has no real logarithm: on the line [it costs a plane](#alternating-line).",
    ),
    "faded-slide": Sequence(
        "The faded slide, at whole gaps",
        "n/2ⁿ",
        "(x - 1/2)²",
        (half**2, -2 * half),
        (n * p, (n + 1) * p / 2),
        {p: (1, p / 2)},
        (0, half, half),
        -(half**2),
        "Halving at every step is the fade of rate log 2.",
    ),
}


@CHAPTER.law("recurrent", encodings=tuple(SEQUENCES))
def recurrent(name: str) -> Law:
    found = SEQUENCES[name]
    d = len(found.low)
    state = (a, b, c)[:d]
    follows = Exact(
        name="vₙ = Aⁿv is (b(n), b(n + 1), …)", goal=True, of=_recursion(found, found.low), note=_NOTES[name]
    )
    hankel = sp.ImmutableMatrix(d, d, lambda i, j: found.values[int(i + j)])
    det = Determinant(name="its determinant", goal=True, lhs=hankel, rhs=found.determinant)
    return Law(
        id="recurrent",
        encoding=name,
        title=f"{found.title}: order {d}",
        statement=(
            f"At every whole gap `n ≥ 0`: `b(n) = {found.formula} = e₁ᵀAⁿv` with the companion matrix `A` of "
            f"its recurrence `{found.equation}` and the first {d} values `v`. The determinant of "
            f"`[b(i + j)]`, `i, j < {d}`, is `{found.determinant}`: no order below {d} is possible."
        ),
        steps=(follows, det),
        perturbations=(
            follows.but(
                "one coefficient of the recurrence is changed",
                state=_recursion(found, (found.low[0] + 1, *found.low[1:])).state,
            ),
            follows.but("b(n) is one more", claim={**follows.of.claim, state[0]: found.claim[0] + 1}),
            det.but("the determinant is doubled", rhs=2 * found.determinant),
        ),
        rests_on=("order-from-below", "integer-homomorphisms"),
        comment=(
            f"{found.comment} Finitely many exact samples give `A` by linear algebra; that it goes on for "
            f"ever is what the induction adds."
        ),
        answer=str(d),
    )


_NOTES = {
    "square": "a, b, c stand for the entries of vₙ",
    "alternating": "a, b stand for the entries of vₙ, x for 2ⁿ, y for (-1)ⁿ",
    "faded-slide": "a, b stand for the entries of vₙ, x for 2⁻ⁿ",
}


def _recursion(found: Sequence, low: tuple[Any, ...]) -> Induction:
    """vₙ₊₁ = Avₙ beside the helpers, claimed to be the values."""
    state = (a, b, c)[: len(low)]
    moved = companion(*map(sp.Rational, low)) * sp.Matrix(state)
    steps = {s: (first, moved[i]) for i, (s, first) in enumerate(zip(state, found.values, strict=False))}
    return Induction(n, 0, {**steps, **found.helpers}, dict(zip(state, found.claim, strict=True)))


@CHAPTER.law("alternating-line")
def alternating_line() -> Law:
    rate, rho = sp.Symbol("lambda", real=True), sp.Symbol("rho", positive=True)
    row, column = sp.ImmutableMatrix([[1, 0]]), sp.ImmutableMatrix([1, 0])
    goal = Identity(name="one slot: e^λ = -ρ", goal=True, lhs=sp.exp(rate), rhs=-rho)
    return Law(
        id="alternating-line",
        title="“What works on whole positions works on the line, with as many slots”",
        statement=(
            "The bias `(-ρ)ⁿ`, `ρ > 0`, which needs one slot on whole positions, is `e^{λn}` for some real "
            "`λ`: at `n = 1`, `e^λ = -ρ`."
        ),
        expected=Status.REFUTED,
        steps=(Exact(name="e^λ + ρ > 0, whatever λ is", of=Sign(sp.exp(rate) + rho, "+")), goal),
        siblings=(
            goal.but(
                "two slots, a turn by π at every step, with ρ = e^{-γ}",
                lhs=product(row, At(Block(g, w).exp(sp.S.One), w, sp.pi), column),
                rhs=sp.ImmutableMatrix([[-sp.exp(-g)]]),
            ),
        ),
        rests_on=("integer-no-generator", "integer-rows", "real-logarithm"),
        comment=(
            "Whatever `λ` is, the left side is positive. Between the whole positions `e^{-γu} cos πu` does "
            "what `(-ρ)ⁿ` leaves open."
        ),
    )
