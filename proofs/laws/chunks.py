"""Linear attention in chunks: a small sum in each, one state between them, for chunks of every length."""

import sympy as sp

from ...symbolic.block import Block
from ...symbolic.decide import Status
from ...symbolic.free import word_poly
from ...symbolic.induction import Induction
from ...symbolic.tree import At
from ...symbolic.words import Words, letters
from ..law import Law
from ..step import Exact, Identity
from .clocks import BLOCKS, MAMBA
from .common import dot, plus
from .fade import RETNET
from .linear_attention import CHAPTER, column, n, score, tau, through, v
from .linear_attention import last as place
from .one_parameter import for_all, spoken

length, seen, beyond = sp.symbols("C m r", real=True)
inside, share, total = sp.symbols("z a y", real=True)


def within(
    block: Block, carried: sp.Expr = length, queried: sp.Expr = seen, weighed: sp.Expr | None = None
) -> Induction:
    """n tokens of a chunk that starts from H: the chunk's own sums against the recurrence R."""
    state, key, start, own = (column(letter, block.dim) for letter in ("R", "k", "H", "W"))
    lag = length - n - 1 if weighed is None else weighed
    return Induction(
        index=n,
        start=0,
        state={
            state: (start, block.exp(sp.S.One) * state + key * v),
            own: (sp.zeros(block.dim, 1), own + block.exp(lag) * key * v),
            inside: (0, inside + score(block, seen - n - 1) * v),
        },
        claim={
            own: block.exp(length - n) * state - block.exp(carried) * start,
            inside: through(block, seen - n, state) - through(block, queried, start),
        },
    )


def shared(block: Block, apart: sp.Expr = beyond) -> Induction:
    """A chunk's terms as a query r tokens behind the chunk's end sees them, against its own sum W."""
    key, own = column("k", block.dim), column("W", block.dim)
    return Induction(
        index=n,
        start=0,
        state={
            own: (sp.zeros(block.dim, 1), own + block.exp(length - n - 1) * key * v),
            share: (0, share + score(block, beyond + length - n - 1) * v),
        },
        claim={share: through(block, apart, own)},
    )


def over(block: Block, decayed: sp.Expr = length) -> Induction:
    """Chunks of any lengths, new at every step: Z ← e^{CX} Z + W, against the sum over all tokens."""
    state, own = column("Z", block.dim), column("W", block.dim)
    return Induction(
        index=n,
        start=0,
        state={
            tau: (0, tau + length),
            total: (0, total + through(block, place - tau - length, own)),
            state: (sp.zeros(block.dim, 1), block.exp(decayed) * state + own),
        },
        claim={total: through(block, place - tau, state)},
    )


@CHAPTER.law("chunks", encodings=("fade", "slide"))
def chunks(name: str) -> Law:
    block = BLOCKS[name]
    one = Exact(
        name="in a chunk: n of its tokens read",
        goal=True,
        of=within(block),
        note=(
            "R is the recurrence, H its value before the chunk, W the chunk's sum as the state needs it, z "
            "as a query m = t - c + 1 tokens into the chunk sees it"
        ),
    )
    sees = Exact(
        name="a later query sees a chunk through its sum W",
        of=shared(block),
        note="a is the chunk's part of the sum for a query r tokens behind the end of the chunk",
    )
    many = Exact(
        name="over chunks: n of them read",
        goal=True,
        of=over(block),
        note="τ counts tokens, y is the sum over all of them seen from T; each chunk brings its own C and W",
    )
    return Law(
        id="chunks",
        encoding=name,
        title=f"{spoken(name).capitalize()}: chunks are the recurrence",
        statement=(
            f"For all contents, every number of chunks of any lengths `C`{for_all(block)}, and the "
            f"{spoken(name)} `X`: "
            "let a chunk hold the tokens `c, …, c + C - 1` and `S` the state before it. Then "
            "`y_t = q_tᵀ e^{(t-c+1)X} S + Σ_{c≤s≤t} q_tᵀ e^{(t-s)X} k_s v_sᵀ`, and "
            "`e^{CX} S + Σ_s e^{(c+C-1-s)X} k_s v_sᵀ` is the state after it: those of the recurrence, and of "
            "the sum over all tokens."
        ),
        steps=(one, *_at_the_ends(block), sees, many),
        rests_on=(f"recurrence/{name}", "chunks-any-size"),
        perturbations=(
            one.but("the carried state decays C - 1 times", claim=within(block, carried=length - 1).claim),
            one.but("the query reads the state at t - c", claim=within(block, queried=seen - 1).claim),
            one.but("the last token of the chunk decays too", state=within(block, weighed=length - n).state),
            sees.but("the query stands one token nearer", claim=shared(block, apart=beyond - 1).claim),
            many.but("from chunk to chunk C - 1 steps", state=over(block, decayed=length - 1).state),
        ),
        sources=(RETNET, MAMBA),
        comment=(
            "In a chunk a small score matrix, between chunks one state: neither all pairs nor one token "
            "after the other. The last chunk may be shorter than the others. With gates the token count is "
            "[a clock](#chunks-any-size)."
        ),
    )


