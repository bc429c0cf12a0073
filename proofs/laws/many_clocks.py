"""Several gates at once: a clock for each generator, when one clock does, and which gates count."""

import sympy as sp

from ...symbolic.decide import Status
from ...symbolic.free import word_poly
from ...symbolic.induction import Induction
from ...symbolic.words import Words, commuting, inverses, letters
from ..law import Hypothesis, Law
from ..step import Apart, Enclosed, Exact, Identity, Source
from .clocks import CHAPTER, FOX, a, n, tau
from .common import R, plus

b, phi = sp.symbols("b phi", real=True)
MAMBA3 = Source(
    "Mamba-3, 2026; mamba_ssm/modules/mamba3.py of state-spaces/mamba", "https://arxiv.org/abs/2603.15569"
)
GLA = Source(
    "S. Yang et al., Gated Linear Attention Transformers with Hardware-Efficient Training, 2023",
    "https://arxiv.org/abs/2312.06635",
)


def turned_fade(fade: sp.Expr, angle: sp.Expr) -> sp.Matrix:
    """exp(-fade·I + angle·J): one clock for the decay, one for the plane."""
    return sp.exp(-fade) * R(angle)


def two_clocks(fade: sp.Expr = tau, angle: sp.Expr = phi) -> Induction:
    """P_{n+1} = exp(-aI + bJ)P_n with both gates new at every token, against the two sums."""
    partial = sp.Matrix(2, 2, lambda i, j: sp.Symbol(f"P{i}{j}", real=True))
    following, target = turned_fade(a, b) * partial, turned_fade(fade, angle)
    cells = [(i, j) for i in range(2) for j in range(2)]
    return Induction(
        index=n,
        start=0,
        state={partial[c]: (sp.Integer(int(c[0] == c[1])), following[c]) for c in cells}
        | {tau: (0, tau + a), phi: (0, phi + b)},
        claim={partial[c]: target[c] for c in cells},
    )


def two_shears() -> dict[str, list[list[int]]]:
    """Shears that do not commute for the two clocks at s, which stand at 0 at t and at r."""
    moved = {
        "As": [[1, 1], [0, 1]],
        "Asinv": [[1, -1], [0, 1]],
        "Bs": [[1, 0], [1, 1]],
        "Bsinv": [[1, 0], [-1, 1]],
    }
    return moved | {name: [[1, 0], [0, 1]] for name in ("At", "Atinv", "Bt", "Btinv", "Arinv", "Brinv")}


@CHAPTER.law("clocks-cocycle")
def clocks_cocycle() -> Law:
    at, as_, bt, bs = letters("At As Bt Bs")
    ati, asi, ari, bti, bsi, bri = letters("Atinv Asinv Arinv Btinv Bsinv Brinv")
    undo = (*inverses(at, ati), *inverses(as_, asi), *inverses(bt, bti), *inverses(bs, bsi))
    pass_by = [rule for x in (as_, asi, ari) for y in (bt, bti, bs, bsi) for rule in commuting(x, y)]
    chain = Exact(
        name="U(t,s)U(s,r) = U(t,r)",
        goal=True,
        of=Words((at * bt * asi * bsi) * (as_ * bs * ari * bri), at * bt * ari * bri, (*undo, *pass_by)),
        note="At = exp(Φ(t)X) and Bt = exp(Ψ(t)Y); Y may itself stand for all further clocks together",
    )
    together = (*undo, *commuting(ati, bt))
    still = Exact(name="U(t,t) = I", goal=True, of=Words(at * bt * ati * bti, word_poly(1), together))
    exact = Exact(name="a decay and a plane, any number of tokens", goal=True, of=two_clocks())
    return Law(
        id="clocks-cocycle",
        title="A clock for each gate",
        statement=(
            "For all commuting square `X, Y` and all readings of two clocks `Φ, Ψ`: "
            "`U(t,s) = exp((Φ(t)-Φ(s))X + (Ψ(t)-Ψ(s))Y)` satisfies `U(t,t) = I` and "
            "`U(t,s)U(s,r) = U(t,r)`. A decay and the angle of a plane, each with real gates of its own, "
            "give after any number of tokens `e^{-τ}R(φ)` with the two sums `τ` and `φ`."
        ),
        hypotheses=(Hypothesis("commute", "`X` and `Y` commute"),),
        steps=(still, chain, exact),
        rests_on=("commuting-sum", "gates-split"),
        perturbations=(
            chain.but("the generators do not commute", rules=undo, model=two_shears()),
            chain.but(
                "one clock of the middle token is left out", lhs=(at * bt * asi) * (as_ * bs * ari * bri)
            ),
            exact.but("the angle is read at the decay's clock", claim=two_clocks(angle=tau).claim),
            exact.but("the decay is read at the sum of both", claim=two_clocks(fade=tau + phi).claim),
        ),
        sources=(MAMBA3, GLA),
        comment=(
            "Splitting off one clock at a time gives any number. So a model whose decay and angles have "
            "gates of their own is relative still, to several clocks: “the gate moves one time” says less."
        ),
    )


