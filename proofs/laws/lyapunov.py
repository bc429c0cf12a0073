"""Boundedness by a length: both-way and causal bounds from one matrix P, and minimal polynomials."""

import sympy as sp

from ...symbolic.block import Block
from ...symbolic.decide import Status
from ...symbolic.limits import Limit
from ...symbolic.signs import Sign
from ...symbolic.tree import D
from ...symbolic.words import Derived, Words, inverses, letters
from ..law import Hypothesis, Law
from ..step import Cited, Determinant, Enclosed, Exact, Identity, Source
from .bounded import CHAPTER, JORDAN, JORDAN_FORM, longest
from .common import J, N, Parts, g, product, scalars, t, times, transpose, w

RAYLEIGH = Source(
    "R. A. Horn, C. R. Johnson, Matrix Analysis, 2nd ed., Theorem 4.2.2 (Rayleigh: the least and the "
    "greatest eigenvalue bound xᵀPx)"
)
POSITIVE = Hypothesis("positive", "`P` is symmetric and positive definite")
HALF_P = sp.ImmutableMatrix([[1, -2], [-2, 5]])
EXAMPLE = sp.ImmutableMatrix([[6, -15], [3, -6]])
lam = sp.Symbol("lambda", real=True)


@CHAPTER.law("invariant-length")
def invariant_length() -> Law:
    steps, breakers = _invariant_length()
    return Law(
        id="invariant-length",
        title="Bounded both ways: a length that is kept",
        statement=(
            "For a real square `X` the following are equivalent: `exp(tX)` is bounded for all real `t`; `X` "
            "is similar to a direct sum of turns and holds; its minimal polynomial is squarefree with roots "
            "on the imaginary axis; there is a `P > 0` with `XᵀP + PX = 0`. Then `AᵀPA = P` for `A = "
            "exp(tX)`, and `‖exp(tX)‖ ≤ √cond P` for all `t`."
        ),
        hypotheses=(Hypothesis("real", "`X` is a real square matrix"), POSITIVE),
        steps=steps,
        perturbations=breakers,
        rests_on=("only-rotation", "bounded-all-sizes", "change-of-basis"),
        comment=(
            "Deciding it needs no eigenvalues: a gcd, a count of real roots, and one linear system for `P`. "
            "“Isometric” asks for `P = I`, that is for a skew `X`; [a rotation need not look like "
            "one](#bounded-up-to-basis)."
        ),
    )


def _invariant_length() -> Parts:
    """Steps and perturbations of the law."""
    a, at, p, x_, xt = letters("A At P X Xt")
    kept = Words(Derived(at * p * a), 0 * p, ((xt * p, -(p * x_)),), derivation={a: x_ * a, at: at * xt})
    sufficient = Exact(
        name="XᵀP + PX = 0 ⇒ (AᵀPA)' = 0",
        goal=True,
        of=kept,
        note="A stands for e^{tX}, At, Xt for transposes",
    )
    s_, si, st, sti, k, kt = letters("S Sinv St Stinv K Kt")
    rules = (*inverses(s_, si), *inverses(st, sti), (kt, -k))
    necessary = Exact(
        name="X = SKS⁻¹ with skew K ⇒ XᵀP + PX = 0 for P = S⁻ᵀS⁻¹",
        goal=True,
        of=Words((sti * kt * st) * (sti * si) + (sti * si) * (s_ * k * si), 0 * k, rules),
        note="K: the turns and holds of the block form, Kᵀ = -K; xᵀPx = |S⁻¹x|² > 0",
    )
    steps = (
        sufficient,
        Cited(
            name="so ‖Ax‖² ≤ (greatest/least eigenvalue of P) ‖x‖²",
            lemma="λ_min ‖x‖² ≤ xᵀPx ≤ λ_max ‖x‖² for symmetric P",
            source=RAYLEIGH,
            needs=("positive",),
        ),
        Cited(
            name="bounded ⇒ X = SKS⁻¹: the other blocks are unbounded, one by one",
            lemma=JORDAN_FORM + "; the minimal polynomial is squarefree iff all blocks have size 1",
            source=JORDAN,
            needs=("real",),
        ),
        necessary,
    )
    return steps, (
        sufficient.but("XᵀP - PX = 0", rules=((xt * p, p * x_),)),
        sufficient.but("At is e^{-tX}ᵀ", derivation={a: x_ * a, at: -(at * xt)}),
        necessary.but("K is symmetric", rules=(*rules[:-1], (kt, k))),
        necessary.but("P = S⁻¹S⁻ᵀ", lhs=(sti * kt * st) * (si * sti) + (si * sti) * (s_ * k * si)),
    )


