"""What a group is: four axioms met on a clock, homomorphisms, and the group of invertible matrices."""

from itertools import permutations

import sympy as sp

from ...symbolic.decide import Status
from ...symbolic.finite import Finite, Homomorphism
from ...symbolic.free import word_poly
from ...symbolic.limits import Limit
from ...symbolic.signs import Sign
from ...symbolic.tree import At, D
from ...symbolic.words import Words, inverses, letters
from ..law import Chapter, Hypothesis, Law
from ..step import Cited, Exact, Identity, Source
from .common import I2, PURANIK, J, R, plus, product, t, times, u, v, x, y

CHAPTER = Chapter(
    "groups",
    "What a group is",
    "A group is a set of moves that can be chained and undone. The names are old and the examples are "
    "plain; they matter because what relative position asks of an encoding turns out to be these four "
    "axioms.",
)
GROUP = {"closure": True, "identity": True, "inverses": True, "associativity": True}
PEANO = Source(
    "E. Landau, Foundations of Analysis, Chelsea 1951, chapters I and IV: sums of integers are integers"
)


@CHAPTER.law("clock-group")
def clock_group() -> Law:
    hours = {f"h{i}": i for i in range(12)}
    clock = Finite.of(hours, lambda a, b: (a + b) % 12, GROUP | {"commutativity": True})
    goal = Exact(name="the clock table", goal=True, of=clock)
    unwrapped = Finite.of(hours, lambda a, b: a + b, GROUP)
    drifting = Finite.of(hours, lambda a, b: (a + 2 * b) % 12, GROUP)
    return Law(
        id="clock-group",
        title="The 12-hour clock is a group",
        statement=(
            "The twelve moves `h₀ … h₁₁`, chained by adding hours modulo 12, satisfy closure, identity, "
            "inverses and associativity."
        ),
        steps=(goal,),
        perturbations=(
            goal.but("hours do not wrap at twelve", table=unwrapped.table, axioms=GROUP),
            goal.but("the second move counts twice", table=drifting.table, axioms=GROUP),
        ),
        comment="All 12³ bracketings are gone through. `h₅` and then `h₄` is `h₉`; `h₇` undoes `h₅`.",
    )


@CHAPTER.law("square-rotations")
def square_rotations() -> Law:
    z4 = Finite.of({str(i): i for i in range(4)}, lambda a, b: (a + b) % 4, GROUP)
    turns = {f"{90 * i}°": J**i for i in range(4)}
    square = Finite.of(turns, lambda a, b: a * b, GROUP)
    same = Homomorphism(
        z4, square, tuple(turns), {"homomorphism": True, "injective": True, "surjective": True}
    )
    table = Exact(name="the four quarter turns", goal=True, of=square)
    iso = Exact(name="the same table as Z4", goal=True, of=same)
    quarter = Identity(name="J is the quarter turn", goal=True, lhs=At(R(t), t, sp.pi / 2), rhs=J)
    fourth = Identity(name="four of them do nothing", lhs=product(J, J, J, J), rhs=I2)
    return Law(
        id="square-rotations",
        title="The rotations of a square are the clock with four hours",
        statement=(
            "The rotations by `0°, 90°, 180°, 270°` are the powers of `J = R(π/2)`. Under multiplication "
            "they are a group, and `k ↦ J^k` carries addition modulo 4 onto it, one to one."
        ),
        steps=(quarter, fourth, table, iso),
        perturbations=(
            quarter.but("an eighth of a turn", lhs=At(R(t), t, sp.pi / 4)),
            fourth.but("three quarter turns", lhs=product(J, J, J)),
            iso.but("two hours swapped", images=("0°", "180°", "90°", "270°")),
        ),
        comment="The first homomorphism: add on the left, multiply on the right.",
    )


