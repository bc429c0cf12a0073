"""One generator, one flow: uniqueness on the real line, and what is lost on integer positions."""

import sympy as sp

from ...symbolic.free import word_poly
from ...symbolic.signs import Sign
from ...symbolic.words import Derived, Words, commuting, letters
from ..law import Chapter, Hypothesis, Law
from ..step import Cited, Exact, Identity, Source
from .common import HALL, PURANIK, repeated_turn, times

CHAPTER = Chapter(
    "uniqueness",
    "One generator, one flow",
    "Continuity pins the whole group by one matrix, `X = A'(0)`: what happens in one tiny tick. On integer "
    "positions, where tokens sit, continuity says nothing, and `X` is only known up to whole turns.",
)
RUDIN = Source(
    "W. Rudin, Principles of Mathematical Analysis, 3rd ed., Theorem 5.11: zero derivative means constant"
)
n = sp.Symbol("n", nonnegative=True)


@CHAPTER.law("uniqueness")
def uniqueness() -> Law:
    a, x, e = letters("A X E")
    claim = Words(Derived(e * a), 0 * a, derivation={a: x * a, e: -(e * x)})
    goal = Exact(name="(e^{-tX} A)' = 0", goal=True, of=claim, note="E stands for e^{-tX}")
    one = word_poly(1)
    start = Exact(name="at t = 0 the product is I", goal=True, of=Words(e * a, one, ((e, one), (a, one))))
    only = Exact(name="and X = X A(0) = A'(0)", goal=True, of=Words(x * a, x, ((a, one),)))
    return Law(
        id="uniqueness",
        title="One generator, one flow",
        statement=(
            "If `A' = XA` and `A(0) = I`, then `e^{-tX}A(t) = I` for every real `t`, that is `A(t) = "
            "exp(tX)`, and `X = A'(0)`. Every continuous homomorphism `A : ℝ → GL(n, ℝ)` is of this kind."
        ),
        hypotheses=(
            Hypothesis("continuity", "`A` is continuous"),
            Hypothesis("all-reals", "`A(t)` is given for every real `t`"),
        ),
        steps=(
            Cited(
                name="continuous ⇒ differentiable, so A' = XA",
                lemma="a continuous homomorphism ℝ → GL(n, ℝ) is differentiable; A'(t) = A'(0)A(t)",
                source=HALL,
                needs=("continuity", "all-reals"),
            ),
            goal,
            start,
            Cited(
                name="so e^{-tX}A is I for all t",
                lemma="a function on ℝ with zero derivative is constant",
                source=RUDIN,
                needs=("all-reals",),
            ),
            only,
        ),
        perturbations=(
            goal.but("E = e^{tX} instead of e^{-tX}", derivation={a: x * a, e: e * x}),
            goal.but("A' = -XA", derivation={a: -(x * a), e: -(e * x)}),
            start.but("A(0) = 2I", rules=((e, one), (a, word_poly(2)))),
            only.but("A(0) = 2I", rules=((a, word_poly(2)),)),
        ),
        sources=(PURANIK,),
        comment=(
            "An unknown function on the whole line is pinned by one matrix. Differentiability, for free, is "
            "cited here and [proved there](#smooth-for-free); the rest is two lines. The scalar case is "
            "Cauchy's (1821); the theorem on matrices is much younger."
        ),
    )


@CHAPTER.law("integer-ambiguity")
def integer_ambiguity() -> Law:
    goal = Exact(name="R(2π)ⁿ = I", goal=True, of=repeated_turn(2 * sp.pi))
    back = Exact(name="R(-2π)ⁿ = I", goal=True, of=repeated_turn(-2 * sp.pi))
    e, f, x, j = letters("E F X J")
    rules = (*commuting(j, e), *commuting(j, x))
    split = Words(Derived(e * f), (x + j) * e * f, rules, derivation={e: x * e, f: j * f})
    parts = Exact(
        name="exp(t(X+J')) = exp(tX)exp(tJ')",
        goal=True,
        of=split,
        note="J stands for J' = 2πJ, E and F for the two exponentials",
    )
    return Law(
        id="integer-ambiguity",
        title="On integer positions X is not unique",
        statement=(
            "If `XJ = JX`, where `J` turns each plane by a right angle, then `exp(nX) = exp(n(X + 2πJ))` for "
            "every integer `n`, although `X ≠ X + 2πJ`."
        ),
        hypotheses=(Hypothesis("commute", "`X` commutes with `J`"),),
        steps=(parts, goal, back),
        perturbations=(
            goal.but("half a turn a step", state=repeated_turn(sp.pi).state),
            parts.but("X and J do not commute", rules=()),
        ),
        rests_on=("uniqueness", "commuting-sum", "turn-flow"),
        comment=(
            "Tokens sit on integers, so a frequency is only known modulo `2π`: aliasing. Every function on "
            "the integers is continuous, and `n ↦ Bⁿ` is a group for every invertible `B`. “Exactly one `X`” "
            "holds for real positions."
        ),
    )


@CHAPTER.law("integer-no-generator")
def integer_no_generator() -> Law:
    rate = sp.Symbol("lambda", real=True)
    goal = Exact(name="e^λ is never -1", goal=True, of=Sign(sp.exp(rate) + 1, "+"))
    return Law(
        id="integer-no-generator",
        title="A group on the integers without a real generator",
        statement=(
            "`B = -1` is its own inverse and gives the group `n ↦ (-1)ⁿ` on the integers, but for every real "
            "`λ`: `e^λ + 1 > 0`, so no `n ↦ e^{λn}` is this group."
        ),
        steps=(
            Identity(
                name="(-1)·(-1) = 1, so B is its own inverse",
                lhs=times(sp.Integer(-1), sp.Integer(-1)),
                rhs=sp.S.One,
            ),
            goal,
        ),
        perturbations=(
            goal.but("e^λ is never 1", expr=sp.exp(rate) - 1),
            goal.but("e^λ + 1 is negative", sign="-"),
        ),
        sources=(
            Source(
                "W. J. Culver, On the existence and uniqueness of the real logarithm of a matrix, Proc. AMS "
                "17 (1966)"
            ),
        ),
        comment=(
            "For matrices: a real logarithm of `B` exists exactly when each Jordan block of each negative "
            "eigenvalue occurs an even number of times (W. J. Culver, 1966). So `-I` in the plane has one, "
            "`πJ`. See [the rows that only integers have](#integer-rows)."
        ),
    )