def _at_the_ends(block: Block) -> tuple[Identity, Identity]:
    """What the claims of the induction say at n = C and at n = m."""
    state, start = column("R", block.dim), column("H", block.dim)
    whole = Identity(
        name="at the end of the chunk, n = C: R = e^{CX} H + W",
        goal=True,
        lhs=sp.MatAdd(
            sp.MatMul(block.exp(length), start, evaluate=False),
            At(block.exp(length - n) * state - block.exp(length) * start, n, length),
            evaluate=False,
        ),
        rhs=state,
    )
    query = Identity(
        name="at the query, n = m: qᵀ R = qᵀ e^{mX} H + z",
        goal=True,
        lhs=plus(
            through(block, seen, start),
            At(through(block, seen - n, state) - through(block, seen, start), n, seen),
        ),
        rhs=dot(column("q", block.dim), state),
    )
    return whole, query


@CHAPTER.law("chunks-any-size")
def chunks_any_size() -> Law:
    before, after, gate, start, state, term, own, decay = letters("F0 F1 G H R U W E")
    believed = ((own, before * state - decay * start), (before, after * gate))
    goal = Exact(
        name="one token more in the chunk",
        goal=True,
        of=Words(own + after * term, after * (gate * state + term) - decay * start, believed),
        note=(
            "W is the sum of n tokens of the chunk, R the recurrence, H the state before the chunk; F0 and "
            "F1 stand for U(e, n) and U(e, n+1), E for U(e, 0), G for the new token's map, U for k vᵀ"
        ),
    )
    nothing = ((own, 0 * own), (state, start), (before, decay))
    first = Exact(name="no token yet", of=Words(own, before * state - decay * start, nothing))
    full = Exact(
        name="at the end of the chunk, U(e, e) = I",
        goal=True,
        of=Words(decay * start + own, state, (believed[0], (before, word_poly(1)))),
    )
    seen_later, carried, chunk = letters("P Z D")
    told = ((seen_later, before * carried), (before, after * chunk))
    next_chunk = Exact(
        name="one chunk more",
        goal=True,
        of=Words(seen_later + after * own, after * (chunk * carried + own), told),
        note="P is the sum over all tokens so far, Z the carried state, D the chunk's whole map",
    )
    return Law(
        id="chunks-any-size",
        title="Chunks are the recurrence, for matrices of any size",
        statement=(
            "Let `G_t` be square matrices of any size and `U(t, s) = G_t ⋯ G_{s+1}`. For a chunk after "
            "token `b` with last token `e`, and every number of tokens and of chunks: "
            "`S_e = U(e, b) S_b + Σ_{b<s≤e} U(e, s) k_s v_sᵀ`, and so "
            "`q_tᵀ S_t = q_tᵀ U(t, b) S_b + Σ_{b<s≤t} q_tᵀ U(t, s) k_s v_sᵀ`. With gates "
            "`U(t, s) = e^{(τ_t-τ_s)X}`."
        ),
        steps=(first, goal, full, next_chunk),
        rests_on=("recurrence-any-size",),
        perturbations=(
            goal.but("the token is added before its map", rhs=after * gate * (state + term) - decay * start),
            full.but("the carried state is not moved on", lhs=start + own),
            next_chunk.but("the chunk's own sum is moved once more", rhs=after * chunk * (carried + own)),
        ),
        sources=(MAMBA,),
        comment=(
            "A chunk is one large token: its map is `U(e, b)` and what it adds is its own sum. Nothing "
            "commutes and nothing is inverted, so gates of exactly 0 are allowed."
        ),
    )


@CHAPTER.law("chunk-border")
def chunk_border() -> Law:
    block = BLOCKS["fade"]
    goal = Exact(
        name="the state decayed C - 1 times and the chunk's sum are the next state",
        goal=True,
        of=_grown(block, n - 1),
    )
    return Law(
        id="chunk-border",
        title="“From chunk to chunk there are C - 1 steps”",
        statement=(
            "For every `γ > 0`, every chunk of `C` tokens after a state `H` and all contents: the "
            "recurrence gives `e^{-γ(C-1)} H + Σ_s e^{-γ(c+C-1-s)} k_s v_s`."
        ),
        expected=Status.REFUTED,
        steps=(goal,),
        siblings=(goal.but("C steps", claim=_grown(block, n).claim),),
        rests_on=("chunks/fade",),
        comment=(
            "From the last token before the chunk to the last token in it there are `C` steps, although "
            "from the first token in it there are `C - 1`. The mistake is largest for fast decays and "
            "invisible without any."
        ),
    )


def _grown(block: Block, decayed: sp.Expr) -> Induction:
    """A chunk that has n ≥ 1 tokens: R = e^{decayed X} H + W, with W by Horner's rule."""
    state, key, start, own = (column(letter, block.dim) for letter in ("R", "k", "H", "W"))
    step = block.exp(sp.S.One)
    return Induction(
        index=n,
        start=1,
        state={
            state: (step * start + key * v, step * state + key * v),
            own: (key * v, step * own + key * v),
        },
        claim={state: block.exp(decayed) * start + own},
    )