@CHAPTER.law("one-clock-ratios")
def one_clock_ratios() -> Law:
    p, q, a1, a2, b1, b2, c = sp.symbols("p q a_1 a_2 b_1 b_2 c", real=True)
    x, y = (sp.ImmutableMatrix(2, 2, lambda i, j, k=k: sp.Symbol(f"{k}{i}{j}", real=True)) for k in "XY")
    enough = Identity(
        name="constant ratios make one clock",
        goal=True,
        lhs=sp.MatAdd(a * x, c * a * y, evaluate=False),
        rhs=(a * (x + c * y)).as_immutable(),
    )
    one, two = q * a1 - p * b1, q * a2 - p * b2
    both = Identity(
        name="qpZ from either token: both brackets are 0, as X and Y are independent",
        lhs=sp.MatAdd(q * (a1 * x + a2 * y), -p * (b1 * x + b2 * y), evaluate=False),
        rhs=(one * x + two * y).as_immutable(),
    )
    minor = plus(a1 * b2, -a2 * b1)
    late = Identity(name="so q times the minor is 0", goal=True, lhs=q * minor, rhs=b2 * one - b1 * two)
    early = Identity(name="and p times it", goal=True, lhs=p * minor, rhs=a2 * one - a1 * two)
    return Law(
        id="one-clock-ratios",
        title="When one clock is enough",
        statement=(
            "Let `X, Y` be linearly independent. If gates are in one ratio, `1` to `c`, at every token, then "
            "`aX + caY = a(X + cY)`: one generator at one clock. Conversely, if `a_1X + a_2Y = pZ` at one "
            "token and `b_1X + b_2Y = qZ` at another, with one `Z`, then `a_1b_2 = a_2b_1`: the ratio is the "
            "same at both."
        ),
        hypotheses=(Hypothesis("independent", "`X` and `Y` are linearly independent"),),
        steps=(enough, both, late, early),
        perturbations=(
            enough.but("the second generator is not scaled", rhs=(a * (x + y)).as_immutable()),
            enough.but("the clock moves by both gates", rhs=((a + c * a) * (x + y)).as_immutable()),
            late.but("only the first gate is matched", rhs=b2 * one),
            early.but("the brackets change places", rhs=a2 * two - a1 * one),
        ),
        rests_on=("clocks-cocycle",),
        comment=(
            "If `p = q = 0`, then both pairs of gates are 0. This is said of exponents; an angle counts "
            "modulo `2π`, so single products of turns may agree where their exponents do not."
        ),
    )


@CHAPTER.law("one-clock-always")
def one_clock_always() -> Law:
    a1, a2, b1, b2, c = sp.symbols("a_1 a_2 b_1 b_2 c", real=True)
    goal = Identity(name="any two tokens have gates in one ratio", goal=True, lhs=a1 * b2, rhs=a2 * b1)
    return Law(
        id="one-clock-always",
        title="“The gate only moves the time”",
        statement=(
            "For all gates `a_1, a_2` at one token and `b_1, b_2` at another: `a_1b_2 = a_2b_1`, so that one "
            "clock is enough for two generators."
        ),
        expected=Status.REFUTED,
        steps=(goal,),
        siblings=(goal.but("the second gate is c times the first", lhs=a1 * (c * b1), rhs=(c * a1) * b1),),
        rests_on=("one-clock-ratios",),
        sources=(MAMBA3, GLA),
        comment=(
            "Free gates for a decay and for each plane, or for each feature, need "
            "[a clock each](#clocks-cocycle)."
        ),
    )


# ---- which gates count ----

first, now, coming = sp.symbols("a_s a_t b", real=True)
within, before = sp.symbols("I E", real=True)


