"""Factors that do not commute: products in order are cocycles, and no functions of clocks."""

import sympy as sp

from ...symbolic.decide import Status
from ...symbolic.free import word_poly
from ...symbolic.words import Derived, Words, commuting, inverses, letters
from ..law import Hypothesis, Law
from ..step import Exact, Identity, Source
from .clocks import CHAPTER
from .common import product

PATH = Source(
    "S. Yang et al., PaTH Attention: Position Encoding via Accumulating Householder Transformations, 2025",
    "https://arxiv.org/abs/2505.16381",
)
DELTA = Source(
    "S. Yang et al., Parallelizing Linear Transformers with the Delta Rule over Sequence Length, 2024",
    "https://arxiv.org/abs/2406.06484",
)
beta, delta, theta = sp.symbols("beta delta theta", real=True)
x, y, z, v = sp.symbols("x y z v", real=True)


def unlike(beta_: sp.Expr, *vector: sp.Expr) -> sp.ImmutableMatrix:
    """I - β w wᵀ."""
    column = sp.Matrix(vector)
    return sp.ImmutableMatrix(sp.eye(len(vector)) - beta_ * column * column.T)


@CHAPTER.law("ordered-cocycle")
def ordered_cocycle() -> Law:
    h, p, q, r = letters("H P Q R")
    one = word_poly(1)
    goal = Exact(
        name="one token more on both sides",
        goal=True,
        of=Words((h * p) * q, h * r, ((p * q, r),)),
        note="P, Q, R stand for U(t,s), U(s,r), U(t,r), and HP, HR for U(t+1,s), U(t+1,r)",
    )
    start = Exact(name="at t = s: U(s,s) = I", of=Words(p * q, q, ((p, one),)))
    half = [[1, 0], [0, 0]]
    swap = [[0, 1], [1, 0]]
    return Law(
        id="ordered-cocycle",
        title="Any factors, in order",
        statement=(
            "For all square `H_l`, invertible or not, commuting or not, and all `r ≤ s ≤ t`: "
            "`U(t,s) = H_t ⋯ H_{s+1}` satisfies `U(s,s) = I` and `U(t,s)U(s,r) = U(t,r)`; with "
            "`U(t,s)U(s,r) = U(t,r)` also `(H·U(t,s))U(s,r) = H·U(t,r)`."
        ),
        steps=(start, goal),
        perturbations=(
            goal.but(
                "the new factor enters on the right",
                lhs=(p * h) * q,
                model={"H": swap, "P": half, "Q": [[0, 0], [0, 1]], "R": [[0, 0], [0, 0]]},
            ),
            goal.but("the new factor counts twice", lhs=(h * h * p) * q),
            start.but("an empty product of 0", rules=((p, 0 * one),)),
        ),
        rests_on=("gates-split",),
        sources=(PATH, DELTA),
        comment=(
            "That is all which is left without commuting: products of reflections, the delta rule, rotations "
            "about changing axes. They know the path, [not only how far it went](#ordered-in-clocks)."
        ),
    )


@CHAPTER.law("ordered-in-clocks")
def ordered_in_clocks() -> Law:
    one, two = unlike(beta, x, y), unlike(delta, z, v)
    goal = Identity(
        name="two tokens in either order", goal=True, lhs=product(two, one), rhs=product(one, two)
    )
    c = sp.Symbol("c", real=True)
    parallel = unlike(delta, c * x, c * y)
    across = unlike(delta, -c * y, c * x)
    return Law(
        id="ordered-in-clocks",
        title="“The gates say how far”",
        statement=(
            "For all `β, δ` and all vectors `w = (x, y)` and `w' = (z, v)`: `I - β w wᵀ` and `I - δ w' w'ᵀ` "
            "give the same product in both orders, so that a product of such factors depends on sums over "
            "its tokens only."
        ),
        expected=Status.REFUTED,
        steps=(goal,),
        siblings=(
            goal.but("parallel vectors", lhs=product(parallel, one), rhs=product(one, parallel)),
            goal.but("orthogonal vectors", lhs=product(across, one), rhs=product(one, across)),
        ),
        rests_on=("ordered-cocycle",),
        sources=(PATH, DELTA),
        comment="Every clock reads the same when two tokens change places, the product does not.",
    )


