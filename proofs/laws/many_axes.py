"""How many axes there can be, what stays bounded on all of them, and which functions of a vector occur."""

import sympy as sp

from ...symbolic.tree import D
from ...symbolic.words import Derived, Words, commuting, letters
from ..law import Hypothesis, Law
from ..step import Cited, Exact, Identity, Source
from .axes import CHAPTER, STRING, c, d, kron, slides
from .common import I2, N, R, plus, product, scalars, times, transpose, x, y
from .grids import F, S, T

SCHUR = Source(
    "I. Schur, Zur Theorie der vertauschbaren Matrizen, J. reine angew. Math. 130 (1905) 66-76; over every "
    "field: N. Jacobson, Schur's theorems on commutative matrices, Bull. Amer. Math. Soc. 50 (1944) 431-436"
)
TOGETHER = Source(
    "R. A. Horn, C. R. Johnson, Matrix Analysis, 2nd ed., Theorem 1.3.21: a commuting family of "
    "diagonalizable matrices is simultaneously diagonalizable"
)
WILD = Source(
    "I. M. Gelfand, V. A. Ponomarev, Remarks on the classification of a pair of commuting linear "
    "transformations in a finite-dimensional space, Funct. Anal. Appl. 3 (1969) 325-326"
)
SPLIT = Source(
    "J. E. Humphreys, Introduction to Lie Algebras and Representation Theory, Springer 1972, section 4.2 "
    "(additive Jordan decomposition: X = S + N, both polynomials in X)"
)
COMMUTE = Hypothesis("commute", "the `X_i` are real square matrices that commute")
ONE_BASIS = Cited(
    name="one basis for all axes",
    lemma=(
        "each X_i is diagonalizable over ℂ with imaginary eigenvalues (bounded along its axis); "
        "as they commute, common eigenvectors span ℂᵈ, and those that are not real come in "
        "conjugate pairs, which span the planes"
    ),
    source=TOGETHER,
    needs=("commute",),
)
NO_MORE = Cited(
    name="and no more",
    lemma="commuting d×d matrices span a space of dimension at most ⌊d²/4⌋ + 1",
    source=SCHUR,
    needs=("commute",),
)
SEMISIMPLE = Cited(
    name="a semisimple and a nilpotent part for every axis",
    lemma=(
        "X_i = S_i + N_i with polynomials S_i, N_i in X_i; so all of them commute, the S_i are "
        "diagonal in one complex basis, and exp(p·N) is a polynomial in p"
    ),
    source=SPLIT,
    needs=("commute",),
)
NO_LIST = Cited(
    name="no list",
    lemma="the classification of pairs of commuting nilpotent matrices up to similarity is wild",
    source=WILD,
    needs=("commute",),
)


def angle(p: tuple[sp.Expr, sp.Expr]) -> sp.Expr:
    """f·p, the angle of one plane."""
    return F[0] * p[0] + F[1] * p[1]


