"""Whole positions: homomorphisms of ℤ, which steps have a real logarithm, and steps that cannot be undone."""

import sympy as sp

from ...symbolic.block import Block
from ...symbolic.decide import Status
from ...symbolic.free import word_poly
from ...symbolic.signs import Sign
from ...symbolic.tree import At
from ...symbolic.words import Words, commuting, inverses, letters
from ..law import Hypothesis, Law
from ..step import Cited, Exact, Identity, Source
from .common import Parts, g, plus, product, times, w
from .one_parameter import BLOCKS
from .uniqueness import CHAPTER

CULVER = Source(
    "W. J. Culver, On the existence and uniqueness of the real logarithm of a matrix, Proc. AMS 17 (1966) "
    "1146-1151, Theorem 1"
)
FITTING = Source(
    "N. Jacobson, Basic Algebra II, 2nd ed., section 3.4 (Fitting's lemma: a linear map is, on two invariant "
    "complements, invertible and nilpotent)"
)
a, b, c, d = sp.symbols("a b c d", real=True)
one = word_poly(1)


@CHAPTER.law("integer-homomorphisms")
def integer_homomorphisms() -> Law:
    before, at_one, back, after = letters("An A1 Aback Anext")
    goal = Exact(
        name="A(n + 1) = A(n)A(1): from Bⁿ to Bⁿ⁺¹",
        goal=True,
        of=Words(after * back, before, ((after, before * at_one), *inverses(at_one, back))),
        note=(
            "An, Anext stand for A(n), A(n + 1), Aback for A(-1); so A(n) = A(n + 1)A(-1) as well, for n < 0"
        ),
    )
    undone = Exact(
        name="B is invertible: A(1)A(-1) = A(0) = I",
        goal=True,
        of=Words(at_one * back, one, inverses(at_one, back)),
    )
    first, second, both = letters("Bm Bn Bk")
    law = Exact(
        name="and every B makes one, from n to n + 1",
        goal=True,
        of=Words(first * (second * at_one), both * at_one, ((first * second, both),)),
        note="Bm, Bn, Bk stand for Bᵐ, Bⁿ and Bᵐ⁺ⁿ; backwards the same with B⁻¹ = A(-1)",
    )
    return Law(
        id="integer-homomorphisms",
        title="On whole positions every invertible matrix is an encoding",
        statement=(
            "Let `A(m + n) = A(m)A(n)` and `A(0) = I` for all integers `m, n`. Then `B = A(1)` is invertible "
            "and `A(n) = Bⁿ`; and every invertible `B` gives such an `A`. Nothing is asked of continuity: "
            "every function on the integers is continuous."
        ),
        hypotheses=(Hypothesis("integers", "positions are whole, of both signs"),),
        steps=(undone, goal, law),
        perturbations=(
            undone.but("A(1) has no inverse", rules=()),
            goal.but("two steps for one", rules=((after, before * at_one * at_one), *inverses(at_one, back))),
            law.but("the step enters on the other side", rhs=at_one * both),
        ),
        rests_on=("general-linear",),
        comment=(
            "So the question is which `B` are `e^X` with a real `X`: [not all](#real-logarithm). On whole "
            "positions the family is larger than on the line."
        ),
    )


@CHAPTER.law("real-logarithm")
def real_logarithm() -> Law:
    steps, breakers = _real_logarithm()
    return Law(
        id="real-logarithm",
        title="Which steps have a real logarithm",
        statement=(
            "A real matrix `B` is `e^X` with a real `X` iff it is invertible and each Jordan block of each "
            "negative eigenvalue occurs an even number of times. Pairs have one, for every `ρ = e^{-γ}`: "
            "`exp(C₁(γ, π)) = -ρI` and `exp(C₂(γ, π)) = -ρ(I + N⊗I)`. `diag(-ρ, -σ)` with `ρ ≠ σ` and the "
            "single block `[[-ρ, 1], [0, -ρ]]` have none: an `X` commutes with its `e^X`, so it is diagonal, "
            "or of the form `[[a, b], [0, a]]`; but `e^a = -ρ` for no real `a`."
        ),
        hypotheses=(Hypothesis("real", "`B` and `X` are real"),),
        steps=steps,
        perturbations=breakers,
        rests_on=("integer-homomorphisms", "flow/damped-turn", "flow/damped-turning-slide", "uniqueness"),
        comment=(
            "`exp` does not reach every invertible matrix, and yet every continuous group on the line is an "
            "exponential. On whole positions the missing ones are real encodings, [with rows](#integer-rows) "
            "`(-ρ)ⁿ nᵏ`: gates that turn negative, delta rules with `β` between 1 and 2."
        ),
    )