def both_sums(claimed: sp.Expr, following: sp.Expr = coming, counted: sp.Expr = now) -> Induction:
    """The inclusive sum I and the exclusive sum E, n tokens after s; a_t is the gate of the token reached."""
    return Induction(
        index=n,
        start=0,
        state={within: (0, within + following), before: (0, before + counted), now: (first, following)},
        claim={within: claimed},
    )


def printed_sums() -> tuple[Enclosed, Enclosed]:
    """log f over tokens 1 to 3, and over 0 to 2, for the gates .9 .8 .7 .6."""
    logs = [sp.log(sp.Rational(k, 10)) for k in (9, 8, 7, 6)]
    inside = Enclosed(
        name="gates .9 .8 .7 .6 from 0 to 3, inclusive",
        expr=sp.Add(*logs[1:]),
        lower="-1.0906441190189335",
        upper="-1.0906441190189325",
    )
    outside = Enclosed(
        name="the same gates, exclusive",
        expr=sp.Add(*logs[:3]),
        lower="-0.6851790109107689",
        upper="-0.6851790109107679",
    )
    return inside, outside


@CHAPTER.law("inclusive-exclusive")
def inclusive_exclusive() -> Law:
    differ = Exact(
        name="they differ by the gates at the two ends", goal=True, of=both_sums(before + now - first)
    )
    reading = sp.Function("Phi", real=True)
    t_, s_, r_ = sp.symbols("t s r", real=True)
    spans = [reading(t_) - reading(s_), reading(s_) - reading(r_), reading(t_) - reading(r_)]
    shifted = [span.xreplace({reading(x): reading(x - 1) for x in (t_, s_, r_)}) for span in spans]
    joins = Identity(name="inclusive sums add up", goal=True, lhs=plus(*spans[:2]), rhs=spans[2])
    joins_too = Identity(name="exclusive sums add up", goal=True, lhs=plus(*shifted[:2]), rhs=shifted[2])
    inside, outside = printed_sums()
    return Law(
        id="inclusive-exclusive",
        title="Two sums, two models",
        statement=(
            "For all real gates and any number of tokens from `s` to `t`: the inclusive sum "
            "`I = a_{s+1} + ⋯ + a_t` and the exclusive one `E = a_s + ⋯ + a_{t-1}` satisfy "
            "`I = E + a_t - a_s`. Both are differences of readings, `Φ(t) - Φ(s)` and `Φ(t-1) - Φ(s-1)`, so "
            "both add up along the way and both give cocycles."
        ),
        steps=(differ, joins, joins_too, inside, outside),
        rests_on=("gates-split",),
        perturbations=(
            differ.but("they are the same sum", claim={within: before}),
            differ.but("the ends change places", claim={within: before + first - now}),
            differ.but(
                "the exclusive sum counts one token late", state=both_sums(before, counted=coming).state
            ),
            joins.but("the middle token's reading counts once only", rhs=reading(t_) - reading(s_)),
            inside.but("exclusive in place of inclusive", expr=outside.expr),
            outside.but("inclusive in place of exclusive", expr=inside.expr),
        ),
        sources=(FOX,),
        comment=(
            "Which one a model was trained with cannot be seen from shapes; a cumulative sum that is one "
            "token off runs and is another model. Forget gates count inclusively: at its own token a key is "
            "not yet faded."
        ),
    )


@CHAPTER.law("inclusive-is-exclusive")
def inclusive_is_exclusive() -> Law:
    same = both_sums(before)
    goal = Exact(name="both sums are the same", goal=True, of=same)
    constant = both_sums(before, following=first, counted=first)
    tokens = Apart(
        name="two tokens already differ",
        lhs=sp.Symbol("a_1", real=True) + sp.Symbol("a_2", real=True),
        rhs=sp.Symbol("a_0", real=True) + sp.Symbol("a_1", real=True),
    )
    return Law(
        id="inclusive-is-exclusive",
        title="“A sum of gates is a sum of gates”",
        statement=(
            "For all real gates and any number of tokens from `s` to `t`: "
            "`a_{s+1} + ⋯ + a_t = a_s + ⋯ + a_{t-1}`."
        ),
        expected=Status.REFUTED,
        steps=(goal, tokens),
        siblings=(goal.but("every token has the same gate", state=constant.state),),
        rests_on=("inclusive-exclusive",),
        comment="With one gate for all tokens both count the distance; then the clock is the position again.",
    )
