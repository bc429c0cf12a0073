"""Why pairs: a line cannot turn, complex eigenvalues come in twos, an odd dimension keeps a line fixed."""

import sympy as sp

from ...symbolic.induction import Induction
from ...symbolic.limits import Limit
from ...symbolic.signs import Sign
from ..law import Chapter, Law
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


@CHAPTER.law("one-line-cannot-turn")
def one_line_cannot_turn() -> Law:
    rate = sp.Symbol("lambda", real=True)
    goal = Exact(name="a 1×1 group is positive", goal=True, of=Sign(sp.exp(rate * t), "+"))
    return Law(
        id="one-line-cannot-turn",
        title="Why pairs: a line has no room to turn",
        statement=(
            "For all real `λ, t`: `e^{λt} > 0`, so a real `1×1` group never reaches `-1` and never turns."
        ),
        steps=(goal,),
        perturbations=(
            goal.but("it is sometimes negative", sign="-"),
            goal.but("the cosine is positive too", expr=sp.cos(w * t)),
        ),
        comment=(
            "A half turn would be multiplication by -1. On a line every continuous group is a fade, a hold "
            "or a growth."
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
            "For every real polynomial `p` of any degree and every `z = x + iy`: `p(z̄)` is the conjugate "
            "of `p(z)`. So complex eigenvalues of a real matrix come in conjugate pairs."
        ),
        steps=(goal,),
        perturbations=(
            goal.but("the values are equal, not conjugate", claim=wrong_claim),
            goal.but("the coefficients have imaginary parts", state=wrong_state),
        ),
        comment=(
            "Horner's rule adds one coefficient a at a time; the claim passes from n coefficients to n + "
            "1. Each pair owns a plane."
        ),
    )


@CHAPTER.law("odd-dimension")
def odd_dimension() -> Law:
    lam, a2, a1, a0 = sp.symbols("lambda a2 a1 a0", real=True)
    cubic = lam**3 + a2 * lam**2 + a1 * lam + a0
    up = Exact(name="right end", goal=True, of=Limit(cubic, lam, sp.oo, sp.oo))
    down = Exact(name="left end", goal=True, of=Limit(cubic, lam, -sp.oo, -sp.oo))
    return Law(
        id="odd-dimension",
        title="Why pairs: an odd dimension keeps one line fixed",
        statement=(
            "A real `3×3` characteristic polynomial tends to `-∞` on the left and `+∞` on the right, "
            "whatever its coefficients; so it has a real root, and a rotation of an odd number of "
            "coordinates leaves a line that does not turn."
        ),
        steps=(
            up,
            down,
            Cited(
                name="a continuous function with values of both signs has a zero",
                lemma="intermediate value theorem; the same two limits hold for every odd degree",
                source=Source("W. Rudin, Principles of Mathematical Analysis, 3rd ed., Theorem 4.23"),
            ),
        ),
        perturbations=(
            up.but("the degree is even", expr=lam * cubic, to=-sp.oo, value=-sp.oo),
            down.but("the left end goes up", value=sp.oo),
        ),
        rests_on=("conjugate-pairs",),
        comment="This is why implementations refuse an odd head dimension, or leave one feature unrotated.",
    )
