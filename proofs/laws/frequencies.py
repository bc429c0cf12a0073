"""A bank of clocks: choosing frequencies, when a bank repeats, and what longer contexts change."""

from decimal import Decimal, localcontext
from typing import TypedDict

import sympy as sp

from ...symbolic.induction import Induction
from ...symbolic.signs import Sign
from ...symbolic.tree import At, D
from ..law import Chapter, Hypothesis, Law, Renaming
from ..step import Cited, Enclosed, Exact, Identity, Source
from .common import ROFORMER, R, dot, repeated_turn, s, t, times, u, w

CHAPTER = Chapter(
    "frequencies",
    "A bank of clocks",
    "One hand wraps. A bank of hands, each slower than the one before, tells near gaps and far gaps apart: "
    "plane `k` of `d/2` turns by `ω_k = b^{-2k/d}` radians a step. The base is written `b = e^L`, and "
    "`κ = 2k/d`.",
)
L = sp.Symbol("L", real=True)
kappa = sp.Symbol("kappa", positive=True)
n = sp.Symbol("n", nonnegative=True)
LAMBERT = Source(
    "J. H. Lambert, Mémoire sur quelques propriétés remarquables des quantités transcendantes, 1768: π is "
    "irrational"
)

PERIODS = Cited(
    name="the periods of a plane",
    lemma="cos a = 1 and sin a = 0 exactly for a ∈ 2πℤ",
    source=Source("W. Rudin, Principles of Mathematical Analysis, 3rd ed., Theorem 8.7"),
    needs=("period",),
)


def frequency(base: int, k: int, d: int) -> sp.Expr:
    """base^{-2k/d}, exactly."""
    return sp.Integer(base) ** sp.Rational(-2 * k, d)


class Ends(TypedDict):
    """The ends of an enclosure, as decimals in text."""

    lower: str
    upper: str


def around(value: str) -> Ends:
    """The decimals just below and just above a printed value: half a unit in its last place, both ways."""
    digits = len(value.partition(".")[2])
    middle, half = Decimal(value), Decimal(5).scaleb(-digits - 1)
    with localcontext(prec=50):
        return {"lower": f"{middle - half:f}", "upper": f"{middle + half:f}"}


@CHAPTER.law("first-frequency")
def first_frequency() -> Law:
    power = sp.exp(-kappa * L)
    rate = sp.Symbol("kappa", real=True)
    first = Identity(name="k = 0", goal=True, lhs=D(At(sp.exp(-rate * L), rate, 0), L), rhs=sp.S.Zero)
    one = Identity(name="its frequency is 1", goal=True, lhs=At(sp.exp(-rate * L), rate, 0), rhs=sp.S.One)
    up = sp.Symbol("L", positive=True)
    slower = Exact(
        name="later hands are slower where b > 1", goal=True, of=Sign(D(sp.exp(-kappa * up), kappa), "-")
    )
    falls = Exact(name="every other falls as b grows", goal=True, of=Sign(D(power, L), "-"))
    return Law(
        id="first-frequency",
        title="The base never moves the first hand",
        statement=(
            "With `b = e^L` and `κ = 2k/d`: `ω_k = e^{-κL}`. The first (`κ = 0`) is 1 for every base; "
            "every other (`κ > 0`) has `dω_k/dL < 0`, it falls as `b` grows; and for `b > 1` frequencies "
            "fall with `k`: `dω/dκ < 0`."
        ),
        steps=(one, first, falls, slower),
        perturbations=(
            falls.but("a larger base makes hands faster", sign="+"),
            first.but("the second hand does not move either", lhs=D(power, L)),
            slower.but("a base below 1", expr=D(sp.exp(kappa * up), kappa)),
        ),
        sources=(ROFORMER,),
        comment=(
            "A larger base slows all hands but the first: more reach, less difference between neighbours. "
            "10000 comes from the sinusoids of 2017, not from RoPE; 500000 and more are usual today."
        ),
    )


