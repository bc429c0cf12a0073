"""Mixtures of decays, and what softmax ignores: constants of a row, and slopes that are decays."""

import sympy as sp

from ...symbolic.decide import Status
from ...symbolic.limits import Limit
from ...symbolic.tree import At, D
from ..law import Hypothesis, Law
from ..step import Cited, Determinant, Enclosed, Exact, Identity, Source
from .common import ALIBI, Parts, dot, g, m, plus, s, t, times, u
from .realisation import CHAPTER, at_zero

x = sp.Symbol("x", positive=True)
KERPLE = Source(
    "T.-C. Chi et al., KERPLE: Kernelized Relative Positional Embedding for Length Extrapolation, 2022",
    "https://arxiv.org/abs/2205.09921",
)
UNDER_THE_INTEGRAL = Source(
    "W. Rudin, Principles of Mathematical Analysis, 3rd ed., Theorem 9.42 (differentiation under the "
    "integral), on bounded intervals of x; the rest is dominated by e^{-x}"
)
FRULLANI = Source(
    "I. S. Gradshteyn, I. M. Ryzhik, Table of Integrals, Series, and Products, 3.434: ∫_{0}^{∞} (e^{-ax} - "
    "e^{-bx}) dx/x = log(b/a)"
)
GAMMA = Source(
    "NIST Digital Library of Mathematical Functions, 5.9.1 and 5.5.1 (the Gamma integral, by parts)",
    "https://dlmf.nist.gov/5.9",
)


@CHAPTER.law("log-mixture")
def log_mixture() -> Law:
    steps, breakers = _log_mixture()
    return Law(
        id="log-mixture",
        title="KERPLE's logarithm is a mixture of decays",
        statement=(
            "For every `u ≥ 0`: `log(1 + u) = ∫_{0}^{∞} (1 - e^{-xu}) e^{-x} dx/x`, a constant minus decays "
            "`e^{-xu}` of all rates `x > 0`, with positive weights. Both sides vanish at `u = 0`, and both "
            "have the derivative `1/(1 + u)`. At `u = 3` it is 1.386294361119891."
        ),
        hypotheses=(Hypothesis("causal", "`u ≥ 0`, so that `e^{-xu} ≤ 1`"),),
        steps=steps,
        perturbations=breakers,
        rests_on=("outside-on-the-line/logarithm", "realised/fade"),
        sources=(KERPLE,),
        comment=(
            "Outside, and yet as near as one likes: finitely many of these decays and a constant come within "
            "any tolerance on any window, and `realize(bias, u, tolerance=…, window=…)` finds them with a "
            "proved bound."
        ),
    )


def _log_mixture() -> Parts:
    """Steps and perturbations of the law."""
    integrand = (1 - sp.exp(-x * u)) * sp.exp(-x) / x
    inner = Identity(
        name="the integrand's derivative in u is a decay",
        goal=True,
        lhs=D(integrand, u),
        rhs=sp.exp(-x) * sp.exp(-x * u),
    )
    area, far, near = _decay_area()
    value = Enclosed(
        name="at u = 3: log 4",
        expr=sp.log(4, evaluate=False),
        lower="1.386294361119890",
        upper="1.386294361119892",
    )
    steps = (
        inner,
        Cited(
            name="the derivative passes under the integral",
            lemma=(
                "d/du ∫ f(x, u) dx = ∫ ∂f/∂u dx if ∂f/∂u is continuous and dominated by an integrable "
                "function of x"
            ),
            source=UNDER_THE_INTEGRAL,
            needs=("causal",),
        ),
        area,
        far,
        near,
        Cited(
            name="the same integral in the tables",
            lemma="Frullani's integral with a = 1, b = 1 + u",
            source=FRULLANI,
        ),
        value,
    )
    return steps, (
        inner.but("without the factor e^{-x}", lhs=D((1 - sp.exp(-x * u)) / x, u)),
        area.but("another rate", rhs=area.rhs**2),
        far.but("another limit", value=sp.S.One),
        value.but("the next digit", lower="1.386294361119892", upper="1.386294361119893"),
    )


def _decay_area() -> tuple[Identity, Exact, Identity]:
    """∫_{0}^{∞} e^{-xh} dx = 1/h by its primitive and the two ends."""
    h = sp.Symbol("h", positive=True)
    primitive = -sp.exp(-x * h) / h
    area = Identity(
        name="-e^{-xh}/h is its integral, h = 1 + u", goal=True, lhs=D(primitive, x), rhs=sp.exp(-x * h)
    )
    far = Exact(name="which tends to 0 as x → ∞", goal=True, of=Limit(primitive, x, sp.oo, sp.S.Zero))
    near = Identity(
        name="and is -1/h at x = 0: the integral is 1/(1 + u), the derivative of log(1 + u)",
        goal=True,
        lhs=At(primitive, x, 0),
        rhs=-1 / h,
    )
    return area, far, near


