"""Gates move the clock: per-token decays add up to a time, and one fixed generator is read at it."""

import sympy as sp

from ...symbolic.block import Block
from ...symbolic.decide import Status
from ...symbolic.induction import Induction
from ..law import Chapter, Law
from ..step import Exact, Identity, Source
from .common import I2, J, N, g, product, t, u, w

CHAPTER = Chapter(
    "clocks",
    "Gates move the clock",
    "Gated models learn a decay for every token. With one generator they stay in the family: the gate "
    "decides how far the clock advances, and the encoding reads the clock instead of the token count.",
)
n = sp.Symbol("n", nonnegative=True)
a, tau = sp.symbols("a tau", real=True)
BLOCKS = {
    "fade": Block(g),
    "turn": Block(0, w),
    "damped-turn": Block(g, w),
    "slide": Block(0, 0, 2),
    "damped-turning-slide": Block(g, w, 2),
}
FOX = Source(
    "Z. Lin et al., Forgetting Transformer: Softmax Attention with a Forget Gate, 2025",
    "https://arxiv.org/abs/2503.02130",
)
MAMBA = Source("T. Dao, A. Gu, Transformers are SSMs, 2024", "https://arxiv.org/abs/2405.21060")


def telescope(block: Block, moved: sp.Expr = a, clock: sp.Expr | None = None) -> Induction:
    """P_{n+1} = exp(moved·X) P_n and τ_{n+1} = τ_n + a: claim P_n = exp(τ_n X)."""
    size = block.dim
    entries = [[sp.Symbol(f"P{i}{j}", real=True) for j in range(size)] for i in range(size)]
    partial = sp.Matrix(entries)
    following = block.exp(moved) * partial
    target = block.exp(tau if clock is None else clock)
    cells = [(i, j) for i in range(size) for j in range(size)]
    state = {partial[i, j]: (sp.Integer(int(i == j)), following[i, j]) for i, j in cells}
    return Induction(
        index=n,
        start=0,
        state=state | {tau: (0, tau + a)},
        claim={partial[i, j]: target[i, j] for i, j in cells},
    )


@CHAPTER.law("gates-telescope", encodings=tuple(BLOCKS))
def gates_telescope(name: str) -> Law:
    block = BLOCKS[name]
    goal = Exact(name="any number of tokens", goal=True, of=telescope(block))
    doubled, late = telescope(block, moved=2 * a), telescope(block, clock=tau + 1)
    return Law(
        id="gates-telescope",
        encoding=name,
        title=f"Gates telescope on the {name}",
        statement=(
            "For every number of tokens `n` and all real gates `a_1, …, a_n`: "
            f"`exp(a_n X) ⋯ exp(a_1 X) = exp(τ_n X)` with `τ_n = a_1 + ⋯ + a_n`, for the {name} block."
        ),
        steps=(goal,),
        rests_on=(f"group-law/{name}",),
        perturbations=(
            goal.but("each gate acts twice and counts once", state=doubled.state),
            goal.but("the clock is one step ahead", claim=late.claim),
        ),
        sources=(FOX, MAMBA),
        comment=(
            "One token more multiplies by exp(aX) and adds a to the clock; the rest is the group law. The "
            "gates are free symbols, so they may depend on content."
        ),
    )


@CHAPTER.law("gates-split")
def gates_split() -> Law:
    now, then, ago = sp.symbols("tau_t tau_s tau_r", real=True)
    block = BLOCKS["damped-turn"]
    goal = Identity(
        name="U(t,s)U(s,r) = U(t,r)",
        goal=True,
        lhs=product(block.exp(now - then), block.exp(then - ago)),
        rhs=block.exp(now - ago),
    )
    split = Identity(
        name="one factor for the query, one for the key",
        goal=True,
        lhs=product(block.exp(now), block.exp(-then)),
        rhs=block.exp(now - then),
    )
    still = Identity(name="U(t,t) = I", goal=True, lhs=block.exp(now - now), rhs=I2)
    return Law(
        id="gates-split",
        title="Relative in the clock",
        statement=(
            "For all clock readings: `U(t,s) = exp((τ_t-τ_s)X)` satisfies `U(t,t) = I`, "
            "`U(t,s)U(s,r) = U(t,r)` and `U(t,s) = exp(τ_t X)·exp(-τ_s X)`."
        ),
        steps=(still, goal, split),
        rests_on=("gates-telescope/damped-turn",),
        perturbations=(
            goal.but(
                "the gates of the middle token count twice",
                lhs=product(block.exp(now - then + a), block.exp(then - ago + a)),
            ),
            split.but("the key moves forward", lhs=product(block.exp(now), block.exp(then))),
        ),
        comment=(
            "Relative to clock differences, not to token distances. Sums from s+1 to t and from s to t-1 "
            "are two clocks and two models."
        ),
    )


@CHAPTER.law("gates-order")
def gates_order() -> Law:
    turn, slide = Block(0, 1).exp(u), Block(0, 0, 2).exp(t)
    goal = Identity(
        name="the order of the gates does not matter",
        goal=True,
        lhs=product(turn, slide),
        rhs=product(slide, turn),
    )
    bracket = Identity(
        name="[J, N] is not zero",
        lhs=product(J, N),
        rhs=sp.ImmutableMatrix([[0, 0], [0, 1]]),
    )
    return Law(
        id="gates-order",
        title="“Any gates telescope”",
        statement=(
            "For the generators `J` (turn) and `N` (slide) and all real `t, u`: "
            "`exp(uJ)exp(tN) = exp(tN)exp(uJ)`, so that products depend on two clocks only."
        ),
        expected=Status.REFUTED,
        steps=(bracket, goal),
        siblings=(
            goal.but(
                "two turns", lhs=product(turn, Block(0, 1).exp(t)), rhs=product(Block(0, 1).exp(t), turn)
            ),
        ),
        rests_on=("commuting-sum",),
        comment=(
            "With generators that do not commute only `U(t,s)U(s,r) = U(t,r)` is left: the path matters, "
            "and no pair of token-wise factors need exist. Products of Householder-like maps are of this "
            "kind."
        ),
    )
