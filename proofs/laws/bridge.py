"""The bridge: what "relative" forces on two token-wise maps, and why a change of basis is free."""

import sympy as sp

from ...symbolic.decide import Status
from ...symbolic.free import word_poly
from ...symbolic.induction import Induction
from ...symbolic.signs import Sign
from ...symbolic.words import Derived, Words, commuting, inverses, letters
from ..law import Chapter, Hypothesis, Law
from ..step import Exact, Identity
from .common import PURANIK, R, dot, k0, k1, product, q0, q1, s, t, transpose, u, v, w

CHAPTER = Chapter(
    "bridge",
    "From relative to a group",
    "The query may use only its own position `t`, the key only its own `s`, and yet the score must depend "
    "on `t - s`. With square, invertible factors this one demand already makes a group; nothing else needs "
    "to be assumed about it.",
)
n = sp.Symbol("n", nonnegative=True)


@CHAPTER.law("bridge")
def bridge() -> Law:
    f0, g0, fu, gs, f0i, g0i = letters("F0 G0 Fu Gv F0inv G0inv")
    # M(0) = F0 G0, M(u) = Fu G0, M(-v) = F0 Gv, M(u-v) = Fu Gv, all by the relative law (F stands for F(·)ᵀ)
    rules = (*inverses(f0, f0i), *inverses(g0, g0i))
    middle = g0i * f0i
    goal = Exact(
        name="M(u-v) = M(u) M(0)⁻¹ M(-v)", goal=True, of=Words(fu * gs, (fu * g0) * middle * (f0 * gs), rules)
    )
    identity = Exact(name="A(0) = I", of=Words(middle * (f0 * g0), word_poly(1), rules))
    return Law(
        id="bridge",
        title="Relative makes a group",
        statement=(
            "Let `F(t)ᵀG(s) = M(t-s)` for all real `t, s`, with square factors and `M(0)` invertible. Then "
            "`A(u) = M(0)⁻¹M(u)` satisfies `A(0) = I` and `A(u)A(-v) = A(u-v)`: it is a homomorphism."
        ),
        hypotheses=(
            Hypothesis("square", "`F(t)`, `G(s)` are square matrices of one size"),
            Hypothesis("invertible", "`M(0) = F(0)ᵀG(0)` is invertible, and with it `F(0)` and `G(0)`"),
        ),
        steps=(identity, goal),
        perturbations=(
            goal.but("M(0) is not invertible", rules=()),
            goal.but("M(0) instead of its inverse in the middle", rhs=(fu * g0) * (f0 * g0) * (f0 * gs)),
            identity.but("the inverses in the other order", lhs=f0i * g0i * (f0 * g0)),
        ),
        sources=(PURANIK,),
        comment=(
            "Write M(u) = F(u)ᵀG(0), M(-v) = F(0)ᵀG(v), M(0) = F(0)ᵀG(0) and multiply out. M(0) itself "
            "need not be I, only invertible: it is absorbed by W_q. YaRN's m²I is an example."
        ),
    )


@CHAPTER.law("bridge-without-squareness")
def bridge_without_squareness() -> Law:
    goal = Identity(name="M(u+v) = M(u)M(v)", goal=True, lhs=sp.cos(u + v), rhs=sp.cos(u) * sp.cos(v))
    tall = Identity(
        name="F and G are 2×1 and relative",
        lhs=dot(sp.Matrix([sp.cos(t), sp.sin(t)]), sp.Matrix([sp.cos(s), sp.sin(s)])),
        rhs=sp.cos(t - s),
    )
    row, column = sp.ImmutableMatrix([[1, 0]]), sp.ImmutableMatrix([1, 0])
    return Law(
        id="bridge-without-squareness",
        title="“Relative always makes a group”",
        statement=(
            "For `F(t) = G(t) = (cos t, sin t)ᵀ`, where `F(t)ᵀG(s) = cos(t-s)` is relative and `M(0) = 1`: "
            "`M(u + v) = M(u)M(v)`."
        ),
        expected=Status.REFUTED,
        steps=(tall, goal),
        siblings=(
            goal.but(
                "the group is there one level up: cos u is a corner of R(u)",
                lhs=product(row, R(u), R(v), column),
                rhs=sp.Matrix([[sp.cos(u + v)]]),
            ),
        ),
        rests_on=("general-form",),
        comment=(
            "The factors are not square, so M(0) invertible no longer makes them invertible. ALiBi is of "
            "this kind: it needs two more slots than the content."
        ),
    )


@CHAPTER.law("general-form")
def general_form() -> Law:
    c_, b, et, es, ec, ei = letters("C B Et Es Ec Ecinv")
    # et = e^{tX}, es = e^{-sX}, ec = e^{cX}: exponentials of one X commute
    rules = (*inverses(ec, ei), *commuting(et, ec), *commuting(es, ei), *commuting(et, ei))
    claim = Words(c_ * (et * ec) * (ei * es) * b, c_ * et * es * b, rules)
    goal = Exact(name="shifting both positions changes nothing", goal=True, of=claim)
    return Law(
        id="general-form",
        title="The general form: C e^{uX} B",
        statement=(
            "For all matrices `C` (r×d), `X` (d×d), `B` (d×r) and all real `t, s, c`: the score matrix "
            "`C e^{tX} e^{-sX} B` is unchanged when `c` is added to `t` and `s`. No squareness of `C` or "
            "`B` is needed."
        ),
        hypotheses=(
            Hypothesis("one-generator", "`e^{tX}`, `e^{-sX}`, `e^{cX}` belong to one `X` and so commute"),
        ),
        steps=(goal,),
        perturbations=(
            goal.but("only the query is shifted", lhs=c_ * (et * ec) * es * b),
            goal.but("the key is shifted the wrong way", lhs=c_ * (et * ec) * (ec * es) * b),
        ),
        rests_on=("flow-group-law",),
        comment=(
            "Conversely every finite-dimensional linear, relative, continuous score is of this form "
            "(realisation theory; cited, see complete-list). It contains ALiBi, Transformer-XL's terms and "
            "every bias that is an exponential polynomial."
        ),
    )


