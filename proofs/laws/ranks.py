"""Ranks: what a Hankel determinant proves and what not, and what of a least realisation is unique."""

import sympy as sp

from ...symbolic.decide import Status
from ...symbolic.tree import D
from ...symbolic.words import Words, inverses, letters
from ..law import Hypothesis, Law
from ..step import Cited, Determinant, Exact, Identity, Source
from .common import Parts, g, plus, product, times, u
from .realisation import CHAPTER, DE_SCHUTTER, FINITE, HORN_JOHNSON, at_zero, one

RANK = Source(f"{HORN_JOHNSON}, sections 0.4.5 and 0.4.4 (rank of a product; rank by minors)")
SCHUR = Source(f"{HORN_JOHNSON}, section 0.8.5 (determinant of a bordered matrix, Schur complement)")


@CHAPTER.law("order-from-below")
def order_from_below() -> Law:
    c, p, q, both, v_ = letters("C P Q PQ V")
    split = Exact(
        name="every entry is a row times a column of length d",
        goal=True,
        of=Words(c * both * v_, (c * p) * (q * v_), ((both, p * q),)),
        note="P, Q stand for Xⁱ, Xʲ, for e^{xX}, e^{yX}, or for steps Aⁱ, Aʲ; PQ for their product",
    )
    flat = tuple(
        Determinant(
            name=f"d = {d}: a determinant of size {d + 1} is 0", goal=True, lhs=_rank(d + 1, d), rhs=sp.S.Zero
        )
        for d in (1, 2, 3)
    )
    return Law(
        id="order-from-below",
        title="A determinant that is not 0 excludes smaller orders",
        statement=(
            "Let `b(u) = cᵀ e^{uX} v` with `X` of size `d`. Then `b(x + y) = (cᵀe^{xX})(e^{yX}v)` and "
            "`b^{(i+j)}(0) = (cᵀXⁱ)(Xʲv)`, so the matrices `[b(x_i + y_j)]` and `[b^{(i+j)}(0)]` have rank "
            "at most `d`: their determinants of size `d + 1` and more are 0. If one of size `n` is not 0, no "
            "order below `n` is possible. The same holds on whole positions, with `Aⁿ` for `e^{uX}`."
        ),
        hypotheses=(FINITE,),
        steps=(
            split,
            *flat,
            Cited(
                name="and so for every d",
                lemma="rank(OR) ≤ d if O has d columns; minors larger than the rank are 0",
                source=RANK,
                needs=("finite",),
            ),
        ),
        perturbations=(
            flat[1].but("size 2 is enough for d = 2", lhs=_rank(2, 2)),
            flat[2].but("size 3 is enough for d = 3", lhs=_rank(3, 3)),
            split.but("the two factors swapped", rhs=c * q * p * v_),
        ),
        rests_on=("generator-solves-equation",),
        sources=(DE_SCHUTTER,),
        comment=(
            "This is a lower bound on the number of slots and nothing more: [it never proves that no order "
            "works](#determinant-refutes)."
        ),
    )


def _rank(size: int, d: int) -> sp.ImmutableMatrix:
    """A product of a size×d and a d×size matrix of free symbols."""
    left = sp.Matrix(size, d, lambda i, j: sp.Symbol(f"o{i}{j}", real=True))
    right = sp.Matrix(d, size, lambda i, j: sp.Symbol(f"r{i}{j}", real=True))
    return (left * right).as_immutable()


