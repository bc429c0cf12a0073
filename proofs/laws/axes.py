"""Several axes: generators that commute give a vector law, and a vector law forces them to commute."""

from fractions import Fraction

import sympy as sp

from ...symbolic.block import Block
from ...symbolic.decide import Status
from ...symbolic.free import WordPoly
from ...symbolic.tree import At, D
from ...symbolic.words import Derived, Words, commuting, letters
from ..law import Chapter, Hypothesis, Law
from ..step import Cited, Enclosed, Exact, Identity, Source
from .common import HALL, I2, N, R, g, product, scalars, w, x, y

CHAPTER = Chapter(
    "axes",
    "Several axes",
    "An image has rows and columns, a video has time as well: positions are vectors, and every axis has a "
    "generator of its own, `A(p) = exp(p_1 X_1 + ⋯ + p_n X_n)`. The score sees only the difference of two "
    "vectors exactly when the generators commute.",
)
c, d = sp.symbols("c d", real=True)
SERIES = Source(
    "B. C. Hall, Lie Groups, Lie Algebras, and Representations, 2nd ed., Proposition 2.1 (the series of exp)"
)
LIERE = Source(
    "S. Ostmeier et al., LieRE: Lie Rotational Positional Encodings, 2024", "https://arxiv.org/abs/2406.10322"
)
STRING = Source(
    "C. Schenck et al., Learning the RoPEs: Better 2D and 3D Position Encodings with STRING, 2025",
    "https://arxiv.org/abs/2502.02562",
)


def kron(a: sp.MatrixBase, b: sp.MatrixBase) -> sp.ImmutableMatrix:
    """The tensor product a ⊗ b."""
    return sp.ImmutableMatrix(sp.kronecker_product(a, b))


def slides(first: sp.Expr, second: sp.Expr) -> sp.ImmutableMatrix:
    """exp(first · I⊗N + second · N⊗I): a slide of its own for each axis."""
    one = Block(0, 0, 2)
    return kron(one.exp(second), one.exp(first))


def damped_and_slide(first: sp.Expr, second: sp.Expr) -> sp.ImmutableMatrix:
    """A damped turn along the first axis, a slide along the second: I⊗C and N⊗I."""
    return kron(Block(0, 0, 2).exp(second), Block(g, w).exp(first))


@CHAPTER.law("axes-commute")
def axes_commute() -> Law:
    r, s, new, p, q = letters("R S Y p q")
    rules = (*commuting(r, s), *commuting(r, new), *commuting(s, new), *scalars((p, q), (r, s, new)))
    claim = Words((r + p * new) * (s + q * new), (s + q * new) * (r + p * new), rules)
    goal = Exact(
        name="p·X and q·X commute: one axis more",
        goal=True,
        of=claim,
        note="R, S stand for p·X and q·X over the axes so far, Y for the next generator",
    )
    flows, laws = _explicit()
    mixed = [product(R(a), Block(0, 0, 2).exp(b)) for a, b in ((x, y), (c, d), (x + c, y + d))]
    return Law(
        id="axes-commute",
        title="Commuting generators: vectors add",
        statement=(
            "For any number `n` of square `X_i` of any size with `X_i X_j = X_j X_i`, and all `p, q ∈ ℝⁿ`: "
            "`p·X = p_1 X_1 + ⋯ + p_n X_n` and `q·X` commute, so `exp(p·X)exp(q·X) = exp((p+q)·X)`, and "
            "`qᵀ exp(t·X)exp(-s·X) k` depends on the vector `t - s` only."
        ),
        hypotheses=(Hypothesis("commute", "`X_i X_j = X_j X_i` for all pairs"),),
        steps=(goal, *flows, *laws),
        rests_on=("commuting-sum", "uniqueness"),
        perturbations=(
            goal.but("the new generator does not commute with the old ones", rules=(rules[0], *rules[3:])),
            laws[1].but(
                "a turn and a slide in one plane, which do not commute",
                lhs=product(*mixed[0].args, *mixed[1].args),
                rhs=mixed[2],
            ),
            laws[0].but("the second axis is read twice", rhs=slides(x + c, 2 * (y + d))),
        ),
        sources=(STRING,),
        comment=(
            "The generators may be anything that commutes: turns of different planes, a fade of everything, "
            "a slide beside a turn. No symbol of the first step knows the number of axes or the size."
        ),
    )


