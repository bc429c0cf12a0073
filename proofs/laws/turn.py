"""The turn: RoPE. Rotating by absolute positions leaves the gap, for any number of planes."""

import sympy as sp

from ...symbolic.decide import Status
from ...symbolic.induction import Induction
from ...symbolic.tree import At, D
from ..law import Chapter, Law, Renaming
from ..step import Exact, Identity
from .common import (
    I2,
    ROFORMER,
    J,
    K,
    Q,
    R,
    c,
    dot,
    g,
    k0,
    k1,
    product,
    q0,
    q1,
    s,
    t,
    u,
    w,
    x,
)

CHAPTER = Chapter(
    "turn",
    "The turn: RoPE",
    "A clock hand that turns by ω a step. Rotate the query by its own position and the key by its own "
    "position, and their dot product sees only the angle between the hands: the gap. Everything here holds "
    "for arbitrary frequencies; how to choose them is the next chapter.",
)
n = sp.Symbol("n", nonnegative=True)
S, S1 = sp.symbols("S S1", real=True)


def plane(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """(R(ω·query) q)·(R(ω·key) k) for one plane."""
    return dot(R(w * query) * Q, R(w * key) * K)


def sum_over_planes(term: sp.Expr, shifted: sp.Expr) -> Induction:
    """Two running sums over planes, one of each term, agree after n planes, for every n."""
    return Induction(index=n, start=0, state={S: (0, S + term), S1: (0, S1 + shifted)}, claim={S1: S})


@CHAPTER.law("rope-plane")
def rope_plane() -> Law:
    goal = Identity(name="shift both", goal=True, lhs=plane(t + c, s + c), rhs=plane(t, s))
    slope = Identity(name="shift derivative", lhs=D(plane(t, s), t) + D(plane(t, s), s), rhs=sp.S.Zero)
    gap = Identity(name="substitute t = s + u", lhs=plane(s + u, s), rhs=dot(Q, R(-w * u) * K))
    return Law(
        id="rope-plane",
        title="One plane sees only the gap",
        statement=(
            "For all real `t, s, c`, every `ω > 0` and all `q, k ∈ ℝ²`: `(R(ωt) q)·(R(ωs) k)` does not "
            "change when `c` is added to both positions."
        ),
        steps=(slope, gap, goal),
        perturbations=(
            goal.but("only the query is shifted", lhs=plane(t + c, s)),
            goal.but("the key turns the other way", lhs=plane(t + c, -s - c), rhs=plane(t, -s)),
            slope.but("the derivatives are subtracted", lhs=D(plane(t, s), t) - D(plane(t, s), s)),
            gap.but("the rotation has the wrong sign", rhs=dot(Q, R(w * u) * K)),
        ),
        renamings=(Renaming("the other direction of turning, ω → -ω everywhere", {w: -w}),),
        sources=(ROFORMER,),
        comment=(
            "Two proofs: the derivative of the score along a common shift is zero, and after `t = s + u` "
            "the position `s` is gone. The second also shows what is left: `qᵀ R(-ωu) k`, so in `exp(uX)` "
            "the generator is `X = -ωJ`; an account that writes `A(t) = R(ωt)` beside `R_t q`, `R_s k` has "
            "one sign too many."
        ),
    )


@CHAPTER.law("rope-relative")
def rope_relative() -> Law:
    goal = Exact(name="all planes", goal=True, of=sum_over_planes(plane(t, s), plane(t + c, s + c)))
    return Law(
        id="rope-relative",
        title="RoPE is relative, for every number of planes",
        statement=(
            "For every number of planes `n`, all frequencies, all real `t, s, c` and all contents: the "
            "score `Σ (R(ω_j t) q_j)·(R(ω_j s) k_j)` is the same at `(t + c, s + c)` as at `(t, s)`."
        ),
        steps=(goal,),
        rests_on=("rope-plane",),
        perturbations=(
            goal.but(
                "each new plane shifts only the query",
                state=sum_over_planes(plane(t, s), plane(t + c, s)).state,
            ),
            goal.but(
                "each new plane turns q and k at different rates",
                state=sum_over_planes(
                    dot(R(w * t) * Q, R(2 * w * s) * K), dot(R(w * (t + c)) * Q, R(2 * w * (s + c)) * K)
                ).state,
            ),
        ),
        renamings=(Renaming("the other direction of turning, ω → -ω everywhere", {w: -w}),),
        sources=(ROFORMER,),
        comment=(
            "The sum over no planes is 0 on both sides; a new plane, with a frequency and contents of its "
            "own, adds equal terms. Hence all `n`, not a sample of dimensions. Features that are left "
            "unrotated add `q·k` to both sides. Relative is not yet good at length: a gap never trained on "
            "is as new as [an angle never seen](#coverage)."
        ),
    )


@CHAPTER.law("rope-length")
def rope_length() -> Law:
    turned = R(w * t) * Q
    one = Identity(name="one plane", lhs=dot(turned, turned), rhs=dot(Q, Q))
    goal = Exact(name="all planes", goal=True, of=sum_over_planes(dot(Q, Q), dot(turned, turned)))
    stretched = sp.exp(-g * t) * turned
    return Law(
        id="rope-length",
        title="RoPE keeps lengths",
        statement="For every number of planes, all frequencies and every real `t`: `‖R_t q‖ = ‖q‖`.",
        steps=(one, goal),
        perturbations=(
            one.but("the turn also fades", lhs=dot(stretched, stretched)),
            goal.but(
                "one entry has the wrong sign", state=sum_over_planes(dot(Q, Q), _wrong_square(t)).state
            ),
        ),
        renamings=(Renaming("the other direction of turning, ω → -ω everywhere", {w: -w}),),
        comment="Rotation keeps every length, so it can neither lose information nor blow up.",
    )


def _wrong_square(time: sp.Expr) -> sp.Expr:
    """Squared length after the rotation matrix with its minus sign deleted."""
    a = q0 * sp.cos(w * time) + q1 * sp.sin(w * time)
    b = q0 * sp.sin(w * time) + q1 * sp.cos(w * time)
    return a**2 + b**2


@CHAPTER.law("plane-score")
def plane_score() -> Law:
    along, across = dot(Q, K), q0 * k1 - q1 * k0
    right = along * sp.cos(w * (t - s)) + across * sp.sin(w * (t - s))
    goal = Identity(name="cosine and sine part", goal=True, lhs=plane(t, s), rhs=right)
    right_, up = sp.Matrix([1, 0]), sp.Matrix([0, 1])
    sign = Identity(
        name="the sign of the sine: q = (1,0) at 5, k = (0,1) at 2",
        lhs=dot(R(5 * w) * right_, R(2 * w) * up),
        rhs=sp.sin(3 * w),
    )
    return Law(
        id="plane-score",
        title="What one plane scores",
        statement=(
            "For all real `t, s`, every `ω > 0` and all `q, k ∈ ℝ²`: "
            "`(R(ωt) q)·(R(ωs) k) = (q·k) cos ω(t-s) + (q×k) sin ω(t-s)`, with `q×k = q₀k₁ - q₁k₀`."
        ),
        steps=(goal, sign),
        perturbations=(
            goal.but(
                "the sine has the other sign", rhs=along * sp.cos(w * (t - s)) - across * sp.sin(w * (t - s))
            ),
            goal.but("the sine part is left out", rhs=along * sp.cos(w * (t - s))),
            sign.but("query and key exchange their places", lhs=dot(R(2 * w) * right_, R(5 * w) * up)),
        ),
        renamings=(Renaming("the other direction of turning, ω → -ω everywhere", {w: -w}),),
        comment=(
            "Popular accounts keep [only the cosine](#cosine-only), the special case of parallel contents. "
            "With `q = (1, 0)`, `k = (0, 1)` at (5, 2) the plane of frequency 1 scores `sin 3 = 0.141…`, and "
            "at (2, 5) it scores `-0.141…`; the cosine is 0 at both."
        ),
    )


@CHAPTER.law("cosine-only")
def cosine_only() -> Law:
    goal = Identity(name="cosine alone", goal=True, lhs=plane(t, s), rhs=dot(Q, K) * sp.cos(w * (t - s)))
    parallel = {k0: x * q0, k1: x * q1}
    return Law(
        id="cosine-only",
        title="“Each pair picks up a cosine of the gap”",
        statement=(
            "For all real `t, s`, every `ω > 0` and all `q, k ∈ ℝ²`: "
            "`(R(ωt) q)·(R(ωs) k) = (q·k) cos ω(t-s)`."
        ),
        expected=Status.REFUTED,
        steps=(goal,),
        siblings=(
            goal.but(
                "for parallel contents, k = x q",
                lhs=goal.lhs.xreplace(parallel),
                rhs=goal.rhs.xreplace(parallel),
            ),
        ),
        rests_on=("plane-score",),
        comment="A frequent short answer. It leaves out the sine, which tells before from behind.",
    )


@CHAPTER.law("turn-flow")
def turn_flow() -> Law:
    rotation = R(w * t)
    ode = Identity(name="A' = XA", goal=True, lhs=D(rotation, t), rhs=product(w * J, rotation))
    start = Identity(name="A(0) = I", goal=True, lhs=At(rotation, t, 0), rhs=I2)
    square = Identity(name="J² = -I", lhs=product(J, J), rhs=-I2)
    return Law(
        id="turn-flow",
        title="The rotation is exp(ωtJ)",
        statement=(
            "For every `ω > 0` and real `t`: `A(t) = R(ωt)` satisfies `A(0) = I` and `A' = ωJ A` with "
            "`J² = -I`; hence `R(ωt) = exp(ωtJ)`."
        ),
        steps=(square, start, ode),
        rests_on=("uniqueness",),
        perturbations=(
            ode.but("the sign of J is flipped", rhs=product(-w * J, rotation)),
            ode.but("the frequency is doubled in X", rhs=product(2 * w * J, rotation)),
            square.but(
                "J is symmetric",
                lhs=product(sp.ImmutableMatrix([[0, 1], [1, 0]]), sp.ImmutableMatrix([[0, 1], [1, 0]])),
            ),
        ),
        renamings=(Renaming("the other direction of turning, ω → -ω everywhere", {w: -w}),),
        comment=(
            "With the query at `t` and the key at `s` the matrix between them is `R(ω(s-t)) = exp((t-s)X)` "
            "with `X = -ωJ`: the sign that golden values must pin down."
        ),
    )
