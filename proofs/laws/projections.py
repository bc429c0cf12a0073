"""More of the bridge: the factors themselves, singular maps, and composing without standing still."""

import sympy as sp

from ...symbolic.decide import Status
from ...symbolic.free import word_poly
from ...symbolic.words import Derived, Words, commuting, inverses, letters
from ..law import Hypothesis, Law
from ..step import Cited, Exact, Identity
from .bridge import AXLER, CHAPTER
from .common import Parts, product, s, t, u

one = word_poly(1)


@CHAPTER.law("bridge-factors")
def bridge_factors() -> Law:
    steps, breakers = _bridge_factors()
    return Law(
        id="bridge-factors",
        title="The two factors, up to one matrix",
        statement=(
            "Let `F(t)ᵀG(s) = M(t-s)` for all real `t, s`, with square factors and `M(0)` invertible, and "
            "`A` as in [the bridge](#bridge). Then `F(t)ᵀ = M(0)A(t)G(0)⁻¹` and `G(s) = G(0)A(-s)`. "
            "Conversely every homomorphism `A`, every `M(0)` and every invertible `G(0)` make a relative "
            "pair in this way."
        ),
        hypotheses=(
            Hypothesis("square", "`F(t)`, `G(s)` are square matrices of one size"),
            Hypothesis("invertible", "`M(0)` is invertible"),
        ),
        steps=steps,
        perturbations=breakers,
        rests_on=("bridge",),
        comment=(
            "So query and key get contragredient maps, `A(t)ᵀ` and `A(s)⁻¹`, and one matrix is free to stand "
            "on either side. Only for orthogonal `A` are the two the same map."
        ),
    )


def _bridge_factors() -> Parts:
    """Steps and perturbations of the law."""
    f0, g0, ft, gs, f0i, g0i = letters("F0 G0 Ft Gs F0inv G0inv")
    rules = (*inverses(f0, f0i), *inverses(g0, g0i))
    forward, backward = g0i * f0i * (ft * g0), g0i * f0i * (f0 * gs)
    query = Exact(
        name="F(t)ᵀ = M(0)A(t)G(0)⁻¹",
        goal=True,
        of=Words((f0 * g0) * forward * g0i, ft, rules),
        note="F0, Ft stand for F(0)ᵀ, F(t)ᵀ and G0, Gs for G(0), G(s); A(t) = M(0)⁻¹M(t) = G0⁻¹F0⁻¹·Ft G0",
    )
    key = Exact(
        name="G(s) = G(0)A(-s)", goal=True, of=Words(g0 * backward, gs, rules), note="A(-s) = G0⁻¹F0⁻¹·F0 Gs"
    )
    m0, at, back, at_c, back_c = letters("M0 At As Ac Acinv")
    shifted = Exact(
        name="sufficient: any group and any M(0) give a relative pair",
        goal=True,
        of=Words(
            (m0 * at * at_c * g0i) * (g0 * back_c * back),
            (m0 * at * g0i) * (g0 * back),
            (*inverses(g0, g0i), *inverses(at_c, back_c)),
        ),
        note="At, Ac, As stand for A(t), A(c), A(-s); both positions are shifted by c",
    )
    wq, a, wk = letters("Wq A Wk")
    absorbed = Exact(
        name="W_q absorbs M(0)",
        goal=True,
        of=Words(wq * m0 * a * wk, (wq * m0 * g0) * (g0i * a * wk), inverses(g0, g0i)),
        note="Wq stands for the transposed query projection; with G(0) = I the new one is M(0)ᵀW_q",
    )
    steps = (
        Cited(
            name="F(0) and G(0) are invertible",
            lemma="det M(0) = det F(0) det G(0) is not 0, so neither determinant is",
            source=AXLER,
            needs=("square", "invertible"),
        ),
        query,
        key,
        shifted,
        absorbed,
    )
    return steps, (
        query.but("F(0) is not invertible", rules=inverses(g0, g0i)),
        key.but("G(0) on the other side", lhs=backward * g0),
        shifted.but("only the query is shifted", rhs=(m0 * at * at_c * g0i) * (g0 * back)),
        absorbed.but("G(0) on both sides", rhs=(wq * m0 * g0) * (g0 * a * wk)),
    )


