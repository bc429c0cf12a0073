"""The slide: a defective generator is a straight line in the gap, and with two spare slots it is ALiBi."""

import sympy as sp

from ...symbolic.decide import Status
from ...symbolic.induction import Induction
from ...symbolic.limits import Limit
from ...symbolic.tree import At, D
from ..law import Chapter, Hypothesis, Law, Renaming
from ..step import Cited, Enclosed, Exact, Identity, Source
from .common import ALIBI, I2, KRANTZ_PARKS, N, dot, m, plus, product, s, t, times, transpose, u, x, y
from .frequencies import around

CHAPTER = Chapter(
    "slide",
    "The slide: ALiBi",
    "A puck on ice: its velocity stays, its position grows along with time. The matrix that does this has "
    "one eigendirection too few, and its exponential stops after two terms.",
)
SLIDE = sp.ImmutableMatrix([[1, t], [0, 1]])
sigma = sp.Symbol("sigma", positive=True)


def slide(time: sp.Expr) -> sp.ImmutableMatrix:
    return SLIDE.subs(t, time)


@CHAPTER.law("slide-nilpotent")
def slide_nilpotent() -> Law:
    square = Identity(name="N² = 0", goal=True, lhs=product(N, N), rhs=sp.zeros(2, 2))
    ode = Identity(name="(I + tN)' = N(I + tN)", goal=True, lhs=D(SLIDE, t), rhs=product(N, SLIDE))
    start = Identity(name="I at t = 0", goal=True, lhs=At(SLIDE, t, 0), rhs=I2)
    kernel = Identity(
        name="N(x, y) = (y, 0)",
        goal=True,
        lhs=product(N, sp.ImmutableMatrix([x, y])),
        rhs=sp.ImmutableMatrix([y, 0]),
        note="so N v = λv forces λ = 0 and y = 0: one eigendirection",
    )
    return Law(
        id="slide-nilpotent",
        title="The slide stops after two terms",
        statement=(
            "For `N = [[0,1],[0,0]]` and every real `t`: `N² = 0`, so `exp(tN) = I + tN`; "
            "`N(x, y)ᵀ = (y, 0)ᵀ`, so its only eigendirection is `(1, 0)`."
        ),
        steps=(square, start, ode, kernel),
        rests_on=("uniqueness", "all-sizes"),
        perturbations=(
            square.but("N transposed on one side", lhs=product(N, N.T.as_immutable())),
            ode.but("the slide goes at twice the speed", lhs=D(slide(2 * t), t)),
            kernel.but("N keeps the second coordinate", rhs=sp.ImmutableMatrix([y, y])),
        ),
        comment=(
            "Defective: not enough eigenvectors for a basis. Growth is linear here; a block of size `m` "
            "grows as `t^{m-1}`, and with `γ > 0` it [fades in the end](#bounded--faded-slide)."
        ),
    )


@CHAPTER.law("alibi-lift")
def alibi_lift() -> Law:
    row, column = sp.ImmutableMatrix([[m, 0]]), sp.ImmutableMatrix([0, 1])
    goal = Identity(
        name="two slots", goal=True, lhs=product(row, slide(t - s), column), rhs=sp.Matrix([[m * (t - s)]])
    )
    split = Identity(
        name="query and key touched once each",
        lhs=product(row, slide(t), slide(-s), column),
        rhs=product(row, slide(t - s), column),
    )
    return Law(
        id="alibi-lift",
        title="A distance from two spare slots",
        statement="For all real `t, s` and every `m > 0`: `(m 0)·exp((t-s)N)·(0 1)ᵀ = m(t-s)`.",
        steps=(split, goal),
        perturbations=(
            goal.but("the gap the other way round", rhs=sp.Matrix([[m * (s - t)]])),
            goal.but(
                "the slots are swapped", lhs=product(sp.ImmutableMatrix([[0, m]]), slide(t - s), column)
            ),
            split.but("the key slides forward", lhs=product(row, slide(t), slide(s), column)),
        ),
        rests_on=("slide-nilpotent",),
        renamings=(Renaming("the opposite slope, m → -m everywhere", {m: -m}),),
        sources=(ALIBI,),
        comment="The query gets `(m, 0)`, the key `(0, 1)`. So ALiBi is inside the family, one lift away.",
    )


