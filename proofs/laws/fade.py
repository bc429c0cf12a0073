"""The fade: real parts are fate, imaginary parts rhythm; decay by numbers, and why it needs a mask."""

import sympy as sp

from ...symbolic.decide import Status
from ...symbolic.limits import Limit
from ...symbolic.signs import Sign
from ..law import Chapter, Law, Renaming
from ..step import Enclosed, Exact, Identity, Source
from .common import R, dot, g, t, times, u, x, y

CHAPTER = Chapter(
    "fade",
    "Fate and rhythm",
    "One eigenvalue `λ = -γ + iω` says it all: the real part decides whether a key fades, holds or "
    "explodes, the imaginary part how fast it turns. This chapter is about the real part.",
)
RETNET = Source(
    "Y. Sun et al., Retentive Network: A Successor to Transformer for Large Language Models, 2023",
    "https://arxiv.org/abs/2307.08621",
)


RATE, TURN = sp.symbols("gamma omega", real=True)  # of either sign


@CHAPTER.law("fate-and-rhythm")
def fate_and_rhythm() -> Law:
    g, w = RATE, TURN
    z = x + sp.I * y
    moved = times(sp.exp((-g + sp.I * w) * t), z)
    real = sp.exp(-g * t) * (R(w * t) * sp.Matrix([x, y]))
    goal = Identity(
        name="complex number = real 2×2 matrix", goal=True, lhs=moved, rhs=real[0] + sp.I * real[1]
    )
    modulus = Identity(
        name="the length is the fade alone",
        goal=True,
        lhs=dot(real, real),
        rhs=sp.exp(-2 * g * t) * (x**2 + y**2),
    )
    return Law(
        id="fate-and-rhythm",
        title="The real part is fate, the imaginary part rhythm",
        statement=(
            "For all real `t, x, y, γ, ω`: `e^{(-γ+iω)t}(x + iy)` has real and imaginary part "
            "`e^{-γt}R(ωt)(x, y)ᵀ`, and its squared length is `e^{-2γt}(x² + y²)`."
        ),
        steps=(goal, modulus),
        perturbations=(
            goal.but(
                "γ with the other sign in the matrix",
                rhs=(sp.exp(2 * g * t) * (real[0] + sp.I * real[1])).expand(),
            ),
            goal.but("the rotation is transposed", rhs=_transposed()),
            modulus.but("the length fades twice as fast", rhs=sp.exp(-4 * g * t) * (x**2 + y**2)),
        ),
        renamings=(
            Renaming("the other direction of turning, ω → -ω everywhere", {TURN: -TURN}),
            Renaming("growth instead of a fade, γ → -γ everywhere", {RATE: -RATE}),
        ),
        comment=(
            "`γ > 0` fades, `γ = 0` holds, `γ < 0` explodes, see [the limits](#bounded). Conjugate "
            "eigenvalues are the same plane seen from its other side."
        ),
    )


def _transposed() -> sp.Expr:
    other = sp.exp(-RATE * t) * (R(-TURN * t) * sp.Matrix([x, y]))
    return other[0] + sp.I * other[1]


@CHAPTER.law("half-life")
def half_life() -> Law:
    h = sp.Symbol("h", positive=True)
    goal = Identity(
        name="two halves",
        goal=True,
        lhs=2 * sp.exp(-g * (u + h)) - sp.exp(-g * u),
        rhs=sp.exp(-g * (u + h)) * (2 - sp.exp(g * h)),
    )
    never = Exact(name="the factor in front is never 0", of=Sign(sp.exp(-g * (u + h)), "+"))
    seven = Enclosed(
        name="ln 2/γ at γ = 1/10", expr=10 * sp.log(2), lower="6.931471805599", upper="6.931471805600"
    )
    return Law(
        id="half-life",
        title="Half-life",
        statement=(
            "For all `γ, h > 0` and real `u`: `2e^{-γ(u+h)} - e^{-γu} = e^{-γ(u+h)}(2 - "
            "e^{γh})`. So a gap of `h` halves the factor, wherever it starts, exactly when `e^{γh} = 2`, "
            "that is `h = ln 2/γ`."
        ),
        steps=(goal, never, seven),
        perturbations=(
            goal.but("the half-life is one e-fold", rhs=sp.exp(-g * (u + h)) * (sp.E - sp.exp(g * h))),
            goal.but("the gap counts twice", lhs=2 * sp.exp(-g * (u + 2 * h)) - sp.exp(-g * u)),
            seven.but("seven tokens exactly", expr=sp.Integer(7)),
        ),
        sources=(RETNET,),
        comment=(
            "The logarithm is stated through its inverse. Choosing `γ` is choosing the memory span: about 7 "
            "tokens at `γ = 0.1`."
        ),
    )


@CHAPTER.law("decay-table")
def decay_table() -> Law:
    rows = {
        0: ("0.999999999", "1.000000001"),
        5: ("0.6065306597", "0.6065306598"),
        10: ("0.3678794411", "0.3678794412"),
        25: ("0.08208499862", "0.08208499863"),
        50: ("0.006737946999", "0.006737947000"),
        100: ("0.00004539992976", "0.00004539992977"),
    }
    steps = tuple(
        Enclosed(name=f"gap {gap}", goal=True, expr=sp.exp(-sp.Rational(gap, 10)), lower=low, upper=high)
        for gap, (low, high) in rows.items()
    )
    last = steps[-1]
    return Law(
        id="decay-table",
        title="Decay by numbers",
        statement=(
            "At `γ = 1/10` the factor `e^{-γu}` at the gaps 0, 5, 10, 25, 50, 100 is 1, 0.60653…, 0.36787…, "
            "0.08208…, 0.0067379…, 0.000045399…."
        ),
        steps=steps,
        perturbations=(
            last.but("the exponent has the other sign", expr=sp.exp(10)),
            steps[2].but("the gap is off by one", expr=sp.exp(-sp.Rational(11, 10))),
        ),
        rests_on=("fate-and-rhythm",),
        comment=(
            "Numbers are enclosed by intervals, not proved as identities: each lies strictly between two "
            "decimals."
        ),
    )


@CHAPTER.law("decay-needs-causal-mask")
def decay_needs_causal_mask() -> Law:
    fade = sp.exp(-g * u)
    goal = Exact(name="keys far ahead fade", goal=True, of=Limit(fade, u, -sp.oo, sp.S.Zero))
    number = Enclosed(
        name="50 ahead at γ = 1/10", expr=sp.exp(5), lower="148.4131591025", upper="148.4131591026"
    )
    return Law(
        id="decay-needs-causal-mask",
        title="“Decay also dims the keys ahead”",
        statement=(
            "For every `γ > 0`: `e^{-γu} → 0` as `u → -∞`, that is for keys ever further ahead of the query."
        ),
        expected=Status.REFUTED,
        steps=(number, goal),
        siblings=(goal.but("keys ever further behind", to=sp.oo),),
        rests_on=("fate-and-rhythm",),
        comment=(
            "It tends to `+∞`: at `γ = 0.1` a key 50 ahead is multiplied by `e⁵ = 148.413…`. In group form "
            "decay needs a causal mask; with two masks, or with `|t-s|` as a bias, it can be used both ways, "
            "but then [it is no group](#in-family--symmetric_distance)."
        ),
    )