@CHAPTER.law("length-bound")
def length_bound() -> Law:
    steps, breakers = _length_bound()
    return Law(
        id="length-bound",
        title="The bound of an example, and where its P comes from",
        statement=(
            "For `X = [[6,-15],[3,-6]]` and `P = [[1,-2],[-2,5]]`, whose eigenvalues are `3 ± 2√2`: `√cond P "
            "= 3 + 2√2 = 5.828…` bounds `‖exp(tX)‖` for all real `t`. The mean of `exp(tX)ᵀexp(tX)` over a "
            "turn is `(I + XᵀX/9)/2 = 3P`."
        ),
        steps=steps,
        perturbations=breakers,
        rests_on=("invariant-length", "bounded-up-to-basis"),
        comment=(
            "In general `P` can be had as such a mean over all time, or from the basis, `S⁻ᵀS⁻¹`, or by "
            "solving `XᵀP + PX = 0` over the rationals."
        ),
    )


def _length_bound() -> Parts:
    """Steps and perturbations of the law."""
    spectrum = Determinant(
        name="det(λI - P) = λ² - 6λ + 1",
        lhs=sp.ImmutableMatrix([[lam - 1, 2], [2, lam - 5]]),
        rhs=lam**2 - 6 * lam + 1,
    )
    low, high = 3 - 2 * sp.sqrt(2), 3 + 2 * sp.sqrt(2)
    roots = Identity(
        name="with the roots 3 ± 2√2",
        goal=True,
        lhs=times(lam - low, lam - high),
        rhs=lam**2 - 6 * lam + 1,
    )
    bound = Identity(
        name="the greatest eigenvalue is (3 + 2√2)² times the least",
        goal=True,
        lhs=high,
        rhs=times(low, high, high),
    )
    value = Enclosed(name="√cond P", goal=True, expr=high, lower="5.828427124", upper="5.828427125")
    flow = (sp.eye(2) * sp.cos(3 * t) + EXAMPLE * sp.sin(3 * t) / 3).as_immutable()
    square = sp.MatAdd(
        sp.eye(2), sp.MatMul(sp.Rational(1, 9), product(transpose(EXAMPLE), EXAMPLE)), evaluate=False
    )
    mean = Identity(
        name="the mean of AᵀA over a turn, (I + XᵀX/9)/2, is 3P",
        goal=True,
        lhs=square,
        rhs=(6 * HALF_P).as_immutable(),
    )
    middle = _mean(flow)
    steps = (spectrum, roots, bound, value, middle, mean)
    return steps, (
        bound.but("cond P is 3 + 2√2", rhs=times(low, high)),
        mean.but(
            "X is not scaled by its frequency",
            lhs=sp.MatAdd(sp.eye(2), product(transpose(EXAMPLE), EXAMPLE), evaluate=False),
        ),
        value.but("the condition number itself", expr=high**2),
    )


def _mean(flow: sp.ImmutableMatrix) -> Identity:
    """AᵀA is its mean plus terms in cos 6t and sin 6t, which cancel over a turn."""
    gram = (transpose(EXAMPLE) * EXAMPLE / 9).as_immutable()
    half = ((sp.eye(2) + gram) / 2).as_immutable()
    wave = ((sp.eye(2) - gram) / 2 * sp.cos(6 * t) + (EXAMPLE + EXAMPLE.T) / 6 * sp.sin(6 * t)).as_immutable()
    return Identity(
        name="AᵀA is its mean plus a wave of frequency 6",
        goal=True,
        lhs=product(transpose(flow), flow),
        rhs=sp.MatAdd(half, wave, evaluate=False),
    )


