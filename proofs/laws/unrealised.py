"""Biases without a generator, on the line and on whole positions: logarithms, powers, Gaussians."""

from typing import Any

import sympy as sp

from ...symbolic.induction import Induction
from ...symbolic.limits import Limit
from ...symbolic.signs import Sign
from ...symbolic.tree import D
from ..law import Hypothesis, Law
from ..step import Cited, Enclosed, Exact, Identity, Perturbation, Source, expansion
from .common import KRANTZ_PARKS, plus, times, u
from .realisation import CHAPTER

x = sp.Symbol("x", real=True)
COUNT = sp.Symbol("k", nonnegative=True)
p, r = sp.symbols("p r", positive=True)
ENTIRE = (
    "an exponential polynomial is real analytic, with all its derivatives continuous, on all of ℝ; two real "
    "analytic functions that agree on an interval agree wherever both are defined from it on"
)
GROWTH = Source(
    "G. Everest, A. van der Poorten, I. Shparlinski, T. Ward, Recurrence Sequences, AMS 2003, chapter 2 "
    "(zeros, multiplicity and growth)"
)
LEMMA = (
    "growth: a sum of polynomials times μⁿ that does not vanish from some n on has limsup |b(n)|/(n^k ρⁿ) in "
    "(0, ∞) for some whole k ≥ 0 and some ρ > 0"
)
INTERVAL = Hypothesis("interval", "the two agree on a whole interval of gaps")
EVENTUALLY = Hypothesis("eventually", "`b(n) = cᵀ Aⁿ v` at all large whole `n`")
POLYNOMIALS = Source("S. Axler, Linear Algebra Done Right, 4th ed., section 2A (linear independence)")


@CHAPTER.law("outside-on-the-line", encodings=("logarithm", "power", "gaussian"))
def outside_on_the_line(name: str) -> Law:
    return {"logarithm": _log_line, "power": _power_line, "gaussian": _gauss_line}[name]()


def _line(name: str, **parts: Any) -> Law:
    return Law(
        id="outside-on-the-line",
        encoding=name,
        rests_on=("translates", "equation-solutions"),
        **parts,
    )


def _log_line() -> Law:
    place = Exact(
        name="u = eˣ - 1 tends to -1", goal=True, of=Limit(plus(sp.exp(x), -sp.S.One), x, -sp.oo, -sp.S.One)
    )
    value = Exact(name="and log(1 + u) = x to -∞", goal=True, of=Limit(x, x, -sp.oo, -sp.oo))
    logs = sp.ImmutableMatrix(4, 4, lambda i, j: sp.log(1 + i + j))
    witness = Enclosed(
        name="finite witness: det [log(1+i+j)], i, j < 4",
        expr=expansion(logs),
        lower="-0.00001482",
        upper="-0.00001481",
        note="it excludes the orders below 4 and nothing else",
    )
    return _line(
        "logarithm",
        title="Logarithms are outside",
        statement=(
            "With `u = eˣ - 1` the bias `log(1 + u)` is `x`: as `x → -∞`, `u → -1` and the bias tends to "
            "`-∞`. An exponential polynomial that equals it for `u > 0` equals it for all `u > -1` and is "
            "continuous at -1: there is none."
        ),
        hypotheses=(INTERVAL,),
        steps=(
            place,
            Cited(name="an interval decides", lemma=ENTIRE, source=KRANTZ_PARKS, needs=("interval",)),
            value,
            witness,
        ),
        perturbations=(
            value.but("a finite limit", value=sp.S.Zero),
            place.but("the singular point is 0", value=sp.S.Zero),
            witness.but("the determinant is positive", lower="0.00001481", upper="0.00001482"),
        ),
        comment=(
            "KERPLE-log is of this kind, and every bias with `log` of a position; [a mixture of "
            "decays](#log-mixture) comes close."
        ),
    )


def _power_line() -> Law:
    j = sp.Symbol("j", real=True)
    lowers = Identity(
        name="u = eˣ: each derivative in u lowers the exponent by one",
        goal=True,
        lhs=times(sp.exp(-x), D(sp.exp((p - j) * x), x)),
        rhs=times(p - j, sp.exp((p - j - 1) * x)),
        note="d/du = e^{-x} d/dx; the factor p - j is not 0, as p is not whole",
    )
    blows = Exact(
        name="the k-th derivative, k > p, is unbounded at u → 0",
        goal=True,
        of=Limit(sp.exp(-r * x), x, -sp.oo, sp.oo),
    )
    return _line(
        "power",
        title="Powers that are not whole are outside",
        statement=(
            "Let `p > 0` be no whole number, `k` a whole number above it and `r = k - p > 0`. On `u > 0`, "
            "with `u = eˣ`, the `k`-th derivative of `u^p` is a non-zero multiple of `u^{p-k} = e^{-rx}`, "
            "which tends to `∞` as `u → 0`; that of an exponential polynomial is continuous at 0."
        ),
        hypotheses=(INTERVAL,),
        steps=(
            lowers,
            blows,
            Cited(name="an interval decides", lemma=ENTIRE, source=KRANTZ_PARKS, needs=("interval",)),
        ),
        perturbations=(
            blows.but("a whole power, or fewer derivatives: r < 0", expr=sp.exp(r * x)),
            lowers.but("the exponent stays", rhs=times(p - j, sp.exp((p - j) * x))),
        ),
        comment="KERPLE-power with exponents 1 and 2 is inside, every exponent between them is not.",
    )


def _top(jet: sp.Expr, c: sp.Expr) -> Identity:
    """The leading coefficient of a' - 2ua, for a of degree 2 with the leading coefficient c."""
    return Identity(
        name="the coefficient of u³ in a' - 2ua is -2 times that of u² in a",
        lhs=D(plus(D(jet, u), -2 * u * jet), u, u, u),
        rhs=-2 * 6 * c,
        note="the third derivative of a cubic is six times its coefficient of u³",
    )


