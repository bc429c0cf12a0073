"""Linear attention: a sum over all tokens is a state that is carried on, with fixed steps or with gates."""

import sympy as sp

from ...symbolic.block import Block
from ...symbolic.decide import Status
from ...symbolic.free import word_poly
from ...symbolic.induction import Induction
from ...symbolic.tree import At
from ...symbolic.words import Words, letters
from ..law import Chapter, Law
from ..step import Apart, Exact, Identity, Perturbation, Source
from .clocks import BLOCKS, FOX, MAMBA
from .common import g, product, transpose
from .fade import RETNET
from .one_parameter import for_all, spoken

CHAPTER = Chapter(
    "linear-attention",
    "Linear attention",
    "Leave out the softmax and attention is a sum, `y_t = Σ_{s≤t} (q_tᵀ e^{(t-s)X} k_s) v_s`. The same "
    "numbers come from a state that every token moves on by `e^X` and adds to; only the state has to be "
    "kept. Written for one entry of the values; the others are further columns of the same state.",
)
KATHAROPOULOS = Source(
    "A. Katharopoulos et al., Transformers are RNNs: Fast Autoregressive Transformers with Linear "
    "Attention, ICML 2020",
    "https://arxiv.org/abs/2006.16236",
)
SMALL = ("fade", "turn", "slide")
"""Blocks to see it happen on; the laws for any size hold for all others."""
n = sp.Symbol("n", nonnegative=True)
a, v, y, tau, last, reading = sp.symbols("a v y tau T theta", real=True)


def column(letter: str, size: int) -> sp.ImmutableMatrix:
    """(x0, x1, …)ᵀ as free symbols."""
    return sp.ImmutableMatrix(sp.symbols(f"{letter}:{size}", real=True))


def score(block: Block, lag: sp.Expr) -> sp.Expr:
    """qᵀ exp(lag·X) k"""
    return through(block, lag, column("k", block.dim))


def through(block: Block, lag: sp.Expr, given: sp.MatrixBase) -> sp.Expr:
    """qᵀ exp(lag·X) given"""
    return (column("q", block.dim).T * block.exp(lag) * given)[0]


def tokens(
    block: Block, lag: sp.Expr | None = None, first: bool = False, step: sp.Expr = sp.S.One
) -> Induction:
    """y + (qᵀ e^{(T-n-1)X} k) v beside e^X S + k v: claim y = qᵀ e^{(T-n)X} S."""
    state, key = column("S", block.dim), column("k", block.dim)
    moved = block.exp(step) * (state + key * v if first else state) + (0 if first else 1) * key * v
    weight = score(block, last - n - 1 if lag is None else lag)
    return Induction(
        index=n,
        start=0,
        state={y: (0, y + weight * v), state: (sp.zeros(block.dim, 1), moved)},
        claim={y: through(block, last - n, state)},
    )


@CHAPTER.law("recurrence", encodings=SMALL)
def recurrence(name: str) -> Law:
    block = BLOCKS[name]
    goal = Exact(
        name="n tokens read, seen from the query's place T",
        goal=True,
        of=tokens(block),
        note="y is the sum over the first n tokens, S the state after them; a token brings its own k and v",
    )
    end = Identity(
        name="at the query itself, n = T",
        goal=True,
        lhs=at_query(block, last - n, n, last),
        rhs=unmoved(block),
    )
    return Law(
        id="recurrence",
        encoding=name,
        title=f"{spoken(name).capitalize()}: the recurrence is the sum",
        statement=(
            f"For every number of tokens, all queries, keys and values{for_all(block)}, and the "
            f"{spoken(name)} `X`: "
            "if `S_0 = 0` and `S_t = e^X S_{t-1} + k_t v_tᵀ`, then "
            "`q_tᵀ S_t = Σ_{s≤t} q_tᵀ e^{(t-s)X} k_s v_sᵀ`; and for every `n` and `T` the first `n` terms, "
            "seen from `T`, are `qᵀ e^{(T-n)X} S_n`."
        ),
        steps=(goal, end),
        rests_on=(f"group-law/{name}", "recurrence-any-size"),
        perturbations=(
            goal.but("the token is added before the state moves on", state=tokens(block, first=True).state),
            goal.but("every gap is one too long", state=tokens(block, lag=last - n).state),
            goal.but("the state moves two steps a token", state=tokens(block, step=sp.Integer(2)).state),
            end.but("one step after the query", lhs=at_query(block, last - n, n, last - 1)),
        ),
        sources=(KATHAROPOULOS, RETNET, MAMBA),
        comment=(
            "The sum costs a score for every pair of tokens, the recurrence one update a token. It is the "
            "group law once a token: `e^{(T-n)X}` is `e^{(T-n-1)X} e^X`. Token, query and place are free "
            "symbols, so no length is sampled."
        ),
    )