@CHAPTER.law("minimal-polynomial")
def minimal_polynomial() -> Law:
    a, b, w2, x_ = letters("a b omega2 X")
    numbers = scalars((w2, a, b), (x_,))
    cube = (x_ * x_ * x_, -(w2 * x_))
    flow = 1 + 0 * a + a * x_ + b * x_ * x_
    ode = Words(Derived(flow), x_ * flow, (cube, *numbers), derivation={a: 1 - w2 * b + 0 * a, b: a})
    goal = Exact(
        name="X³ = -ω²X ⇒ e^{tX} = I + aX + bX²",
        goal=True,
        of=ode,
        note="a, b stand for sin(ωt)/ω and (1 - cos ωt)/ω², omega2 for ω²; a' = 1 - ω²b = cos ωt, b' = a",
    )
    s_, c_ = sp.sin(w * t) / w, (1 - sp.cos(w * t)) / w**2
    first = Identity(name="a' = 1 - ω²b", lhs=D(s_, t), rhs=1 - w**2 * c_)
    second = Identity(name="b' = a", lhs=D(c_, t), rhs=s_)
    double = Identity(
        name="a double root: e^{tN} = I + tN for N² = 0",
        lhs=D(sp.eye(2) + t * N, t),
        rhs=product(N, (sp.eye(2) + t * N).as_immutable()),
    )
    return Law(
        id="minimal-polynomial",
        title="One pair of imaginary roots and 0, squarefree: bounded at every size",
        statement=(
            "For every square `X` with `X(X² + ω²) = 0`, `ω > 0`, of any size, and all real `t`: `exp(tX) = "
            "I + (sin ωt)/ω X + (1 - cos ωt)/ω² X²`, so `‖exp(tX)‖ ≤ 1 + ‖X‖/ω + 2‖X‖²/ω²`. Squared factors "
            "spoil it: for `N² = 0` it is `I + tN`."
        ),
        hypotheses=(Hypothesis("equation", "`x(x² + ω²)` is a multiple of the minimal polynomial of `X`"),),
        steps=(first, second, goal, double),
        perturbations=(
            goal.but("the roots are real: X³ = ω²X", rules=((cube[0], w2 * x_), *ode.rules[1:])),
            goal.but("a triple root: X³ = 0", rules=((cube[0], 0 * x_), *ode.rules[1:])),
            first.but("the wave is not divided by ω", lhs=D(sp.sin(w * t), t)),
            double.but(
                "N² = N",
                lhs=D(sp.eye(2) + t * sp.diag(1, 0), t),
                rhs=product(sp.diag(1, 0), (sp.eye(2) + t * sp.diag(1, 0)).as_immutable()),
            ),
        ),
        rests_on=("uniqueness", "invariant-length"),
        comment=(
            "Several frequencies add up in the same way, one term for each factor of the minimal polynomial; "
            "a polynomial is squarefree iff it has no factor in common with its derivative."
        ),
    )


@CHAPTER.law("invariant-slide")
def invariant_slide() -> Law:
    p, q = sp.symbols("p q", positive=True)
    r = sp.Symbol("r", real=True)
    form = sp.ImmutableMatrix([[p, r], [r, q]])
    goal = Identity(name="NᵀP + PN = 0 with p, q > 0", goal=True, lhs=_moved(N, form), rhs=sp.zeros(2, 2))
    plain = sp.ImmutableMatrix(sp.diag(p, p))
    return Law(
        id="invariant-slide",
        title="“Eigenvalues on the imaginary axis are enough”",
        statement=(
            "The slide `N = [[0,1],[0,0]]`, whose eigenvalue 0 lies on the imaginary axis, keeps a length "
            "`√(xᵀPx)` as well: with `P = [[p, r], [r, q]]`, `p, q > 0`, `NᵀP + PN = 0`."
        ),
        expected=Status.REFUTED,
        steps=(goal,),
        siblings=(goal.but("the turn J with P = pI", lhs=_moved(J, plain)),),
        rests_on=("invariant-length",),
        comment=(
            "The entry above the diagonal is `p`, which is not 0. A double root of the minimal polynomial, "
            "`x²` here, is what grows."
        ),
    )


def _moved(matrix: sp.ImmutableMatrix, form: sp.ImmutableMatrix) -> sp.MatAdd:
    """XᵀP + PX."""
    return sp.MatAdd(product(transpose(matrix), form), product(form, matrix), evaluate=False)


@CHAPTER.law("causal-length")
def causal_length() -> Law:
    steps, breakers = _causal_length()
    return Law(
        id="causal-length",
        title="Bounded forwards: a length that never grows",
        statement=(
            "For a real square `X` the following are equivalent: `exp(tX)` is bounded for `t ≥ 0`; `Re λ ≤ "
            "0` for every eigenvalue, and those with `Re λ = 0` have blocks of size 1 only; there is a `P > "
            "0` with `XᵀP + PX ⪯ 0`. Then `xᵀAᵀPAx` never grows, as its derivative is `-‖WAx‖²` with `XᵀP + "
            "PX = -WᵀW`, and `‖exp(tX)‖ ≤ √cond P` for `t ≥ 0`. For the faded slide `X = J₂(-γ)`, `γ > 0`: "
            "`P = diag(4γ², 1)` and `XᵀP + PX = -2γ wwᵀ` with `w = (2γ, -1)`."
        ),
        hypotheses=(Hypothesis("real", "`X` is a real square matrix"), POSITIVE),
        steps=steps,
        perturbations=breakers,
        rests_on=("invariant-length", "bounded-all-sizes"),
        comment=(
            "A faded slide first rises and then fades; the right length never rises. Causal models need no "
            "more than this; the strict case `XᵀP + PX < 0`, where everything fades, is Lyapunov's theorem."
        ),
    )