@CHAPTER.law("determinant-refutes")
def determinant_refutes() -> Law:
    square = sp.ImmutableMatrix(3, 3, lambda i, j: 2 * sp.Integer(i + j == 2))
    larger = sp.ImmutableMatrix(4, 4, lambda i, j: 2 * sp.Integer(i + j == 2))
    entries = Identity(
        name="b^{(k)}(0) = 0, 0, 2, 0, 0 for b = u²",
        lhs=sp.ImmutableMatrix([at_zero(u**2, k) for k in range(5)]),
        rhs=sp.ImmutableMatrix([0, 0, 2, 0, 0]),
    )
    goal = Determinant(
        name="if realisable, the determinant of size 3 is 0", goal=True, lhs=square, rhs=sp.S.Zero
    )
    return Law(
        id="determinant-refutes",
        title="“A Hankel determinant that is not 0 proves that a bias has no generator”",
        statement=(
            "The bias `b = u²`, which has [a generator of size 3](#realised--square), has the Hankel "
            "determinant `det [b^{(i+j)}(0)] = 0`, `i, j < 3`."
        ),
        expected=Status.REFUTED,
        steps=(entries, goal),
        siblings=(goal.but("size 4, one more than the order", lhs=larger),),
        rests_on=("order-from-below", "realised/square"),
        comment=(
            "It is -8. A determinant of size `n` excludes the orders below `n`; a bias is outside for good "
            "only if that happens for every `n`, or [for another reason](#outside-on-the-line)."
        ),
    )


@CHAPTER.law("rank-suffices")
def rank_suffices() -> Law:
    cases = tuple(_bordered(r) for r in (1, 2, 3))
    return Law(
        id="rank-suffices",
        title="Bounded rank is enough",
        statement=(
            "Let all determinants of size `r + 1` of the matrices `[b(x_i + y_j)]` be 0 and `W = [b(x_i + "
            "y_j)]` of size `r` invertible. For all real `x, y` the matrix `W` bordered by the row `ρ = b(x "
            "+ y_j)`, the column `κ = b(x_i + y)` and the corner `b(x + y)` has the determinant `b(x + y) "
            "det W - ρ adj(W) κ = 0`. So `b(x + y) = ρ W⁻¹ κ`: every translate of `b` is a combination of "
            "`r` translates."
        ),
        hypotheses=(
            Hypothesis("rank", "all determinants of size `r + 1` are 0, and one of size `r` is not"),
        ),
        steps=(
            *cases,
            Cited(
                name="and so for every r",
                lemma="det [[W, κ], [ρ, p]] = p det W - ρ adj(W) κ",
                source=SCHUR,
                needs=("rank",),
            ),
        ),
        perturbations=(
            cases[0].but("the sign of the second term", rhs=cases[0].rhs.args[0] - cases[0].rhs.args[1]),
            cases[1].but("the sign of the second term", rhs=cases[1].rhs.args[0] - cases[1].rhs.args[1]),
        ),
        rests_on=("translates", "order-from-below"),
        comment=(
            "With [finitely many translates](#translates) there is a generator. So for continuous `b` five "
            "things are one: a generator of size `d`; translates of dimension at most `d`; an equation of "
            "order `d`; an exponential polynomial of order at most `d`; matrices `[b(x_i + y_j)]` of rank at "
            "most `d`."
        ),
    )


def _bordered(r: int) -> Determinant:
    inner = sp.Matrix(r, r, lambda i, j: sp.Symbol(f"w{i}{j}", real=True))
    row = sp.Matrix(1, r, lambda _, j: sp.Symbol(f"rho{j}", real=True))
    column = sp.Matrix(r, 1, lambda i, _: sp.Symbol(f"kappa{i}", real=True))
    corner = sp.Symbol("p", real=True)
    whole = inner.row_join(column).col_join(row.row_join(sp.Matrix([[corner]]))).as_immutable()
    rest = (row * inner.adjugate() * column)[0]
    return Determinant(
        name=f"r = {r}: the bordered determinant",
        goal=True,
        lhs=whole,
        rhs=plus(corner * inner.det(), times(sp.S.NegativeOne, rest)),
    )


@CHAPTER.law("least-realisations")
def least_realisations() -> Law:
    steps, breakers = _least_realisations()
    return Law(
        id="least-realisations",
        title="Least realisations differ by a change of basis",
        statement=(
            "Let `c₁ᵀe^{uX₁}v₁ = c₂ᵀe^{uX₂}v₂` for all real `u`, both of the least order `d`. With the "
            "matrices `O` of rows `cᵀXⁱ` and `R` of columns `Xʲv`, `i, j < d`, and `S = O₂⁻¹O₁`: `SX₁S⁻¹ = "
            "X₂`, `c₁ᵀS⁻¹ = c₂ᵀ`, `Sv₁ = v₂`."
        ),
        hypotheses=(
            FINITE,
            Hypothesis("least", "`d` is least: the Hankel matrix `O₁R₁ = O₂R₂` of size `d` is invertible"),
        ),
        steps=steps,
        perturbations=breakers,
        rests_on=("order-from-below", "change-of-basis"),
        sources=(DE_SCHUTTER,),
        comment=(
            "So eigenvalues and block sizes belong to the bias and not to the way it is written, if no slot "
            "is wasted. That the least order makes the Hankel matrix of size `d` invertible is [the rank "
            "theorem](#rank-suffices)."
        ),
    )


