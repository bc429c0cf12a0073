"""One-parameter groups: the flow of each kind of block, sums of blocks, and any matrix at all."""

import sympy as sp

from ...symbolic.block import Block
from ...symbolic.free import word_poly
from ...symbolic.tree import At, D
from ...symbolic.words import Derived, Words, commuting, letters
from ..law import Chapter, Hypothesis, Law, Renaming
from ..step import Exact, Identity
from .common import g, product, t, u, v, w

CHAPTER = Chapter(
    "one-parameter",
    "One-parameter groups",
    "A move `A(t)` for every real `t`, with `A(0) = I` and `A(u)A(v) = A(u+v)`. The circle, the fade and "
    "the slide are three of them; all others are built from these, and each is `exp(tX)` for one matrix "
    "`X`, its generator.",
)
BLOCKS = {
    "hold": Block(0),
    "fade": Block(g),
    "grow": Block(-g),
    "turn": Block(0, w),
    "damped-turn": Block(g, w),
    "growing-turn": Block(-g, w),
    "slide": Block(0, 0, 2),
    "slide-3": Block(0, 0, 3),
    "faded-slide": Block(g, 0, 2),
    "turning-slide": Block(0, w, 2),
    "grown-slide": Block(-g, 0, 2),
    "damped-turning-slide": Block(g, w, 2),
    "growing-turning-slide": Block(-g, w, 2),
}
NAMES = tuple(BLOCKS)


def spoken(name: str) -> str:
    """The name of a block in words."""
    words = {"grow": "growth", "grown-slide": "growing slide", "slide-3": "slide of height 3"}
    return words.get(name, name.replace("-", " "))


def changed(block: Block) -> sp.ImmutableMatrix:
    """The block's flow with t² added to its upper right entry: a wrong closed form."""
    flow = block.exp(t).as_mutable()
    flow[0, -1] += t**2
    return flow.as_immutable()


@CHAPTER.law("flow", encodings=NAMES)
def flow(name: str) -> Law:
    block = BLOCKS[name]
    closed, generator = block.exp(t), block.matrix
    start = Identity(name="A(0) = I", goal=True, lhs=At(closed, t, 0), rhs=sp.eye(block.dim).as_immutable())
    ode = Identity(name="A' = XA", goal=True, lhs=D(closed, t), rhs=product(generator, closed))
    speed = Identity(name="X = A'(0)", goal=True, lhs=At(D(closed, t), t, 0), rhs=generator)
    return Law(
        id="flow",
        encoding=name,
        title=f"{spoken(name).capitalize()}: exp(tX)",
        statement=(
            f"For every real `t`{for_all(block)}: the closed form `A(t)` of the {spoken(name)} satisfies "
            "`A(0) = I`, `A' = XA` and `X = A'(0)`; hence `A(t) = exp(tX)`."
        ),
        steps=(start, ode, speed),
        rests_on=("uniqueness",),
        renamings=_renamings(block),
        perturbations=(
            ode.but(
                "one entry of the closed form is changed",
                lhs=D(changed(block), t),
                rhs=product(generator, changed(block)),
            ),
            ode.but("X has 1 added on its diagonal", rhs=product(generator + sp.eye(block.dim), closed)),
            start.but("the closed form is doubled", lhs=At((2 * closed).as_immutable(), t, 0)),
        ),
        comment=(
            "The closed form is written down and then checked against its defining equation, which has "
            "[one solution only](#uniqueness); no series is summed."
        ),
    )


def _renamings(block: Block) -> tuple[Renaming, ...]:
    """The formulas know nothing of the signs of their rates."""
    present = [symbol for symbol in (g, w) if symbol in block.matrix.free_symbols]
    return tuple(Renaming(f"-{x} for {x} everywhere", {x: -x}) for x in present)


def for_all(block: Block) -> str:
    """“ and every `γ, ω > 0`”, as far as the block has them."""
    names = [letter for letter, symbol in (("γ", g), ("ω", w)) if symbol in block.matrix.free_symbols]
    return f" and every `{', '.join(names)} > 0`" if names else ""


@CHAPTER.law("group-law", encodings=NAMES)
def group_law(name: str) -> Law:
    block = BLOCKS[name]
    goal = Identity(
        name="A(u)A(v) = A(u+v)", goal=True, lhs=product(block.exp(u), block.exp(v)), rhs=block.exp(u + v)
    )
    back = Identity(
        name="A(u)A(-u) = I",
        goal=True,
        lhs=product(block.exp(u), block.exp(-u)),
        rhs=sp.eye(block.dim).as_immutable(),
    )
    wrong = changed(block)
    return Law(
        id="group-law",
        encoding=name,
        title=f"{spoken(name).capitalize()}: group law",
        statement=(
            f"For all real `u, v`{for_all(block)}: the {spoken(name)} satisfies `A(u)A(v) = A(u+v)` and "
            "`A(u)A(-u) = I`."
        ),
        steps=(goal, back),
        perturbations=(
            goal.but(
                "one entry of the closed form is changed",
                lhs=product(wrong.subs(t, u), wrong.subs(t, v)),
                rhs=wrong.subs(t, u + v),
            ),
            back.but("the closed form is doubled", lhs=product(2 * block.exp(u), 2 * block.exp(-u))),
        ),
        rests_on=(f"flow/{name}",),
        comment="Carry 3 and then 2 more is carry 5; carry 3 and back 3 is nothing.",
    )


