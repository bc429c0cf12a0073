"""Gates move the clock: per-token decays add up to a time, and one fixed generator is read at it."""

import sympy as sp

from ...symbolic.block import Block
from ...symbolic.decide import Status
from ...symbolic.free import word_poly
from ...symbolic.induction import Induction
from ...symbolic.words import Words, commuting, inverses, letters
from ..law import Chapter, Law
from ..step import Exact, Identity, Source
from .common import J, N, g, product, t, u, w
from .one_parameter import for_all, spoken

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
        title=f"{spoken(name).capitalize()}: gates telescope",
        statement=(
            f"For every number of tokens `n`, all real gates `a_1, …, a_n`{for_all(block)}: "
            f"`exp(a_n X) ⋯ exp(a_1 X) = exp(τ_n X)` with `τ_n = a_1 + ⋯ + a_n`, for the {spoken(name)}. "
            "Counted from token `s + 1` to `t` this is `exp((τ_t-τ_s)X)`."
        ),
        steps=(goal,),
        rests_on=(f"group-law/{name}", "flow-group-law"),
        perturbations=(
            goal.but("each gate acts twice and counts once", state=doubled.state),
            goal.but("the clock is one step ahead", claim=late.claim),
        ),
        sources=(FOX, MAMBA),
        comment=(
            "One token more multiplies by `exp(aX)` and adds `a` to the clock; the step is the group law, "
            "which holds [for every X](#flow-group-law). The gates are free symbols, so they may depend on "
            "content. Where decay and each plane have a gate of their own there is "
            "[a clock for each](#clocks-cocycle)."
        ),
    )


@CHAPTER.law("gates-split")
def gates_split() -> Law:
    et, es, er, eti, esi, eri = letters("Et Es Er Etinv Esinv Erinv")
    undo = (*inverses(et, eti), *inverses(es, esi), *inverses(er, eri))
    chain = Exact(
        name="U(t,s)U(s,r) = U(t,r)",
        goal=True,
        of=Words((et * esi) * (es * eri), et * eri, undo),
        note="Et, Es, Er stand for exp(τX) at t, s, r: one factor for the query, an inverse one for the key",
    )
    still = Exact(name="U(t,t) = I", goal=True, of=Words(et * eti, word_poly(1), undo))
    ec, eci = letters("Ec Ecinv")
    together = (*inverses(ec, eci), *commuting(et, ec), *commuting(esi, eci))
    shift = Exact(
        name="a common shift of the clock changes nothing",
        goal=True,
        of=Words((et * ec) * (eci * esi), et * esi, together),
    )
    now, then = sp.symbols("tau_t tau_s", real=True)
    block = BLOCKS["damped-turn"]
    split = Identity(
        name="on the damped turn: exp(τ_t X)exp(-τ_s X) = exp((τ_t-τ_s)X)",
        goal=True,
        lhs=product(block.exp(now), block.exp(-then)),
        rhs=block.exp(now - then),
    )
    return Law(
        id="gates-split",
        title="Relative in the clock",
        statement=(
            "For every square `X` and all clock readings: `U(t,s) = exp(τ_t X)·exp(-τ_s X)`, which is "
            "`exp((τ_t-τ_s)X)`, satisfies `U(t,t) = I` and `U(t,s)U(s,r) = U(t,r)`, and does not change when "
            "the same amount is added to both readings."
        ),
        steps=(still, chain, shift, split),
        rests_on=("flow-group-law", "gates-telescope/damped-turn"),
        perturbations=(
            chain.but("the gates of the middle token are left out on one side", lhs=(et * esi) * eri),
            shift.but("only the query's clock is moved", lhs=(et * ec) * esi),
            split.but("the key moves forward", lhs=product(block.exp(now), block.exp(then))),
        ),
        comment=(
            "Relative to clock differences, not to token distances. Sums from `s + 1` to `t` and from `s` to "
            "`t - 1` are [two clocks and two models](#inclusive-exclusive). A factor that is 0, whose gate "
            "would be infinite, has no inverse, so [a key side does not exist then](#singular-factor)."
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
        name="JN - NJ is not zero",
        lhs=sp.MatAdd(product(J, N), product(-N, J), evaluate=False),
        rhs=sp.ImmutableMatrix([[-1, 0], [0, 1]]),
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
            "With generators that do not commute [only](#ordered-cocycle) `U(t,s)U(s,r) = U(t,r)` is left: "
            "the path matters, and no pair of token-wise factors need exist. "
            "[Products of Householder-like maps](#ordered-in-clocks) are of this kind. So “gates only "
            "move the clock” needs [generators that commute](#order-commutes)."
        ),
    )