def _explicit() -> tuple[list[Identity], list[Identity]]:
    """The equations of one explicit flow, and the group laws of two."""
    ways = {"two slides": slides, "a damped turn and a slide": damped_and_slide}
    laws = [
        Identity(
            name=f"{name}: A(x,y)A(c,d) = A(x+c,y+d)",
            goal=True,
            lhs=product(flow(x, y), flow(c, d)),
            rhs=flow(x + c, y + d),
        )
        for name, flow in ways.items()
    ]
    generators = {"∂A/∂x = X_1 A": (x, kron(I2, Block(g, w).matrix)), "∂A/∂y = X_2 A": (y, kron(N, I2))}
    flows = [
        Identity(name=name, lhs=D(damped_and_slide(x, y), z), rhs=product(m, damped_and_slide(x, y)))
        for name, (z, m) in generators.items()
    ]
    return flows, laws


@CHAPTER.law("axes-force-commuting")
def axes_force_commuting() -> Law:
    a, b, e, f = letters("A B E F")
    first = Exact(
        name="(EF - FE)' along the first axis",
        of=Words(Derived(e * f - f * e), a * e * f - f * a * e, derivation={e: a * e}),
        note="E = A(s e_i), F = A(t e_j), A = X_i, B = X_j; EF = FE, since both are A(s e_i + t e_j)",
    )
    here = Exact(name="at s = 0", of=Words(a * e * f - f * a * e, a * f - f * a, ((e, _one(e)),)))
    second = Exact(
        name="(AF - FA)' along the second axis",
        of=Words(Derived(a * f - f * a), a * b * f - b * f * a, derivation={f: b * f}),
    )
    goal = Exact(
        name="at t = 0 what must vanish is AB - BA",
        goal=True,
        of=Words(a * b * f - b * f * a, a * b - b * a, ((f, _one(f)),)),
    )
    return Law(
        id="axes-force-commuting",
        title="A vector law forces the generators to commute",
        statement=(
            "Let `A : ℝⁿ → GL(d)` be continuous with `A(p)A(q) = A(p+q)`. Then `A(p) = "
            "exp(p_1X_1)⋯exp(p_nX_n)` with `X_i = ∂A/∂p_i` at 0, and `X_i X_j = X_j X_i`. In "
            "particular, `exp(p·A)⁻¹exp(q·A) = exp((q-p)·A)` for all `p, q` holds only if the `A_i` commute."
        ),
        hypotheses=(Hypothesis("continuous", "`A` is continuous"),),
        steps=(
            Cited(
                name="along each axis a one-parameter group",
                lemma="a continuous one-parameter group of matrices is exp(tX), X its derivative at 0",
                source=HALL,
                needs=("continuous",),
            ),
            first,
            here,
            second,
            goal,
        ),
        rests_on=("axes-commute",),
        perturbations=(
            first.but("the derivative stays outside", rhs=a * e * f - a * f * e),
            second.but("B acts from the right", rhs=a * f * b - b * f * a),
            goal.but("the sign between the products is lost", rhs=a * b + b * a),
        ),
        sources=(LIERE, STRING),
        comment=(
            "So a model with learned matrices for its axes is relative exactly where they commute. On one "
            "axis there is nothing to commute."
        ),
    )


def _one(letter: WordPoly) -> WordPoly:
    return 1 + 0 * letter


@CHAPTER.law("axes-second-order")
def axes_second_order() -> Law:
    a, b, first, second = letters("a b A B")
    half = Fraction(1, 2)

    def e2(z: WordPoly) -> WordPoly:
        return 1 + z + half * z * z

    z, t = a * first, b * second
    higher = half * z * z * t + half * z * t * t + Fraction(1, 4) * z * z * t * t
    bracket = a * b * (first * second - second * first)
    goal = Exact(
        name="exp(aA)exp(bB) - exp(aA+bB) = ½ab(AB - BA) + …",
        goal=True,
        of=Words(e2(z) * e2(t) - e2(z + t), half * bracket + higher, scalars((a, b), (first, second))),
        note="exp up to its second power; all that is left out has degree 3 and more in a and b",
    )
    return Law(
        id="axes-second-order",
        title="How far from a vector law: half the commutator",
        statement=(
            "For all square `A, B` and numbers `a, b`: with `E(Z) = I + Z + Z²/2`, `E(aA)E(bB) - E(aA + bB) "
            "= ½ab(AB - BA) + ½a²b A²B + ½ab² AB² + ¼a²b² A²B²`. So `exp(aA)exp(bB)` and `exp(aA + bB)` "
            "differ by `½ab(AB - BA)` up to terms of degree 3, and if `AB ≠ BA`, they differ for all small "
            "`a = b ≠ 0`."
        ),
        steps=(
            goal,
            Cited(
                name="what is left out has degree 3",
                lemma=(
                    "the series of exp converges absolutely: ‖exp(Z) - I - Z - Z²/2‖ ≤ Σ ‖Z‖ⁿ/n! over n ≥ 3"
                ),
                source=SERIES,
            ),
        ),
        perturbations=(
            goal.but("the whole commutator", rhs=bracket + higher),
            goal.but("the terms of degree 3 and 4 vanish too", rhs=half * bracket),
            goal.but("BA - AB", rhs=higher - half * bracket),
        ),
        comment=(
            "Small positions hide the fault: at a tenth of the distance the difference is a hundredth. A "
            "test near the origin with a loose tolerance passes: [two rotations of space](#axes-of-space)."
        ),
    )