def _least_realisations() -> Parts:
    """Steps and perturbations of the law."""
    o1, o1i, o2, o2i, r1, r1i, r2, r2i, k, e = letters("O1 O1inv O2 O2inv R1 R1inv R2 R2inv K e1")
    hankel = ((o2 * r2, o1 * r1), (r2, o2i * o1 * r1), (r2i, r1i * o1i * o2))
    rules = (*inverses(o1, o1i), *inverses(o2, o2i), *inverses(r1, r1i), *hankel[1:])
    s, s_inv = o2i * o1, o1i * o2
    x1, x2 = o1i * k * r1i, o2i * k * r2i
    note = "O₁R₁ = O₂R₂ = [b^{(i+j)}(0)] and O₁X₁R₁ = O₂X₂R₂ = K = [b^{(i+j+1)}(0)]"
    goal = Exact(name="S X₁ S⁻¹ = X₂", goal=True, of=Words(s * x1 * s_inv, x2, rules), note=note)
    row = Exact(
        name="c₁ᵀ S⁻¹ = c₂ᵀ", goal=True, of=Words(e * o1 * s_inv, e * o2, rules), note="e1 picks row 1 of O"
    )
    column = Exact(name="S v₁ = v₂", goal=True, of=Words(s * r1 * e, r2 * e, rules), note="and column 1 of R")
    back = Exact(name="S has an inverse", of=Words(s * s_inv, one, rules))
    steps = (
        Cited(
            name="so O₁, R₁, O₂, R₂ are invertible",
            lemma="det(OR) = det O det R is not 0, so neither factor is",
            source=Source("S. Axler, Linear Algebra Done Right, 4th ed., section 9C (determinants)"),
            needs=("least",),
        ),
        back,
        goal,
        row,
        column,
    )
    return steps, (
        goal.but("O₁ and R₁ have no inverse", rules=(*inverses(o2, o2i), *hankel[1:])),
        goal.but("S the other way round", lhs=s_inv * x1 * s),
        column.but("S⁻¹ instead of S", lhs=s_inv * r1 * e),
    )


@CHAPTER.law("same-size")
def same_size() -> Law:
    row, column = sp.ImmutableMatrix([[1, 0]]), sp.ImmutableMatrix([1, 0])
    first, second = sp.zeros(2, 2).as_immutable(), sp.ImmutableMatrix([[0, 0], [0, -g]])
    flow = sp.ImmutableMatrix([[1, 0], [0, sp.exp(-g * u)]])
    same = Identity(
        name="both make the bias 1", lhs=product(row, flow, column), rhs=product(row, sp.eye(2), column)
    )
    ode = Identity(name="e^{uX₂} = diag(1, e^{-γu})", lhs=D(flow, u), rhs=product(second, flow))
    goal = Identity(
        name="similar, so of equal trace", goal=True, lhs=plus(second[0, 0], second[1, 1]), rhs=first.trace()
    )
    return Law(
        id="same-size",
        title="“Two realisations of one size are the same up to a change of basis”",
        statement=(
            "The generators `X₁ = 0` and `X₂ = diag(0, -γ)`, `γ > 0`, which with `c = v = (1, 0)` both make "
            "the bias 1, have the same trace: `-γ = 0`."
        ),
        expected=Status.REFUTED,
        steps=(ode, same, goal),
        siblings=(
            goal.but("cut down to the least size, 1", lhs=sp.S.Zero * g, rhs=plus(sp.S.One, -sp.S.One)),
        ),
        rests_on=("least-realisations",),
        comment="The second slot of `X₂` is never reached from `v`: what it does is not seen in the bias.",
    )