@CHAPTER.law("full-turn-table")
def full_turn_table() -> Law:
    table = ("6.2832", "19.8692", "62.8319", "198.6918", "628.3185", "1986.9177", "6283.1853", "19869.1765")
    steps = tuple(
        Enclosed(name=f"plane {k}", goal=True, expr=2 * sp.pi / frequency(10000, k, 16), **around(value))
        for k, value in enumerate(table)
    )
    slowest = Enclosed(
        name="slowest plane at d = 128", expr=2 * sp.pi / frequency(10000, 63, 128), **around("54410.1431")
    )
    return Law(
        id="full-turn-table",
        title="A full turn every …",
        statement=(
            "At `d = 16`, `b = 10000` the eight planes make a full turn every 6.2832, 19.8692, 62.8319, "
            "198.6918, 628.3185, 1986.9177, 6283.1853 and 19869.1765 positions."
        ),
        steps=(*steps, slowest),
        perturbations=(
            steps[1].but(
                "the exponent is k/d, not 2k/d", expr=2 * sp.pi * sp.Integer(10000) ** sp.Rational(1, 16)
            ),
            slowest.but("the limit of large d", expr=2 * sp.pi * 10000),
        ),
        comment=(
            "“Up to about 60000” is the limit `2π·10000 = 62832` of large `d`; `d = 128` reaches 54410, and "
            "`d = 16` only 19869."
        ),
    )


@CHAPTER.law("plane-wraps")
def plane_wraps() -> Law:
    goal = Identity(name="after 2π/ω", goal=True, lhs=R(w * (u + 2 * sp.pi / w)), rhs=R(w * u))
    half = Identity(name="half way it points the other way", lhs=R(w * (u + sp.pi / w)), rhs=-R(w * u))
    return Law(
        id="plane-wraps",
        title="One hand wraps",
        statement=(
            "For every `ω > 0` and real `u`: `R(ω(u + 2π/ω)) = R(ωu)`, so one plane cannot tell the gap "
            "`u` from `u + 2π/ω`; and `2π/ω` is the smallest shift above 0 of this kind."
        ),
        hypotheses=(Hypothesis("positive", "`ω > 0`: the plane turns"),),
        steps=(
            goal,
            half,
            Cited(
                name="and not earlier",
                lemma="for 0 < a < 2π it is not so that cos a = 1 and sin a = 0",
                source=Source("W. Rudin, Principles of Mathematical Analysis, 3rd ed., Theorem 8.7"),
                needs=("positive",),
            ),
        ),
        perturbations=(
            goal.but("after half of it", lhs=R(w * (u + sp.pi / w))),
            goal.but("after 2πω", lhs=R(w * (u + 2 * sp.pi * w))),
        ),
        rests_on=("rope-plane",),
        renamings=(Renaming("the other direction of turning, ω → -ω everywhere", {w: -w}),),
        comment="The second hand of a watch cannot tell 10:00:05 from 11:00:05.",
    )


@CHAPTER.law("bank-wraps")
def bank_wraps() -> Law:
    if_rational = Exact(
        name="whole turns do nothing",
        goal=True,
        of=repeated_turn(2 * sp.pi),
        note="n stands for r·h, the number of turns in the common period",
    )
    period, a, b, h = sp.symbols("T p r h", positive=True)
    frequency_, other = sp.symbols("omega nu", positive=True)
    common = Identity(
        name="if ν = (r/p)ω and T = 2πph/ω, then νT = 2πrh",
        goal=True,
        lhs=At(At(other * period, other, b * frequency_ / a), period, 2 * sp.pi * a * h / frequency_),
        rhs=2 * sp.pi * b * h,
    )
    ratio = Identity(
        name="if ωT = 2πp and νT = 2πr, then ω/ν = p/r",
        goal=True,
        lhs=At(At(frequency_ / other, frequency_, 2 * sp.pi * a / period), other, 2 * sp.pi * b / period),
        rhs=a / b,
    )
    return Law(
        id="bank-wraps",
        title="When a whole bank repeats",
        statement=(
            "A bank of planes with frequencies above 0 has a common period on the reals iff all ratios of "
            "its frequencies are rational. If each is `ν = (r/p)ω` with whole `p, r ≥ 1`, take a common "
            "multiple `P = p·h` of all the `p`: `T = 2πP/ω` makes `νT = 2πrh`, whole turns. And if "
            "`ωT = 2πp` and `νT = 2πr` with whole `p, r`, then `ω/ν = p/r`."
        ),
        hypotheses=(
            Hypothesis(
                "period", "`T > 0` is a period of the plane exactly when `ωT` is a whole multiple of `2π`"
            ),
        ),
        steps=(common, if_rational, PERIODS, ratio),
        perturbations=(
            common.but(
                "p and r swapped",
                lhs=At(At(other * period, other, a * frequency_ / b), period, 2 * sp.pi * a * h / frequency_),
            ),
            ratio.but("the inverse ratio", rhs=b / a),
            if_rational.but("a sixth of a turn, not a whole", state=repeated_turn(sp.pi / 3).state),
        ),
        rests_on=("plane-wraps",),
        comment=(
            "With `b^{-2k/d}` irrational ratios are the rule (base 10000 with `d = 4` or 8 has none): such a "
            "bank comes close to its start again and again, but never returns."
        ),
    )


