"""What a kernel for linear attention exponentiates: gaps in a chunk, and what a split of them costs."""

import sympy as sp

from ...symbolic.block import Block
from ...symbolic.induction import Induction
from ...symbolic.limits import Limit
from ...symbolic.signs import Sign
from ...symbolic.tree import At, D
from ..law import Hypothesis, Law
from ..step import Cited, Enclosed, Exact, Identity, Source
from .common import dot, g, plus, t, times, u, w, x, y
from .linear_attention import CHAPTER, n

RUDIN = Source("W. Rudin, Principles of Mathematical Analysis, 3rd ed., Theorem 5.11 (a)")
KDA = Source(
    "flash-linear-attention, pull request 701: [KDA] Add lowerbound gate function, 2025",
    "https://github.com/fla-org/flash-linear-attention/pull/701",
)
FLOATS = (
    ("float32", 128, 24, "88.7228390", "88.7228392"),
    ("bfloat16", 128, 8, "88.7189", "88.7190"),
    ("float16", 16, 11, "11.0898", "11.0899"),
    ("float64", 1024, 53, "709.7827128", "709.7827129"),
)


@CHAPTER.law("chunk-lags")
def chunk_lags() -> Law:
    first, before, ahead, rest = sp.symbols("c i j r", nonnegative=True)
    key = plus(first, before)
    query, end = plus(first, before, ahead), plus(first, before, ahead, rest, 1)
    lags = {
        "from a key to a query of the chunk": (query, key),
        "from the state to a query": (plus(query, 1), first),
        "from a key to the next state": (plus(end, -1), key),
        "from one state to the next": (end, first),
    }
    steps = []
    for name, (later, earlier) in lags.items():
        lag = plus(later, times(-1, earlier))
        steps += [
            Exact(name=f"{name}: at least 0", goal=True, of=Sign(lag, "+0")),
            Exact(
                name=f"{name}: at most C",
                goal=True,
                of=Sign(plus(end, times(-1, first), times(-1, lag)), "+0"),
            ),
        ]
    return Law(
        id="chunk-lags",
        title="Every exponent of a chunk is a gap between 0 and C",
        statement=(
            "For a chunk of the tokens `c, …, c + C - 1`, each query `t` and key `s` with "
            "`c ≤ s ≤ t ≤ c + C - 1`: the four exponents `t - s`, `t - c + 1`, `c + C - 1 - s` and `C` lie "
            "between 0 and `C`."
        ),
        hypotheses=(
            Hypothesis("causal", "`s = c + i`, `t = s + j`, `C = i + j + 1 + r` with `i, j, r ≥ 0`"),
        ),
        steps=tuple(steps),
        rests_on=("chunks-any-size",),
        perturbations=(
            steps[0].but(
                "the split key: from the key back to the chunk's start", expr=plus(first, times(-1, key))
            ),
            steps[3].but("the query reads one step later", expr=plus(end, -2, times(-1, query))),
        ),
        comment=(
            "No exponent is a position, and none is negative: however long the context, only gaps within "
            "one chunk are ever exponentiated."
        ),
    )


@CHAPTER.law("chunk-factors")
def chunk_factors() -> Law:
    rate, gap = sp.Symbol("gamma", nonnegative=True), sp.Symbol("u", real=True)
    lost = 1 - sp.exp(-rate * gap)
    slope = Identity(name="(1 - e^{-γu})'", goal=True, lhs=D(lost, gap), rhs=rate * sp.exp(-rate * gap))
    rises = Exact(name="its slope is not negative", goal=True, of=Sign(rate * sp.exp(-rate * gap), "+0"))
    zero = Identity(name="it starts at 0", lhs=At(lost, gap, 0), rhs=sp.S.Zero)
    so = Cited(
        name="so 1 - e^{-γu} ≥ 0 for u ≥ 0",
        lemma="a function whose derivative is not negative does not decrease",
        source=RUDIN,
        needs=("lags", "no-growth"),
    )
    moved = Block(rate, w).exp(u) * sp.Matrix([x, y])
    shorter = Identity(
        name="a damped turn shortens by that factor",
        goal=True,
        lhs=dot(moved, moved),
        rhs=sp.exp(-2 * rate * u) * (x**2 + y**2),
    )
    powers = _powers()
    return Law(
        id="chunk-factors",
        title="In a chunk nothing overflows",
        statement=(
            "For all `γ ≥ 0`, every gap `0 ≤ u ≤ C` and every real `x, y`: `(1 - e^{-γu})' = γe^{-γu} ≥ 0`, "
            "so `0 < e^{-γu} ≤ 1`; a turn, damped or not, multiplies squared lengths by `e^{-2γu}`, for "
            "every `ω > 0`; and the powers of a slide satisfy `u^k ≤ C^k` for every `k`."
        ),
        hypotheses=(
            Hypothesis("lags", "every exponent is [a gap between 0 and `C`](#chunk-lags)"),
            Hypothesis("no-growth", "no block grows: `γ ≥ 0`"),
        ),
        steps=(slope, rises, zero, so, shorter, powers),
        rests_on=("chunk-lags",),
        perturbations=(
            rises.but("a growing block, γ < 0 written as -γ", expr=-rate * sp.exp(rate * gap)),
            shorter.but("γ counts once", rhs=sp.exp(-rate * u) * (x**2 + y**2)),
            powers.but("a gap beyond C", state=_powers(beyond=True).of.state),
        ),
        comment=(
            "Fades and turns never exceed 1. A slide of height `m` may reach `C^{m-1}/(m-1)!`, a power of "
            "the chunk and not of the context. Factors below the smallest number become 0, which is "
            "harmless: those keys are forgotten. [Splitting the factor](#split-factors) loses all this."
        ),
    )