@CHAPTER.law("alibi-logit")
def alibi_logit() -> Law:
    content = sp.Symbol("c", real=True)  # q·k
    lifted = Identity(
        name="lifted score",
        goal=True,
        lhs=plus(content, _slots(-m / sigma)),
        rhs=content - m * (t - s) / sigma,
        note="c stands for q·k",
    )
    goal = Identity(
        name="logit",
        goal=True,
        lhs=times(sigma, plus(content, _slots(-m / sigma))),
        rhs=sigma * content - m * (t - s),
    )
    score, total, query, key = sp.symbols("S C q k", real=True)
    every = Exact(
        name="any number of content features",
        goal=True,
        of=Induction(
            index=sp.Symbol("n", nonnegative=True),
            start=0,
            state={score: (_slots(-m / sigma), score + query * key), total: (0, total + query * key)},
            claim={score: total - m * (t - s) / sigma},
        ),
        note="S is the dot product of the lifted vectors, C that of the contents",
    )
    return Law(
        id="alibi-logit",
        title="ALiBi's logit, whatever the scale",
        statement=(
            "For all real `t, s`, every `m > 0`, every scale `σ > 0`, any number of features and all "
            "contents: with the query slots `(-m/σ, 0)` and the key slots `(0, 1)` the score is "
            "`q·k - m(t-s)/σ`, and the logit `σ·score = σ q·k - m(t-s)`. Then "
            "`σ = 1/√d` is substituted."
        ),
        steps=(lifted, every, goal),
        perturbations=(
            goal.but("the slots forget the scale", lhs=times(sigma, plus(content, _slots(-m)))),
            goal.but("the bias has the other sign", rhs=sigma * content + m * (t - s)),
            lifted.but("the bias is not divided by the scale", rhs=content - m * (t - s)),
        ),
        rests_on=("alibi-lift",),
        renamings=(Renaming("the opposite slope, m → -m everywhere", {m: -m}),),
        sources=(ALIBI,),
        comment=(
            "ALiBi adds its bias after scaling by `1/√d`; slots inside `q` and `k` are scaled with them, so "
            "they must carry `m√d`."
        ),
    )


def _slots(left: sp.Expr) -> sp.Expr:
    """(left 0)·exp(tN)exp(-sN)·(0 1)ᵀ, multiplied out entry by entry."""
    query, key = transpose(slide(t)) * sp.Matrix([left, 0]), slide(-s) * sp.Matrix([0, 1])
    return dot(query, key)


@CHAPTER.law("alibi-sign")
def alibi_sign() -> Law:
    near, far = sp.exp(m * u), sp.exp(m * (u + 1))
    ratio = Identity(name="one step further multiplies by e^m", lhs=far, rhs=times(sp.exp(m), near))
    goal = Exact(name="far keys weigh nothing", goal=True, of=Limit(near, u, sp.oo, sp.S.Zero))
    weights = ("0.058", "0.096", "0.158", "0.260", "0.429")
    total = sp.Add(*(sp.exp(sp.Rational(gap, 2)) for gap in range(5)))
    exhibit = tuple(
        Enclosed(name=f"m = 1/2, gap {gap}", expr=sp.exp(sp.Rational(gap, 2)) / total, **around(value))
        for gap, value in enumerate(weights)
    )
    return Law(
        id="alibi-sign",
        title="“score = q·k + m(t-s)” with m > 0",
        statement=(
            "With the bias `+m(t-s)`, `m > 0`, the softmax weight of a key, relative to one at gap 0, is "
            "`e^{mu}` at the gap `u`, and tends to 0 as `u → ∞`."
        ),
        expected=Status.REFUTED,
        steps=(ratio, *exhibit, goal),
        siblings=(goal.but("with the minus sign", expr=sp.exp(-m * u)),),
        rests_on=("alibi-logit",),
        comment=(
            "It tends to `+∞`. Five keys with equal content, `m = 1/2`, from nearest to farthest: .058, "
            ".096, .158, .260, .429: the plus sign rewards distance. ALiBi is `-m(t-s)` with `m > 0`; some "
            "kernels add `+m·s`, which differs from it by a constant per row and is the same after softmax."
        ),
    )