@CHAPTER.law("recurrence-any-size")
def recurrence_any_size() -> Law:
    before, after, gate, state, term, total = letters("F0 F1 G S U P")
    believed = ((total, before * state), (before, after * gate))
    goal = Exact(
        name="one token more",
        goal=True,
        of=Words(total + after * term, after * (gate * state + term), believed),
        note=(
            "P is the sum of n tokens and S their state; F0 and F1 stand for U(T, n) and U(T, n+1), G for "
            "the new token's map and U for k vᵀ; smaller matrices are filled up with zeros"
        ),
    )
    nothing = ((total, 0 * total), (state, 0 * state))
    start = Exact(name="no token yet", of=Words(total, before * state, nothing))
    end = Exact(
        name="at the query itself U(T, T) = I",
        goal=True,
        of=Words(before * state, state, ((before, word_poly(1)),)),
    )
    return Law(
        id="recurrence-any-size",
        title="The recurrence is the sum, for matrices of any size",
        statement=(
            "Let `G_1, G_2, …` be square matrices of any size and `U(T, n) = G_T ⋯ G_{n+1}`, "
            "`U(T, T) = I`. If `S_0 = 0` and `S_t = G_t S_{t-1} + k_t v_tᵀ`, then for every `n ≤ T`: "
            "`Σ_{s≤n} U(T, s) k_s v_sᵀ = U(T, n) S_n`, so that `q_tᵀ S_t = Σ_{s≤t} q_tᵀ U(t, s) k_s v_sᵀ`. "
            "With `G_t = e^X` this is `e^{(t-s)X}`, with `G_t = e^{a_t X}` it is `e^{(τ_t-τ_s)X}`."
        ),
        steps=(start, goal, end),
        rests_on=("flow-group-law",),
        perturbations=(
            goal.but("the token is added before the map", rhs=after * gate * (state + term)),
            goal.but(
                "U(T, n) = G U(T, n+1): the order is reversed", rules=(believed[0], (before, gate * after))
            ),
            end.but("the query is read one map later", rules=((before, gate),)),
        ),
        sources=(MAMBA,),
        comment=(
            "Nothing commutes and nothing is inverted: the maps may depend on content, may be reflections, "
            "and a gate may be exactly 0, which forgets everything before it. Only a split into a query "
            "side and a key side [needs inverses](#gates-split)."
        ),
    )


@CHAPTER.law("add-then-decay")
def add_then_decay() -> Law:
    block = BLOCKS["fade"]
    early = tokens(block, first=True)
    goal = Exact(name="the state is decayed after the token is added", goal=True, of=early)
    return Law(
        id="add-then-decay",
        title="“Add the token, then decay: the same recurrence”",
        statement=(
            "For every `γ > 0`, every number of tokens and all contents: if `S_0 = 0` and "
            "`S_t = e^{-γ}(S_{t-1} + k_t v_t)`, then `Σ_{s≤n} q e^{-γ(T-s)} k_s v_s = q e^{-γ(T-n)} S_n`."
        ),
        expected=Status.REFUTED,
        steps=(goal,),
        siblings=(
            goal.but("decay, then add", state=tokens(block).state),
            goal.but("every gap is one longer", state=tokens(block, lag=last - n, first=True).state),
        ),
        rests_on=("recurrence/fade",),
        comment=(
            "The newest token must arrive with weight `e^{0} = 1`; here it has faded once already, and so "
            "has every other. That sum counts gaps `t - s + 1`. Which of the two a model means is part of "
            "the model, [all the more with gates](#gates-before-or-after)."
        ),
    )


def gated(block: Block, moved: str = "before", counted: str = "before") -> Induction:
    """Gates a and clock τ: the state is moved, and the token's own gate acts, before or after it is added."""
    state, key = column("S", block.dim), column("k", block.dim)
    step = block.exp(a)
    lag = {"before": reading - tau - a, "after": reading - tau}[counted]
    following = {"before": step * state + key * v, "after": step * (state + key * v)}[moved]
    return Induction(
        index=n,
        start=0,
        state={
            tau: (0, tau + a),
            y: (0, y + score(block, lag) * v),
            state: (sp.zeros(block.dim, 1), following),
        },
        claim={y: through(block, reading - tau, state)},
    )