L1 = sp.ImmutableMatrix([[0, 0, 0], [0, 0, -1], [0, 1, 0]])
L2 = sp.ImmutableMatrix([[0, 0, 1], [0, 0, 0], [-1, 0, 0]])
L3 = sp.ImmutableMatrix([[0, -1, 0], [1, 0, 0], [0, 0, 0]])


def rodrigues(axis: sp.MatrixBase, angle: sp.Expr) -> sp.ImmutableMatrix:
    """exp(angle · axis) for axis³ = -axis: I + sin(angle) axis + (1 - cos(angle)) axis²."""
    return sp.ImmutableMatrix(sp.eye(3) + sp.sin(angle) * axis + (1 - sp.cos(angle)) * axis**2)


DIAGONAL = sp.ImmutableMatrix((L2 - L1) / sp.sqrt(2))


def squared_distance(step: sp.Expr) -> sp.Expr:
    """‖G(p)ᵀG(q) - G(q-p)‖² in the Frobenius norm for p = (step, 0), q = (0, step)."""
    left = rodrigues(L1, step).T * rodrigues(L2, step)
    return sp.Add(*((e) ** 2 for e in left - rodrigues(DIAGONAL, step * sp.sqrt(2))))


def _closed_forms() -> list[Identity]:
    """Rodrigues' formula solves the equation of each of the three flows."""
    t = sp.Symbol("t", real=True)
    axes = {"G(x, 0) = exp(x L_1)": L1, "G(0, y) = exp(y L_2)": L2, "exp(t(L_2 - L_1)/√2)": DIAGONAL}
    flows = [
        Identity(name=f"{name}: the closed form", lhs=D(rodrigues(m, t), t), rhs=product(m, rodrigues(m, t)))
        for name, m in axes.items()
    ]
    starts = [
        Identity(name=f"{name}: I at 0", lhs=At(rodrigues(m, t), t, 0), rhs=sp.eye(3))
        for name, m in axes.items()
    ]
    return [*starts, *flows]


def _gaps() -> tuple[Enclosed, ...]:
    """How far G(p)ᵀG(q) is from G(q - p)."""
    return (
        Enclosed(
            name="squared distance of G(p)ᵀG(q) and G(q-p) at (1,0), (0,1)",
            expr=squared_distance(sp.S.One),
            lower="0.441049547063",
            upper="0.441049547064",
        ),
        Enclosed(
            name="the same at a tenth: ‖½ · L_3/100‖² = 10⁻⁴/2 to second order",
            expr=squared_distance(sp.Rational(1, 10)),
            lower="0.00004994439",
            upper="0.0000499444",
        ),
    )


@CHAPTER.law("axes-of-space")
def axes_of_space() -> Law:
    bracket = Identity(
        name="L_1 L_2 - L_2 L_1 = L_3",
        lhs=sp.MatAdd(product(L1, L2), product(-L2, L1), evaluate=False),
        rhs=L3,
    )
    a, b = rodrigues(L1, x), rodrigues(L2, y)
    goal = Identity(name="G(x, 0) and G(0, y) exchange", goal=True, lhs=product(a, b), rhs=product(b, a))
    pair = [kron(I2, R(x)), kron(R(y), I2)]
    return Law(
        id="axes-of-space",
        title="“A rotation for every axis makes a relative encoding”",
        statement=(
            "For the rotations of space `G(x, y) = exp(x L_1 + y L_2)` about two coordinate axes and all "
            "real `x, y`: `G(x, 0)G(0, y) = G(0, y)G(x, 0)`, as `G(p)ᵀG(q) = G(q - p)` for all `p, q` would "
            "demand."
        ),
        expected=Status.REFUTED,
        steps=(bracket, *_closed_forms(), *_gaps(), goal),
        siblings=(
            goal.but("two turns that commute: I⊗J and J⊗I", lhs=product(*pair), rhs=product(*pair[::-1])),
            goal.but(
                "two rotations about one axis",
                lhs=product(a, rodrigues(L1, 2 * y)),
                rhs=product(rodrigues(L1, 2 * y), a),
            ),
        ),
        rests_on=("axes-force-commuting", "axes-second-order"),
        sources=(LIERE,),
        comment=(
            "Turn a book by a quarter about one edge and then about another; do it in the other order. "
            "Lengths are kept all the same, so the encoding is bounded; it only knows more than the gap. At "
            "(1,0), (0,1) the distance is 0.664, at a tenth of that 0.00707."
        ),
    )