@CHAPTER.law("axes-bounded")
def axes_bounded() -> Law:
    plane, total = R(angle(T)), tuple(a + b for a, b in zip(T, S, strict=True))
    kept = Identity(name="a plane keeps lengths", goal=True, lhs=product(transpose(plane), plane), rhs=I2)
    law = Identity(
        name="and adds vectors: R(f·t)R(f·s) = R(f·(t+s))",
        goal=True,
        lhs=product(plane, R(angle(S))),
        rhs=R(angle(total)),
    )
    p, q, j = letters("P Q J")
    apart = ((p * q, 0 * p), (q * p, 0 * p), *commuting(p, j), *commuting(q, j))
    room = Exact(
        name="turns of two planes commute: (PJ)(QJ) = (QJ)(PJ)",
        goal=True,
        of=Words((p * j) * (q * j), (q * j) * (p * j), apart),
        note="P, Q are the projections on two planes, J turns every plane by a quarter",
    )
    stretched = sp.exp(T[0]) * plane
    return Law(
        id="axes-bounded",
        title="Bounded on several axes: mixed rotations and nothing else",
        statement=(
            "For commuting real `X_1, …, X_n` of size `d`: `exp(p·X)` is bounded on all of `ℝⁿ` iff, in one "
            "basis for all `X_i`, it is a direct sum of planes `R(f_k·p)`, each with a vector `f_k` of "
            "frequencies, and of lines that rest. There are at most `⌊d/2⌋` planes, so at most `⌊d/2⌋` of "
            "the `X_i` are linearly independent, and one plane for each axis reaches that."
        ),
        hypotheses=(COMMUTE,),
        steps=(
            ONE_BASIS,
            kept,
            law,
            room,
        ),
        rests_on=("axes-commute", "only-rotation", "axes-mixed"),
        perturbations=(
            kept.but("the plane also grows along x", lhs=product(transpose(stretched), stretched)),
            law.but("the angle of the second factor is taken at x only", rhs=R(angle((total[0], T[1])))),
            room.but("the planes overlap", rules=apart[2:]),
        ),
        sources=(STRING,),
        comment=(
            "So RoPE with mixed frequencies is the most general encoding on several axes that is bounded and "
            "relative (its axes commute), up to one change of basis that W_q and W_k absorb; further "
            "commuting "
            "skew matrices, learned or not, add nothing to it."
        ),
    )


def corner(diagonal: sp.Expr, name: str) -> sp.ImmutableMatrix:
    """[[aI, B], [0, aI]] of size 4 with a free 2×2 block B."""
    b = sp.Matrix(2, 2, sp.symbols(f"{name}11 {name}12 {name}21 {name}22", real=True))
    scalar = sp.Matrix(diagonal * I2)
    return sp.ImmutableMatrix(sp.Matrix([[scalar, b], [sp.zeros(2), scalar]]))


def _corner_flow() -> Exact:
    """E = e^{at} and M² = 0: (E(1 + tM))' = (a + M) E(1 + tM)."""
    corner_, a, e, t = letters("M a E t")
    return Exact(
        name="their flow is a slide: E(1 + tM) with E = e^{at}",
        of=Words(
            Derived(e * (1 + t * corner_)),
            (a + corner_) * e * (1 + t * corner_),
            ((corner_ * corner_, 0 * corner_), *commuting(e, corner_), *scalars((a, t), (e, corner_))),
            derivation={e: a * e, t: 1 + 0 * t},
        ),
    )


@CHAPTER.law("axes-how-many")
def axes_how_many() -> Law:
    m1, m2, a, b = letters("M1 M2 a b")
    flat, numbers = ((m1 * m2, 0 * m1), (m2 * m1, 0 * m1)), scalars((a, b), (m1, m2))
    claim = Words((a + m1) * (b + m2), (b + m2) * (a + m1), (*flat, *numbers))
    goal = Exact(name="all of these commute, for every size", goal=True, of=claim)
    four = Identity(
        name="size 4, with five free numbers",
        goal=True,
        lhs=product(corner(x, "b"), corner(y, "c")),
        rhs=product(corner(y, "c"), corner(x, "b")),
    )
    rows, columns = sp.symbols("k l", real=True)
    most = Identity(
        name="k + l = d leaves kl ≤ d²/4: (k+l)² - 4kl = (k-l)² ≥ 0",
        lhs=plus((rows + columns) ** 2, times(sp.Integer(-4), rows, columns)),
        rhs=(rows - columns) ** 2,
    )
    lower = corner(y, "c").T
    return Law(
        id="axes-how-many",
        title="At most ⌊d²/4⌋ + 1 independent axes of any kind",
        statement=(
            "For `k + l = d` the matrices `[[aI, B], [0, aI]]` with `B` of shape `k × l` commute: `kl + 1` "
            "linearly independent ones, `⌊d²/4⌋ + 1` for `k = ⌊d/2⌋`. No more than `⌊d²/4⌋ + 1` commuting "
            "matrices of size `d` are linearly independent."
        ),
        hypotheses=(COMMUTE,),
        steps=(
            goal,
            four,
            _corner_flow(),
            most,
            NO_MORE,
        ),
        rests_on=("axes-commute",),
        perturbations=(
            goal.but("the corners multiply to something else in one order", rules=(flat[0], *numbers)),
            four.but(
                "one of them has its block below",
                lhs=product(corner(x, "b"), lower),
                rhs=product(lower, corner(x, "b")),
            ),
            most.but("kl ≤ d²/5", lhs=plus((rows + columns) ** 2, times(sp.Integer(-5), rows, columns))),
        ),
        comment=(
            "Slides have far more room than turns: at `d = 64` there are 1025 commuting generators, of which "
            "at most 32 independent ones can be skew."
        ),
    )