@CHAPTER.law("never-wraps-at-integers")
def never_wraps_at_integers() -> Law:
    turns, gap = sp.symbols("m n", positive=True)
    goal = Identity(
        name="a return would make π rational",
        goal=True,
        lhs=At(gap / (2 * turns), gap, 2 * sp.pi * turns),
        rhs=sp.pi,
        note="the fraction n/(2m) at n = 2πm",
    )
    near = Enclosed(name="710 - 113·2π", expr=710 - 226 * sp.pi, lower="0.00006", upper="0.00007")
    return Law(
        id="never-wraps-at-integers",
        title="With first frequency 1 no integer gap looks like 0",
        statement=(
            "If the plane of frequency 1 returned at an integer gap `n ≥ 1`, then `n = 2πm` for a whole "
            "`m ≥ 1`, and `π = n/(2m)` would be rational. So a bank whose first frequency is 1 returns at no "
            "integer gap but 0 (a gap `-n` is the gap `n` seen from the other token)."
        ),
        hypotheses=(
            Hypothesis("integer", "the gap `n` is a positive integer, and the first frequency is 1"),
            Hypothesis("period", "the plane returns exactly when its angle is a whole multiple of `2π`"),
        ),
        steps=(
            PERIODS,
            goal,
            Cited(name="π is irrational", lemma="π is irrational", source=LAMBERT, needs=("integer",)),
            near,
        ),
        perturbations=(
            goal.but("half turns counted as whole", lhs=At(gap / (2 * turns), gap, sp.pi * turns)),
            goal.but("divided by m only", lhs=At(gap / turns, gap, 2 * sp.pi * turns)),
        ),
        rests_on=("plane-wraps", "first-frequency"),
        comment=(
            "Not the same as being easy to tell apart: 710 is within 0.00007 of 113 full turns. With every "
            "frequency a rational multiple of `π` a bank does return at integer gaps."
        ),
    )


@CHAPTER.law("worked-example")
def worked_example() -> Law:
    first = sp.Matrix([1, 0])
    term = dot(R(w * t) * first, R(w * s) * first)
    total, cosines = sp.symbols("S C", real=True)
    sums = Induction(
        index=n,
        start=0,
        state={total: (0, total + term), cosines: (0, cosines + sp.cos(w * (t - s)))},
        claim={total: cosines},
    )
    goal = Exact(name="score = Σ cos ω_k(t-s)", goal=True, of=sums)
    numbers = tuple(
        Enclosed(name=f"query at {a}, key at {b}", goal=True, expr=_dot_products(a, b), **around(value))
        for a, b, value in (
            (5, 2, "5.54310106130494336"),
            (13, 10, "5.54310106130494336"),
            (103, 100, "5.54310106130494336"),
            (12, 5, "5.89218598741789329"),
        )
    )
    later = Enclosed(name="gap 20 scores more than gap 3", expr=_cosines(20), **around("5.776"))
    return Law(
        id="worked-example",
        title="A score one can follow: d = 16",
        statement=(
            "If every plane of query and key holds `(1, 0)`, the score at `(t, s)` is `Σ cos ω_k(t-s)`, "
            "for any number of planes and all frequencies. At `d = 16`, `b = 10000` it is "
            "5.54310106130494336 at (5, 2), (13, 10) and (103, 100), and 5.89218598741789329 at (12, 5)."
        ),
        steps=(goal, *numbers, later),
        perturbations=(
            goal.but(
                "sines instead of cosines", state={**sums.state, cosines: (0, cosines + sp.sin(w * (t - s)))}
            ),
            numbers[0].but("the key is at 1, not at 2", expr=_dot_products(5, 1)),
            numbers[3].but("base 100000", expr=_dot_products(12, 5, base=100000)),
        ),
        rests_on=("rope-relative",),
        comment=(
            "Each number is the sum of the eight products of vectors rotated by their own positions. It is "
            "not a fade: the score at gap 20 (5.776…) lies above that at gap 3."
        ),
    )


def _dot_products(t: int, s: int, base: int = 10000) -> sp.Expr:
    """Σ cos(w_k t)cos(w_k s) + sin(w_k t)sin(w_k s): each plane rotated at its own position."""
    turns = [frequency(base, k, 16) for k in range(8)]
    pairs = [(f(t * turn), f(s * turn)) for turn in turns for f in (sp.cos, sp.sin)]
    return sp.Add(*(times(*pair) for pair in pairs), evaluate=False)


def _cosines(gap: int) -> sp.Expr:
    return sp.Add(*(sp.cos(gap * frequency(10000, k, 16)) for k in range(8)))
