"""The bridge: what "relative" forces on two token-wise maps, and why a change of basis is free."""

import sympy as sp

from ...symbolic.decide import Status
from ...symbolic.free import word_poly
from ...symbolic.induction import Induction
from ...symbolic.signs import Sign
from ...symbolic.words import Derived, Words, commuting, inverses, letters
from ..law import Chapter, Hypothesis, Law
from ..step import Cited, Exact, Identity, Source
from .common import PURANIK, K, Q, R, dot, product, s, t, transpose, u, v, w

CHAPTER = Chapter(
    "bridge",
    "From relative to a group",
    "The query may use only its own position `t`, the key only its own `s`, and yet the score must depend "
    "on `t - s`. With square, invertible factors this one demand already makes a group; nothing else needs "
    "to be assumed about it.",
)
n = sp.Symbol("n", nonnegative=True)
AXLER = Source("S. Axler, Linear Algebra Done Right, 4th ed., section 9C (determinants)")


@CHAPTER.law("bridge")
def bridge() -> Law:
    f0, g0, fu, gs, f0i, g0i = letters("F0 G0 Fu Gv F0inv G0inv")
    # M(0) = F0 G0, M(u) = Fu G0, M(-v) = F0 Gv, M(u-v) = Fu Gv, all by the relative law (F stands for F(·)ᵀ)
    rules = (*inverses(f0, f0i), *inverses(g0, g0i))
    middle = g0i * f0i
    goal = Exact(
        name="A(u)A(-v) = A(u-v)",
        goal=True,
        of=Words((middle * fu * g0) * (middle * f0 * gs), middle * fu * gs, rules),
        note="F0, Fu stand for F(0)ᵀ, F(u)ᵀ and G0, Gv for G(0), G(v); A(u) = M(0)⁻¹M(u) = G0⁻¹F0⁻¹·Fu G0",
    )
    identity = Exact(name="A(0) = I", goal=True, of=Words(middle * (f0 * g0), word_poly(1), rules))
    return Law(
        id="bridge",
        title="Relative makes a group",
        statement=(
            "Let `F(t)ᵀG(s) = M(t-s)` for all real `t, s`, with square factors and `M(0)` invertible. Then "
            "`A(u) = M(0)⁻¹M(u)` satisfies `A(0) = I` and `A(u)A(-v) = A(u-v)` for all real `u, v`: it is a "
            "homomorphism, and `M(u) = M(0)A(u)`."
        ),
        hypotheses=(
            Hypothesis("square", "`F(t)`, `G(s)` are square matrices of one size"),
            Hypothesis("invertible", "`M(0)` is invertible"),
        ),
        steps=(
            Cited(
                name="F(0) and G(0) are invertible",
                lemma="det M(0) = det F(0) det G(0) is not 0, so neither determinant is",
                source=AXLER,
                needs=("square", "invertible"),
            ),
            identity,
            goal,
        ),
        perturbations=(
            goal.but("M(0) is not invertible", rules=()),
            goal.but("M(0) instead of its inverse in A", lhs=(f0 * g0 * fu * g0) * (f0 * g0 * f0 * gs)),
            identity.but("the inverses in the other order", lhs=f0i * g0i * (f0 * g0)),
        ),
        rests_on=("general-linear",),
        sources=(PURANIK,),
        comment=(
            "By the relative law `M(u) = F(u)ᵀG(0)`, `M(-v) = F(0)ᵀG(v)` and `M(0) = F(0)ᵀG(0)`; multiply "
            "out. No continuity is used. `M(0)` itself need not be `I`, only invertible: it is absorbed by "
            "`W_q`. YaRN's `m²I` is an example."
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
    padded = Identity(
        name="padded to squares: M(0) = diag(1, 0) is not invertible",
        lhs=product(transpose(_padded(t)), _padded(s)),
        rhs=sp.ImmutableMatrix(sp.diag(sp.cos(t - s), 0)),
    )
    row, column = sp.ImmutableMatrix([[1, 0]]), sp.ImmutableMatrix([1, 0])
    return Law(
        id="bridge-without-squareness",
        title="“Relative always makes a group”",
        statement=(
            "For `F(t) = G(t) = (cos t, sin t)ᵀ`, where `F(t)ᵀG(s) = cos(t-s)` is relative and `M(0) = 1`, "
            "and for all real `u, v`: `M(u + v) = M(u)M(v)`."
        ),
        expected=Status.REFUTED,
        steps=(tall, padded, goal),
        siblings=(
            goal.but(
                "the group is there one level up: cos u is a corner of R(u)",
                lhs=product(row, R(u), R(v), column),
                rhs=sp.Matrix([[sp.cos(u + v)]]),
            ),
        ),
        rests_on=("general-form",),
        comment=(
            "The factors are not square, so an invertible `M(0)` no longer makes them invertible; padded "
            "with zeros they are square, but `M(0)` is singular. ALiBi is of this kind: it needs two more "
            "slots than the content."
        ),
    )


def _padded(time: sp.Expr) -> sp.ImmutableMatrix:
    return sp.ImmutableMatrix([[sp.cos(time), 0], [sp.sin(time), 0]])


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
            "`C e^{tX} e^{-sX} B = C e^{(t-s)X} B` is unchanged when `c` is added to `t` and `s`. No "
            "squareness of `C` or `B` is needed."
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
        sources=(
            Source(
                "P. M. Anselone, J. Korevaar, Translation invariant subspaces of finite dimension, Proc. AMS "
                "15 (1964): the converse for scalar scores"
            ),
        ),
        comment=(
            "Conversely every continuous, relative score that finitely many features can write as "
            "`F(t)ᵀG(s)` is of this form: [its translates span a finite dimension](#translates). It contains "
            "ALiBi, Transformer-XL's terms and every bias that is an exponential polynomial."
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
            "`n ≥ 1` tokens have `n²` pairs but only `2n - 1 ≤ n²` gaps, from `-(n-1)` to `n-1`, hence at "
            "most `2n - 1` distinct matrices `A(t-s)`; `2n` token-wise maps, one a query and one a key, make "
            "them all."
        ),
        steps=(goal, saved),
        perturbations=(
            goal.but("a new token brings one new gap", state={**counting.state, gaps: (1, gaps + 1)}),
            goal.but("2n gaps", claim={**counting.claim, gaps: 2 * n}),
            saved.but("strictly fewer, for one token too", sign="+"),
        ),
        comment=(
            "A token after `n` others brings the gaps `n` and `-n`, `2n + 1` pairs and two maps. "
            "Attention visits `n²` pairs anyway: what nobody can afford is `n²` matrices."
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
            "So encodings are classified up to similarity. What survives is not the eigenvalues alone, as "
            "one reads, but also the block sizes: the zero matrix and [the slide](#slide-nilpotent) share "
            "their eigenvalues."
        ),
    )


@CHAPTER.law("change-of-basis-qk-norm")
def change_of_basis_qk_norm() -> Law:
    a = sp.Symbol("a", positive=True)
    stretch, shrink = (sp.ImmutableMatrix(sp.diag(b, 1 / b)) for b in (a, 1 / a))
    goal = Identity(
        name="squared cosine before and after",
        goal=True,
        lhs=_cosine_squared(stretch * Q, shrink * K),
        rhs=_cosine_squared(Q, K),
    )
    pair = Identity(
        name="without a norm the stretch cancels",
        lhs=product(transpose(Q), transpose(stretch), shrink, K),
        rhs=product(transpose(Q), K),
    )
    return Law(
        id="change-of-basis-qk-norm",
        title="“A change of basis is free, also with QK-norm”",
        statement=(
            "For `S = diag(a, 1/a)`, `a > 0`, and all `q, k ≠ 0`: the score of the normalised `Sq` and "
            "`S⁻¹k` is, squared, that of the normalised `q` and `k`: "
            "`(Sq·S⁻¹k)²/(‖Sq‖²‖S⁻¹k‖²) = (q·k)²/(‖q‖²‖k‖²)`."
        ),
        expected=Status.REFUTED,
        steps=(pair, goal),
        siblings=(goal.but("a rotation instead of a stretch", lhs=_cosine_squared(R(w) * Q, R(w) * K)),),
        rests_on=("change-of-basis",),
        comment=(
            "With a norm between projection and encoding only orthogonal changes of basis that respect its "
            "gains stay free."
        ),
    )


def _cosine_squared(query: sp.MatrixBase, key: sp.MatrixBase) -> sp.Expr:
    """The squared score of two vectors that are divided by their lengths."""
    return dot(query, key) ** 2 / (dot(query, query) * dot(key, key))