def mixed_derivative() -> tuple[Exact, Exact, Exact, Exact]:
    """∂²/∂a∂b of AB - BA at 0 for A = exp(aX), B = exp(bY), a derivative and a value at a time."""
    left, right, gx, gy = letters("A B X Y")
    one = word_poly(1)
    along = Words(
        Derived(left * right - right * left),
        gx * left * right - right * gx * left,
        derivation={left: gx * left},
    )
    then = Words(
        Derived(gx * right - right * gx), gx * gy * right - gy * right * gx, derivation={right: gy * right}
    )
    at_once = Words(gx * left * right - right * gx * left, gx * right - right * gx, ((left, one),))
    bracket = Words(gx * gy * right - gy * right * gx, gx * gy - gy * gx, ((right, one),))
    return (
        Exact(name="∂/∂a of AB - BA", of=along, note="A = exp(aX), B = exp(bY)"),
        Exact(name="at a = 0", of=at_once),
        Exact(name="∂/∂b of XB - BX", of=then),
        Exact(name="at b = 0 the bracket", goal=True, of=bracket),
    )


@CHAPTER.law("order-commutes")
def order_commutes() -> Law:
    left, right, gx, gy = letters("A B X Y")
    one = word_poly(1)
    free = Exact(
        name="commuting factors: the order is free",
        goal=True,
        of=Words(left * right, right * left, commuting(right, left)),
    )
    along, at_once, then, bracket = mixed_derivative()
    return Law(
        id="order-commutes",
        title="Clocks need generators that commute",
        statement=(
            "For all square `X, Y`: products of factors `exp(aX)` and `exp(bY)` are the same in every order, "
            "for all real gates `a, b`, exactly when `XY = YX`. If the generators commute the factors do, "
            "and `∂²/∂a∂b` of `exp(aX)exp(bY) - exp(bY)exp(aX)` is `XY - YX` at 0, which vanishes if no "
            "order matters."
        ),
        hypotheses=(Hypothesis("all gates", "the two orders agree for all real gates, near 0 at least"),),
        steps=(free, along, at_once, then, bracket),
        perturbations=(
            free.but("the factors do not commute", rules=()),
            bracket.but("the bracket's sign is lost", rhs=gx * gy + gy * gx),
            at_once.but("B passes X", rhs=0 * one),
            then.but("Y is left of X in both terms", rhs=gy * gx * right - gy * right * gx),
        ),
        rests_on=("commuting-sum", "ordered-cocycle"),
        comment=(
            "Then the product of many tokens is `exp(Σ_r (Φ_r(t)-Φ_r(s))X_r)`, "
            "[a function of clocks](#clocks-cocycle)."
        ),
    )


@CHAPTER.law("singular-factor")
def singular_factor() -> Law:
    unit = sp.ImmutableMatrix([sp.cos(theta), sp.sin(theta)])
    erase = unlike(sp.S.One, *unit)
    nothing = sp.zeros(2, 1)
    kernel = Identity(name="at β = 1 w is erased", goal=True, lhs=product(erase, unit), rhs=nothing)
    size = sp.ImmutableMatrix(unlike(beta, x, y))
    det = Identity(name="det H = 1 - β|w|²", goal=True, lhs=size.det(), rhs=1 - beta * (x**2 + y**2))
    keep = unlike(1 + delta, *unit)
    back = unlike((1 + delta) / delta, *unit)
    undo = Identity(
        name="with δ = β - 1 ≠ 0 it has an inverse",
        goal=True,
        lhs=product(keep, back),
        rhs=sp.eye(2),
        assume=(sp.Ne(delta, 0),),
    )
    h, inv, w_ = letters("H G w")
    zero = 0 * w_
    lost = Exact(
        name="GH sends w to 0, so GH is not I", goal=True, of=Words((inv * h) * w_, zero, ((h * w_, zero),))
    )
    return Law(
        id="singular-factor",
        title="A gate that erases has no key side",
        statement=(
            "For all real `β` and `w`: `H = I - β w wᵀ` has `det H = 1 - β|w|²`. With `|w| = 1` it has an "
            "inverse if `β ≠ 1`, and at `β = 1` it sends `w` to 0. No matrix `G` has `GH = I` where `Hw = 0` "
            "and `w ≠ 0`."
        ),
        steps=(det, undo, kernel, lost),
        perturbations=(
            kernel.but("half as strong", lhs=product(unlike(sp.Rational(1, 2), *unit), unit)),
            undo.but("the inverse doubles back", lhs=product(keep, unlike(-(1 + delta) / delta, *unit))),
            det.but("the length is not squared", rhs=1 - beta * (x + y)),
            lost.but("H need not erase w", rules=()),
        ),
        rests_on=("ordered-cocycle",),
        sources=(PATH, DELTA),
        comment=(
            "The same holds for a forget gate `f = 0`, which has no logarithm. Only `t ≥ s` is left, a "
            "semigroup, and [the key has no factor of its own](#no-key-side)."
        ),
    )


