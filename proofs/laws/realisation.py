"""Which biases are a generator in disguise: Kronecker's theorem, direction by direction."""

import sympy as sp

from ...symbolic.free import word_poly
from ...symbolic.tree import At, D
from ...symbolic.words import Derived, Words, inverses, letters
from ..law import Chapter, Hypothesis, Law
from ..step import Cited, Exact, Identity, Source
from .common import Parts, plus, product, scalars, times, u, w
from .uniqueness import RUDIN

CHAPTER = Chapter(
    "realisation",
    "Which biases are a generator in disguise",
    "A kernel without an argument for a bias can still add `b(t-s)` to a score, by a few more slots in query "
    "and key, if `b(u) = cᵀ e^{uX} v`. Such biases are exactly the exponential polynomials. Each direction "
    "of this is a law of its own, and so is the least number of slots.",
)
HORN_JOHNSON = "R. A. Horn, C. R. Johnson, Matrix Analysis, 2nd ed., Cambridge University Press 2013"
CAYLEY = Source(f"{HORN_JOHNSON}, Theorem 2.4.3.2 (Cayley-Hamilton)")
PRIMARY = Source(
    "K. Hoffman, R. Kunze, Linear Algebra, 2nd ed., Prentice-Hall 1971, section 6.8, Theorem 12 (primary "
    "decomposition) and its example on differential equations"
)
ANSELONE_KOREVAAR = Source(
    "P. M. Anselone, J. Korevaar, Translation invariant subspaces of finite dimension, Proc. AMS 15 (1964) "
    "747-752"
)
DE_SCHUTTER = Source(
    "B. De Schutter, Minimal state-space realization in linear system theory: an overview, J. Comput. Appl. "
    "Math. 121 (2000) 331-354",
    "https://doi.org/10.1016/S0377-0427(00)00341-1",
)
FINITE = Hypothesis("finite", "`X` is a square matrix of some size `d`")
CONTINUOUS = Hypothesis("continuous", "`b` is continuous")
one = word_poly(1)


def companion(*low: sp.Expr) -> sp.ImmutableMatrix:
    """The companion matrix of x^d + … + a₁x + a₀: ones above the diagonal, -a₀, -a₁, … in the last row."""
    d = len(low)
    rows = [[sp.Integer(j == i + 1) for j in range(d)] for i in range(d - 1)]
    return sp.ImmutableMatrix([*rows, [-a for a in low]])


def derivatives(formula: sp.Expr, count: int) -> sp.ImmutableMatrix:
    """The column (b, b', b'', …) of `count` entries, unevaluated."""
    return sp.ImmutableMatrix([formula, *(D(formula, *[u] * k) for k in range(1, count))])


def at_zero(formula: sp.Expr, order: int) -> sp.Expr:
    """The derivative of that order at u = 0, unevaluated."""
    return At(D(formula, *[u] * order) if order else formula, u, 0)


@CHAPTER.law("generator-solves-equation")
def generator_solves_equation() -> Law:
    steps, breakers = _generator_solves_equation()
    return Law(
        id="generator-solves-equation",
        title="Necessary: every generator's bias solves an equation",
        statement=(
            "Let `b(u) = cᵀ e^{uX} v` with `X` of size `d`, and let `p` be the characteristic polynomial of "
            "`X`. Then `b` has derivatives of every order, `b^{(k)} = cᵀ X^k e^{uX} v`, and `p(D)b = 0` for "
            "all real `u`: a linear equation of order `d` with constant coefficients."
        ),
        hypotheses=(FINITE,),
        steps=steps,
        perturbations=breakers,
        rests_on=("uniqueness",),
        comment=(
            "So a bias that solves no such equation is outside, however many slots are spent. The other "
            "direction is [the next law](#equation-has-generator)."
        ),
    )