def at_query(block: Block, lag: sp.Expr, moving: sp.Symbol, value: sp.Expr) -> sp.MatMul:
    """qᵀ exp(lag·X) S with a value put in, as a product."""
    state, query = column("S", block.dim), column("q", block.dim)
    return product(transpose(query), At(block.exp(lag), moving, value), state)


def unmoved(block: Block, *more: sp.MatrixBase) -> sp.MatMul:
    """qᵀ S, or qᵀ(S + more)."""
    state, query = column("S", block.dim), column("q", block.dim)
    return product(transpose(query), sum(more, state))


@CHAPTER.law("gated-recurrence", encodings=SMALL)
def gated_recurrence(name: str) -> Law:
    block = BLOCKS[name]
    goal = Exact(
        name="n tokens read, seen from the reading θ of the query's clock",
        goal=True,
        of=gated(block),
        note="τ is the clock after n tokens, S the state, y the sum; a token brings its own gate a, k and v",
    )
    end = Identity(
        name="at the query itself, τ = θ",
        goal=True,
        lhs=at_query(block, reading - tau, tau, reading),
        rhs=unmoved(block),
    )
    return Law(
        id="gated-recurrence",
        encoding=name,
        title=f"{spoken(name).capitalize()}: the recurrence with gates",
        statement=(
            f"For every number of tokens, all contents, all real gates `a_t`{for_all(block)}, and the "
            f"{spoken(name)} `X`: with `τ_t = a_1 + ⋯ + a_t`, `S_0 = 0` and "
            "`S_t = e^{a_t X} S_{t-1} + k_t v_tᵀ`: `q_tᵀ S_t = Σ_{s≤t} q_tᵀ e^{(τ_t-τ_s)X} k_s v_sᵀ`. "
            "Between `s` and `t` act the gates `s + 1` to `t`."
        ),
        steps=(goal, end),
        rests_on=(f"gates-telescope/{name}", "recurrence-any-size"),
        perturbations=(
            goal.but("the gate acts after the token was added", state=gated(block, moved="after").state),
            goal.but("the token's own gate counts too", state=gated(block, counted="after").state),
            end.but(
                "the clock is one ahead of the query",
                lhs=at_query(block, reading - tau, tau, reading + 1),
            ),
        ),
        sources=(FOX, MAMBA),
        comment=(
            "The sum sees clock differences instead of gaps. Where parts of the state have gates of their "
            "own, each part is such a recurrence with its own clock. A model without gates is the case "
            "`a_t = 1`."
        ),
    )


@CHAPTER.law("gates-after", encodings=SMALL)
def gates_after(name: str) -> Law:
    block = BLOCKS[name]
    own = product(transpose(column("q", block.dim)), (column("k", block.dim) * v).as_immutable())
    goal = Exact(
        name="the earlier tokens, seen from the clock before the query's own gate",
        goal=True,
        of=gated(block, moved="after", counted="after"),
        note="as with gates before the token, but S is moved after k v was added, and then handed on",
    )
    end = Identity(
        name="the query's own token is added unmoved",
        goal=True,
        lhs=sp.MatAdd(at_query(block, reading - tau, tau, reading), own, evaluate=False),
        rhs=unmoved(block, column("k", block.dim) * v),
    )
    return Law(
        id="gates-after",
        encoding=name,
        title=f"{spoken(name).capitalize()}: gates that act after the token",
        statement=(
            f"For every number of tokens, all contents, all real gates `a_t`{for_all(block)}, and the "
            f"{spoken(name)} `X`: if the output is read before the gate, "
            "`y_t = q_tᵀ(S_{t-1} + k_t v_tᵀ)` and `S_t = e^{a_t X}(S_{t-1} + k_t v_tᵀ)` with `S_0 = 0`, then "
            "`y_t = Σ_{s≤t} q_tᵀ e^{(σ_t-σ_s)X} k_s v_sᵀ` with `σ_t = a_1 + ⋯ + a_{t-1}`. Between `s` and "
            "`t` act the gates `s` to `t - 1`."
        ),
        steps=(goal, end),
        rests_on=(f"gates-telescope/{name}", "recurrence-any-size"),
        perturbations=(
            goal.but("the gates s + 1 to t are counted", state=gated(block, moved="after").state),
            goal.but("the gate acts before the token is added", state=gated(block, counted="after").state),
            end.but("the query's own token is left out", rhs=unmoved(block)),
        ),
        sources=(MAMBA,),
        comment=(
            "A clock too, one token behind: every rule about clock differences holds for it, but it is "
            "[another model](#gates-before-or-after)."
        ),
    )