@CHAPTER.law("no-key-side")
def no_key_side() -> Law:
    f0, f1, g0, g1, h = letters("F0 F1 G0 G1 H")
    one = word_poly(1)
    unit_at_both = (*inverses(f0, g0), *inverses(f1, g1))
    left = Exact(
        name="F(s)G(t) undoes U(t,s) from the left",
        goal=True,
        of=Words((f0 * g1) * (f1 * g0), one, unit_at_both),
        note="0 and 1 stand for s and t; F(s)G(s) = U(s,s) = I and F(t)G(t) = U(t,t) = I, square factors",
    )
    right = Exact(name="and from the right", goal=True, of=Words((f1 * g0) * (f0 * g1), one, unit_at_both))
    chain = Exact(
        name="conversely U(t,0)·U(s,0)⁻¹ is U(t,s)",
        goal=True,
        of=Words((h * f0) * g0, h, inverses(f0, g0)),
        note="H stands for U(t,s), F0 for U(s,0) and G0 for its inverse; HF0 is U(t,0)",
    )
    return Law(
        id="no-key-side",
        title="Caching a moved key needs inverses",
        statement=(
            "Let `U(t,t) = I` for all `t`. If `U(t,s) = F(t)G(s)` with square factors for all `t ≥ s`, then "
            "every `U(t,s)` has the inverse `F(s)G(t)`. Conversely, for a cocycle whose `U(s,0)` all have "
            "inverses, `U(t,s) = U(t,0)·U(s,0)⁻¹` is such a product."
        ),
        steps=(left, right, chain),
        perturbations=(
            left.but("nothing is known at t", rules=inverses(f0, g0)),
            right.but("the factors change sides", lhs=(g0 * f1) * (f0 * g1)),
            chain.but("the key is moved twice", lhs=(h * f0) * g0 * g0),
        ),
        rests_on=("singular-factor",),
        sources=(PATH,),
        comment=(
            "So one singular factor on the way rules out keys that are moved once and cached for all "
            "queries; such caches are updated at every token instead."
        ),
    )


@CHAPTER.law("every-gate-undone")
def every_gate_undone() -> Law:
    unit = sp.ImmutableMatrix([sp.cos(theta), sp.sin(theta)])
    erase = unlike(sp.S.One, *unit)
    goal = Identity(
        name="some key factor undoes an erasing gate",
        goal=True,
        lhs=product(sp.ImmutableMatrix([[x, y], [z, v]]), erase, unit),
        rhs=unit,
    )
    half = unlike(sp.Rational(1, 2), *unit)
    twice = unlike(-1, *unit)
    return Law(
        id="every-gate-undone",
        title="“Cache the key, moved”",
        statement=(
            "For every `G` with entries `x, y, z, v` and every unit vector `w`: `G(I - w wᵀ)w = w`, as an "
            "inverse would have it."
        ),
        expected=Status.REFUTED,
        steps=(goal,),
        siblings=(goal.but("β = 1/2, undone by β = -1", lhs=product(twice, half, unit)),),
        rests_on=("singular-factor",),
        comment="The left side is 0 whatever `G` is: not one `G` works, at no unit vector.",
    )
