"""One-parameter groups: the flow of every block, any size, any matrix, and what breaks without a rule."""

import sympy as sp

from ...symbolic.block import Block
from ...symbolic.induction import Induction
from ...symbolic.tree import At, D
from ...symbolic.words import Derived, Words, commuting, letters
from ..law import Chapter, Hypothesis, Law
from ..step import Cited, Exact, Identity, Source
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
    "damped-turning-slide": Block(g, w, 2),
}
NAMES = tuple(BLOCKS)
SUMMED = Cited(
    name="summing the series",
    lemma="triangle inequality term by term; the terms with k > n are covered because 1 ≤ k(k-1)/(2n) there",
    source=Source("W. Rudin, Principles of Mathematical Analysis, 3rd ed., Theorem 3.45 and equation 8.26"),
)
n, k = sp.symbols("n k", nonnegative=True)


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
        title=f"The {name} is exp(tX)",
        statement=(
            f"For every real `t`{_for_all(block)}: the closed form `A(t)` of the {name} block satisfies "
            "`A(0) = I`, `A' = XA` and `X = A'(0)`; hence `A(t) = exp(tX)`."
        ),
        steps=(start, ode, speed),
        rests_on=("uniqueness",),
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
            "The closed form is written down and then checked against its defining equation; no series is "
            "summed by a machine."
        ),
    )


