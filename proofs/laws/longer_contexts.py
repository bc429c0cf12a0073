"""Longer contexts: what rescaling the frequencies does, and which planes meet angles they never saw."""

import sympy as sp

from ...symbolic.signs import Sign
from ...symbolic.tree import At, D
from ..law import Chapter, Hypothesis, Law
from ..step import Enclosed, Exact, Identity, Source
from .common import R, plus, times, w
from .frequencies import L, around, frequency, kappa

CHAPTER = Chapter(
    "longer-contexts",
    "Longer contexts",
    "A model trained on `L` positions is run on more. The rotation is defined there as everywhere; the "
    "question is which angles the network has learned to read. Every rule below gives the planes other "
    "frequencies. Its picture shows by how much, plane by plane, and what becomes of a score.",
)
BLOC97 = Source(
    "bloc97, NTK-aware scaled RoPE, 2023; see also B. Peng et al., YaRN, 2023",
    "https://arxiv.org/abs/2309.00071",
)
CHEN = Source(
    "S. Chen et al., Extending Context Window of Large Language Models via Positional Interpolation, 2023",
    "https://arxiv.org/abs/2306.15595",
)


@CHAPTER.law("coverage")
def coverage() -> Law:
    more, left = sp.symbols("h r", nonnegative=True)
    below = sp.Symbol("delta", positive=True)
    # w (L-1) = 2π + h; any angle a = 2π - r is met at the gap u = a/w, which is at most L-1
    reached = Exact(
        name="any angle is met inside the window",
        goal=True,
        of=Sign((2 * sp.pi + more) / w - (2 * sp.pi - left) / w, "+0"),
    )
    missed = Exact(
        name="otherwise an arc is never met",
        goal=True,
        of=Sign(_beyond(below / 2, below), "+"),
        note="ω(L-1) = 2π - δ: the angle 2π - δ/2 lies beyond every angle of the window",
    )
    w45 = _turns("base 10000, 4096 positions: plane 45 completes a turn", 4096, 10000, 45, 1)
    w46 = _turns("and plane 46 does not", 4096, 10000, 46, 0)
    w34 = _turns("base 500000, 8192 positions: plane 34 completes a turn", 8192, 500000, 34, 1)
    w35 = _turns("and plane 35 does not", 8192, 500000, 35, 0)
    return Law(
        id="coverage",
        title="It is the slow hands that meet new angles",
        statement=(
            "As a range of angles, training on the gaps `0 … L-1` covers the whole circle of a plane, "
            "`0 ≤ angle ≤ 2π`, iff `ω(L-1) ≥ 2π`: if `ω(L-1) = 2π + h` with `h ≥ 0`, the angle `2π - r`, "
            "`0 ≤ r ≤ 2π`, is met at a gap not beyond `L-1`; if `ω(L-1) = 2π - δ` with `δ > 0`, the angle "
            "`2π - δ/2` is not."
        ),
        steps=(reached, missed, w45, w46, w34, w35),
        perturbations=(
            reached.but(
                "the window ends before a full turn", expr=(2 * sp.pi - more) / w - (2 * sp.pi - left) / w
            ),
            missed.but("the missing angle lies inside", expr=_beyond(2 * below, below)),
            w46.but("plane 46 at twice the length", expr=8191 * frequency(10000, 46, 128) / (2 * sp.pi)),
        ),
        rests_on=("first-frequency", "full-turn-table"),
        comment=(
            "As frequencies fall with `k`, one pair of neighbours settles each boundary: planes 46…63 of 64 "
            "never complete a turn in a context of 4096, and 35…63 with base 500000 in one of 8192. At "
            "longer contexts these slow planes, not the fast ones, meet angles that training never showed. "
            "Gaps are taken as real numbers here; integer gaps leave small holes in every circle."
        ),
    )


@CHAPTER.law("position-interpolation")
def position_interpolation() -> Law:
    stretch = sp.Symbol("a", positive=True)
    x = sp.Symbol("x", real=True)
    goal = Identity(
        name="at a times the length the angle is the old one",
        goal=True,
        lhs=R(times(w / stretch, times(stretch, x))),
        rhs=R(w * x),
    )
    even = Identity(
        name="every hand by the same factor, the first too",
        goal=True,
        lhs=times(stretch, times(w, 1 / stretch)),
        rhs=w,
    )
    return Law(
        id="position-interpolation",
        title="Position interpolation slows every hand",
        statement=(
            "For all `ω, a > 0` and real `x`: with `ω/a` for `ω` the rotation at position `a·x` is the old "
            "one at `x`, and every frequency, the first included, is divided by `a`."
        ),
        steps=(goal, even),
        perturbations=(
            goal.but("frequencies are left as they were", lhs=R(times(w, times(stretch, x)))),
            goal.but("frequencies are multiplied instead", lhs=R(times(w * stretch, times(stretch, x)))),
            even.but("the factor once more", lhs=times(stretch, stretch, times(w, 1 / stretch))),
        ),
        sources=(CHEN,),
        comment=(
            "Gaps up to `a` times the length turn to angles seen in training, but neighbours come closer: at "
            "`a = 16` the first plane turns by 1/16 radian a token. This, not a larger base, is what "
            "squeezes the fast hands."
        ),
    )