def _generator_solves_equation() -> Parts:
    """Steps and perturbations of the law."""
    c, p, x, e, v_, z, a0, a1 = letters("C P X E V Z a0 a1")
    once = Exact(
        name="every derivative puts one more X in the middle",
        goal=True,
        of=Words(Derived(c * p * e * v_), c * p * x * e * v_, derivation={e: x * e}),
        note="C stands for cᵀ, V for v, E for e^{uX}, P for any power of X",
    )
    numbers = scalars((a0, a1), (c, x, e, v_))
    second = Words(
        c * x * x * e * v_ + a1 * c * x * e * v_ + a0 * c * e * v_,
        0 * c,
        ((x * x, -(a1 * x) - a0), *numbers),
    )
    two = Exact(name="written out for X² = -a₁X - a₀: b'' + a₁b' + a₀b = 0", goal=True, of=second)
    goal = Exact(
        name="p(D)b = cᵀ p(X) e^{uX} v = 0",
        goal=True,
        of=Words(c * z * e * v_, 0 * c, ((z, 0 * z),)),
        note="Z stands for p(X), the zero matrix",
    )
    steps = (
        once,
        two,
        Cited(
            name="p(X) = 0",
            lemma="Cayley-Hamilton: a square matrix is a root of its characteristic polynomial",
            source=CAYLEY,
            needs=("finite",),
        ),
        goal,
    )
    return steps, (
        once.but("X enters twice", rhs=c * p * x * x * e * v_),
        goal.but("p(X) is not zero", rules=()),
        two.but("X² = -a₁X + a₀", rules=((x * x, -(a1 * x) + a0), *numbers)),
    )


@CHAPTER.law("equation-has-generator")
def equation_has_generator() -> Law:
    a = sp.symbols("a0:4", real=True)
    moves = tuple(_moves(a[:d]) for d in (2, 3, 4))
    x, e, y = letters("X E Y")
    still = Exact(
        name="(e^{-uX} y)' = 0",
        goal=True,
        of=Words(Derived(e * y), 0 * e, derivation={y: x * y, e: -(e * x)}),
        note="E stands for e^{-uX}, Y for y = (b, b', …, b^{(d-1)})",
    )
    start = Exact(name="at u = 0 it is y(0) = v", of=Words(e * y, y, ((e, one),)))
    wrong = companion(a[0], -a[1])
    return Law(
        id="equation-has-generator",
        title="Sufficient: every equation has its generator",
        statement=(
            "Let `p(D)b = 0` for all real `u`, `p = x^d + a_{d-1}x^{d-1} + … + a₀`. With `X` the companion "
            "matrix of `p` and `y = (b, b', …, b^{(d-1)})`: `y' - Xy = (0, …, 0, p(D)b)ᵀ = 0`, so `e^{-uX}y` "
            "is constant, `y(u) = e^{uX} y(0)` and `b(u) = e₁ᵀ e^{uX} v` with `v = y(0)`."
        ),
        hypotheses=(
            Hypothesis("equation", "`b` has `d` derivatives and `p(D)b = 0` on all of `ℝ`"),
            FINITE,
        ),
        steps=(
            *moves,
            still,
            Cited(
                name="so e^{-uX}y is y(0) for all u",
                lemma="a function on ℝ with zero derivative is constant",
                source=RUDIN,
                needs=("equation",),
            ),
            start,
        ),
        perturbations=(
            moves[0].but("a coefficient with the other sign", lhs=_moves(a[:2], wrong).lhs),
            still.but("e^{uX} instead of e^{-uX}", derivation={y: x * y, e: e * x}),
            start.but("E is 2I at 0", rules=((e, word_poly(2)),)),
        ),
        rests_on=("uniqueness",),
        comment=(
            "In rows 1 to `d - 1` the companion matrix only says that the next entry is the derivative; the "
            "last row is the equation. It is written out for `d = 2, 3, 4` with free coefficients and an "
            "arbitrary `b`; no other row occurs for any `d`."
        ),
    )