def _gauss_line() -> Law:
    a, b, c = sp.symbols("a b c", real=True)
    jet, lead = a + b * u + c * u**2, sp.Symbol("S", real=True)
    step = Identity(
        name="(a e^{-u²})' = (a' - 2u a) e^{-u²}",
        goal=True,
        lhs=D(jet * sp.exp(-(u**2)), u),
        rhs=times(plus(D(jet, u), -2 * u * jet), sp.exp(-(u**2))),
        note="only a and a' occur, and a quadratic a has any values of them",
    )
    grows = Exact(
        name="the leading coefficient, squared, is never below 1",
        goal=True,
        of=Induction(COUNT, 0, {lead: (1, 4 * lead)}, {lead: sp.S.One}, relation=">="),
        note="S stands for its square; each derivative multiplies it by (-2)²",
    )
    return _line(
        "gaussian",
        title="Gaussians are outside",
        statement=(
            "The `k`-th derivative of `e^{-u²}` is `a_k(u) e^{-u²}` with a polynomial `a_k` of degree "
            "exactly `k`: `a_{k+1} = a_k' - 2u a_k`, and the square of its leading coefficient is at least "
            "1. Polynomials of different degrees are independent: `p(D) e^{-u²}` is never 0."
        ),
        hypotheses=(),
        steps=(
            step,
            _top(jet, c),
            grows,
            Cited(
                name="so no equation holds",
                lemma="non-zero polynomials of different degrees are linearly independent",
                source=POLYNOMIALS,
            ),
        ),
        perturbations=(
            step.but(
                "the exponent -u",
                lhs=D(jet * sp.exp(-u), u),
                rhs=times(plus(D(jet, u), -2 * u * jet), sp.exp(-u)),
            ),
            grows.but("a factor below 1", state={lead: (1, lead / 4)}),
        ),
        comment=(
            "The same on any interval. No interval, no number of slots: `e^{-u²}` needs a kernel with a bias "
            "argument."
        ),
    )


@CHAPTER.law("outside-on-integers", encodings=("logarithm", "power", "gaussian"))
def outside_on_integers(name: str) -> Law:
    title, told, steps, breakers, comment = _INTEGERS[name]()
    return Law(
        id="outside-on-integers",
        encoding=name,
        title=title,
        statement=(
            f"{told}. So `|b(n)|/(n^k ρⁿ)` tends to 0 or to `∞` for every whole `k ≥ 0` and every `ρ > 0`: "
            f"for "
            "powers and logarithms and `ρ ≠ 1` because `ρⁿ` leaves every power of `n` behind."
        ),
        hypotheses=(EVENTUALLY,),
        steps=(
            *steps,
            Cited(name="no recurrence does that", lemma=LEMMA, source=GROWTH, needs=("eventually",)),
        ),
        perturbations=breakers,
        rests_on=("generator-solves-equation",),
        comment=comment,
    )


Told = tuple[str, str, tuple[Exact, ...], tuple[Perturbation, ...], str]


def _slow(
    up: sp.Expr, down: sp.Expr, names: tuple[str, str]
) -> tuple[tuple[Exact, ...], tuple[Perturbation, ...]]:
    above = Exact(name=names[0], goal=True, of=Limit(up, x, sp.oo, sp.oo))
    below = Exact(name=names[1], goal=True, of=Limit(down, x, sp.oo, sp.S.Zero))
    return (above, below), (
        above.but("a finite limit", value=sp.S.Zero),
        below.but("a limit that is not 0", value=sp.S.One),
    )


def _log_integers() -> Told:
    steps, breakers = _slow(x, x * sp.exp(-x), ("it is unbounded", "and slower than n"))
    return (
        "Logarithms, on whole positions too",
        "With `1 + n = eˣ`: `log(1 + n) = x → ∞` and `log(1 + n)/(1 + n) = x e^{-x} → 0`",
        steps,
        breakers,
        "What a recurrence makes is bounded, or at least linear along some positions; nothing lies between.",
    )


def _power_integers() -> Told:
    steps, breakers = _slow(
        sp.exp(p * x),
        sp.exp(-r * x),
        ("faster than n^k, by the power p", "and slower than n^{k+1}, by the power r"),
    )
    return (
        "Powers that are not whole, on whole positions too",
        "Let `b(n) = n^{k+p}` with whole `k ≥ 0`, `p, r > 0` and `p + r = 1`. With `n = eˣ`: `b/n^k = "
        "e^{px} → ∞` and "
        "`b/n^{k+1} = e^{-rx} → 0`",
        steps,
        breakers,
        "Whole exponents are inside: for them one of the two limits is finite and not 0.",
    )


def _gauss_integers() -> Told:
    rate = sp.Symbol("lambda", real=True)
    fast = Exact(
        name="faster than every exponential",
        goal=True,
        of=Limit(sp.exp(-(u**2) + rate * u), u, sp.oo, sp.S.Zero),
        note="e^{λ} = 1/ρ",
    )
    alive = Exact(name="and never 0", goal=True, of=Sign(sp.exp(-(u**2)), "+"))
    return (
        "Gaussians, on whole positions too",
        "For every real `λ`: `e^{-u²} e^{λu} → 0` as `u → ∞`, and `e^{-u²} > 0`",
        (fast, alive),
        (fast.but("a limit that is not 0", value=sp.S.One), alive.but("the other sign", sign="-")),
        "A window of a Gaussian, cut off after finitely many positions, [is inside](#window-rows): it ends.",
    )


_INTEGERS = {"logarithm": _log_integers, "power": _power_integers, "gaussian": _gauss_integers}