@CHAPTER.law("shuffles-group")
def shuffles_group() -> Law:
    three = {"".join(map(str, p)): p for p in permutations((1, 2, 3))}

    def after(p: tuple[int, ...], r: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(p[r[i] - 1] for i in range(3))

    goal = Exact(
        name="shuffles of three cards",
        goal=True,
        of=Finite.of(three, after, GROUP | {"commutativity": False}),
    )
    riffles = {name: p for name, p in three.items() if name in ("123", "213", "132")}
    return Law(
        id="shuffles-group",
        title="Shuffles are a group, and order matters in it",
        statement=(
            "The six orders of three cards, one shuffle after another, form a group that is not commutative."
        ),
        steps=(goal,),
        perturbations=(
            goal.but("two swaps commute", axioms=GROUP | {"commutativity": True}),
            goal.but(
                "only the two neighbour swaps are allowed",
                elements=tuple(riffles),
                table=Finite.of(riffles, after, GROUP).table,
                axioms=GROUP,
            ),
        ),
        comment="A group need not be commutative. Time is: that is why one generator is enough for one axis.",
    )


@CHAPTER.law("integers-group")
def integers_group() -> Law:
    z = sp.Symbol("z", real=True)
    return Law(
        id="integers-group",
        title="The integers under addition are a group",
        statement=(
            "For all integers `x, y, z`: `x + y` is an integer, `(x + y) + z = x + (y + z)`, `x + 0 = x` "
            "and `x + (-x) = 0`."
        ),
        steps=(
            Cited(name="closure", lemma="the sum of two integers is an integer", source=PEANO),
            bracket := Identity(
                name="associativity",
                goal=True,
                lhs=plus(plus(x, y), z),
                rhs=plus(x, plus(y, z)),
                note="decided for all real numbers, hence for integers",
            ),
            Identity(name="identity", goal=True, lhs=plus(x, sp.S.Zero), rhs=x),
            inverse := Identity(name="inverses", goal=True, lhs=plus(x, -x), rhs=sp.S.Zero),
        ),
        perturbations=(
            inverse.but("the number undoes itself", lhs=plus(x, x)),
            inverse.but("undoing leaves one", lhs=plus(x, 1 - x)),
            bracket.but(
                "subtraction instead of addition", lhs=_minus(_minus(x, y), z), rhs=_minus(x, _minus(y, z))
            ),
        ),
        comment=(
            "Positions of tokens. Every function on the integers is continuous, so continuity says nothing "
            "there: see [what that costs](#integer-ambiguity)."
        ),
    )


def _minus(a: sp.Expr, b: sp.Expr) -> sp.Add:
    return plus(a, times(sp.Integer(-1), b))


@CHAPTER.law("line-group")
def line_group() -> Law:
    goal = Identity(name="slides add", goal=True, lhs=product(_slide(u), _slide(v)), rhs=_slide(u + v))
    return Law(
        id="line-group",
        title="Sliding along a line is a group, with a move for every real number",
        statement=(
            "For all real `u, v`: sliding by `v` and then by `u` is sliding by `u + v`; sliding by 0 does "
            "nothing; sliding by `-u` undoes sliding by `u`; and products of matrices are associative."
        ),
        steps=(
            goal,
            Identity(name="sliding by 0", goal=True, lhs=At(_slide(u), u, 0), rhs=I2),
            back := Identity(name="sliding back", goal=True, lhs=product(_slide(u), _slide(-u)), rhs=I2),
        ),
        perturbations=(
            goal.but("distances multiply", rhs=_slide(u * v)),
            back.but("sliding on instead of back", lhs=product(_slide(u), _slide(u))),
        ),
        comment=(
            "A slide by `u` as the matrix that sends the point `x` to `x + u`, written with a second "
            "coordinate 1. The same matrices return as [ALiBi](#alibi-lift)."
        ),
    )


def _slide(distance: sp.Expr) -> sp.ImmutableMatrix:
    """The affine map x ↦ x + distance in homogeneous coordinates."""
    return sp.ImmutableMatrix([[1, distance], [0, 1]])


@CHAPTER.law("positive-integers")
def positive_integers() -> Law:
    p = sp.Symbol("p", positive=True)
    goal = Identity(name="what `p` would have to do", goal=True, lhs=plus(x, p), rhs=x)
    moved = Exact(name="every positive `p` moves every `x`", of=Sign(_minus(plus(x, p), x), "+"))
    return Law(
        id="positive-integers",
        title="“The positive integers under addition are a group”",
        statement="Some `p > 0` satisfies `x + p = x` for all `x`.",
        expected=Status.REFUTED,
        steps=(moved, goal),
        siblings=(goal.but("zero is allowed", lhs=plus(x, sp.S.Zero)),),
        comment=(
            "`(x + p) - x > 0` for every `p > 0`, so no `p` will do: there is no identity, and without one "
            "no inverses."
        ),
    )


@CHAPTER.law("all-matrices")
def all_matrices() -> Law:
    squash = sp.ImmutableMatrix([[1, 0], [0, 0]])
    left = sp.ImmutableMatrix(2, 2, sp.symbols("l11 l12 l21 l22", real=True))
    up = sp.ImmutableMatrix([0, 1])
    merged = Identity(
        name="(5,3) and (5,99) are squashed to one point",
        lhs=product(squash, sp.ImmutableMatrix([5, 3])),
        rhs=product(squash, sp.ImmutableMatrix([5, 99])),
    )
    lost = Identity(name="every L sends P(0,1) to 0", lhs=product(left, squash, up), rhs=sp.zeros(2, 1))
    goal = Identity(
        name="what an inverse L would have to do", goal=True, lhs=product(left, squash, up), rhs=up
    )
    return Law(
        id="all-matrices",
        title="“All square matrices under multiplication are a group”",
        statement=(
            "Some `2×2` matrix `L` undoes the squash `P = diag(1, 0)`: `L P = I`, so that "
            "`L P (0,1)ᵀ = (0,1)ᵀ`."
        ),
        expected=Status.REFUTED,
        steps=(merged, lost, goal),
        siblings=(goal.but("the quarter turn instead of the squash", lhs=product(-J, J, up)),),
        comment=(
            "`L P (0,1)ᵀ = 0` for every `L`. What two points share after the squash, no matrix can tell "
            "apart again."
        ),
    )


@CHAPTER.law("general-linear")
def general_linear() -> Law:
    a, ai, b, bi = letters("A Ainv B Binv")
    rules = (*inverses(a, ai), *inverses(b, bi))
    undone = Exact(name="B⁻¹A⁻¹ undoes AB", goal=True, of=Words(a * b * bi * ai, word_poly(1), rules))
    m1, m2 = (sp.ImmutableMatrix(2, 2, sp.symbols(f"{n}11 {n}12 {n}21 {n}22", real=True)) for n in "ab")
    det = Identity(
        name="det AB = det A det B, 2×2", goal=True, lhs=_det(m1 * m2), rhs=times(_det(m1), _det(m2))
    )
    return Law(
        id="general-linear",
        title="Invertible matrices are a group: GL(n)",
        statement=(
            "For invertible `A, B` of any one size: `AB` is invertible, with `(AB)⁻¹ = B⁻¹A⁻¹`. A square "
            "matrix is invertible exactly when its determinant is not 0, and `det AB = det A · det B` "
            "(computed for `2×2`, cited for every size)."
        ),
        hypotheses=(Hypothesis("square", "`A` and `B` are square matrices of one size"),),
        steps=(
            undone,
            det,
            Cited(
                name="the determinant for every size",
                lemma="det AB = det A det B, and A is invertible iff det A ≠ 0",
                source=Source("S. Axler, Linear Algebra Done Right, 4th ed., section 9C (determinants)"),
                needs=("square",),
            ),
        ),
        perturbations=(
            undone.but("the inverses in the same order", lhs=a * b * ai * bi),
            undone.but("`A` is not invertible", rules=inverses(b, bi)),
            det.but("the determinants are added", rhs=_det(m1) + _det(m2)),
        ),
        comment="The room in which every encoding with square factors lives.",
    )


def _det(matrix: sp.MatrixBase) -> sp.Expr:
    return matrix[0, 0] * matrix[1, 1] - matrix[0, 1] * matrix[1, 0]


@CHAPTER.law("exp-homomorphism")
def exp_homomorphism() -> Law:
    goal = Identity(name="exp turns + into ·", goal=True, lhs=sp.exp(u + v), rhs=times(sp.exp(u), sp.exp(v)))
    rising = Exact(name="exp is strictly increasing", of=Sign(D(sp.exp(u), u), "+"))
    low = Exact(name="from 0", of=Limit(sp.exp(u), u, -sp.oo, sp.S.Zero))
    high = Exact(name="to infinity", of=Limit(sp.exp(u), u, sp.oo, sp.oo))
    return Law(
        id="exp-homomorphism",
        title="exp and log are homomorphisms",
        statement=(
            "For all real `u, v`: `e^{u+v} = e^u e^v`. As `exp` rises strictly from 0 to `∞`, every "
            "`a, b > 0` are `e^u, e^v` for exactly one `u = log a`, `v = log b`, and the same line reads "
            "`log(ab) = log a + log b`."
        ),
        hypotheses=(Hypothesis("positive", "`a, b > 0`"),),
        steps=(
            goal,
            rising,
            low,
            high,
            Cited(
                name="log is the inverse of exp",
                lemma="exp maps the real line one to one onto the positive numbers",
                source=Source("W. Rudin, Principles of Mathematical Analysis, 3rd ed., Theorem 8.6"),
                needs=("positive",),
            ),
        ),
        perturbations=(
            goal.but("+ on both sides", rhs=plus(sp.exp(u), sp.exp(v))),
            goal.but("the arguments are multiplied", lhs=sp.exp(u * v)),
            rising.but("exp(-u) instead of exp(u)", expr=D(sp.exp(-u), u)),
        ),
        sources=(PURANIK,),
        comment=(
            "The slide rule, and the shape of everything that follows: addition on the left, "
            "multiplication on the right."
        ),
    )


@CHAPTER.law("squaring-homomorphism")
def squaring_homomorphism() -> Law:
    goal = Identity(name="squares add", goal=True, lhs=(x + y) ** 2, rhs=x**2 + y**2)
    return Law(
        id="squaring-homomorphism",
        title="“Squaring is a homomorphism of addition”",
        statement="For all real `x, y`: `(x + y)² = x² + y²`.",
        expected=Status.REFUTED,
        steps=(
            goal,
            Identity(
                name="what is left over is 2xy",
                lhs=plus((x + y) ** 2, -(x**2), -(y**2)),
                rhs=2 * x * y,
            ),
        ),
        siblings=(goal.but("with the cross term 2xy", rhs=x**2 + 2 * x * y + y**2),),
        comment="Most functions are not homomorphisms. What is left over is 2xy, not zero.",
    )


@CHAPTER.law("discontinuous-solutions")
def discontinuous_solutions() -> Law:
    return Law(
        id="discontinuous-solutions",
        title="Without continuity there are monsters",
        statement=(
            "There are functions `A : ℝ → ℝ` with `A(u + v) = A(u) A(v)` for all `u, v` that are "
            "continuous at no point."
        ),
        expected=Status.NOT_CHECKED,
        steps=(
            Cited(
                name="a basis of ℝ over ℚ",
                goal=True,
                lemma=(
                    "with the axiom of choice there are discontinuous additive f : ℝ → ℝ; their graph is "
                    "dense in the plane; A = exp∘f"
                ),
                source=Source(
                    "G. Hamel, Eine Basis aller Zahlen und die unstetigen Lösungen der Funktionalgleichung "
                    "f(x+y) = f(x)+f(y), Math. Ann. 60 (1905) 459-462"
                ),
            ),
        ),
        comment=(
            "Cited, not computed: nobody can compute one. A discontinuous group on the numbers `a + b√2` can "
            "be [computed](#broken-continuity); by the same choice it is the restriction of one on all of "
            "`ℝ`."
        ),
    )
