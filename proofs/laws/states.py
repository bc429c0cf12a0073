"""What a state of fixed size can weigh: blocks of small rank, the normaliser, and why softmax has none."""

from itertools import permutations

import sympy as sp

from ...symbolic.decide import Status
from ...symbolic.induction import Induction
from ...symbolic.words import Words, letters
from ..law import Hypothesis, Law
from ..step import Cited, Enclosed, Exact, Identity, Source
from .clocks import BLOCKS, MAMBA
from .common import VASWANI, c, g, plus, product, s, t, times, transpose, w
from .linear_attention import CHAPTER, KATHAROPOULOS, SMALL, column, last, n, score, through, v, y
from .one_parameter import for_all, spoken

border = sp.Symbol("b", real=True)
RANK = Source("R. A. Horn, C. R. Johnson, Matrix Analysis, 2nd ed., section 0.4.5: rank inequalities")
VANDERMONDE = Source(
    "R. A. Horn, C. R. Johnson, Matrix Analysis, 2nd ed., section 0.9.11: Vandermonde matrices"
)


def determinant(entries: sp.MatrixBase) -> sp.Expr:
    """Σ ± Π of the entries, as it is written down."""
    rows = range(entries.rows)
    terms = (
        times(_sign(order), *(entries[i, j] for i, j in zip(rows, order, strict=True)))
        for order in permutations(rows)
    )
    return plus(*terms)


def _sign(order: tuple[int, ...]) -> sp.Integer:
    """1 for an even, -1 for an odd number of pairs out of order."""
    pairs = sum(a > b for i, a in enumerate(order) for b in order[i + 1 :])
    return sp.Integer(-1 if pairs % 2 else 1)


@CHAPTER.law("state-rank", encodings=SMALL)
def state_rank(name: str) -> Law:
    block = BLOCKS[name]
    query, key = transpose(column("q", block.dim)), column("k", block.dim)
    goal = Identity(
        name="every score across the border b is d numbers of the query times d numbers of the key",
        goal=True,
        lhs=product(query, block.exp(t - s), key),
        rhs=product(query, block.exp(t - border), block.exp(border - s), key),
    )
    return Law(
        id="state-rank",
        encoding=name,
        title=f"{spoken(name).capitalize()}: a block of scores has rank {block.dim} at most",
        statement=(
            f"For all contents, all real `t, s, b`{for_all(block)}, and the {spoken(name)} `X`: "
            "`q_tᵀ e^{(t-s)X} k_s = (q_tᵀ e^{(t-b)X})(e^{(b-s)X} k_s)`. So the scores of any `n` queries "
            "after `b` with any `n` keys up to `b` are an `n×d` matrix times a `d×n` matrix, and their rank "
            f"is at most `d = {block.dim}`."
        ),
        steps=(goal, _rank_of_products()),
        rests_on=(f"group-law/{name}", "rank-of-products"),
        perturbations=(
            goal.but(
                "the key's side is taken one token later",
                rhs=product(query, block.exp(t - border), block.exp(border + 1 - s), key),
            ),
            goal.but("the query's side is left out", rhs=product(query, block.exp(border - s), key)),
        ),
        sources=(MAMBA,),
        comment=(
            "The `d` numbers are what the state at the border can tell a query. All scores of a long text "
            "above such a border are so compressed, however many keys there are; with gates or other maps "
            "`U(t, s) = U(t, b)U(b, s)` says [the same](#recurrence-any-size)."
        ),
    )


def _rank_of_products() -> Cited:
    return Cited(
        name="so the block has rank d at most",
        lemma="rank(AB) ≤ min(rank A, rank B), and an n×d matrix has rank at most d",
        source=RANK,
    )


def _through(size: int) -> sp.ImmutableMatrix:
    """The product of a (size+1)×size and a size×(size+1) matrix of free symbols."""
    left = sp.Matrix(size + 1, size, lambda i, j: sp.Symbol(f"a{i}_{j}", real=True))
    right = sp.Matrix(size, size + 1, lambda i, j: sp.Symbol(f"b{i}_{j}", real=True))
    return (left * right).as_immutable()