def _for_all(block: Block) -> str:
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
        title=f"The {name} obeys the group law",
        statement=(
            f"For all real `u, v`{_for_all(block)}: `A(u)A(v) = A(u+v)` and `A(u)A(-u) = I` for the {name} "
            "block."
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


@CHAPTER.law("all-sizes")
def all_sizes() -> Law:
    above, entry, slope = sp.symbols("b a d", real=True)
    # entry a_k = t^k/k!, its left neighbour b = a_{k-1} and its derivative d; index k counts from 1
    induction = Induction(
        index=k,
        start=1,
        state={above: (1, entry), entry: (t, entry * t / (k + 1)), slope: (1, (entry + t * slope) / (k + 1))},
        claim={entry: t * above / k, slope: above},
    )
    goal = Exact(name="a_k' = a_{k-1} for every k", goal=True, of=induction)
    no_factorial = {**induction.state, entry: (t, entry * t), slope: (1, entry + t * slope)}
    return Law(
        id="all-sizes",
        title="Slides of every height",
        statement=(
            "For every `k ≥ 1`: the entries `a_k = t^k/k!` on the k-th diagonal satisfy `a_k' = a_{k-1}` "
            "and vanish at `t = 0`. Hence `e^{tN} = Σ t^k N^k/k!` solves `A' = NA`, `A(0) = I` for every "
            "size `m`, and with `e^{-γt}R(ωt)` in front, so do `J_m(-γ)` and `C_m(γ, ω)`."
        ),
        steps=(
            Identity(name="a_1 = t vanishes at 0", lhs=At(t, t, 0), rhs=sp.S.Zero),
            goal,
        ),
        perturbations=(
            goal.but("1/k! is dropped", state=no_factorial),
            goal.but("the derivative is twice the neighbour", claim={entry: t * above / k, slope: 2 * above}),
        ),
        rests_on=("flow/turning-slide", "commuting-sum"),
        comment=(
            "The step from k to k+1 is decided with k, t and the entries as symbols. The factor in front "
            "commutes with the nilpotent part."
        ),
    )


@CHAPTER.law("commuting-sum")
def commuting_sum() -> Law:
    a, b, e, f = letters("A B E F")
    rules = (
        *commuting(a, b),
        *commuting(a, f),
        *commuting(e, b),
        *commuting(e, f),
        *commuting(a, e),
        *commuting(b, f),
    )
    claim = Words(Derived(e * f), (a + b) * e * f, rules, derivation={e: a * e, f: b * f})
    goal = Exact(name="(EF)' = (A+B)EF", goal=True, of=claim)
    return Law(
        id="commuting-sum",
        title="Commuting parts multiply",
        statement=(
            "If `AB = BA`, then `E = exp(tA)` and `F = exp(tB)` satisfy `(EF)' = (A + B)EF`; with `EF = I` "
            "at 0 this is `exp(t(A+B)) = exp(tA)exp(tB)`."
        ),
        hypotheses=(Hypothesis("commute", "`A` and `B` commute, hence so do their exponentials"),),
        steps=(goal,),
        perturbations=(
            goal.but("A and B do not commute", rules=()),
            goal.but("the generators are multiplied", rhs=a * b * e * f),
        ),
        rests_on=("uniqueness",),
        comment=(
            "This splits a block into fade, turn and slide. Without commuting it fails: that is where "
            "several axes become difficult."
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
    return Law(
        id="direct-sum",
        title="Blocks side by side",
        statement=(
            "Let `P, Q` be the projections on two complementary blocks (`P² = P`, `Q² = Q`, "
            "`PQ = QP = 0`). If `A' = XA` on the first and `B' = YB` on the second, then `PA + QB` is the "
            "flow of `PX + QY`. Adding one block at a time gives any number of blocks."
        ),
        hypotheses=(Hypothesis("blocks", "`A, X` live on the block of `P`, and `B, Y` on that of `Q`"),),
        steps=(goal,),
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
            "Both sides solve `Y' = XY` in `u` with the value `exp(vX)` at `u = 0`; uniqueness makes them "
            "equal. No symbol of this proof knows the size of X."
        ),
    )


@CHAPTER.law("euler-limit")
def euler_limit() -> Law:
    lost, total, sum_ = sp.symbols("e D S", real=True)
    a, b = sp.Symbol("a", nonnegative=True), sp.Symbol("b", positive=True)
    terms = sp.Symbol("n", positive=True)
    x = a / (a + b)  # any number with 0 <= x < 1, a new one at every step
    # e = 1 - p and D = p + S for p = Π(1 - x_j) and S = Σ x_j
    weierstrass = Induction(
        index=k,
        start=1,
        relation=">=",
        state={lost: (0, lost * (1 - x) + x), total: (1, total + x * lost)},
        claim={lost: sp.S.Zero, total: sp.S.One},
    )
    goal = Exact(
        name="Π(1 - x_j) + Σ x_j ≥ 1",
        goal=True,
        of=weierstrass,
        note="e = 1 - Π(1 - x_j), D = Π(1 - x_j) + Σ x_j",
    )
    growing = Induction(
        index=k, start=1, state={sum_: (0, sum_ + k / terms)}, claim={sum_: k * (k - 1) / (2 * terms)}
    )
    added = Exact(name="Σ_{j<k} j/n = k(k-1)/(2n)", goal=True, of=growing)
    negative = {lost: (0, lost * (1 + x) - x), total: (1, total - x * lost)}
    return Law(
        id="euler-limit",
        title="Many small ticks",
        statement=(
            "For all `x_j` with `0 ≤ x_j < 1`: `Π(1 - x_j) ≥ 1 - Σ x_j`. With `x_j = j/n` for `j < k ≤ n` "
            "this says `(1-1/n)⋯(1-(k-1)/n) ≥ 1 - k(k-1)/(2n)`, and with `x = |t|‖X‖` it gives "
            "`‖exp(tX) - (I + tX/n)ⁿ‖ ≤ Σ_k k(k-1)/(2n)·x^k/k! = (x²/2n) eˣ`."
        ),
        steps=(
            goal,
            added,
            SUMMED,
        ),
        perturbations=(
            goal.but("a factor above 1: the x_j may be negative", state=negative),
            goal.but("the bound is claimed twice as sharp", claim={lost: sp.S.Zero, total: sp.Integer(2)}),
            added.but("the sum is k²/(2n)", claim={sum_: k**2 / (2 * terms)}),
        ),
        comment=(
            "The generator is what happens in one tiny tick, and the exponential adds up ever more of "
            "them; this says how fast."
        ),
    )