@CHAPTER.law("bridge-without-invertibility")
def bridge_without_invertibility() -> Law:
    f, g_ = _singular(t), sp.ImmutableMatrix([[0, -s], [0, 1]])
    m_u = sp.ImmutableMatrix([[0, u], [0, 0]])
    square = Identity(
        name="F and G are square and relative",
        lhs=product(f, g_),
        rhs=sp.ImmutableMatrix([[0, t - s], [0, 0]]),
    )
    free = sp.ImmutableMatrix(2, 2, sp.symbols("a b c d", real=True))
    zero = sp.zeros(2, 2).as_immutable()
    goal = Identity(name="M(u) = M(0)A(u)", goal=True, lhs=m_u, rhs=product(zero, free))
    filled = sp.ImmutableMatrix([[1, u], [0, 1]])
    return Law(
        id="bridge-without-invertibility",
        title="“Square factors always make a group”",
        statement=(
            "For `F(t)ᵀ = [[1, t], [0, 0]]` and `G(s) = [[0, -s], [0, 1]]`, which are square, with "
            "`F(t)ᵀG(s) = M(t-s)`, `M(u) = [[0, u], [0, 0]]`, and for every real `u` there is an `A(u) = "
            "[[a, b], [c, d]]` with `M(u) = M(0)A(u)`."
        ),
        expected=Status.REFUTED,
        steps=(square, goal),
        siblings=(
            goal.but("M(0) made invertible: `[[1, u], [0, 1]]`", lhs=filled, rhs=product(sp.eye(2), filled)),
        ),
        rests_on=("bridge", "alibi-lift"),
        comment=(
            "`M(0) = 0`, so no `A` can start from it: this is ALiBi's slope in its two slots. The group is "
            "there all the same, one level up: `M(u) = C e^{uN} B`, [the general form](#general-form)."
        ),
    )


def _singular(time: sp.Expr) -> sp.ImmutableMatrix:
    return sp.ImmutableMatrix([[1, time], [0, 0]])


@CHAPTER.law("composing-projection")
def composing_projection() -> Law:
    p, a, b, e, x = letters("P A B E X")
    zero = ((p * p, p), (p * a, a), (a * p, a), (p * b, b), (b * p, b))
    rest = one - p
    whole = Exact(
        name="A(u) + I - P composes and is I at 0",
        goal=True,
        of=Words((a + rest) * (b + rest), a * b + rest, zero),
        note="A, B stand for A(u), A(v), P for A(0); P² = P, PA = AP = A are the law with u or v = 0",
    )
    cut = Exact(name="and A = P(A + I - P)P", goal=True, of=Words(p * (a + rest) * p, a, zero))
    slope = Exact(
        name="sufficient: with PX = XP the product P e^{uX} composes",
        goal=True,
        of=Words((p * a) * (p * b), p * a * b, ((p * p, p), *commuting(p, a))),
        note="A, B stand for e^{uX}, e^{vX}",
    )
    still = Exact(
        name="as P passes e^{uX}: (PE)' = X(PE), as for EP",
        of=Words(Derived(p * e), x * (p * e), commuting(p, x), derivation={e: x * e}),
        note="E stands for e^{uX}; both are P at 0",
    )
    return Law(
        id="composing-projection",
        title="Composing alone: a projection times a flow",
        statement=(
            "Let `A` be continuous with `A(u + v) = A(u)A(v)` for all real `u, v`, and nothing said of "
            "`A(0)`. Then `P = A(0)` is a projection, `P² = P`, `PA(u) = A(u)P = A(u)`; `A(u) + I - P` is a "
            "continuous homomorphism, hence `e^{uX}`; and `A(u) = P e^{uX} P`. Conversely, every projection "
            "`P` and every `X` with `PX = XP` give such an `A`."
        ),
        hypotheses=(
            Hypothesis("continuity", "`A` is continuous"),
            Hypothesis("composes", "`A(u + v) = A(u)A(v)` for all real `u, v`"),
        ),
        steps=(whole, cut, still, slope),
        perturbations=(
            whole.but("A(u)P is not A(u)", rules=tuple(rule for rule in zero if rule[0] != a * p)),
            cut.but("the identity is not taken away", lhs=p * (a + one) * p),
            slope.but("P does not pass e^{uX}", rules=((p * p, p),)),
        ),
        rests_on=("uniqueness",),
        comment=(
            "[A machine that changes something by standing still](#broken-identity) is all that giving up "
            "`A(0) = I` adds: what `P` drops is lost at every gap, and on what it keeps there is an ordinary "
            "flow."
        ),
    )


@CHAPTER.law("composing-identity")
def composing_identity() -> Law:
    p, a, a_inv = letters("P A Ainv")
    goal = Exact(
        name="A(0) = I",
        goal=True,
        of=Words(p, one, ((p * p, p), (p * a, a), (a * p, a))),
        note="P stands for A(0)",
    )
    return Law(
        id="composing-identity",
        title="“What composes is the identity at gap 0”",
        statement=(
            "From `A(u + v) = A(u)A(v)` for all real `u, v`, which makes `A(0)A(0) = A(0)` and `A(0)A(u) = "
            "A(u)`, it follows that `A(0) = I`."
        ),
        expected=Status.REFUTED,
        steps=(goal,),
        siblings=(
            goal.but(
                "one A(u) is invertible",
                lhs=p * a * a_inv,
                rhs=one,
                rules=((p * a, a), *inverses(a, a_inv)),
            ),
        ),
        rests_on=("composing-projection",),
        comment=(
            "Any projection does, `A = 0` for example. With one invertible `A(u)` it is true: `A(0)A(u) = "
            "A(u)` can be divided by `A(u)`."
        ),
    )