def _two_sums(one: sp.Expr, other: sp.Expr, claim: sp.Expr) -> Induction:
    """i sums the gates s+1..t and e the gates s..t-1; c is the newest gate, and g the gate of s."""
    inclusive, exclusive, newest, oldest = sp.symbols("i e c a_s", real=True)
    return Induction(
        index=n,
        start=0,
        state={inclusive: (0, inclusive + one), exclusive: (0, exclusive + other), newest: (oldest, one)},
        claim={inclusive: claim},
    )


@CHAPTER.law("gates-before-or-after")
def gates_before_or_after() -> Law:
    exclusive, newest, oldest = sp.symbols("e c a_s", real=True)
    right = exclusive + newest - oldest
    goal = Exact(
        name="the two sums differ by the newest and the oldest gate",
        goal=True,
        of=_two_sums(a, newest, right),
        note="i sums the gates s + 1 to t, e those from s to t - 1; c is the gate of t; t = s + n",
    )
    apart = Apart(
        name="two tokens, gates 1 and 2: weights e^{-2γ} and e^{-γ}",
        lhs=sp.exp(-2 * g),
        rhs=sp.exp(-g),
    )
    return Law(
        id="gates-before-or-after",
        title="Gates before or after the token: two models",
        statement=(
            "For all real gates and all `s ≤ t`, with `τ_t = a_1 + ⋯ + a_t` and `σ_t = a_1 + ⋯ + a_{t-1}`: "
            "`(τ_t - τ_s) - (σ_t - σ_s) = a_t - a_s`. So the "
            "recurrence that moves the state before it adds the token and the one that moves it "
            "afterwards weigh the pair `t, s` by the same `e^{uX}` only where `e^{a_t X} = e^{a_s X}`."
        ),
        steps=(goal, apart),
        rests_on=("gated-recurrence/fade", "gates-after/fade"),
        perturbations=(
            goal.but("they are equal", claim={sp.Symbol("i", real=True): exclusive}),
            goal.but(
                "they differ by the newest gate alone", claim={sp.Symbol("i", real=True): exclusive + newest}
            ),
        ),
        comment=(
            "Both are consistent with themselves, so no test of one of them alone finds a mix-up: a model "
            "trained with one and run with the other is off by a factor `e^{(a_t-a_s)X}` for each pair. "
            "With one gate for all tokens the difference is 0."
        ),
    )


@CHAPTER.law("gates-one-sum")
def gates_one_sum() -> Law:
    inclusive, exclusive, newest = sp.symbols("i e c", real=True)
    oldest = sp.Symbol("a_s", real=True)
    goal = Exact(
        name="gates s + 1 to t add up to the gates s to t - 1",
        goal=True,
        of=_two_sums(a, newest, exclusive),
    )
    steady = _two_sums(oldest, newest, n * oldest)
    sibling = Perturbation(
        of=goal.name,
        change="all gates are equal",
        step=Exact(
            name=goal.name,
            of=Induction(
                index=n,
                start=0,
                state=steady.state,
                claim={inclusive: n * oldest, exclusive: n * oldest, newest: oldest},
            ),
        ),
    )
    return Law(
        id="gates-one-sum",
        title="“It does not matter which of the two gates is counted”",
        statement=(
            "For all real gates and all `s ≤ t`: `a_{s+1} + ⋯ + a_t = a_s + ⋯ + a_{t-1}`, so that "
            "clocks before and after the token give one model."
        ),
        expected=Status.REFUTED,
        steps=(goal,),
        siblings=(
            sibling,
            goal.but("up to the newest gate less the oldest", claim={inclusive: exclusive + newest - oldest}),
        ),
        rests_on=("gates-before-or-after",),
        comment=(
            "An off-by-one in a cumulative sum stays invisible as long as all gates are equal, so a test "
            "with constant gates does not find it."
        ),
    )
