"""Distances, even biases, clipped distances and windows: what depends on the positions that are allowed."""

from typing import Any

import sympy as sp

from ...symbolic.decide import Status
from ...symbolic.induction import Induction
from ...symbolic.tree import At
from ...symbolic.words import Words, inverses, letters
from ..law import Hypothesis, Law
from ..step import Cited, Determinant, Exact, Identity, Source
from .common import KRANTZ_PARKS, g, m, plus, times, u, w
from .realisation import CHAPTER
from .unrealised import ENTIRE, INTERVAL

GRAHAM_POLLAK = Source(
    "R. L. Graham, H. O. Pollak, On the addressing problem for loop switching, Bell System Technical Journal "
    "50 (1971) 2495-2519: the distance matrix of a tree with n vertices has determinant -(n-1)(-2)^{n-2}"
)
TOEPLITZ = Source(
    "U. Grenander, G. Szegő, Toeplitz Forms and Their Applications, University of California Press 1958, "
    "section 5.3: the matrix [ρ^{|i-j|}] of size n has determinant (1-ρ²)^{n-1}"
)
n = sp.Symbol("n", nonnegative=True)


@CHAPTER.law("even-bias")
def even_bias() -> Law:
    even = {"u²": u**2, "cos ωu": sp.cos(w * u), "cosh γu": sp.exp(g * u) + sp.exp(-g * u)}
    steps = tuple(
        Identity(name=f"{name} is even", goal=True, lhs=At(formula, u, -u), rhs=formula)
        for name, formula in even.items()
    )
    return Law(
        id="even-bias",
        title="Functions of the distance: the even ones",
        statement=(
            "Let `f` be an exponential polynomial. The bias `b(u) = f(|u|)` has a generator on the whole "
            "line iff `f` is even, `f(-u) = f(u)` for all real `u`: then `f(|u|) = f(u)`. So are `u²`, `cos "
            "ωu` and `cosh γu`, for all `γ, ω > 0`."
        ),
        hypotheses=(INTERVAL,),
        steps=(
            *steps,
            Cited(
                name="necessary: what equals f for u > 0 is f, so f(-u) = b(-u) = b(u) = f(u)",
                lemma=ENTIRE,
                source=KRANTZ_PARKS,
                needs=("interval",),
            ),
        ),
        perturbations=(
            steps[0].but("u is not", lhs=At(u, u, -u), rhs=u),
            steps[2].but("a fade is not", lhs=At(sp.exp(-g * u), u, -u), rhs=sp.exp(-g * u)),
            steps[1].but("sin ωu is not", lhs=At(sp.sin(w * u), u, -u), rhs=sp.sin(w * u)),
        ),
        rests_on=("realised/square", "realised/wave", "equation-solutions"),
        comment=(
            "Only these can be read in both directions without a mask or a second set of slots. [The "
            "distance](#distance-outside) and [its fade](#fading-distance) are not among them: a "
            "bidirectional model needs two causal halves for them, keys behind and keys ahead."
        ),
    )


@CHAPTER.law("fading-distance")
def fading_distance() -> Law:
    fade = sp.exp(-g * u)
    goal = Identity(
        name="what is e^{-γu} for u > 0 is e^{-γ|u|} at u = -1",
        goal=True,
        lhs=At(fade, u, -1),
        rhs=sp.exp(-g),
    )
    return Law(
        id="fading-distance",
        title="“A fade by the distance |u| is in the family too”",
        statement=(
            "For every `γ > 0` the exponential polynomial that equals `e^{-γ|u|}` for all `u > 0`, which is "
            "`e^{-γu}`, equals it at `u = -1` as well: `e^{γ} = e^{-γ}`."
        ),
        hypotheses=(INTERVAL,),
        expected=Status.REFUTED,
        steps=(
            Cited(name="an interval decides", lemma=ENTIRE, source=KRANTZ_PARKS, needs=("interval",)),
            goal,
        ),
        siblings=(goal.but("at u = +1", lhs=At(fade, u, 1)),),
        rests_on=("even-bias",),
        comment=(
            "On the causal half it is the fade, one slot. Ahead of the query the same slots grow: that is "
            "[why a fade needs its mask](#decay-needs-causal-mask)."
        ),
    )