N3 = sp.ImmutableMatrix([[0, 1, 0], [0, 0, 1], [0, 0, 0]])


def bent(p: sp.Expr, q: sp.Expr) -> sp.ImmutableMatrix:
    """exp(pN + qN²) = I + pN + (q + p²/2)N² for the slide N of height 3."""
    return sp.ImmutableMatrix(sp.eye(3) + p * N3 + (q + p**2 / 2) * N3**2)


def _two_pairs() -> list[Identity]:
    """Equations and group law of two pairs of commuting slides."""
    spaces = {
        "two slides: 1, x, y, xy": (slides, kron(I2, N), kron(N, I2)),
        "N and N²: 1, x, y + x²/2": (bent, N3, (N3**2).as_immutable()),
    }
    steps = []
    for name, (flow, first, second) in spaces.items():
        for z, generator in ((x, first), (y, second)):
            steps.append(
                Identity(
                    name=f"{name}: ∂A/∂{z} = X A",
                    goal=True,
                    lhs=D(flow(x, y), z),
                    rhs=product(generator, flow(x, y)),
                )
            )
        steps.append(
            Identity(
                name=f"{name}: A(x,y)A(c,d) = A(x+c,y+d)",
                lhs=product(flow(x, y), flow(c, d)),
                rhs=flow(x + c, y + d),
            )
        )
    return steps


@CHAPTER.law("axes-kernels")
def axes_kernels() -> Law:
    steps = _two_pairs()
    a, b, m1, m2 = letters("S1 S2 N1 N2")
    inside = [
        rule
        for i, one in enumerate((a, b, m1, m2))
        for other in (a, b, m1, m2)[i + 1 :]
        for rule in commuting(one, other)
    ]
    parts = Exact(
        name="(S_1+N_1)(S_2+N_2) = (S_2+N_2)(S_1+N_1) with parts that commute",
        of=Words((a + m1) * (b + m2), (b + m2) * (a + m1), inside),
    )
    return Law(
        id="axes-kernels",
        title="The functions of a vector are known, the matrices are not",
        statement=(
            "For commuting real `X_i` every entry of `exp(p·X)` is a sum of terms (polynomial in `p`) · "
            "`e^{a·p}` · `cos` or `sin` of `f·p`; two slides give `1, x, y, xy`, the pair `N, N²` gives "
            "`1, x, y + x²/2`. But for two or more axes there is no list of normal forms as "
            "there is for one: already to classify pairs of commuting nilpotent matrices is as hard as for "
            "all pairs of matrices."
        ),
        hypotheses=(COMMUTE,),
        steps=(
            *steps,
            parts,
            SEMISIMPLE,
            NO_LIST,
        ),
        rests_on=("axes-commute",),
        perturbations=(
            steps[3].but(
                "without the square of x",
                lhs=D(bent(x, y - x**2 / 2), x),
                rhs=product(N3, bent(x, y - x**2 / 2)),
            ),
            steps[0].but("the axes exchanged", rhs=product(kron(N, I2), slides(x, y))),
            parts.but("the nilpotent parts do not commute", rules=inside[:-1]),
        ),
        comment=(
            "On one axis the [list of blocks](#complete-list) is complete up to a change of basis. On "
            "several axes completeness can be had for the functions that a score may contain, not for the "
            "generators."
        ),
    )