@CHAPTER.law("commuting-sum")
def commuting_sum() -> Law:
    a, b, e, f = letters("A B E F")
    same = Words(Derived(b * e), a * (b * e), commuting(a, b), derivation={e: a * e})
    passes = Exact(name="(BE)' = A(BE), as for EB, and both are B at 0: so EB = BE", goal=True, of=same)
    rules = (*commuting(a, b), *commuting(e, b))
    claim = Words(Derived(e * f), (a + b) * e * f, rules, derivation={e: a * e, f: b * f})
    goal = Exact(name="(EF)' = (A+B)EF", goal=True, of=claim)
    one = word_poly(1)
    start = Exact(name="EF = I at 0", of=Words(e * f, one, ((e, one), (f, one))))
    return Law(
        id="commuting-sum",
        title="Commuting parts multiply",
        statement=(
            "For all square `A, B` with `AB = BA`: `E = exp(tA)` commutes with `B`, and with "
            "`F = exp(tB)` also `(EF)' = (A + B)EF` and `EF = I` at 0; hence `exp(t(A+B)) = exp(tA)exp(tB)`."
        ),
        hypotheses=(Hypothesis("commute", "`A` and `B` commute"),),
        steps=(passes, goal, start),
        perturbations=(
            passes.but("A and B do not commute", rules=()),
            goal.but("B does not pass E", rules=()),
            goal.but("the generators are multiplied", rhs=a * b * e * f),
        ),
        rests_on=("uniqueness",),
        comment=(
            "This splits a block into fade, turn and slide. [Without commuting it fails](#gates-order): "
            "that is where several axes become difficult."
        ),
    )


@CHAPTER.law("direct-sum")
def direct_sum() -> Law:
    p, q, a, b, x, y = letters("P Q A B X Y")
    rules = [(p * p, p), (q * q, q), (p * q, 0 * p), (q * p, 0 * p)]
    inside = [rule for letter in (a, b, x, y) for rule in (*commuting(p, letter), *commuting(q, letter))]
    claim = Words(
        Derived(p * a + q * b),
        (p * x + q * y) * (p * a + q * b),
        (*rules, *inside),
        derivation={a: x * a, b: y * b},
    )
    goal = Exact(name="the sum of two flows is a flow", goal=True, of=claim)
    one = word_poly(1)
    start = Exact(
        name="it starts at P + Q = I",
        of=Words(p * a + q * b, one, ((a, one), (b, one), (q, one - p))),
    )
    return Law(
        id="direct-sum",
        title="Blocks side by side",
        statement=(
            "Let `P, Q` be the projections on two complementary blocks (`P² = P`, `Q² = Q`, "
            "`PQ = QP = 0`, `P + Q = I`). If `A' = XA` on the first and `B' = YB` on the second, both `I` "
            "at 0, then `PA + QB` is the flow of `PX + QY`. Adding one block at a time gives any number of "
            "blocks."
        ),
        hypotheses=(Hypothesis("blocks", "`A, X` live on the block of `P`, and `B, Y` on that of `Q`"),),
        steps=(goal, start),
        perturbations=(
            goal.but("the blocks overlap", rules=(*rules[:2], *inside)),
            goal.but("the generators are swapped", rhs=(p * y + q * x) * (p * a + q * b)),
        ),
        rests_on=("uniqueness",),
        comment=(
            "What is proved for one block, with its frequency a free symbol, holds for all planes of all "
            "head dimensions. Dimension 16 is never sampled."
        ),
    )


@CHAPTER.law("flow-group-law")
def flow_group_law() -> Law:
    a, x, b = letters("A X B")
    claim = Words(Derived(a * b), x * a * b, derivation={a: x * a})
    goal = Exact(
        name="u ↦ A(u)A(v) solves the same equation",
        goal=True,
        of=claim,
        note="B stands for A(v), constant in u",
    )
    start = Exact(name="and starts at A(v)", of=Words(a * b, b, ((a, 1 + 0 * a),)))
    return Law(
        id="flow-group-law",
        title="Every matrix generates a group",
        statement=(
            "For every square `X` and all real `u, v`: `exp(uX)exp(vX) = exp((u+v)X)`, and so "
            "`exp(uX)exp(-uX) = I`."
        ),
        steps=(goal, start),
        perturbations=(
            goal.but("X acts from the other side of A(v)", rhs=a * b * x),
            start.but("it starts at A(v)²", rhs=b * b),
        ),
        rests_on=("uniqueness",),
        comment=(
            "Both sides solve `Y' = XY` in `u` with the value `exp(vX)` at `u = 0`; "
            "[uniqueness](#uniqueness) makes them equal. No symbol of this proof knows the size of `X`."
        ),
    )