@CHAPTER.law("distance-kernels")
def distance_kernels() -> Law:
    flat = tuple(_distances(size) for size in (2, 3, 4, 5))
    fading = tuple(_fading(size) for size in (2, 3, 4, 5))
    ahead = Determinant(
        name="with gaps of one sign the matrix [i + j] is singular from size 3 on",
        lhs=sp.ImmutableMatrix(3, 3, lambda i, j: i + j),
        rhs=sp.S.Zero,
    )
    return Law(
        id="distance-kernels",
        title="Distances are outside on the integers too",
        statement=(
            "The matrices `[|i - j|]` and `[e^{-γ|i-j|}]`, `γ > 0`, of size `n` have the determinants "
            "`-(n-1)(-2)^{n-2}` and `(1 - e^{-2γ})^{n-1}`, neither of which is 0 for any `n ≥ 2`. They are "
            "values `b(x_i + y_j)` of `|u|` and `e^{-γ|u|}` at whole gaps, so no order is enough for the "
            "gaps of all integers."
        ),
        hypotheses=(Hypothesis("both-signs", "gaps of both signs occur: all integers, not only `n ≥ 0`"),),
        steps=(
            *flat,
            *fading,
            ahead,
            Cited(
                name="distances, every size",
                lemma="det [|i - j|] = -(n-1)(-2)^{n-2} for the path with n vertices, a tree",
                source=GRAHAM_POLLAK,
                needs=("both-signs",),
            ),
            Cited(
                name="fades, every size",
                lemma="det [ρ^{|i-j|}] = (1 - ρ²)^{n-1}",
                source=TOEPLITZ,
                needs=("both-signs",),
            ),
        ),
        perturbations=(
            flat[1].but("it vanishes at size 3", rhs=sp.S.Zero),
            fading[1].but("without the square", rhs=(1 - sp.exp(-g)) ** 2),
            ahead.but("size 2 is singular already", lhs=ahead.lhs[:2, :2].as_immutable()),
        ),
        rests_on=("order-from-below",),
        comment=(
            "Here infinitely many determinants are known, one for each size, and [together they do "
            "refute](#determinant-refutes)."
        ),
    )


def _distances(size: int) -> Determinant:
    return Determinant(
        name=f"distances, size {size}",
        goal=True,
        lhs=sp.ImmutableMatrix(size, size, lambda i, j: abs(i - j)),
        rhs=-(size - 1) * sp.Integer(-2) ** (size - 2),
    )


def _fading(size: int) -> Determinant:
    return Determinant(
        name=f"fades, size {size}",
        goal=True,
        lhs=sp.ImmutableMatrix(size, size, lambda i, j: sp.exp(-g * abs(i - j))),
        rhs=(1 - sp.exp(-2 * g)) ** (size - 1),
    )


@CHAPTER.law("distance-backwards")
def distance_backwards() -> Law:
    here, ahead = sp.symbols("p q", real=True)
    back = Induction(n, 0, {here: (0, 2 * here - ahead), ahead: (1, here)}, {here: n, ahead: 1 - n})
    goal = Exact(
        name="run backwards from 1, 0 the recurrence gives |-n| = n",
        goal=True,
        of=back,
        note="p, q stand for b(-n), b(-n + 1); b(n) = 2b(n + 1) - b(n + 2)",
    )
    return Law(
        id="distance-backwards",
        title="“A recurrence that holds for n ≥ 0 holds for all n”",
        statement=(
            "`b(n) = |n|` obeys `b(n + 2) = 2b(n + 1) - b(n)` for all `n ≥ 0`, and so, backwards, for "
            "negative `n`: from `b(1) = 1` and `b(0) = 0` it follows that `b(-n) = n` for every `n ≥ 0`."
        ),
        expected=Status.REFUTED,
        steps=(goal,),
        siblings=(goal.but("it gives -n", claim={here: -n, ahead: 1 - n}),),
        rests_on=("distance-kernels",),
        comment=(
            "On all integers a step can be undone, so the causal half fixes the rest: the slide goes on to "
            "`-n`. A semigroup has no such duty, and may even [stop](#clipped-distance)."
        ),
    )