def _powers(beyond: bool = False) -> Exact:
    """C^k - u^k for C = u + r, or for u = C + r, together with u^k."""
    smaller, rest = sp.symbols("u r", nonnegative=True)
    small, difference = sp.symbols("p D", real=True)
    most, gap = (smaller, smaller + rest) if beyond else (smaller + rest, smaller)
    return Exact(
        name="C^k - u^k ≥ 0 for C = u + r",
        goal=True,
        of=Induction(
            index=n,
            start=0,
            relation=">=",
            state={small: (1, small * gap), difference: (0, most * difference + (most - gap) * small)},
            claim={small: sp.S.Zero, difference: sp.S.Zero},
        ),
        note="p = u^k, D = C^k - u^k, k = n",
    )


@CHAPTER.law("split-factors")
def split_factors() -> Law:
    start, back = sp.symbols("b s", real=True)
    same = Identity(
        name="query factor times key factor",
        goal=True,
        lhs=times(sp.exp(-g * (t - start)), sp.exp(g * (back - start))),
        rhs=sp.exp(-g * (t - back)),
    )
    unbounded = Exact(name="the key factor has no bound", goal=True, of=Limit(sp.exp(g * u), u, sp.oo, sp.oo))
    largest = tuple(
        Enclosed(
            name=f"{name}: the largest finite number is e to the",
            goal=True,
            expr=plus(top * sp.log(2), sp.log(1 - sp.Rational(1, 2**digits))),
            lower=low,
            upper=high,
        )
        for name, top, digits, low, high in FLOATS
    )
    fits = _against_float32(16 * 5, "0.00016", "0.00017")
    fails = _against_float32(18 * 5, "3.5", "3.6")
    return Law(
        id="split-factors",
        title="Split into a query side and a key side, a decay overflows",
        statement=(
            "For all real `t, s, b` and every `γ > 0`: `e^{-γ(t-b)} e^{γ(s-b)} = e^{-γ(t-s)}`, but the "
            "second factor tends to `∞`. It exceeds the largest number as soon as `γ(s-b)` exceeds that "
            "number's logarithm: 88.7228… in float32, 88.7189… in bfloat16, 11.0898… in float16, 709.78… in "
            "float64. At `γ = 5`, with `b` the token before the chunk, 16 tokens stay below it in float32, "
            "as `e^{80} < 2^{128}(1 - 2^{-24})`; 18 tokens do not."
        ),
        steps=(same, unbounded, *largest, fits, fails),
        rests_on=("gates-split", "chunk-factors"),
        perturbations=(
            same.but(
                "the key fades as well", lhs=times(sp.exp(-g * (t - start)), sp.exp(-g * (back - start)))
            ),
            unbounded.but("it fades", value=sp.S.Zero),
            largest[0].but("float32 reaches to e^89", expr=sp.Integer(89)),
            fits.but("eighteen tokens", expr=fails.expr),
        ),
        sources=(KDA,),
        comment=(
            "As numbers both forms are one; in floating point `0 · ∞` is not 0. A kernel that multiplies "
            "the two sides as matrices must keep decay times chunk below the bound, by short chunks, by a "
            "lowest gate, or by a reference inside the chunk; one that exponentiates "
            "[gaps](#chunk-lags) need not."
        ),
    )


def _against_float32(exponent: int, lower: str, upper: str) -> Enclosed:
    """e^exponent over the largest float32."""
    return Enclosed(
        name=f"e^{exponent} over the largest float32",
        goal=True,
        expr=sp.exp(exponent) / sp.Integer(2**128 - 2**104),
        lower=lower,
        upper=upper,
    )