def _moves(low: tuple[sp.Symbol, ...], matrix: sp.ImmutableMatrix | None = None) -> Identity:
    """y' = (b', …, b^{(d)}) beside Xy; the derivatives of b are free symbols b0, b1, …"""
    d = len(low)
    b = sp.symbols(f"b0:{d + 1}", real=True)
    equation = plus(*(times(a, x) for a, x in zip((*low, sp.S.One), b, strict=True)))
    still = product(-(matrix or companion(*low)), sp.ImmutableMatrix(b[:d]))
    return Identity(
        name=f"order {d}: y' - Xy is 0 but for the equation in the last row",
        goal=True,
        lhs=sp.MatAdd(sp.ImmutableMatrix(b[1:]), still, evaluate=False),
        rhs=sp.ImmutableMatrix([*[0] * (d - 1), equation]),
        note="b0, b1, … stand for b, b', …",
    )


@CHAPTER.law("equation-solutions")
def equation_solutions() -> Law:
    steps, breakers = _equation_solutions()
    return Law(
        id="equation-solutions",
        title="The solutions are the exponential polynomials",
        statement=(
            "For all real `λ, γ`, all `ω > 0` and every differentiable `a`: `(D - λ)(a e^{λu}) = a' e^{λu}`, "
            "and `(e^{-λu}a)' = e^{-λu}(D - λ)a`. So `u^k e^{λu}` with `k < m` are solutions of `(D - λ)ᵐ f "
            "= 0` and, up to combinations, the only ones; and `u^k e^{-γu} cos ωu`, `u^k e^{-γu} sin ωu` are "
            "solutions of `((D + γ)² + ω²)ᵐ f = 0`. Every solution of `p(D)f = 0` is a sum of these: an "
            "exponential polynomial of order at most `deg p`."
        ),
        hypotheses=(Hypothesis("equation", "`p(D)f = 0` on all of `ℝ`, `p` a real polynomial"),),
        steps=steps,
        perturbations=breakers,
        rests_on=("equation-has-generator", "generator-solves-equation", "complete-list"),
        comment=(
            "That there are no others for complex roots: `f` is `cᵀ exp(uX) v` with the companion matrix of "
            "`p`, and [the complete list](#complete-list) has all entries of `exp(uX)`. The order counts "
            "each exponent with its degree plus one, and a turn twice: `u²` has order 3, `u "
            "e^{-γu} cos ωu` order 4."
        ),
    )


def _equation_solutions() -> Parts:
    """Steps and perturbations of the law."""
    rate, g = sp.symbols("lambda gamma", real=True)
    p, q, r = sp.symbols("p q r", real=True)
    a = p + q * u + r * u**2
    grown, turned = a * sp.exp(rate * u), a * sp.exp(-g * u) * sp.cos(w * u)
    lowers = Identity(
        name="(D - λ)(a e^{λu}) = a' e^{λu}",
        goal=True,
        lhs=plus(D(grown, u), -rate * grown),
        rhs=times(D(a, u), sp.exp(rate * u)),
        note=(
            "only a, a', a'' occur here, and a quadratic a has any values of them; k + 1 times end a of "
            "degree k"
        ),
    )
    pair = Identity(
        name="((D + γ)² + ω²)(a e^{-γu} cos ωu) has only a' and a''",
        goal=True,
        lhs=plus(D(turned, u, u), 2 * g * D(turned, u), (g**2 + w**2) * turned),
        rhs=sp.exp(-g * u) * (D(a, u, u) * sp.cos(w * u) - 2 * w * D(a, u) * sp.sin(w * u)),
    )
    back = Identity(
        name="(e^{-λu} a)' = e^{-λu} (D - λ)a",
        goal=True,
        lhs=D(sp.exp(-rate * u) * a, u),
        rhs=sp.exp(-rate * u) * plus(D(a, u), -rate * a),
        note="so (D - λ)ᵐ a = 0 makes the m-th derivative of e^{-λu} a vanish: it is a polynomial",
    )
    steps = (
        lowers,
        pair,
        back,
        Cited(
            name="and only sums over the factors of p",
            lemma=(
                "primary decomposition: the kernel of a product of coprime polynomials of an operator is the "
                "direct sum of their kernels; real polynomials split into factors x - λ and (x + γ)² + ω²"
            ),
            source=PRIMARY,
            needs=("equation",),
        ),
    )
    return steps, (
        lowers.but("the rate of another exponential", lhs=plus(D(grown, u), rate * grown)),
        pair.but("without the term 2γD", lhs=plus(D(turned, u, u), (g**2 + w**2) * turned)),
        back.but("a growth where a fade is needed", lhs=D(sp.exp(rate * u) * a, u)),
    )