@CHAPTER.law("rank-of-products")
def rank_of_products() -> Law:
    names = {1: "d = 1: 2×2", 2: "d = 2: 3×3", 3: "d = 3: 4×4"}
    steps = {
        size: Identity(
            name=f"{words} minors vanish", goal=size < 3, lhs=determinant(_through(size)), rhs=sp.S.Zero
        )
        for size, words in names.items()
    }
    masked = _through(1).as_mutable()
    masked[0, 1] = 0
    return Law(
        id="rank-of-products",
        title="What passes through d numbers has no larger minors",
        statement=(
            "For `d = 1, 2, 3` and every real `(d+1)×d` matrix `A` and `d×(d+1)` matrix `B`: `det(AB) = 0`. "
            "For every `d` the rank of `AB` is at most `d`."
        ),
        steps=(*steps.values(), _rank_of_products()),
        perturbations=(
            steps[1].but(
                "the block reaches across the diagonal: one score is masked", lhs=determinant(masked)
            ),
            steps[2].but("two numbers more for one pair", lhs=determinant(_bumped())),
        ),
        sources=(MAMBA,),
        comment=(
            "Minors are read off a table of scores, so this can be tested without knowing the state. A block "
            "must lie below the diagonal: with a masked entry in it the rank is larger."
        ),
    )


def _bumped() -> sp.ImmutableMatrix:
    block = _through(2).as_mutable()
    block[0, 0] += 2
    return block.as_immutable()


def _scores(size: int, turning: bool) -> sp.ImmutableMatrix:
    """cos(ω(t_i - s_j)) or e^{-γ(t_i - s_j)}: the weights that queries and keys (1, 0) or 1 have."""
    times_, places = (sp.symbols(f"{letter}:{size}", real=True) for letter in "ts")
    gap = sp.Matrix(size, size, lambda i, j: times_[i] - places[j])
    return gap.applyfunc(lambda u: sp.cos(w * u) if turning else sp.exp(-g * u)).as_immutable()


@CHAPTER.law("state-rank-less")
def state_rank_less() -> Law:
    goal = Identity(
        name="the 2×2 minors of a turn vanish", goal=True, lhs=determinant(_scores(2, True)), rhs=sp.S.Zero
    )
    return Law(
        id="state-rank-less",
        title="“One number a head is enough to carry”",
        statement=(
            "For every `ω > 0` and all real `t_0, t_1, s_0, s_1`: the scores `cos(ω(t_i-s_j))`, those of a "
            "turn with all queries and keys `(1, 0)`, satisfy `det = 0`, so that a state of one number "
            "would do for a plane."
        ),
        expected=Status.REFUTED,
        steps=(goal,),
        siblings=(
            goal.but("a fade: one number is enough", lhs=determinant(_scores(2, False))),
            goal.but("a turn: two numbers are", lhs=determinant(_scores(3, True))),
        ),
        rests_on=("state-rank/turn", "state-rank/fade"),
        comment=(
            "A plane needs its two numbers, a fade one. So the size of the state is not a matter of taste: "
            "it is the rank that the wanted weights have."
        ),
    )


def _two_columns(faded: bool = True, appended: sp.Expr = sp.S.One) -> Induction:
    """The state for values (v, 1): S for v, Z for the appended number."""
    block = BLOCKS["damped-turn"]
    state, norm, key = (column(letter, block.dim) for letter in "SZk")
    step = block.exp(sp.S.One)
    weights = sp.Symbol("z", real=True)
    weight = score(block, last - n - 1)
    zero = sp.zeros(block.dim, 1)
    return Induction(
        index=n,
        start=0,
        state={
            y: (0, y + weight * v),
            weights: (0, weights + weight),
            state: (zero, step * state + key * v),
            norm: (zero, (step * norm if faded else norm) + key * appended),
        },
        claim={y: through(block, last - n, state), weights: through(block, last - n, norm)},
    )