@CHAPTER.law("ntk-aware")
def ntk_aware() -> Law:
    scale = sp.Symbol("sigma", real=True)
    # κ = (d-2)/d is the exponent of the slowest plane; b' = b s^{1/κ}, with b = e^L and s = e^σ
    base = L + scale / kappa
    inverse, second, falls = _exponent()
    rate = sp.Symbol("kappa", real=True)
    wider = sp.Symbol("L1", real=True)
    last = Identity(
        name="the slowest is divided by s",
        goal=True,
        lhs=sp.exp(-kappa * base),
        rhs=times(sp.exp(-kappa * L), sp.exp(-scale)),
    )
    first = Identity(
        name="the first stays",
        goal=True,
        lhs=At(sp.exp(-rate * wider), rate, 0),
        rhs=sp.S.One,
        note="b' = e^{L'}",
    )
    check = Enclosed(
        name="d = 128, s = 4: b'",
        expr=sp.Integer(10000) * sp.Integer(4) ** sp.Rational(128, 126),
        **around("40889.94243248622"),
    )
    return Law(
        id="ntk-aware",
        title="NTK-aware scaling spares the fast hands",
        statement=(
            "For every even `d ≥ 4`, all `b, s > 0` and `b' = b s^{d/(d-2)}`: the slowest frequency "
            "`b^{-(d-2)/d}` is divided by exactly `s`, and the first stays 1. Here `κ = (d-2)/d`, `b = e^L`, "
            "`s = e^σ` and `b' = e^{L₁}`."
        ),
        hypotheses=(Hypothesis("four", "`d ≥ 4`, so that the slowest plane is not the first"),),
        steps=(inverse, second, last, first, falls, check),
        perturbations=(
            last.but("b' = b s", lhs=sp.exp(-kappa * (L + scale))),
            last.but("the slowest is multiplied by s", rhs=times(sp.exp(-kappa * L), sp.exp(scale))),
            check.but("exponent d/(d-1)", expr=sp.Integer(10000) * sp.Integer(4) ** sp.Rational(128, 127)),
        ),
        sources=(BLOC97,),
        rests_on=("first-frequency",),
        comment=(
            "[Position interpolation](#position-interpolation) slows the first hand too, by the same factor "
            "as the last. With `d = 2` the first plane is the slowest, and no base can divide it."
        ),
    )


def _exponent() -> tuple[Identity, Exact, Exact]:
    """κ = (d-2)/d for d ≥ 4, and the ratio s^{-2k/(d-2)} between."""
    extra = sp.Symbol("e", nonnegative=True)
    width = 4 + extra
    inverse = Identity(
        name="the exponent d/(d-2) is 1/κ",
        goal=True,
        lhs=times((width - 2) / width, width / (width - 2)),
        rhs=sp.S.One,
        note="d = 4 + e",
    )
    second = Exact(name="and κ > 0", of=Sign((width - 2) / width, "+"))
    stretch, place = sp.symbols("sigma kappa", positive=True)
    falls = Exact(
        name="between, for s > 1, the ratio of new to old falls",
        of=Sign(D(sp.exp(-place * stretch), place), "-"),
        note="the ratio is e^{-κσ} with κ = 2k/(d-2)",
    )
    return inverse, second, falls


def _beyond(short: sp.Expr, by: sp.Expr) -> sp.Expr:
    """(2π - short) - (2π - by), as it is written."""
    return plus(2 * sp.pi - short, times(sp.Integer(-1), 2 * sp.pi - by))


def _turns(name: str, length: int, base: int, k: int, least: int) -> Enclosed:
    """Plane k of 64 completes more than `least` turns over the gaps 0 … length-1, and less than one more."""
    turns = (length - 1) * frequency(base, k, 128) / (2 * sp.pi)
    return Enclosed(name=name, expr=turns, lower=str(least), upper=str(least + 1))