def _scaled() -> Identity:
    """S J₃(-γ) S⁻¹ = -γI + sN for S = diag(s², s, 1)."""
    s = sp.Symbol("s", positive=True)
    slide, scale = Block(g, 0, 3).matrix, sp.ImmutableMatrix(sp.diag(s**2, s, 1))
    return Identity(
        name="a block of size 3 in a scaled basis: -γI + sN",
        lhs=product(scale, slide, sp.ImmutableMatrix(sp.diag(s**-2, 1 / s, 1))),
        rhs=sp.ImmutableMatrix(-g * sp.eye(3) + s * sp.Matrix([[0, 1, 0], [0, 0, 1], [0, 0, 0]])),
        note="so xᵀ(X + Xᵀ)x ≤ (-2γ + 2s)‖x‖², which is not positive for s ≤ γ; turns and holds have P = I",
    )


def _causal_length() -> Parts:
    """Steps and perturbations of the law."""
    a, at, p, x_, xt, k, kt = letters("A At P X Xt W Wt")
    falls = Exact(
        name="(AᵀPA)' = -(WA)ᵀ(WA)",
        goal=True,
        of=Words(
            Derived(at * p * a),
            -(at * kt * k * a),
            ((xt * p, -(p * x_) - kt * k),),
            derivation={a: x_ * a, at: at * xt},
        ),
        note="A stands for e^{tX}, At, Xt, Wt for transposes; XᵀP + PX = -WᵀW",
    )
    slide, scaled = Block(g, 0, 2).matrix, _scaled()
    form, row = sp.ImmutableMatrix(sp.diag(4 * g**2, 1)), sp.ImmutableMatrix([[2 * g, -1]])
    faded = Identity(
        name="the faded slide: XᵀP + PX is minus 2γ times a square",
        goal=True,
        lhs=_moved(slide, form),
        rhs=sp.MatMul(-2 * g, product(transpose(row), row)),
    )
    minors = Exact(name="and P = diag(4γ², 1) > 0", of=Sign(4 * g**2, "+"))
    steps = (
        falls,
        Cited(
            name="so ‖Ax‖² ≤ (greatest/least eigenvalue of P) ‖x‖² for t ≥ 0",
            lemma="λ_min ‖x‖² ≤ xᵀPx ≤ λ_max ‖x‖² for symmetric P",
            source=RAYLEIGH,
            needs=("positive",),
        ),
        faded,
        minors,
        scaled,
        Cited(
            name="bounded ⇒ such a P: block by block, in the basis of the blocks",
            lemma=JORDAN_FORM,
            source=JORDAN,
            needs=("real",),
        ),
    )
    return steps, (
        falls.but("XᵀP + PX = +WᵀW", rules=((xt * p, -(p * x_) + kt * k),)),
        faded.but("the plain length, P = I", lhs=_moved(slide, sp.eye(2).as_immutable())),
        minors.but("negative definite", sign="-"),
    )


@CHAPTER.law("half-plane")
def half_plane() -> Law:
    turning = Block(0, w, 2)
    goal = Exact(
        name="the longest column stays bounded", goal=True, of=Limit(longest(turning), t, sp.oo, sp.S.One)
    )
    flow = turning.exp(t)
    square = Identity(
        name="its squared length is 1 + t²",
        lhs=sp.Add(*(sp.Pow(e, 2, evaluate=False) for e in flow[:, -1]), evaluate=False),
        rhs=longest(turning),
    )
    return Law(
        id="half-plane",
        title="“Re λ ≤ 0 is enough for a causal model”",
        statement=(
            "The slide inside a turn `C₂(0, ω)`, `ω > 0`, whose eigenvalues `±iω` satisfy `Re λ ≤ 0`, is "
            "bounded for `t ≥ 0`: the squared length of its last column tends to 1 as `t → ∞`."
        ),
        expected=Status.REFUTED,
        steps=(square, goal),
        siblings=(goal.but("with any fade, γ > 0", expr=longest(Block(g, w, 2)), value=sp.S.Zero),),
        rests_on=("causal-length", "bounded/turning-slide"),
        comment="It is `1 + t²`. Eigenvalues on the axis must come in blocks of size 1.",
    )
