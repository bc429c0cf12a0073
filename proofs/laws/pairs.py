"""Why pairs: a line cannot turn, complex eigenvalues come in twos, an odd dimension keeps a line fixed."""

import sympy as sp

from ...symbolic.induction import Induction
from ...symbolic.signs import Sign
from ..law import Chapter, Hypothesis, Law
from ..step import Cited, Exact, Source
from .common import (
    t,
    w,
    x,
    y,
)

CHAPTER = Chapter(
    "pairs",
    "Why pairs",
    "Rotation needs room. A line has none, a plane is enough, and algebra agrees with geometry: the "
    "eigenvalues of a turn are a conjugate pair.",
)
n = sp.Symbol("n", nonnegative=True)
VALUE = sp.Symbol("h", real=True)
BOUND = sp.Symbol("A", nonnegative=True)


@CHAPTER.law("one-line-cannot-turn")
def one_line_cannot_turn() -> Law:
    rate = sp.Symbol("lambda", real=True)
    goal = Exact(name="a 1×1 group is positive", goal=True, of=Sign(sp.exp(rate * t), "+"))
    return Law(
        id="one-line-cannot-turn",
        title="Why pairs: a line has no room to turn",
        statement=(
            "For all real `λ, t`: `e^{λt} > 0`, so a continuous real `1×1` group, which is `e^{λt}`, never "
            "reaches `-1`: it does not turn."
        ),
        steps=(goal,),
        perturbations=(
            goal.but("it is sometimes negative", sign="-"),
            goal.but("one corner of the turn in a plane, cos ωt", expr=sp.cos(w * t)),
        ),
        rests_on=("uniqueness",),
        comment=(
            "A half turn would be multiplication by `-1`. On a line every continuous group is a fade, a hold "
            "or a growth; on integer positions `(-1)ⁿ` [is possible](#integer-no-generator)."
        ),
    )


@CHAPTER.law("conjugate-pairs")
def conjugate_pairs() -> Law:
    re, im, re2, im2, a = sp.symbols("p_re p_im r_re r_im a", real=True)
    horner = Induction(
        index=n,
        start=0,
        state={
            re: (0, re * x - im * y + a),
            im: (0, re * y + im * x),
            re2: (0, re2 * x + im2 * y + a),
            im2: (0, -re2 * y + im2 * x),
        },
        claim={re2: re, im2: -im},
    )
    goal = Exact(name="p(z̄) is the conjugate of p(z)", goal=True, of=horner)
    wrong_claim = {re2: re, im2: im}
    wrong_state = {**horner.state, re2: (0, re2 * x + im2 * y + a), im2: (0, -re2 * y + im2 * x + a)}
    return Law(
        id="conjugate-pairs",
        title="Why pairs: complex eigenvalues come in twos",
        statement=(
            "For every polynomial `p` with real coefficients, of any degree, and every `z = x + iy`: `p(z̄)` "
            "is the conjugate of `p(z)`. So complex eigenvalues of a real matrix come in conjugate pairs."
        ),
        steps=(goal,),
        perturbations=(
            goal.but("the values are equal, not conjugate", claim=wrong_claim),
            goal.but("the coefficients have imaginary parts", state=wrong_state),
        ),
        comment=(
            "Horner's rule adds one coefficient `a` at a time; the claim passes from `n` coefficients to "
            "`n + 1`. The two together own one real plane."
        ),
    )


@CHAPTER.law("odd-dimension")
def odd_dimension() -> Law:
    right, left = _beyond_all_roots("right"), _beyond_all_roots("left")
    even = {VALUE: (-sp.S.One, left.of.state[VALUE][1])}
    return Law(
        id="odd-dimension",
        title="Why pairs: an odd dimension keeps one line fixed",
        statement=(
            "For every polynomial `p(λ) = λ^{2n+1} + …` of odd degree with real coefficients in `[-A, A]`: "
            "`p(1 + A) ≥ 1` and `p(-1 - A) ≤ -1`, so `p` has a real zero. So a real matrix of odd size has a "
            "real eigenvalue, and a rotation of an odd number of coordinates maps some line to itself."
        ),
        hypotheses=(Hypothesis("real", "the coefficients are real"),),
        steps=(
            right,
            left,
            Cited(
                name="a continuous function with values of both signs has a zero",
                lemma="intermediate value theorem",
                source=Source("W. Rudin, Principles of Mathematical Analysis, 3rd ed., Theorem 4.23"),
                needs=("real",),
            ),
        ),
        perturbations=(
            left.but("the degree is even", state=even),
            right.but("A instead of 1 + A", state=_beyond_all_roots("right", far=BOUND).of.state),
            left.but("coefficients up to 2A", state=_beyond_all_roots("left", size=2 * BOUND).of.state),
        ),
        rests_on=("conjugate-pairs",),
        comment=(
            "Horner's rule takes two coefficients a step, so the degree stays odd. This is why "
            "implementations refuse an odd head dimension or leave a feature unrotated; some do so "
            "without a word."
        ),
    )


def _beyond_all_roots(side: str, far: sp.Expr = 1 + BOUND, size: sp.Expr = BOUND) -> Exact:
    """±p(±far) ≥ 1 for odd degrees, by Horner's rule; coefficients are a - A or A - b with a, b ≥ 0."""
    a0, a, b = sp.symbols("a0 a b", nonnegative=True)
    if side == "right":
        first, following = far + (a0 - size), (VALUE * far + (a - size)) * far + (b - size)
    else:
        first, following = far - (size - a0), VALUE * far**2 + (a - size) * far - (size - b)
    where = "p(1 + A) ≥ 1" if side == "right" else "-p(-1 - A) ≥ 1"
    return Exact(
        name=where,
        goal=True,
        of=Induction(
            index=n, start=0, relation=">=", state={VALUE: (first, following)}, claim={VALUE: sp.S.One}
        ),
        note="h is the value after the leading 2n + 2 coefficients; the bound that is not needed is not used",
    )
