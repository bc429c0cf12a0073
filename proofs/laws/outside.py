"""More of the fence: the sinusoidal table, nonlinear maps, score maps, and positions read off the content."""

import sympy as sp

from ...symbolic.decide import Status
from ..law import Law, Renaming
from ..step import Apart, Identity
from .common import VASWANI, R, c, dot, k0, k1, q0, q1, s, t, times, u, w
from .fence import CHAPTER


@CHAPTER.law("sinusoidal-shift")
def sinusoidal_shift() -> Law:
    table = sp.ImmutableMatrix([sp.sin(w * t), sp.cos(w * t)])
    later = sp.ImmutableMatrix([sp.sin(w * (t + u)), sp.cos(w * (t + u))])
    goal = Identity(
        name="the table turns", goal=True, lhs=later, rhs=sp.MatMul(R(-w * u), table, evaluate=False)
    )
    return Law(
        id="sinusoidal-shift",
        title="The sinusoidal table turns, and is absolute all the same",
        statement=(
            "For all real `t, u` and `ω > 0`: the pair `p_t = (sin ωt, cos ωt)` satisfies "
            "`p_{t+u} = R(-ωu) p_t`."
        ),
        steps=(goal,),
        perturbations=(
            goal.but("it turns the other way", rhs=sp.MatMul(R(w * u), table, evaluate=False)),
            goal.but(
                "the pair is (cos, sin)",
                lhs=sp.ImmutableMatrix([later[1], later[0]]),
                rhs=sp.MatMul(R(-w * u), sp.ImmutableMatrix([table[1], table[0]]), evaluate=False),
            ),
        ),
        renamings=(Renaming("the other direction of turning, ω → -ω everywhere", {w: -w}),),
        sources=(VASWANI,),
        comment=(
            "A shift acts linearly on the table. But the table is added to the content, and the cross "
            "terms [are not relative](#relative--sinusoidal)."
        ),
    )


@CHAPTER.law("nonlinear-outside")
def nonlinear_outside() -> Law:
    turned, key = R(w * t) * sp.Matrix([q0, q1]), R(w * s) * sp.Matrix([k0, k1])
    cubes = dot(turned.applyfunc(lambda e: e**3), key.applyfunc(lambda e: e**3))
    shifted = cubes.subs({t: t + c, s: s + c}, simultaneous=True)
    goal = Identity(name="shift both positions", goal=True, lhs=shifted, rhs=cubes)
    plain = dot(turned, key)
    return Law(
        id="nonlinear-outside",
        title="“A nonlinear map after the rotation changes nothing”",
        statement=(
            "For all real `t, s, c`, every `ω > 0` and all contents: the score of "
            "the entrywise cubes of `R(ωt)q` and `R(ωs)k` is unchanged when `c` is added to both positions."
        ),
        expected=Status.REFUTED,
        steps=(goal,),
        siblings=(
            goal.but("without the cubes", lhs=plain.subs({t: t + c, s: s + c}, simultaneous=True), rhs=plain),
        ),
        rests_on=("rope-plane",),
        comment=(
            "Linearity is a choice, not a necessity; outside it lies the largest open region. A norm with "
            "learned gains between rotation and product is of this kind too."
        ),
    )


@CHAPTER.law("score-map-outside")
def score_map_outside() -> Law:
    x = sp.Symbol("x", real=True)
    square = times(x, x) / (1 + u**2)
    goal = Identity(
        name="twice the query, twice the score", goal=True, lhs=(2 * x) ** 2 / (1 + u**2), rhs=2 * square
    )
    return Law(
        id="score-map-outside",
        title="“Any map of score and gap is an exp(uX)”",
        statement=(
            "The score map `φ(q·k, u) = (q·k)²/(1+u²)`, which is relative, is linear in the query: with "
            "`x = q·k`, `φ(2x, u) = 2φ(x, u)`."
        ),
        expected=Status.REFUTED,
        steps=(goal,),
        siblings=(goal.but("the product q·k itself", lhs=2 * x / (1 + u**2), rhs=2 * (x / (1 + u**2))),),
        rests_on=("general-form",),
        comment=(
            "A score map sees both vectors at once and may do anything with the gap. ALiBi comes in "
            "because it is additive and linear in the gap."
        ),
    )


@CHAPTER.law("content-position-outside")
def content_position_outside() -> Law:
    gate = sp.Symbol("a", real=True)
    first = sp.exp(-gate * (t - s))
    goal = Identity(name="same gap, same factor", goal=True, lhs=first, rhs=first.subs(gate, gate + 1))
    apart = Apart(name="two contents, one gap", lhs=sp.exp(-gate), rhs=sp.exp(-2 * gate))
    return Law(
        id="content-position-outside",
        title="“Position may be read off the content, and the score still depends on the gap alone”",
        statement=(
            "For all real `t, s, a`: if every token between `s` and `t` moves the clock by a gate read off "
            "its content, the factor `e^{-a(t-s)}` for gates `a` is that for gates `a + 1`."
        ),
        expected=Status.REFUTED,
        steps=(apart, goal),
        siblings=(goal.but("equal gates", rhs=sp.exp(-gate * t + gate * s)),),
        rests_on=("gates-telescope/fade",),
        comment=(
            "[Relative in its clock](#gates-split), where one generator is read at it; not in the token "
            "distance. Positions interpolated from content, as in CoPE, leave the frame altogether."
        ),
    )