@CHAPTER.law("power-mixture")
def power_mixture() -> Law:
    p, logs = sp.Symbol("p", positive=True), sp.Symbol("L", real=True)
    scale = Identity(
        name="(ux)^{-1-p} u dx = u^{-p} x^{-1-p} dx, with u = e^L",
        goal=True,
        lhs=times(sp.exp((-1 - p) * logs), sp.exp(logs)),
        rhs=sp.exp(-p * logs),
    )
    parts = Identity(
        name="by parts: ((1 - e^{-y}) F)' = e^{-y} F + (1 - e^{-y}) F' for a power F of y",
        goal=True,
        lhs=D((1 - sp.exp(-u)) * (s + t * u), u),
        rhs=plus(sp.exp(-u) * (s + t * u), (1 - sp.exp(-u)) * t),
        note="only F and F' occur; F = s + ty has any values of them",
    )
    return Law(
        id="power-mixture",
        title="KERPLE's powers are mixtures of decays",
        statement=(
            "For `0 < p < 1` and every `u ≥ 0`: `u^p = p/Γ(1-p) ∫_{0}^{∞} (1 - e^{-xu}) x^{-1-p} dx`. The "
            "substitution `y = xu` takes `u^p` out of the integral, and by parts what remains is `Γ(1-p)/p`."
        ),
        hypotheses=(
            Hypothesis("exponent", "`0 < p < 1`, so that the integral exists at both ends"),
            Hypothesis("causal", "`u ≥ 0`"),
        ),
        steps=(
            scale,
            parts,
            Cited(
                name="the integral that remains",
                lemma=(
                    "∫_{0}^{∞} (1 - e^{-y}) y^{-1-p} dy = (1/p) ∫_{0}^{∞} e^{-y} y^{-p} dy = Γ(1-p)/p for 0 "
                    "< p < 1"
                ),
                source=GAMMA,
                needs=("exponent", "causal"),
            ),
        ),
        perturbations=(
            scale.but("without the factor u of dx", lhs=sp.exp((-1 - p) * logs)),
            parts.but("the factor is not differentiated", rhs=(1 - sp.exp(-u)) * t),
        ),
        rests_on=("outside-on-the-line/power", "realised/fade"),
        sources=(KERPLE,),
        comment=(
            "The weights `x^{-1-p}` are positive and not integrable at 0: slow decays matter most, and their "
            "number grows with the window, like its logarithm."
        ),
    )


@CHAPTER.law("slope-is-decay")
def slope_is_decay() -> Law:
    c = sp.Symbol("c", real=True)
    goal = Identity(
        name="a slope on logits is a fade on weights",
        goal=True,
        lhs=sp.exp(plus(c, -m * u)),
        rhs=times(sp.exp(-m * u), sp.exp(c)),
        note="c stands for q·k",
    )
    generator = Identity(
        name="of the rate m: e^{-mu} solves E' = -mE",
        goal=True,
        lhs=D(sp.exp(-m * u), u),
        rhs=times(-m, sp.exp(-m * u)),
    )
    return Law(
        id="slope-is-decay",
        title="ALiBi's slope is the decay rate of the weights",
        statement=(
            "For all real `q·k` and `u` and every `m > 0`: `exp(q·k - mu) = e^{-mu} exp(q·k)`. The slide "
            "`-mu` on the logits, order 2, is the fade `e^{-mu}` on the unnormalised weights, order 1, with "
            "the decay rate `m`."
        ),
        steps=(goal, generator),
        perturbations=(
            goal.but("ALiBi with a plus sign", lhs=sp.exp(plus(c, m * u))),
            goal.but("the bias is added to the weight", rhs=plus(sp.exp(-m * u), sp.exp(c))),
            generator.but("half the rate", rhs=times(-m / 2, sp.exp(-m * u))),
        ),
        rests_on=("alibi-logit", "realised/slope", "realised/fade"),
        sources=(ALIBI,),
        comment=(
            "So ALiBi and decay in linear attention are one encoding before and after the exponential; "
            "forget gates, which add their logarithms to the logits, are the same [in a "
            "clock](#gates-telescope--fade)."
        ),
    )


