"""What stays bounded: the fate of every block forwards and backwards in time, and what survives both."""

import sympy as sp

from ...symbolic.block import Block
from ...symbolic.decide import Status
from ...symbolic.limits import Limit
from ..law import Chapter, Hypothesis, Law
from ..step import Cited, Exact, Identity, Source
from .common import HALL, PURANIK, dot, g, product, t, transpose, w

CHAPTER = Chapter(
    "bounded",
    "What stays bounded",
    "A key may wait for any number of steps. An encoding is safe forwards if `exp(tX)` stays bounded for "
    "`t ≥ 0`, and safe in both directions if it does for all `t`. The longest column of each block "
    "decides; its squared length has no oscillation in it.",
)
BLOCKS = {
    "hold": (Block(0), "all t"),
    "turn": (Block(0, w), "all t"),
    "fade": (Block(g), "t ≥ 0"),
    "damped-turn": (Block(g, w), "t ≥ 0"),
    "faded-slide": (Block(g, 0, 2), "t ≥ 0"),
    "damped-turning-slide": (Block(g, w, 2), "t ≥ 0"),
    "grow": (Block(-g), "t ≤ 0"),
    "growing-turn": (Block(-g, w), "t ≤ 0"),
    "grown-slide": (Block(-g, 0, 2), "t ≤ 0"),
    "growing-turning-slide": (Block(-g, w, 2), "t ≤ 0"),
    "slide": (Block(0, 0, 2), "neither"),
    "slide-3": (Block(0, 0, 3), "neither"),
    "turning-slide": (Block(0, w, 2), "neither"),
}
JORDAN = Source(
    "R. A. Horn, C. R. Johnson, Matrix Analysis, 2nd ed., Theorem 3.4.1.5: the real Jordan form exists and "
    "is unique up to order"
)


def longest(block: Block) -> sp.Expr:
    """Squared length of the last column of the flow, written without oscillation: e^{-2γt} Σ (t^k/k!)²."""
    powers = sp.Add(*((t**k / sp.factorial(k)) ** 2 for k in range(block.size)))
    return sp.exp(-2 * block.decay * t) * powers


def _ends(where: str, block: Block) -> dict[str, sp.Expr]:
    """The limits of the longest column's squared length, forwards and backwards."""
    if where == "all t":
        return {"forwards": sp.S.One, "backwards": sp.S.One}
    if where == "neither":
        return {"forwards": sp.oo, "backwards": sp.oo}
    good, bad = ("forwards", "backwards") if where == "t ≥ 0" else ("backwards", "forwards")
    return {good: sp.S.Zero, bad: sp.oo}


@CHAPTER.law("bounded", encodings=tuple(BLOCKS))
def bounded(name: str) -> Law:
    block, where = BLOCKS[name]
    flow = block.exp(t)
    column = flow[:, -1]
    square = Identity(
        name="squared length of the last column", goal=True, lhs=dot(column, column), rhs=longest(block)
    )
    ends = _ends(where, block)
    limits = {
        side: Exact(
            name=f"{side} in time",
            goal=True,
            of=Limit(longest(block), t, sp.oo if side == "forwards" else -sp.oo, value),
        )
        for side, value in ends.items()
    }
    start = Cited(
        name="a continuous function with finite limits at the ends is bounded there",
        lemma=(
            "a continuous function on a half line with a finite limit is bounded; every other column is a "
            "part of the last one or equally long"
        ),
        source=Source("W. Rudin, Principles of Mathematical Analysis, 3rd ed., Theorem 4.15"),
    )
    words = {
        "all t": "for all t",
        "t ≥ 0": "for t ≥ 0 only",
        "t ≤ 0": "for t ≤ 0 only",
        "neither": "neither forwards nor backwards",
    }[where]
    opposite = {sp.oo: sp.S.Zero, sp.S.Zero: sp.oo, sp.S.One: sp.oo}
    return Law(
        id="bounded",
        encoding=name,
        title=f"The {name} is bounded {words}",
        statement=(
            f"The squared length of the last column of the {name}'s `A(t)` is `{_text(block)}`; it tends to "
            f"{_limit_word(ends['forwards'])} forwards and {_limit_word(ends['backwards'])} backwards. So "
            f"`A` is bounded {words}."
        ),
        steps=(square, *limits.values(), start),
        rests_on=("all-sizes",),
        perturbations=(
            limits["forwards"].but("the opposite fate forwards", value=opposite[ends["forwards"]]),
            limits["backwards"].but("the opposite fate backwards", value=opposite[ends["backwards"]]),
            square.but("the column fades twice as fast and grows", rhs=longest(block) * sp.exp(-2 * t)),
        ),
        comment=_COMMENTS[where],
    )