def _real_logarithm() -> Parts:
    """Steps and perturbations of the law."""
    damped, taller = BLOCKS["damped-turn"], BLOCKS["damped-turning-slide"]
    single = _at_half_turn(damped, -sp.exp(-g) * sp.eye(2), "C₁(γ, π) at t = 1 is -ρI: two blocks J₁(-ρ)")
    lower = (-sp.exp(-g) * sp.Matrix([[1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1]])).as_immutable()
    double = _at_half_turn(taller, lower, "C₂(γ, π) at t = 1 is -ρ(I + N⊗I): two blocks of size 2")
    necessary = _no_logarithm()
    steps = (
        single,
        double,
        *necessary,
        Cited(
            name="every B",
            lemma=(
                "Culver: a real square matrix has a real logarithm iff it is invertible and each Jordan "
                "block belonging to a negative eigenvalue occurs an even number of times"
            ),
            source=CULVER,
            needs=("real",),
        ),
    )
    return steps, (
        single.but("two different eigenvalues", rhs=sp.diag(-sp.exp(-g), -sp.exp(-2 * g)).as_immutable()),
        double.but(
            "one block of size 4",
            rhs=(lower + sp.Matrix(4, 4, lambda i, j: int((i, j) == (1, 2)))).as_immutable(),
        ),
        necessary[2].but("a positive eigenvalue", expr=plus(sp.exp(a), -_rho)),
        necessary[0].but("equal eigenvalues put no zero there", rhs=sp.zeros(2, 2)),
    )


_rho, _sigma = sp.symbols("rho sigma", positive=True)


def _at_half_turn(block: Block, value: sp.MatrixBase, name: str) -> Identity:
    """The block's flow at t = 1 with ω = π."""
    return Identity(name=name, goal=True, lhs=At(block.exp(sp.S.One), w, sp.pi), rhs=value.as_immutable())


def _no_logarithm() -> tuple[Identity, Identity, Exact]:
    """XB - BX for the two steps without a logarithm, and the sign that excludes the diagonal entries."""
    x = sp.ImmutableMatrix([[a, b], [c, d]])
    diagonal = sp.ImmutableMatrix(sp.diag(-_rho, -_sigma))
    block = sp.ImmutableMatrix([[-_rho, 1], [0, -_rho]])
    apart = Identity(
        name="XB = BX with B = diag(-ρ, -σ): (ρ - σ)b = (ρ - σ)c = 0",
        goal=True,
        lhs=sp.MatAdd(product(x, diagonal), product(-diagonal, x), evaluate=False),
        rhs=sp.ImmutableMatrix([[0, times(_rho - _sigma, b)], [times(_sigma - _rho, c), 0]]),
    )
    single = Identity(
        name="XB = BX with B = [[-ρ, 1], [0, -ρ]]: c = 0 and a = d",
        goal=True,
        lhs=sp.MatAdd(product(x, block), product(-block, x), evaluate=False),
        rhs=sp.ImmutableMatrix([[-c, a - d], [0, c]]),
    )
    never = Exact(name="e^a = -ρ for no real a", goal=True, of=Sign(plus(sp.exp(a), _rho), "+"))
    return apart, single, never


