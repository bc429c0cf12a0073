"""A bank of clocks: choosing frequencies, when a bank repeats, and what longer contexts change."""

from typing import TypedDict

import sympy as sp

from ...symbolic.induction import Induction
from ...symbolic.signs import Sign
from ...symbolic.tree import D
from ..law import Chapter, Hypothesis, Law
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
    """The ends of an enclosure, as rationals in text."""

    lower: str
    upper: str


def around(value: str) -> Ends:
    """The decimals just below and just above a printed value: half a unit in its last place, both ways."""
    digits = len(value.partition(".")[2])
    half = sp.Rational(1, 2 * 10**digits)
    middle = sp.Rational(value)
    return {"lower": str(middle - half), "upper": str(middle + half)}


@CHAPTER.law("first-frequency")
def first_frequency() -> Law:
    power = sp.exp(-kappa * L)
    first = Identity(name="k = 0", goal=True, lhs=D(sp.exp(times(sp.S.Zero, L)), L), rhs=sp.S.Zero)
    falls = Exact(name="every other falls as b grows", goal=True, of=Sign(D(power, L), "-"))
    return Law(
        id="first-frequency",
        title="The base never moves the first hand",
        statement=(
            "With `b = e^L` and `κ = 2k/d`: `ω_k = e^{-κL}`. The first (`κ = 0`) is 1 for every base; "
            "every other (`κ > 0`) has `dω_k/dL < 0`."
        ),
        steps=(first, falls),
        perturbations=(
            falls.but("a larger base makes hands faster", sign="+"),
            first.but("the second hand does not move either", lhs=D(power, L)),
        ),
        sources=(ROFORMER,),
        comment=(
            "The base trades reach against resolution by slowing all hands but the first. 10000 comes from "
            "the sinusoids of 2017; 500000 and more are usual today."
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
            "“Up to about 60000” is the limit 2π·10000 = 62832 of large d; d = 128 reaches 54410, and d = "
            "16 only 19869."
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
            "`u` from `u + 2π/ω`."
        ),
        steps=(goal, half),
        perturbations=(
            goal.but("after half of it", lhs=R(w * (u + sp.pi / w))),
            goal.but("after 2πω", lhs=R(w * (u + 2 * sp.pi * w))),
        ),
        comment="A second hand cannot tell 10:00:05 from 11:00:05.",
    )


@CHAPTER.law("bank-wraps")
def bank_wraps() -> Law:
    if_rational = Exact(
        name="whole turns do nothing",
        goal=True,
        of=repeated_turn(2 * sp.pi),
        note="p turns of one plane while another makes r: ratio p/r",
    )
    period, a, b = sp.symbols("T p r", positive=True)
    ratio = Identity(
        name="a common period makes the ratio rational",
        goal=True,
        lhs=(2 * sp.pi * a / period) / (2 * sp.pi * b / period),
        rhs=a / b,
        note="ω = 2πp/T and ω' = 2πr/T with whole numbers p, r",
    )
    common = Identity(
        name="conversely ω' T = 2πr", goal=True, lhs=(w * b / a) * (2 * sp.pi * a / w), rhs=2 * sp.pi * b
    )
    return Law(
        id="bank-wraps",
        title="When a whole bank repeats",
        statement=(
            "A bank of planes has a common period on the reals iff all ratios of its frequencies are "
            "rational: if `ω' = (r/p)ω` with whole `p, r ≥ 1`, then `T = 2πp/ω` is one; and if `ωT = 2πp`, "
            "`ω'T = 2πr`, then `ω/ω' = p/r`."
        ),
        hypotheses=(
            Hypothesis(
                "period", "`T > 0` is a period of the plane exactly when `ωT` is a whole multiple of `2π`"
            ),
        ),
        steps=(
            common,
            if_rational,
            PERIODS,
            ratio,
        ),
        perturbations=(
            common.but("p and r swapped", lhs=(w * a / b) * (2 * sp.pi * a / w)),
            ratio.but("the inverse ratio", rhs=b / a),
            if_rational.but("a sixth of a turn, not a whole", state=repeated_turn(sp.pi / 3).state),
        ),
        rests_on=("plane-wraps",),
        comment=(
            "With `b^{-2k/d}` irrational ratios are the rule: such a bank comes close to its start again "
            "and again, but never returns."
        ),
    )


@CHAPTER.law("never-wraps-at-integers")
def never_wraps_at_integers() -> Law:
    turns = sp.Symbol("m", positive=True)
    goal = Identity(
        name="a return would make π rational",
        goal=True,
        lhs=2 * sp.pi * turns / (2 * turns),
        rhs=sp.pi,
        note="n = 2πm gives n/(2m) = π",
    )
    return Law(
        id="never-wraps-at-integers",
        title="With first frequency 1 no integer gap looks like 0",
        statement=(
            "If the first plane returned at an integer gap `n ≥ 1`, then `n = 2πm` for a whole `m ≥ 1`, "
            "and `π = n/(2m)` would be rational."
        ),
        hypotheses=(
            Hypothesis("integer", "the gap `n` is a positive integer, and the first frequency is 1"),
        ),
        steps=(
            goal,
            Cited(name="π is irrational", lemma="π is irrational", source=LAMBERT, needs=("integer",)),
        ),
        perturbations=(
            goal.but("half turns counted as whole", lhs=sp.pi * turns / (2 * turns)),
            goal.but("divided by m only", lhs=2 * sp.pi * turns / turns),
        ),
        rests_on=("plane-wraps",),
        comment="Not the same as being easy to tell apart: 710 is within 0.00007 of 113 full turns.",
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
        Enclosed(name=f"query at {a}, key at {b}", goal=True, expr=_cosines(a - b), **around(value))
        for a, b, value in (
            (5, 2, "5.54310106130494336"),
            (13, 10, "5.54310106130494336"),
            (103, 100, "5.54310106130494336"),
            (7, 0, "5.89218598741789329"),
        )
    )
    return Law(
        id="worked-example",
        title="A score one can follow: d = 16",
        statement=(
            "If every plane of query and key holds `(1, 0)`, the score at `(t, s)` is `Σ cos ω_k(t-s)`, "
            "for any number of planes. At `d = 16`, `b = 10000` it is 5.54310106130494336 at (5, 2), (13, "
            "10) and (103, 100), and 5.89218598741789329 at gap 7."
        ),
        steps=(goal, *numbers),
        perturbations=(
            goal.but(
                "sines instead of cosines", state={**sums.state, cosines: (0, cosines + sp.sin(w * (t - s)))}
            ),
            numbers[0].but("the gap is off by one", expr=_cosines(4)),
            numbers[3].but("base 100000", expr=_cosines(7, base=100000)),
        ),
        rests_on=("rope-relative",),
        comment="Not a fade: the score at gap 20 (5.776) lies above that at gap 3.",
    )


def _cosines(gap: int, base: int = 10000) -> sp.Expr:
    return sp.Add(*(sp.cos(gap * frequency(base, k, 16)) for k in range(8)))