@CHAPTER.law("lookup-table")
def lookup_table() -> Law:
    gaps, pairs, maps = sp.symbols("gaps pairs maps", real=True)
    counting = Induction(
        index=n,
        start=1,
        state={gaps: (1, gaps + 2), pairs: (1, pairs + 2 * n + 1), maps: (2, maps + 2)},
        claim={gaps: 2 * n - 1, pairs: n**2, maps: 2 * n},
    )
    goal = Exact(name="counting", goal=True, of=counting)
    n1 = sp.Symbol("r", nonnegative=True)
    saved = Exact(name="never more gaps than pairs", of=Sign((1 + n1) ** 2 - (2 * (1 + n1) - 1), "+0"))
    return Law(
        id="lookup-table",
        title="A million cells, two thousand matrices",
        statement=(
            "`n ≥ 1` tokens have `n²` pairs but only `2n - 1` gaps, from `-(n-1)` to `n-1`, hence at most "
            "`2n - 1` distinct matrices `A(t-s)`; and `2n` token-wise maps make them all."
        ),
        steps=(goal, saved),
        perturbations=(
            goal.but("a new token brings one new gap", state={**counting.state, gaps: (1, gaps + 1)}),
            goal.but("2n gaps", claim={**counting.claim, gaps: 2 * n}),
            saved.but("strictly fewer, for one token too", sign="+"),
        ),
        comment=(
            "A new last token brings the gaps n and -n, the pairs with each older token in both orders and "
            "with itself. Attention visits n² pairs anyway: what nobody can afford is n² matrices."
        ),
    )


@CHAPTER.law("change-of-basis")
def change_of_basis() -> Law:
    s_, si, e, x = letters("S Sinv E X")
    rules = inverses(s_, si)
    flow = Exact(
        name="S e^{tX} S⁻¹ is the flow of SXS⁻¹",
        goal=True,
        of=Words(Derived(s_ * e * si), (s_ * x * si) * (s_ * e * si), rules, derivation={e: x * e}),
    )
    start = Exact(name="and starts at I", of=Words(s_ * e * si, word_poly(1), (*rules, (e, 1 + 0 * e))))
    wq, wk = letters("Wq Wk")
    absorbed = Exact(
        name="the weights absorb S",
        goal=True,
        of=Words(wq * (s_ * e * si) * wk, (wq * s_) * e * (si * wk), rules),
        note=(
            "Wq stands for the transposed query projection: the new one is SᵀW_q, the new key projection "
            "S⁻¹W_k"
        ),
    )
    return Law(
        id="change-of-basis",
        title="A change of basis is free",
        statement=(
            "For every invertible `S`: `exp(tSXS⁻¹) = S exp(tX) S⁻¹`, and "
            "`W_qᵀ S e^{uX} S⁻¹ W_k = (SᵀW_q)ᵀ e^{uX} (S⁻¹W_k)`."
        ),
        hypotheses=(
            Hypothesis(
                "free-weights", "`W_q` and `W_k` are free: nothing normalises between projection and encoding"
            ),
        ),
        steps=(flow, start, absorbed),
        perturbations=(
            flow.but("X is conjugated the other way round", rhs=(si * x * s_) * (s_ * e * si)),
            start.but("S on both sides", lhs=s_ * e * s_),
            flow.but("S is not invertible", rules=()),
            absorbed.but("both projections get S", rhs=(wq * s_) * e * (s_ * wk)),
        ),
        rests_on=("uniqueness",),
        comment=(
            "So encodings are classified up to similarity. What survives is not only the eigenvalues but "
            "also the block sizes: the zero matrix and the slide share their eigenvalues."
        ),
    )


@CHAPTER.law("change-of-basis-qk-norm")
def change_of_basis_qk_norm() -> Law:
    a = sp.Symbol("a", positive=True)
    stretch = sp.ImmutableMatrix(sp.diag(a, 1 / a))
    x = sp.ImmutableMatrix([q0, q1])
    goal = Identity(
        name="the norm does not notice S", goal=True, lhs=dot(stretch * x, stretch * x), rhs=dot(x, x)
    )
    turned = R(w) * x
    both = sp.ImmutableMatrix([k0, k1])
    pair = Identity(
        name="without a norm the stretch cancels",
        lhs=dot(transpose(stretch) * x, stretch.inv().as_immutable() * both),
        rhs=dot(x, both),
    )
    return Law(
        id="change-of-basis-qk-norm",
        title="“A change of basis is free, also with QK-norm”",
        statement=(
            "For `S = diag(a, 1/a)`, `a > 0`, and all `x`: `‖Sx‖ = ‖x‖`, so that normalising after the "
            "change of basis is the same as before it."
        ),
        expected=Status.REFUTED,
        steps=(pair, goal),
        siblings=(goal.but("a rotation instead of a stretch", lhs=dot(turned, turned)),),
        rests_on=("change-of-basis",),
        comment=(
            "With a norm between projection and encoding only orthogonal changes of basis that respect its "
            "gains stay free."
        ),
    )
