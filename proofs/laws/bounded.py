"""What stays bounded: the fate of every block forwards and backwards in time, and what survives both."""

import sympy as sp

from ...symbolic.block import Block
from ...symbolic.decide import Status
from ...symbolic.induction import Induction
from ...symbolic.limits import Limit
from ...symbolic.tree import At, D
from ..law import Chapter, Hypothesis, Law
from ..step import Cited, Exact, Identity, Source
from .common import PURANIK, g, plus, product, t, times, transpose, w
from .one_parameter import BLOCKS as FLOWS
from .one_parameter import for_all, spoken

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
JORDAN_FORM = (
    "real Jordan form: every real square matrix is similar to a direct sum of real Jordan blocks, "
    "unique up to order"
)
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
        name="squared length of the last column",
        goal=True,
        lhs=sp.Add(*(sp.Pow(e, 2, evaluate=False) for e in column), evaluate=False),
        rhs=longest(block),
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
        name="a continuous function with a finite limit at an end is bounded there",
        lemma=(
            "a continuous function is bounded on [0, T], and beyond T by its finite limit; the entries of "
            "every other column occur in the last one, up to sign, so it is at most as long"
        ),
        source=Source("W. Rudin, Principles of Mathematical Analysis, 3rd ed., Theorem 4.15"),
    )
    words = _WORDS[where]
    return Law(
        id="bounded",
        encoding=name,
        title=f"{spoken(name).capitalize()}: bounded {words.replace('`', '')}",
        statement=(
            f"For every real `t`{for_all(block)}: the squared length of the last column of the "
            f"{spoken(name)} is `{_text(block)}`; it tends to {_limit_word(ends['forwards'])} as `t → ∞` and "
            f"to {_limit_word(ends['backwards'])} as `t → -∞`. So `A(t)` is bounded {words}."
        ),
        steps=(square, *limits.values(), *(() if where == "neither" else (start,))),
        rests_on=("all-sizes", *((f"flow/{name}",) if name in FLOWS else ())),
        perturbations=(
            limits["forwards"].but("the opposite fate forwards", value=_OPPOSITE[ends["forwards"]]),
            limits["backwards"].but("the opposite fate backwards", value=_OPPOSITE[ends["backwards"]]),
            square.but("a factor e^{-2t} too much", rhs=longest(block) * sp.exp(-2 * t)),
        ),
        comment=_COMMENTS[where],
        answer={"all t": "all `t`", "neither": "neither"}.get(where, f"`{where}`"),
    )


_WORDS = {
    "all t": "for all `t`",
    "t ≥ 0": "for `t ≥ 0` only",
    "t ≤ 0": "for `t ≤ 0` only",
    "neither": "in neither direction",
}
_OPPOSITE = {sp.oo: sp.S.Zero, sp.S.Zero: sp.oo, sp.S.One: sp.oo}
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
        statement="For every `γ > 0`: `e^{γt} → 0` as `t → ∞`.",
        expected=Status.REFUTED,
        steps=(goal,),
        siblings=(goal.but("with the sign of a fade", expr=sp.exp(-g * t)),),
        rests_on=("bounded/grow",),
        comment=(
            "It tends to `+∞`: an old key would outweigh everything. A growth beside a fade of the same rate "
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
        lhs=sp.Matrix([[p[0, 0], plus(times(p[0, 0], p[1, 1]), times(sp.S.NegativeOne, p[0, 1], p[1, 0]))]]),
        rhs=sp.Matrix([[1, 1]]),
    )
    flow = (sp.eye(2) * sp.cos(3 * t) + x * sp.sin(3 * t) / 3).as_immutable()
    kept = Identity(
        name="A(t)ᵀPA(t) = P for A(t) = cos(3t) I + sin(3t)/3 X",
        goal=True,
        lhs=product(transpose(flow), p, flow),
        rhs=p,
    )
    ode = Identity(name="A' = XA", goal=True, lhs=D(flow, t), rhs=product(x, flow))
    square = Identity(name="X² = -9 I: frequency 3", lhs=product(x, x), rhs=-9 * sp.eye(2))
    return Law(
        id="bounded-up-to-basis",
        title="A rotation that does not look like one",
        statement=(
            "For `X = [[6,-15],[3,-6]]`, `P = [[1,-2],[-2,5]]` and every real `t`: `X² = -9I`, "
            "`exp(tX) = A(t) = cos(3t) I + sin(3t)/3 X`, `XᵀP + PX = 0` and `A(t)ᵀPA(t) = P`. As `P` is "
            "positive definite (its minors are 1 and 1), `exp(tX)` is a rotation for the length `√(xᵀPx)`."
        ),
        steps=(square, ode, invariant, kept, minors),
        perturbations=(
            invariant.but("the plain length, P = I", lhs=sp.MatAdd(transpose(x), x, evaluate=False)),
            kept.but("the plain length at time t", lhs=product(transpose(flow), flow), rhs=sp.eye(2)),
            square.but("frequency 9", rhs=-81 * sp.eye(2)),
        ),
        rests_on=("change-of-basis", "uniqueness"),
        comment=(
            "Bounded both ways means rotation in some inner product; RoPE is the one whose inner product "
            "is the usual one."
        ),
    )