@CHAPTER.law("clipped-distance")
def clipped_distance() -> Law:
    inside, later, stops, det, *wrong = _clipped()
    return Law(
        id="clipped-distance",
        title="A clipped distance: order 5, causally",
        statement=(
            "On the gaps `n = 0, 1, 2, …` the bias `min(n, 4)` is `cᵀAⁿv` with `A = diag(1, N₄)`, a hold "
            "beside the shift `N₄` of size 4, `N₄⁴ = 0`, `c = (4, 1, 0, 0, 0)` and `v = (1, -4, -3, -2, "
            "-1)`. Its Hankel determinant `[min(i + j, 4)]` of size 5 is 4: no order below 5 is possible."
        ),
        steps=(*inside, stops, later, det),
        perturbations=tuple(wrong),
        rests_on=("order-from-below", "window-rows"),
        comment=(
            "`N₄` has no inverse and no logarithm: this is a generator for whole steps forwards only. Every "
            "table that is constant in the end, such as T5's buckets, is of this kind, one slot for each "
            "value before the constant. On the line and on all integers [it is outside](#clipped-everywhere)."
        ),
    )


def _clipped() -> tuple[Any, ...]:
    nil = sp.ImmutableMatrix([[int(j == i + 1) for j in range(4)] for i in range(4)])
    shift = sp.diag(1, nil).as_immutable()
    row, column = sp.ImmutableMatrix([[4, 1, 0, 0, 0]]), sp.ImmutableMatrix([1, -4, -3, -2, -1])
    inside = tuple(
        Identity(
            name=f"gap {k}",
            goal=True,
            lhs=_after(row, shift, k, column),
            rhs=sp.ImmutableMatrix([[min(k, 4)]]),
        )
        for k in range(6)
    )
    stops = Identity(name="N₄⁴ = 0", goal=True, lhs=sp.MatPow(nil, 4, evaluate=False), rhs=sp.zeros(4, 4))
    a, b, c, d, hold = sp.symbols("a b c d h", real=True)
    state = {hold: (1, hold), a: (0, b), b: (0, c), c: (0, d), d: (0, 0)}
    later = Exact(
        name="and every gap from 4 on gives 4",
        goal=True,
        of=Induction(n, 4, state, {hold: sp.S.One, a: sp.S.Zero, b: sp.S.Zero, c: sp.S.Zero, d: sp.S.Zero}),
        note="(h, a, b, c, d) = Aⁿv, so cᵀAⁿv = 4h + a = 4",
    )
    hankel = sp.ImmutableMatrix(5, 5, lambda i, j: min(i + j, 4))
    det = Determinant(name="its determinant", goal=True, lhs=hankel, rhs=sp.Integer(4))
    return (
        inside,
        later,
        stops,
        det,
        inside[5].but("it goes on to 5", rhs=sp.ImmutableMatrix([[5]])),
        stops.but("N₄³ = 0", lhs=sp.MatPow(nil, 3, evaluate=False)),
        det.but("it vanishes", rhs=sp.S.Zero),
        later.but("the shift wraps", state={**state, d: (0, hold)}),
    )


@CHAPTER.law("clipped-everywhere")
def clipped_everywhere() -> Law:
    before = sp.Symbol("p", real=True)
    goal = Exact(
        name="run backwards from 4, the recurrence that holds from gap 4 on gives 4 - n at the gap 4 - n",
        goal=True,
        of=Induction(n, 0, {before: (4, before)}, {before: 4 - n}),
        note="p stands for b(4 - n); b(n) = b(n + 1)",
    )
    return Law(
        id="clipped-everywhere",
        title="“A clipped distance is fine on all integers”",
        statement=(
            "From the gap 4 on `min(n, 4)` obeys `b(n) = b(n + 1)`. On all integers, where a recurrence runs "
            "backwards too, this gives `b(4 - n) = 4 - n`, `n ≥ 0`."
        ),
        expected=Status.REFUTED,
        steps=(goal,),
        siblings=(goal.but("it gives 4 for ever", claim={before: sp.Integer(4)}),),
        rests_on=("clipped-distance", "distance-backwards"),
        comment="Backwards it stays 4, also at gap 0, where the bias is 0. Clipping needs a causal mask.",
    )


