"""Four broken time machines: drop one rule of a one-parameter group, and see what goes wrong."""

import sympy as sp

from ...symbolic.decide import Status
from ...symbolic.finite import Finite
from ...symbolic.tree import At
from ..law import Chapter, Law
from ..step import Cited, Enclosed, Exact, Identity, Source
from .common import I2, R, g, plus, product, t, times, transpose, u, v

CHAPTER = Chapter(
    "broken",
    "Four broken time machines",
    "Standing still changes nothing; steps add up; every step can be undone; small steps do little. Each "
    "machine below breaks one of these rules (and perhaps more), and each shows why nobody would want it.",
)


@CHAPTER.law("broken-identity")
def broken_identity() -> Law:
    keep = sp.ImmutableMatrix([[sp.exp(-g * t), 0], [0, 0]])
    goal = Identity(name="A(0) = I", goal=True, lhs=At(keep, t, 0), rhs=I2)
    rest = Identity(
        name="it does compose", lhs=product(keep.subs(t, u), keep.subs(t, v)), rhs=keep.subs(t, u + v)
    )
    whole = sp.ImmutableMatrix([[sp.exp(-g * t), 0], [0, 1]])
    return Law(
        id="broken-identity",
        title="A time machine that changes something by standing still",
        statement="For every `γ > 0`: `A(t) = diag(e^{-γt}, 0)`, which composes, satisfies `A(0) = I`.",
        expected=Status.REFUTED,
        steps=(rest, goal),
        siblings=(goal.but("the second coordinate is held, not dropped", lhs=At(whole, t, 0)),),
        comment=(
            "It composes, but `A(0)` is a projection: what it drops is lost at gap 0 already. Continuous and "
            "composing alone means just that: a projection `P` times `exp(tX)` with `PX = XP = X`."
        ),
    )


@CHAPTER.law("broken-composition")
def broken_composition() -> Law:
    goal = Identity(name="A(u)A(v) = A(u+v)", goal=True, lhs=times(1 + u, 1 + v), rhs=1 + u + v)
    return Law(
        id="broken-composition",
        title="A time machine whose steps do not add up",
        statement="For all real `u, v`: `A(t) = 1 + t` satisfies `A(u)A(v) = A(u + v)`.",
        expected=Status.REFUTED,
        steps=(Identity(name="A(0) = 1 holds", lhs=At(1 + t, t, 0), rhs=sp.S.One), goal),
        siblings=(goal.but("the exponential instead", lhs=times(sp.exp(u), sp.exp(v)), rhs=sp.exp(u + v)),),
        comment=(
            "Carry 1 and then 1 gives 4, carry 2 gives 3. Also `A(-1) = 0` cannot be undone: one machine may "
            "break several rules."
        ),
    )


@CHAPTER.law("broken-inverse")
def broken_inverse() -> Law:
    rules = {"closure": True, "identity": True, "associativity": True}
    window = Finite.of({"now": 1, "later": 0}, lambda a, b: a * b, rules | {"inverses": True})
    goal = Exact(name="every move can be undone", goal=True, of=window)
    return Law(
        id="broken-inverse",
        title="A time machine that cannot go back",
        statement=(
            "On `u ≥ 0` let `A(0) = 1` and `A(u) = 0` for `u > 0` (a window of one token). It composes, "
            "has an identity and is associative; every `A(u)` can be undone."
        ),
        expected=Status.REFUTED,
        steps=(
            Exact(
                name="the other rules hold", of=Finite.of({"now": 1, "later": 0}, lambda a, b: a * b, rules)
            ),
            goal,
        ),
        siblings=(goal.but("a flip instead of a window", table=(("now", "later"), ("later", "now"))),),
        comment=(
            "A semigroup: “later” has no inverse. Causal models may want this, a window forgets on "
            "purpose; but no factor on the key's side alone can undo the query's, and `A` jumps at 0."
        ),
    )


@CHAPTER.law("broken-continuity")
def broken_continuity() -> Law:
    a, b, c, d = sp.symbols("a b c d", real=True)
    small = 239 - 169 * sp.sqrt(2)
    goal = Enclosed(
        name="nearly no time, so nearly no turn", goal=True, expr=sp.cos(169), lower="0.99", upper="1"
    )
    return Law(
        id="broken-continuity",
        title="A time machine that jumps",
        statement=(
            "On the times `a + b√2` with integer `a, b`, the group `A(a + b√2) = R(b)` is close to `I` at "
            "times close to 0: at `239 - 169√2 = -0.0021…`, where it is `R(-169)`, its cosine is above 0.99."
        ),
        expected=Status.REFUTED,
        steps=(
            Identity(
                name="it composes",
                lhs=product(R(b), R(d)),
                rhs=R(b + d),
                note="times add: (a+b√2)+(c+d√2) = (a+c)+(b+d)√2",
            ),
            Identity(
                name="times add as stated",
                lhs=plus(a + b * sp.sqrt(2), c + d * sp.sqrt(2)),
                rhs=plus(a + c, times(b + d, sp.sqrt(2))),
            ),
            Cited(
                name="the integers a and b can be read off the time",
                lemma="√2 is irrational, so a + b√2 = a' + b'√2 with integers only if a = a' and b = b'",
                source=Source("W. Rudin, Principles of Mathematical Analysis, 3rd ed., Example 1.1"),
            ),
            Identity(name="it is bounded: R(b)ᵀR(b) = I", lhs=product(transpose(R(b)), R(b)), rhs=I2),
            Enclosed(name="the time 239 - 169√2 is nearly 0", expr=small, lower="-0.0022", upper="-0.0020"),
            goal,
        ),
        siblings=(goal.but("the continuous turn `R(t)` at that time", expr=sp.cos(small)),),
        comment=(
            "The cosine of -169 is 0.798…. The machine is defined on these times alone; that it extends to "
            "all "
            "of `ℝ`, by an additive `f` with `f(1) = 0`, `f(√2) = 1` and `A(t) = R(f(t))`, is "
            "[Hamel's construction](#discontinuous-solutions) and needs choice. It composes, can be undone "
            "and is bounded, and it is no "
            "`exp(tX)`: an account that calls every discontinuous solution unbounded is right about "
            "[scalars](#measurable-enough) only."
        ),
    )