@CHAPTER.law("bounded-all-sizes")
def bounded_all_sizes() -> Law:
    norm, faster = _column(sp.exp(-g * t)), _column(sp.exp(-2 * g * t))
    one, grows = _tall_columns()
    ends = tuple(
        Exact(name=name, goal=True, of=Limit(expr, t, to, sp.oo))
        for name, expr, to in (
            ("γ = 0: unbounded forwards", 1 + t**2, sp.oo),
            ("γ = 0: unbounded backwards", 1 + t**2, -sp.oo),
            ("γ > 0: unbounded backwards", sp.exp(-2 * g * t), -sp.oo),
        )
    )
    fades = Cited(
        name="γ > 0: every t^k e^{-γt} tends to 0",
        lemma="lim x^k e^{-x} = 0 as x → ∞, for every k; so a finite sum of such terms does, and is bounded",
        source=Source("W. Rudin, Principles of Mathematical Analysis, 3rd ed., Theorem 8.6 (f)"),
        needs=("fade",),
    )
    return Law(
        id="bounded-all-sizes",
        title="The fate of blocks of every size",
        statement=(
            "For every `m ≥ 1`, all real `t` and `ω ≥ 0`: the squared length of the longest column of "
            "`exp(tX)` is `e^{-2γt} S_m(t)` with `S_m = Σ_{k<m} (t^k/k!)²`, for `X = J_m(-γ)` and "
            "`X = C_m(γ, ω)`. With `γ > 0` it is bounded for `t ≥ 0` only; with `γ < 0`, the mirror image "
            "`t → -t`, for `t ≤ 0` only; with `γ = 0` for all `t` if `m = 1`, and in neither direction if "
            "`m ≥ 2`."
        ),
        hypotheses=(Hypothesis("fade", "`γ > 0` where a block is called bounded for `t ≥ 0` only"),),
        steps=(norm, one, grows, *ends, fades),
        rests_on=("all-sizes", "bounded/hold", "bounded/turn"),
        perturbations=(
            norm.but("the layers fade twice as fast", state=faster.of.state),
            grows.but("already for m = 1", start=1, state=one.of.state),
            ends[2].but("γ with the other sign", expr=sp.exp(2 * g * t)),
        ),
        comment=(
            "The sines and cosines of the last column add up to 1 layer by layer, so its length does not "
            "oscillate. Every other column is shorter or as long. “Defective blocks grow” is right at "
            "`γ = 0` only."
        ),
    )


def _tall_columns() -> tuple[Exact, Exact]:
    """S_m ≥ 1 for m ≥ 1, and S_m ≥ 1 + t² for m ≥ 2."""
    total, entry = sp.symbols("S x", real=True)
    size = sp.Symbol("m", nonnegative=True)
    tall = Induction(
        index=size,
        start=2,
        relation=">=",
        state={total: (1 + t**2, total + entry**2)},
        claim={total: 1 + t**2},
    )
    grows = Exact(name="S_m ≥ 1 + t² for m ≥ 2", goal=True, of=tall, note="x stands for t^k/k!")
    one = Exact(
        name="S_m ≥ 1 for m ≥ 1",
        goal=True,
        of=Induction(
            index=size, start=1, relation=">=", state={total: (1, total + entry**2)}, claim={total: sp.S.One}
        ),
    )
    return one, grows


def _column(fade: sp.Expr) -> Exact:
    """|last column|² = e^{-2γt} S_m, a layer (x·fade·sin ωt)² + (x·fade·cos ωt)² at a time, x = t^k/k!."""
    length, total, entry = sp.symbols("T S x", real=True)
    layer = plus((entry * fade * sp.sin(w * t)) ** 2, (entry * fade * sp.cos(w * t)) ** 2)
    return Exact(
        name="squared length of the last column of C_m",
        goal=True,
        of=Induction(
            index=sp.Symbol("m", nonnegative=True),
            start=0,
            state={length: (0, length + layer), total: (0, total + entry**2)},
            claim={length: sp.exp(-2 * g * t) * total},
        ),
        note="T is the squared length, S stands for S_m, x for t^k/k!; J_m has one number a layer",
    )


@CHAPTER.law("only-rotation")
def only_rotation() -> Law:
    rate = sp.Symbol("gamma", real=True)
    zero = Identity(
        name="what is bounded and does not turn is constant: J_1(-γ) at γ = 0",
        goal=True,
        lhs=At(sp.ImmutableMatrix([[sp.exp(-rate * t)]]), rate, 0),
        rhs=sp.eye(1),
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
            "For every real square `X`: `exp(tX)` is bounded for all real `t` iff, in some basis, it is a "
            "direct sum of holds (`1`) and turns (`R(ωt)`). So a continuous relative encoding with square "
            "invertible factors that is bounded in both directions, and is not constant, is a rotation up "
            "to a change of basis."
        ),
        hypotheses=(Hypothesis("real", "`X` is a real square matrix"),),
        steps=(
            Cited(name="every `X` is a sum of blocks", lemma=JORDAN_FORM, source=JORDAN, needs=("real",)),
            zero,
            turning,
        ),
        rests_on=("bridge", "uniqueness", "direct-sum", "change-of-basis", "bounded-all-sizes"),
        perturbations=(
            turning.but(
                "a turn that also fades", lhs=product(transpose(Block(g, w).exp(t)), Block(g, w).exp(t))
            ),
            zero.but("a fade", lhs=At(sp.ImmutableMatrix([[sp.exp(-rate * t)]]), rate, 1)),
        ),
        sources=(PURANIK,),
        comment=(
            "“Rotation is the only option” needs three additions: holds (features without position) may "
            "stand beside it, the basis [need not be orthogonal](#bounded-up-to-basis), and a causal model "
            "asks for one direction only. The sum of blocks is bounded iff each block is."
        ),
    )
