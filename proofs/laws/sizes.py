"""Groups of every size: slides of every height, their group law, and the limit of small ticks."""

import sympy as sp

from ...symbolic.induction import Induction
from ...symbolic.signs import Sign
from ...symbolic.tree import At
from ..law import Hypothesis, Law
from ..step import Cited, Exact, Identity, Source
from .common import plus, t, times, u, v
from .one_parameter import CHAPTER

ONE_HIGH = ("hold", "fade", "grow", "turn", "damped-turn", "growing-turn")  # the blocks of height 1

n, k = sp.symbols("n k", nonnegative=True)
SUMMED = Cited(
    name="summing the series",
    lemma=(
        "triangle inequality term by term; an absolutely convergent series may be summed so, and "
        "Σ x^k/k! = e^x"
    ),
    source=Source("W. Rudin, Principles of Mathematical Analysis, 3rd ed., Theorem 3.45 and chapter 8"),
    needs=("norm",),
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
    goal = Exact(
        name="a_k = t a_{k-1}/k and a_k' = a_{k-1} for every k",
        goal=True,
        of=induction,
        note="a stands for a_k, b for a_{k-1}, d for the derivative of a_k",
    )
    level = sp.Symbol("k", positive=True)
    start = Identity(name="so a_k = 0 at t = 0", goal=True, lhs=At(t * above / level, t, 0), rhs=sp.S.Zero)
    no_factorial = {**induction.state, entry: (t, entry * t), slope: (1, entry + t * slope)}
    return Law(
        id="all-sizes",
        title="Slides of every height",
        statement=(
            "For every `k ≥ 1` the entries `a_k = t^k/k!` of the k-th diagonal of `A = Σ t^k N^k/k!` satisfy "
            "`a_k' = a_{k-1}` and vanish at `t = 0`. The entries of `NA` are those of `A` one row further "
            "down, so `A' = NA`, `A(0) = I` and `A'(0) = N` for every size `m`; with `e^{-γt}` or "
            "`e^{-γt}R(ωt)` in front, which commutes, `A` is the flow of `J_m(-γ)` or `C_m(γ, ω)`."
        ),
        steps=(goal, start),
        perturbations=(
            goal.but("1/k! is dropped", state=no_factorial),
            goal.but("the derivative is twice the neighbour", claim={entry: t * above / k, slope: 2 * above}),
            start.but("the entry at t = 1", lhs=At(t * above / level, t, 1)),
        ),
        rests_on=(*(f"flow/{name}" for name in ONE_HIGH), "commuting-sum", "uniqueness"),
        comment=(
            "The step from `k` to `k + 1` is decided with `k`, `t` and the entries as symbols. In `C_m` each "
            "entry stands for a `2×2` block, which the factor in front turns and fades."
        ),
    )


@CHAPTER.law("group-law-all-sizes")
def group_law_all_sizes() -> Law:
    columns = _row_of_products()
    powers, inverse, total = sp.symbols("p i f", real=True)
    summed = Induction(
        index=k,
        start=0,
        state={
            total: (1, total * (u + v) / (k + 1)),
            powers: (1, powers * (u + v)),
            inverse: (1, inverse / (k + 1)),
        },
        claim={total: powers * inverse},
    )
    whole = Exact(
        name="so (k+1) f_{k+1} = (u+v) f_k gives f_k = (u+v)^k/k!",
        goal=True,
        of=summed,
        note="f stands for f_k, p for (u+v)^k, i for 1/k!",
    )
    level, before = sp.Symbol("k", positive=True), sp.Symbol("f", real=True)
    back = Identity(
        name="and f_k = 0 at v = -u",
        goal=True,
        lhs=At(plus(u, v) * before / level, v, -u),
        rhs=sp.S.Zero,
        note="f stands for f_{k-1}; k ≥ 1",
    )
    return Law(
        id="group-law-all-sizes",
        title="The group law at every height",
        statement=(
            "For all real `u, v` and every `k`: the k-th diagonal of `A(u)A(v)`, "
            "`f_k = Σ_{j≤k} a_j(u) a_{k-j}(v)` with `a_j(u) = u^j/j!`, is `(u+v)^k/k!`, that of `A(u+v)`; "
            "and for `v = -u`, `k ≥ 1` it is 0. So `A(u)A(v) = A(u+v)` and `A(u)A(-u) = I` for slides of "
            "every height and, with their commuting factor in front, for all `J_m(-γ)` and `C_m(γ, ω)`."
        ),
        steps=(columns, whole, back),
        rests_on=("all-sizes", "commuting-sum", *(f"group-law/{name}" for name in ONE_HIGH)),
        perturbations=(
            columns.but("1/j! is dropped", state=_row_of_products(factorial=False).of.state),
            whole.but("only u counts", state={**summed.state, total: (1, total * u / (k + 1))}),
            back.but("at v = u", lhs=At(plus(u, v) * before / level, v, u)),
        ),
        comment=(
            "The binomial theorem by two inductions: along a row of products, and from one row to the next. "
            "At `v = 0` all products but the last vanish. Without coordinates the same follows from "
            "[one line for every matrix](#flow-group-law)."
        ),
    )


def _row_of_products(factorial: bool = True) -> Exact:
    """Σ_{i≤j} (k+1) a_i(u) a_{k+1-i}(v) = v Σ_{i≤j} a_i(u) a_{k-i}(v) + u Σ_{i<j} a_i(u) a_{k-i}(v)."""
    j, last = sp.Symbol("j", nonnegative=True), sp.Symbol("y", real=True)
    first, second, upper, lower = sp.symbols("X Y P Q", real=True)
    following = first * u / (j + 1) if factorial else first * u
    row = Induction(
        index=j,
        start=0,
        state={
            first: (1, following),
            second: (last, second * (k - j) / v),
            upper: (v * last, upper + (k + 1) * following * second),
            lower: (last, lower + following * second * (k - j) / v),
        },
        claim={upper: v * lower + u * (lower - first * second)},
        assume=(sp.Ne(v, 0),),
    )
    return Exact(
        name="row k+1 from row k, for v ≠ 0",
        goal=True,
        of=row,
        note=(
            "X = a_j(u), Y = a_{k-j}(v), P the first j products of row k+1 times k+1, Q those of row k; at "
            "j = k the last product u·X·Y is added and P becomes (u+v)Q"
        ),
    )


@CHAPTER.law("euler-limit")
def euler_limit() -> Law:
    goal, negative, sharp = _weierstrass()
    sum_, binomial, product_, inverse = sp.symbols("S B P F", real=True)
    ticks = sp.Symbol("n", positive=True)
    growing = Induction(
        index=k, start=1, state={sum_: (0, sum_ + k / ticks)}, claim={sum_: k * (k - 1) / (2 * ticks)}
    )
    added = Exact(name="Σ_{j<k} j/n = k(k-1)/(2n)", goal=True, of=growing)
    coefficients = Induction(
        index=k,
        start=0,
        state={
            binomial: (1, binomial * (ticks - k) / ((k + 1) * ticks)),
            product_: (1, product_ * (1 - k / ticks)),
            inverse: (1, inverse / (k + 1)),
        },
        claim={binomial: product_ * inverse},
    )
    term = Exact(
        name="the k-th term of (1 + x/n)^n is Π_{j<k}(1 - j/n)·x^k/k!",
        goal=True,
        of=coefficients,
        note="B = C(n, k)/n^k, P the product, F = 1/k!",
    )
    beyond, shifted = _tail()
    return Law(
        id="euler-limit",
        title="Many small ticks",
        statement=(
            "For all `x_j` with `0 ≤ x_j < 1`: `Π(1 - x_j) ≥ 1 - Σ x_j`. With `x_j = j/n`, `j < k ≤ n`, this "
            "is `(1-1/n)⋯(1-(k-1)/n) ≥ 1 - k(k-1)/(2n)`; hence for every square `X`, real `t` and `n ≥ 1`, "
            "with `x = |t|‖X‖`: `‖exp(tX) - (I + tX/n)ⁿ‖ ≤ Σ_k k(k-1)/(2n)·x^k/k! = (x²/2n) eˣ`."
        ),
        hypotheses=(Hypothesis("norm", "`‖·‖` is submultiplicative, with `‖I‖ = 1`"),),
        steps=(goal, added, term, beyond, shifted, SUMMED),
        perturbations=(
            goal.but("a factor above 1: the x_j may be negative", state=negative),
            goal.but("the bound is claimed twice as sharp", claim=sharp),
            added.but("the sum is k²/(2n)", claim={sum_: k**2 / (2 * ticks)}),
            term.but(
                "the product has one factor more",
                state={**coefficients.state, product_: (1, product_ * (1 - (k + 1) / ticks))},
            ),
        ),
        rests_on=("all-sizes",),
        comment=(
            "The generator is what happens in one tiny tick, and the exponential adds up ever more of "
            "them; this says how fast. The binomial formula holds for `I + tX/n` because `I` and `X` commute."
        ),
    )


def _tail() -> tuple[Exact, Identity]:
    """The terms with k > n, and the sum over k of the bounds."""
    more, over = sp.symbols("p r", nonnegative=True)  # n = 1 + p ticks, k = n + 1 + r
    late = plus(times(plus(2, more, over), plus(1, more, over)), times(sp.Integer(-2), plus(1, more)))
    beyond = Exact(
        name="for k > n the term is missing, and k(k-1) ≥ 2n",
        of=Sign(late, "+0"),
        note="n = 1 + p, k = n + 1 + r",
    )
    x, two_below = sp.symbols("x a", real=True)
    shifted = Identity(
        name="k(k-1)·x^k/k! = x²·x^{k-2}/(k-2)!",
        goal=True,
        lhs=times(over + 2, over + 1, two_below * x**2 / ((over + 2) * (over + 1))),
        rhs=x**2 * two_below,
        note="k = r + 2 and a = x^{k-2}/(k-2)!",
    )
    return beyond, shifted


def _weierstrass() -> tuple[Exact, dict, dict]:
    """Π(1 - x_j) + Σ x_j ≥ 1, the same recursion with negative x_j, and a claim twice as sharp."""
    lost, total = sp.symbols("e D", real=True)
    a, b = sp.Symbol("a", nonnegative=True), sp.Symbol("b", positive=True)
    x = a / (a + b)  # any number with 0 <= x < 1, a new one at every step
    # e = 1 - p and D = p + S for p = Π(1 - x_j) and S = Σ x_j
    state = {lost: (0, lost * (1 - x) + x), total: (1, total + x * lost)}
    goal = Exact(
        name="Π(1 - x_j) + Σ x_j ≥ 1",
        goal=True,
        of=Induction(index=k, start=1, relation=">=", state=state, claim={lost: sp.S.Zero, total: sp.S.One}),
        note="e = 1 - Π(1 - x_j), D = Π(1 - x_j) + Σ x_j; x_j = a/(a+b) with a ≥ 0, b > 0",
    )
    negative = {lost: (0, lost * (1 + x) - x), total: (1, total - x * lost)}
    return goal, negative, {lost: sp.S.Zero, total: sp.Integer(2)}