@CHAPTER.law("row-constant")
def row_constant() -> Law:
    steps, breakers = _row_constant()
    return Law(
        id="row-constant",
        title="Up to a constant of the row: one slot less, where 0 is an eigenvalue",
        statement=(
            "Softmax sees `b(t - s)` only up to a constant `c(t)` of its row. The number of products `f_i(t) "
            "g_i(s)` that `b(t - s) + c(t)` needs is at least the order of `b'`, as `∂/∂s` ends `c(t)`; and "
            "with `c(t) = -b(t)` that many are enough. It is the order of `b`, less one exactly when 0 is an "
            "eigenvalue: `-u` from 2 to 1, `u²` from 3 to 2, `e^{-γu}` (`2^{-u}` among them) from 1 to 1."
        ),
        hypotheses=(Hypothesis("softmax", "weights are normalised in each row"),),
        steps=steps,
        perturbations=breakers,
        rests_on=(
            "order-from-below",
            "equation-solutions",
            "realised/slope",
            "realised/square",
            "realised/fade",
        ),
        comment=(
            "`b(t - s) - b(t) = -∫₀ˢ b'(t - r) dr`, and if `b'(t - r)` is a sum of products, so is its "
            "integral. In `b` the eigenvalue 0 stands for a polynomial; the derivative lowers its degree by "
            "one and leaves every other exponent its degree. Linear attention without a normaliser has no "
            "such freedom."
        ),
    )


def _row_constant() -> Parts:
    """Steps and perturbations of the law."""
    b, first, second = sp.symbols("a b c", real=True)
    shift = Identity(
        name="ratios of weights do not see a constant of the row",
        goal=True,
        lhs=times(sp.exp(first + b), sp.exp(-(second + b))),
        rhs=times(sp.exp(first), sp.exp(-second)),
        note="logits b, c of two keys, and a for the constant that depends on the query alone",
    )
    slope = Identity(
        name="-u: what is left is one product",
        goal=True,
        lhs=plus(-(t - s), t),
        rhs=dot(sp.Matrix([1]), sp.Matrix([s])),
    )
    square = Identity(
        name="u²: what is left is two products",
        goal=True,
        lhs=plus((t - s) ** 2, -(t**2)),
        rhs=dot(sp.Matrix([-2 * t, 1]), sp.Matrix([s, s**2])),
    )
    fade = sp.exp(-g * (t - s))
    kills = Identity(
        name="-∂/∂s gives b'(t - s), whatever the constant",
        goal=True,
        lhs=D(fade + b * t**2, s),
        rhs=g * fade,
        note="b = e^{-γu}, with at² for a row constant",
    )
    two = sp.ImmutableMatrix(2, 2, lambda i, j: at_zero(u**2, int(1 + i + j)))
    left = (
        Determinant(name="u²: the derivative 2u has order 2", goal=True, lhs=two, rhs=-sp.Integer(4)),
        Determinant(
            name="e^{-γu}: the derivative has order 1",
            goal=True,
            lhs=sp.ImmutableMatrix([[-g]]),
            rhs=-g * sp.S.One,
        ),
    )
    steps = (shift, slope, square, kills, *left)
    return steps, (
        slope.but("the constant is taken twice", lhs=plus(-(t - s), 2 * t)),
        square.but("one product is enough", rhs=dot(sp.Matrix([-2 * t]), sp.Matrix([s]))),
        shift.but("only one of the two keys is shifted", lhs=times(sp.exp(first + b), sp.exp(-second))),
        left[0].but("the derivative has order 1: determinant 0", rhs=sp.S.Zero),
    )


@CHAPTER.law("row-constant-always")
def row_constant_always() -> Law:
    fade = sp.exp(-g * (t - s))
    goal = Identity(
        name="with one slot less nothing depends on s",
        goal=True,
        lhs=D(fade, s),
        rhs=sp.S.Zero,
        note="∂/∂s of e^{-γ(t-s)} + c(t)",
    )
    return Law(
        id="row-constant-always",
        title="“Softmax always saves one slot”",
        statement=(
            "For every `γ > 0` the fade `e^{-γ(t-s)}`, which needs one slot, needs none up to a constant of "
            "the row: `e^{-γ(t-s)} + c(t)` does not depend on `s`."
        ),
        expected=Status.REFUTED,
        steps=(goal,),
        siblings=(goal.but("a constant bias, whose eigenvalue is 0", lhs=D(m * t, s)),),
        rests_on=("row-constant",),
        comment="Its eigenvalue `-γ` is not 0: the derivative in `s` is `γ e^{-γ(t-s)}`.",
    )