_COMMENTS = {
    "all t": "Lengths do not change at all: nothing is lost and nothing explodes, in either direction.",
    "t ≥ 0": (
        "Safe behind a causal mask: the past fades. Ahead of the query the same factor grows without bound."
    ),
    "t ≤ 0": "The mirror image of a fade; it would need a mask the other way round.",
    "neither": (
        "Growth is polynomial, not exponential. As a bias inside a softmax that is what one wants; as a "
        "map of the keys it grows with the context."
    ),
}


def _text(block: Block) -> str:
    from ...symbolic.typeset import to_text

    return to_text(longest(block))


def _limit_word(value: sp.Expr) -> str:
    return {sp.oo: "`+∞`", sp.S.Zero: "`0`", sp.S.One: "`1`"}[value]


@CHAPTER.law("growth-forbidden")
def growth_forbidden() -> Law:
    goal = Exact(name="growth settles down", goal=True, of=Limit(sp.exp(g * t), t, sp.oo, sp.S.Zero))
    return Law(
        id="growth-forbidden",
        title="“A positive eigenvalue does no harm”",
        statement="For `γ > 0`: `e^{γt} → 0` as `t → ∞`.",
        expected=Status.REFUTED,
        steps=(goal,),
        siblings=(goal.but("with the sign of a fade", expr=sp.exp(-g * t)),),
        rests_on=("bounded/grow",),
        comment=(
            "It tends to +∞: an old key would outweigh everything. A growth beside a fade of the same rate "
            "is a boost; it is unbounded too."
        ),
    )


@CHAPTER.law("bounded-up-to-basis")
def bounded_up_to_basis() -> Law:
    x = sp.ImmutableMatrix([[6, -15], [3, -6]])
    p = sp.ImmutableMatrix([[1, -2], [-2, 5]])
    invariant = Identity(
        name="XᵀP + PX = 0",
        goal=True,
        lhs=sp.MatAdd(product(transpose(x), p), product(p, x), evaluate=False),
        rhs=sp.zeros(2, 2),
    )
    minors = Identity(
        name="P > 0 by its minors 1 and 1·5 - 2·2 = 1",
        goal=True,
        lhs=sp.Matrix([[p[0, 0], p.det()]]),
        rhs=sp.Matrix([[1, 1]]),
    )
    square = Identity(name="X² = -9 I: frequency 3", lhs=product(x, x), rhs=-9 * sp.eye(2))
    return Law(
        id="bounded-up-to-basis",
        title="A rotation that does not look like one",
        statement=(
            "`X = [[6,-15],[3,-6]]` leaves the length `√(xᵀPx)` with `P = [[1,-2],[-2,5]] > 0` unchanged: "
            "`XᵀP + PX = 0`, so `d/dt (A(t)x)ᵀP(A(t)x) = 0`."
        ),
        steps=(invariant, minors, square),
        perturbations=(
            invariant.but("the plain length, P = I", lhs=sp.MatAdd(transpose(x), x, evaluate=False)),
            square.but("frequency 9", rhs=-81 * sp.eye(2)),
        ),
        rests_on=("change-of-basis",),
        comment=(
            "Bounded both ways means rotation in some inner product; RoPE is the one whose inner product "
            "is the usual one."
        ),
    )


@CHAPTER.law("only-rotation")
def only_rotation() -> Law:
    zero = Identity(
        name="what is bounded and does not turn is constant", goal=True, lhs=Block(0).exp(t), rhs=sp.eye(1)
    )
    kept = Block(0, w).exp(t)
    turning = Identity(
        name="what is bounded and turns keeps lengths",
        goal=True,
        lhs=product(transpose(kept), kept),
        rhs=sp.eye(2),
    )
    return Law(
        id="only-rotation",
        title="Only rotation neither forgets nor explodes",
        statement=(
            "Up to a change of basis, `exp(tX)` is bounded for all real `t` iff it is a direct sum of "
            "holds and turns. So the only non-trivial encoding with square invertible factors that is "
            "bounded in both directions is a rotation."
        ),
        hypotheses=(Hypothesis("real", "`X` is a real square matrix"),),
        steps=(
            Cited(
                name="every X is a sum of blocks", lemma="real Jordan form", source=JORDAN, needs=("real",)
            ),
            zero,
            turning,
        ),
        rests_on=("direct-sum", "change-of-basis", "all-sizes", *(f"bounded/{name}" for name in BLOCKS)),
        perturbations=(
            turning.but(
                "a turn that also fades", lhs=product(transpose(Block(g, w).exp(t)), Block(g, w).exp(t))
            ),
            zero.but("a fade", lhs=Block(g).exp(t)),
        ),
        sources=(PURANIK, HALL),
        comment=(
            "In this corner of the design space RoPE is not one option among many. NoPE parts may be "
            "added, and the inner product may be another one."
        ),
    )