@CHAPTER.law("positive-determinant")
def positive_determinant() -> Law:
    goal = Exact(
        name="tr B ≥ -2√det B for B = diag(-ρ², -σ²)",
        goal=True,
        of=Sign(plus(-(_rho**2), -(_sigma**2), 2 * _rho * _sigma), "+0"),
        note="√det B = ρσ",
    )
    turning = Identity(
        name="a pair a ± ib: tr e^X + 2√det e^X = 4e^a cos²(b/2), a square",
        lhs=plus(2 * sp.exp(a) * sp.cos(b), 2 * sp.exp(a)),
        rhs=times(4, sp.exp(a), sp.cos(b / 2) ** 2),
    )
    real = Exact(
        name="real eigenvalues a, b: e^a + e^b + 2e^{(a+b)/2} > 0",
        of=Sign(plus(sp.exp(a), sp.exp(b), 2 * sp.exp((a + b) / 2)), "+"),
    )
    return Law(
        id="positive-determinant",
        title="“A matrix with positive determinant is an exponential”",
        statement=(
            "For a real 2×2 matrix `X`, `tr e^X ≥ -2√det e^X`, whether its eigenvalues are real or a pair; "
            "so for all `ρ, σ > 0`, `B = diag(-ρ², -σ²)`, whose determinant is positive, satisfies `-ρ² - σ² "
            "≥ -2ρσ`."
        ),
        expected=Status.REFUTED,
        steps=(turning, real, goal),
        siblings=(
            goal.but(
                "two equal eigenvalues, a pair of equal blocks",
                expr=plus(-(_rho**2), -(_rho**2), 2 * _rho**2),
            ),
        ),
        rests_on=("real-logarithm",),
        comment=(
            "It fails by `(ρ - σ)²`. Two negative eigenvalues in one plane must be equal, and then the plane "
            "turns by half a turn. Continuity of a homomorphism asks more than a positive determinant."
        ),
    )


@CHAPTER.law("causal-steps")
def causal_steps() -> Law:
    steps, breakers = _causal_steps()
    return Law(
        id="causal-steps",
        title="Steps that need no inverse: Fitting's two parts",
        statement=(
            "On the gaps `n = 0, 1, 2, …` every square `B` gives `A(n) = Bⁿ`, `A(m + n) = A(m)A(n)`. It is, "
            "in some basis, an invertible part beside a nilpotent one, `N^m = 0`: `Bⁿ` is their powers side "
            "by side, and from `n = m` on the invertible part alone. So causal whole positions add to the "
            "list exactly the kernels that end: windows, tables, convolutions."
        ),
        hypotheses=(Hypothesis("causal", "gaps are whole and `n ≥ 0`"),),
        steps=steps,
        perturbations=breakers,
        rests_on=("integer-homomorphisms", "window-rows"),
        comment=(
            "[A window](#window-rows) and [a clipped distance](#clipped-distance) are examples. The "
            "invertible part is a homomorphism of all integers; the nilpotent one has no past: a key cannot "
            "be moved back to a common origin, as caches want it."
        ),
    )


def _causal_steps() -> Parts:
    """Steps and perturbations of the law."""
    p, q, b1, n1, b2, n2 = letters("P Q B N Bn Nn")
    ends = ((p * p, p), (q * q, q), (p * q, 0 * p), (q * p, 0 * p))
    inside = tuple(rule for y in (b1, n1, b2, n2) for k in (p, q) for rule in commuting(k, y))
    add = Exact(
        name="the two parts of a step do not mix",
        goal=True,
        of=Words((p * b1 + q * n1) * (p * b2 + q * n2), p * b1 * b2 + q * n1 * n2, (*ends, *inside)),
        note="B, N: the two parts of the step; Bn, Nn: their n-th powers",
    )
    gone = Exact(
        name="from step m on only the invertible part is left",
        goal=True,
        of=Words((p * b1 + q * n1) * (p * b2 + q * n2), p * b1 * b2, ((n2, 0 * n2), *ends, *inside)),
        note="Nn stands for N^m = 0",
    )
    steps = (
        Cited(
            name="the two parts",
            lemma=(
                "Fitting: a linear map of a finite-dimensional space is invertible on one invariant subspace "
                "and nilpotent on a complement"
            ),
            source=FITTING,
            needs=("causal",),
        ),
        add,
        gone,
    )
    return steps, (
        add.but("the parts overlap", rules=(*ends[:2], *inside)),
        gone.but("N is not nilpotent", rules=(*ends, *inside)),
    )
