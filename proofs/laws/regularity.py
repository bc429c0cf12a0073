"""How little continuity is asked: continuous is differentiable, measurable is continuous."""

import sympy as sp

from ...symbolic.induction import Induction
from ...symbolic.signs import Sign
from ...symbolic.words import Derived, Words, commuting, letters
from ..law import Hypothesis, Law
from ..step import Cited, Exact, Source
from .common import Parts
from .uniqueness import CHAPTER, RUDIN, n

FUNDAMENTAL = Source(
    "W. Rudin, Principles of Mathematical Analysis, 3rd ed., Theorem 6.20 (the integral of a continuous "
    "function is differentiable) and Theorem 9.8 (matrices near I are invertible)"
)
HEWITT_ROSS = Source(
    "E. Hewitt, K. A. Ross, Abstract Harmonic Analysis I, 2nd ed., Springer 1979, Theorem 22.18 (measurable "
    "homomorphisms of locally compact groups are continuous)"
)


@CHAPTER.law("smooth-for-free")
def smooth_for_free() -> Law:
    steps, breakers = _smooth_for_free()
    return Law(
        id="smooth-for-free",
        title="Continuous, and so differentiable",
        statement=(
            "Let `A` be continuous with `A(t + r) = A(t)A(r)` and `A(0) = I`. For some `a > 0` the matrix `K "
            "= ∫₀ᵃ A(r)dr` is invertible, and `A(t)K = ∫ₜᵗ⁺ᵃ A(r)dr`. The right side is differentiable; so "
            "`A` is, and `A' = AX = XA` with `X = (A(a) - I)K⁻¹`."
        ),
        hypotheses=(
            Hypothesis("continuity", "`A` is continuous"),
            Hypothesis("all-reals", "`A(t)` is given for every real `t`"),
        ),
        steps=steps,
        perturbations=breakers,
        rests_on=(),
        comment=(
            "This is the step of [uniqueness](#uniqueness) that textbooks prove and tables skip: nobody has "
            "to assume that an encoding is smooth. What is cited is that a small mean of `A` is nearly `I`."
        ),
    )


def _smooth_for_free() -> Parts:
    """Steps and perturbations of the law."""
    at, ar, both, p_r, p_sum = letters("At Ar Atr Pr Ptr")
    integral = Exact(
        name="A(t)∫₀ᵃ A(r)dr = ∫ₜᵗ⁺ᵃ A(r)dr: both sides move alike in the upper end",
        goal=True,
        of=Words(Derived(p_sum - at * p_r), 0 * at, ((both, at * ar),), derivation={p_r: ar, p_sum: both}),
        note="Pr, Ptr stand for P(r), P(t + r) with P' = A, the derivative is in r; Atr stands for A(t + r)",
    )
    a_a, k_inv, p_t, p_ta, later = letters("Aa Kinv Pt Pta Ata")
    moved, rates = (p_ta - p_t) * k_inv, {p_t: at, p_ta: later}
    goal = Exact(
        name="A'(t) = A(t)X with X = (A(a) - I)K⁻¹",
        goal=True,
        of=Words(Derived(moved), at * (a_a - 1) * k_inv, ((later, at * a_a),), derivation=rates),
        note="A(t) = (P(t + a) - P(t))K⁻¹, Pta, Ata stand for P(t + a), A(t + a)",
    )
    passing = (*commuting(at, a_a), *commuting(at, k_inv))
    sides = Exact(
        name="X passes A(t)",
        of=Words(at * (a_a - 1) * k_inv, (a_a - 1) * k_inv * at, passing),
        note="A(t) commutes with every A(r), so with their integral K",
    )
    steps = (
        Cited(
            name="an integral P of A exists, and K is invertible for small a",
            lemma=(
                "a continuous A is the derivative of its integral; K/a tends to A(0) = I as a → 0, and "
                "matrices near I are invertible"
            ),
            source=FUNDAMENTAL,
            needs=("continuity", "all-reals"),
        ),
        integral,
        Cited(
            name="and agree at r = 0 up to P(t) and A(t)P(0)",
            lemma="a function on ℝ with zero derivative is constant",
            source=RUDIN,
            needs=("all-reals",),
        ),
        goal,
        sides,
    )
    return steps, (
        integral.but("A(t + r) = A(r)", rules=((both, ar),)),
        goal.but("A(t + a) = A(a)A(a)", rules=((later, a_a * a_a),)),
        sides.but("K does not commute with A(t)", rules=commuting(at, a_a)),
    )


@CHAPTER.law("measurable-enough")
def measurable_enough() -> Law:
    total, value = sp.symbols("F x", real=True)
    root = sp.Symbol("y", real=True, nonzero=True)
    adds = Exact(
        name="f(nt) = n f(t)",
        goal=True,
        of=Induction(n, 0, {total: (0, total + value)}, {total: n * value}),
        note="F stands for f(nt), x for f(t)",
    )
    positive = Exact(
        name="A(t) = A(t/2)² > 0, so f = log A exists",
        of=Sign(root**2, "+", (sp.Ne(root, 0),)),
        note="y stands for A(t/2), which is not 0",
    )
    return Law(
        id="measurable-enough",
        title="Measurable, and so continuous; bounded is enough for scalars",
        statement=(
            "Every Lebesgue-measurable homomorphism `ℝ → GL(d, ℝ)` is continuous. For scalars, `d = 1`, it "
            "is enough that `A` and `1/A` are bounded near 0: `A > 0`, and `f = log A` satisfies `f(nt) = n "
            "f(t)` for every whole `n ≥ 0`; so `|f| ≤ c` on `[-δ, δ]` gives `|f| ≤ c/n` on `[-δ/n, δ/n]`, "
            "and `f` is continuous at 0."
        ),
        hypotheses=(Hypothesis("measurable", "the entries of `A` are Lebesgue-measurable functions"),),
        steps=(
            Cited(
                name="every size",
                lemma=(
                    "a measurable homomorphism between locally compact groups, the second σ-compact, is "
                    "continuous"
                ),
                source=HEWITT_ROSS,
                needs=("measurable",),
            ),
            positive,
            adds,
        ),
        perturbations=(
            adds.but("f doubles its step", state={total: (0, total + 2 * value)}),
            adds.but("f(nt) = f(t)", claim={total: value}),
            positive.but("A is negative", sign="-"),
        ),
        rests_on=("smooth-for-free",),
        comment=(
            "Nothing that can be written down as a formula fails this. For matrices of size 2 and more "
            "boundedness is not enough: [a bounded machine that jumps](#broken-continuity)."
        ),
    )