@CHAPTER.law("normaliser")
def normaliser() -> Law:
    goal = Exact(
        name="values (v, 1): the second column adds up the weights",
        goal=True,
        of=_two_columns(),
        note="y and z are the sums of weight times v and of the weights, S and Z the two columns",
    )
    gate, state, norm, key, value = letters("G S Z K C")
    same = Exact(
        name="equal values: one token more",
        goal=True,
        of=Words(gate * state + key * value, (gate * norm + key) * value, ((state, norm * value),)),
        note="G is the token's map, of any size, K its key, C the row of values that all tokens share",
    )
    total = sp.Symbol("z", real=True)
    ratio = Identity(
        name="so they come back unchanged",
        goal=True,
        lhs=times(c, total, sp.Pow(total, -1)),
        rhs=c,
        assume=(sp.Ne(total, 0),),
    )
    return Law(
        id="normaliser",
        title="The normaliser is one more value",
        statement=(
            "For every number of tokens, all contents and every `γ, ω > 0`: the recurrence with the values "
            "`(v_s, 1)` gives `y_t = Σ_{s≤t} q_tᵀ e^{(t-s)X} k_s v_s` and "
            "`z_t = Σ_{s≤t} q_tᵀ e^{(t-s)X} k_s` at once, here for the damped turn. If all values are `c`, "
            "then for maps of any size `S_t = Z_t c`, and `y_t/z_t = c`."
        ),
        hypotheses=(Hypothesis("weights", "`z_t ≠ 0`"),),
        steps=(goal, same, ratio),
        rests_on=("recurrence/turn", "recurrence-any-size"),
        perturbations=(
            goal.but("the normaliser does not move", state=_two_columns(faded=False).state),
            goal.but("2 is appended", state=_two_columns(appended=sp.Integer(2)).state),
            same.but("the normaliser does not move", rhs=(norm + key) * value),
        ),
        sources=(KATHAROPOULOS,),
        comment=(
            "No second pass is needed. Fading weights of positive features are positive, and `y_t/z_t` is a "
            "mean; with a turn, weights may be negative, and `z_t` may be 0."
        ),
    )


@CHAPTER.law("softmax-rank")
def softmax_rank() -> Law:
    a, b, d = sp.symbols("x0:3", real=True)
    table = sp.Matrix(3, 3, lambda i, j: (a, b, d)[i] ** j)
    minor = Identity(
        name="three queries and keys: the minor is the product of the differences",
        goal=True,
        lhs=determinant(table),
        rhs=times(b - a, d - a, d - b),
        note="x_i = exp(q_i), and the keys are 0, 1, 2",
    )
    grows = Enclosed(
        name="e > 1, so its powers differ", goal=True, expr=sp.E, lower="2.718281828", upper="2.718281829"
    )
    every = Cited(
        name="for every n",
        lemma="the determinant of (x_i^j), i, j < n, is the product of x_k - x_i over i < k",
        source=VANDERMONDE,
    )
    return Law(
        id="softmax-rank",
        title="Softmax attention has no state of fixed size",
        statement=(
            "For every `n`, the weights `exp(q_i k_j)` of the queries `0, 1, …, n-1` with the earlier keys "
            "`0, 1, …, n-1` have the determinant `Π_{i<k}(e^k - e^i) ≠ 0`. So no features and no maps of a "
            "fixed size `d` write them as `q̃_tᵀ U(t, s) k̃_s` with `U(t, s) = G_t ⋯ G_{s+1}`: the rank would "
            "be at most `d`."
        ),
        hypotheses=(
            Hypothesis(
                "finite-state",
                "`q̃_t` and `G_t` are made from the tokens up to `t`, and `k̃_s` from those up to `s`, with "
                "`d` fixed",
            ),
        ),
        steps=(minor, grows, every),
        rests_on=("rank-of-products", "recurrence-any-size"),
        perturbations=(
            minor.but("two queries are equal", lhs=determinant(table.subs(d, b))),
            minor.but("one difference is left out", rhs=times(b - a, d - b)),
            grows.but("the exponential of 0", expr=sp.S.One),
        ),
        sources=(VASWANI,),
        comment=(
            "The softmax divides each row by a positive number, which changes no rank. So a cache that "
            "grows with the text is no accident of implementation; what has a finite state is the position "
            "part `e^{(t-s)X}`, not `exp(q·k)`."
        ),
    )