@CHAPTER.law("translates")
def translates() -> Law:
    steps, breakers = _translates()
    return Law(
        id="translates",
        title="Finitely many translates, one generator",
        statement=(
            "For continuous `b : ℝ → ℝ` the following are equivalent: (i) `b(u) = cᵀ e^{uX} v` with `X` of "
            "size `d`; (ii) the translates `b(· + s)` span a space of dimension at most `d`. For (ii) ⇒ (i): "
            "with a basis `f` of that space `f(u + s) = T(s)f(u)`, and for all real `s, r`: `T(s + r) = "
            "T(s)T(r)`, `T(0) = I`; so `T(s) = e^{sX}`."
        ),
        hypotheses=(
            CONTINUOUS,
            Hypothesis("all-reals", "`b(u)` is given for every real `u`"),
        ),
        steps=steps,
        perturbations=breakers,
        rests_on=("uniqueness", "flow-group-law"),
        sources=(ANSELONE_KOREVAAR,),
        comment=(
            "`T(s) = M(s)W⁻¹` is continuous with `b`, and `T(-s)` inverts it, so [there is one "
            "`X`](#uniqueness); `b` is a combination of the `f_i`, `b(s) = cᵀ T(s) f(0)`. If finitely many "
            "features write a relative score as `F(t)ᵀG(s)`, its entries are combinations of the entries of "
            "`F`, whatever the shift: (ii) holds. For distributions in place of continuous functions the "
            "theorem is Anselone's and Korevaar's."
        ),
    )


def _translates() -> Parts:
    """Steps and perturbations of the law."""
    c, es, eu, both, v_ = letters("C Es Eu Eboth V")
    span = Exact(
        name="(i) ⇒ (ii): b(u + s) = (cᵀ e^{sX})(e^{uX} v)",
        goal=True,
        of=Words(c * both * v_, c * es * eu * v_, ((both, es * eu),)),
        note="Eboth stands for e^{(u+s)X}",
    )
    values, later, inv, ts, tr, at_r = letters("W Mboth Winv Ts Tr Mr")
    rules = (*inverses(values, inv), (later, ts * at_r), (at_r, tr * values))
    goal = Exact(
        name="(ii) ⇒ (i): T(s + r) = T(s)T(r)",
        goal=True,
        of=Words(later * inv, ts * tr, rules),
        note="W = [f_i(u_j)], M(s) = [f_i(u_j + s)] = T(s)W; Mboth stands for M(s + r) = T(s)M(r)",
    )
    start = Exact(name="T(0) = I", goal=True, of=Words(values * inv, one, inverses(values, inv)))
    steps = (
        span,
        Cited(
            name="some points u_j make W invertible",
            lemma=(
                "the vectors f(u) span ℝᵈ, else a row orthogonal to all of them would be a linear relation "
                "between the f_i; a spanning set contains a basis"
            ),
            source=Source("S. Axler, Linear Algebra Done Right, 4th ed., section 2B (bases)"),
        ),
        goal,
        start,
    )
    return steps, (
        goal.but("W is not invertible", rules=rules[2:]),
        goal.but("translation acts from the other side", rhs=tr * ts),
        span.but("one translate is left out", rhs=c * eu * v_),
        start.but("W has no inverse", rules=()),
    )


__all__ = ["CHAPTER", "DE_SCHUTTER", "FINITE", "HORN_JOHNSON", "at_zero", "companion", "derivatives", "one"]