@CHAPTER.law("window-realised")
def window_realised() -> Law:
    h, h_inv, k, e0, e1, r0, r1 = letters("H Hinv K e0 e1 r0 r1")
    rules = (*inverses(h, h_inv), (k * e0, h * e1), (r0 * k, r1 * h))
    column = Exact(
        name="A moves every column of H one on",
        goal=True,
        of=Words(k * h_inv * h * e0, h * e1, rules),
        note="A = K H⁻¹; e0, e1: neighbouring unit columns, K = [b(i+j+1)] has the columns 2 … m of H",
    )
    row = Exact(
        name="and every row but the last",
        goal=True,
        of=Words(r0 * k * h_inv, r1, rules),
        note="r0, r1: neighbouring unit rows",
    )
    four = tuple(_fit(k) for k in range(4))
    fifth = _fit(4)
    return Law(
        id="window-realised",
        title="A window of 2m values does not exclude order m where H is invertible",
        statement=(
            "Let `b(0), …, b(2m-1)` be any values with `H = [b(i + j)]`, `i, j < m`, invertible, and `K = "
            "[b(i + j + 1)]`. Then `A = KH⁻¹` of size `m` satisfies `e₁ᵀ Aⁿ v = b(n)`, `v = (b(0), …, "
            "b(m-1))`, at every `n < 2m`. Written out for `m = 2`, times powers of `δ = det H`: `e₁ᵀ (K adj "
            "H)ⁿ v = δⁿ b(n)` for `n = 0, 1, 2, 3`."
        ),
        hypotheses=(Hypothesis("generic", "`H` is invertible"),),
        steps=(column, row, *four),
        perturbations=(
            four[3].but("a fifth value is free as well", lhs=fifth.lhs, rhs=fifth.rhs),
            four[2].but(
                "one slot is enough for three values",
                lhs=sp.ImmutableMatrix([[_B[1] ** 2]]),
                rhs=sp.ImmutableMatrix([[_B[0] * _B[2]]]),
            ),
            column.but("H is not invertible", rules=rules[2:]),
        ),
        rests_on=("order-from-below",),
        comment=(
            "So “not realisable” is a statement about all positions, or about a number of slots, and a claim "
            "that rests on samples must name its window. This is Ho's and Kalman's construction; whether the "
            "fit means anything is [another question](#window-decides)."
        ),
    )


_B = sp.symbols("b0:5", real=True)


def _after(row: sp.MatrixBase, step: sp.MatrixBase, count: int, column: sp.MatrixBase) -> sp.MatMul:
    """row · step^count · column, not multiplied out."""
    power = () if count == 0 else (step if count == 1 else sp.MatPow(step, count, evaluate=False),)
    return sp.MatMul(row, *power, column, evaluate=False)


def _fit(k: int) -> Identity:
    """e₁ᵀ (K adj H)^k v = δ^k b(k) for four free values."""
    hankel, later = (sp.Matrix(2, 2, lambda i, j, s=s: _B[i + j + s]) for s in (0, 1))
    step = (later * hankel.adjugate()).as_immutable()
    delta = plus(times(_B[0], _B[2]), times(sp.S.NegativeOne, _B[1], _B[1]))
    return Identity(
        name=f"m = 2: the value at {k}",
        goal=True,
        lhs=_after(sp.ImmutableMatrix([[1, 0]]), step, k, sp.ImmutableMatrix(_B[:2])),
        rhs=sp.ImmutableMatrix([[times(_B[k], *[delta] * k)]]),
    )


@CHAPTER.law("window-decides")
def window_decides() -> Law:
    goal = Identity(
        name="at u = 5 the fit is |5 - 4| = 1", goal=True, lhs=At(m * (4 - u), u, 5), rhs=m * sp.S.One
    )
    return Law(
        id="window-decides",
        title="“It fits on a window, so it is realisable”",
        statement=(
            "For every `m > 0` the bias `m|u - 4|` equals `m(4 - u)`, a slide of order 2, on the window `0 ≤ "
            "u ≤ 4`, and so at `u = 5` too: `-m = m`."
        ),
        expected=Status.REFUTED,
        steps=(goal,),
        siblings=(goal.but("at u = 3, inside the window", lhs=At(m * (4 - u), u, 3)),),
        rests_on=("window-realised",),
        comment=(
            "A fit on a window says nothing about the next position: a claim about all `u` needs a formula "
            "and a proof."
        ),
    )