@CHAPTER.law("alibi-slopes")
def alibi_slopes() -> Law:
    h, inverse, log2 = sp.symbols("h iota L", positive=True)
    ratio = Identity(
        name="geometric",
        goal=True,
        lhs=sp.exp(-8 * (h + 2) * inverse * log2),
        rhs=times(sp.exp(-8 * inverse * log2), sp.exp(-8 * (h + 1) * inverse * log2)),
        note="ι = 1/n and L = ln 2",
    )
    every_other = Identity(
        name="every other slope of 2c heads",
        goal=True,
        lhs=sp.exp(-8 * (2 * h + 1) * (inverse / 2) * log2),
        rhs=sp.exp(-4 * (2 * h + 1) * inverse * log2),
        note="ι = 1/c",
    )
    eight, twelve, last40 = _slope_numbers()
    return Law(
        id="alibi-slopes",
        title="Head slopes, also for 12 or 40 heads",
        statement=(
            "For `n` heads, a power of two: `m_h = 2^{-8(h+1)/n}`, `h = 0 … n-1`, a geometric sequence: each "
            "slope is the one before times the first. Otherwise, with "
            "`c` the largest power of two below `n`: the `c` slopes of `c` heads, then `2^{-4(2j+1)/c}` "
            "for `j = 0 … n-c-1`, every other slope of `2c` heads."
        ),
        steps=(ratio, every_other, eight, *twelve, last40),
        perturbations=(
            eight.but("counted from h = 0 without the +1", lhs=sp.Matrix([[_powers(8, 0), _powers(8, 7)]])),
            twelve[0].but("one formula for all n: the ninth of twelve", expr=_slope(8, 12)),
            every_other.but("the even ones instead", lhs=sp.exp(-8 * (2 * h + 2) * (inverse / 2) * log2)),
        ),
        sources=(
            ALIBI,
            Source(
                "O. Press, attention_with_linear_biases, function get_slopes",
                "https://github.com/ofirpress/attention_with_linear_biases",
            ),
        ),
        comment=(
            "Head counts that are not powers of two are where implementations differ; using the first "
            "formula for every `n` is a frequent mistake."
        ),
    )


def _slope_numbers() -> tuple[Identity, tuple[Enclosed, ...], Enclosed]:
    """Slopes of 8, 12 and 40 heads."""
    eight = Identity(
        name="eight heads start at 1/2 and end at 1/256",
        lhs=sp.Matrix([[_powers(8, 1), _powers(8, 8)]]),
        rhs=sp.Matrix([[sp.Rational(1, 2), sp.Rational(1, 256)]]),
    )
    decimals = ("0.707106781187", "0.353553390593", "0.176776695297", "0.0883883476483")
    twelve = tuple(
        Enclosed(name=f"twelve heads: extra slope {j}", expr=_extra(j, 8), **around(value))
        for j, value in enumerate(decimals)
    )
    last40 = Enclosed(name="forty heads: the last slope", expr=_extra(7, 32), **around("0.272626933166"))
    return eight, twelve, last40


def _powers(heads: int, count: int) -> sp.Expr:
    """The product of `count` factors 2^{-8/heads}: the slope of head count - 1."""
    factor = sp.Pow(2, sp.Rational(-8, heads))
    return times(*[factor] * count) if count > 1 else sp.Integer(1) * factor**count


def _slope(head: int, heads: int) -> sp.Expr:
    return sp.Integer(2) ** sp.Rational(-8 * (head + 1), heads)


def _extra(j: int, c: int) -> sp.Expr:
    return sp.Integer(2) ** sp.Rational(-4 * (2 * j + 1), c)


@CHAPTER.law("distance-outside")
def distance_outside() -> Law:
    goal = Identity(
        name="the line u continues as |u| for u < 0", goal=True, lhs=At(-m * u, u, -1), rhs=-m * sp.S.One
    )
    ahead = Identity(
        name="for u ≥ 0 the bias is -mu, a slide",
        lhs=product(sp.ImmutableMatrix([[-m, 0]]), slide(u), sp.ImmutableMatrix([0, 1])),
        rhs=sp.Matrix([[-m * u]]),
    )
    return Law(
        id="distance-outside",
        title="“|t-s| is in the family too”",
        statement=(
            "For `m > 0` the exponential polynomial that equals `-m|u|` for all `u > 0`, which is `-mu`, "
            "equals it at `u = -1` as well: `m = -m`."
        ),
        hypotheses=(Hypothesis("interval", "the two agree on a whole interval of gaps"),),
        expected=Status.REFUTED,
        steps=(
            ahead,
            Cited(
                name="half a line determines all of it",
                lemma=(
                    "an exponential polynomial is real analytic, and a real analytic function on ℝ is "
                    "determined by its values on an interval"
                ),
                source=KRANTZ_PARKS,
                needs=("interval",),
            ),
            goal,
        ),
        siblings=(goal.but("at u = +1", lhs=At(-m * u, u, 1)),),
        rests_on=("alibi-lift",),
        comment=(
            "The symmetric penalty `|t-s|` is relative, but no `exp(uX)` makes it. Bidirectional models need "
            "two causal halves, or a kernel that takes a bias. Accounts that write ALiBi as `-m|t-s|` are "
            "right for causal models, where `t ≥ s`."
        ),
    )
