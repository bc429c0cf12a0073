"""Biases with a generator, each with its least order, and matrices of biases."""

from dataclasses import dataclass

import sympy as sp

from ...symbolic.signs import Sign
from ...symbolic.tree import At, D
from ...symbolic.typeset import to_text
from ...symbolic.words import Words, letters
from ..law import Law
from ..step import Cited, Determinant, Exact, Identity
from .common import J, Parts, R, g, m, product, u, w
from .realisation import CHAPTER, DE_SCHUTTER, FINITE, at_zero, companion, derivatives

x = sp.Symbol("x", real=True)


@dataclass(frozen=True)
class Bias:
    """A bias, its least equation as a product in x, its Hankel determinant with its sign, its use."""

    formula: sp.Expr
    equation: sp.Expr
    determinant: sp.Expr
    sign: str
    title: str
    used: str

    @property
    def low(self) -> tuple[sp.Expr, ...]:
        """a₀, a₁, … of the monic equation."""
        return tuple(reversed(sp.Poly(self.equation, x).all_coeffs()[1:]))


BIASES = {
    "slope": Bias(-m * u, x**2, -(m**2), "-", "ALiBi's slope", "It is ALiBi's, and it needs two slots."),
    "square": Bias(
        u**2, x**3, -sp.Integer(8), "-", "The square", "KERPLE-power with exponent 2, up to sign."
    ),
    "fade": Bias(sp.exp(-g * u), x + g, sp.S.One, "+", "A fade", "One slot: a bias that fades by itself."),
    "wave": Bias(sp.cos(w * u), x**2 + w**2, -(w**2), "-", "A wave", "Sandwich is a sum of such waves."),
    "faded-wave-slide": Bias(
        u * sp.exp(-g * u) * sp.cos(w * u),
        ((x + g) ** 2 + w**2) ** 2,
        16 * w**8,
        "+",
        "A slide, a fade and a wave in one",
        "Slide, fade and turn multiplied are one block of size 4, not three blocks side by side.",
    ),
    "mixture": Bias(
        sp.exp(-g * u) + sp.cos(w * u) + u,
        (x + g) * (x**2 + w**2) * x**2,
        g**4 * w**10 * (g**2 + w**2) ** 2,
        "+",
        "A fade, a wave and a slope added",
        "Orders of sums with different exponents add: 1 + 2 + 2.",
    ),
}


@CHAPTER.law("realised", encodings=tuple(BIASES))
def realised(name: str) -> Law:
    found = BIASES[name]
    d, matrix = len(found.low), companion(*found.low)
    y = derivatives(found.formula, d)
    hankel = sp.ImmutableMatrix(d, d, lambda i, j: at_zero(found.formula, i + j))
    ode = Identity(
        name="y' = Xy for y = (b, b', …), so p(D)b = 0", goal=True, lhs=D(y, u), rhs=product(matrix, y)
    )
    values = sp.ImmutableMatrix([sp.diff(found.formula, u, k).subs(u, 0) for k in range(d)])
    start = Identity(name="v = y(0)", goal=True, lhs=At(y, u, 0), rhs=values)
    numbers = _hankel(matrix, values)
    columns = Identity(name="H = [b^{(i+j)}(0)]", goal=True, lhs=hankel, rhs=numbers)
    det = Determinant(name="its determinant", goal=True, lhs=numbers, rhs=found.determinant)
    sign = Exact(name="is not 0", goal=True, of=Sign(found.determinant, found.sign))
    opposite = {"+": "-", "-": "+"}[found.sign]
    symbols = [n for n, s in (("m", m), ("γ", g), ("ω", w)) if s in found.formula.free_symbols]
    every = f" and every `{', '.join(symbols)} > 0`" if symbols else ""
    return Law(
        id="realised",
        encoding=name,
        title=f"{found.title}: order {d}",
        statement=(
            f"For every real `u`{every}: `b(u) = {to_text(found.formula)}` solves `p(D)b = 0` with "
            f"`p(x) = {to_text(found.equation)}`, so `b(u) = e₁ᵀ e^{{uX}} v` with the companion matrix `X` "
            f"of "
            f"`p` and `v = (b(0), b'(0), …)`. Its Hankel determinant of size {d} is "
            f"`{to_text(found.determinant)}`, which is not 0: no order below {d} is possible."
        ),
        steps=(ode, start, columns, det, sign),
        rests_on=("equation-has-generator", "order-from-below"),
        perturbations=(
            ode.but("one coefficient of p is changed", rhs=product(_spoilt(matrix), y)),
            start.but(
                "v is doubled, and its first entry raised", rhs=2 * values + sp.Matrix([1] + [0] * (d - 1))
            ),
            det.but("the determinant is doubled", rhs=2 * found.determinant),
            *(() if found.determinant.is_number else (sign.but("the other sign", sign=opposite),)),
        ),
        comment=(
            f"{found.used} `C = e₁ᵀ` and `v` are query and key slots: `e^{{tX}}` acts on one, `e^{{-sX}}` "
            f"on the other."
        ),
        answer=str(d),
    )


def _hankel(matrix: sp.ImmutableMatrix, values: sp.ImmutableMatrix) -> sp.ImmutableMatrix:
    """The columns v, Xv, X²v, … multiplied out: in companion form their entries are b^{(i+j)}(0)."""
    columns = [values]
    for _ in range(matrix.rows - 1):
        columns.append((matrix * columns[-1]).applyfunc(sp.expand))
    return sp.Matrix.hstack(*map(sp.Matrix, columns)).as_immutable()


def _spoilt(matrix: sp.ImmutableMatrix) -> sp.ImmutableMatrix:
    changed = matrix.as_mutable()
    changed[-1, 0] += 1
    return changed.as_immutable()


@CHAPTER.law("matrix-realisation")
def matrix_realisation() -> Law:
    steps, breakers = _matrix_realisation()
    return Law(
        id="matrix-realisation",
        title="Matrices of biases: C e^{uX} B",
        statement=(
            "Let `M(u) = C e^{uX} B` with `X` of size `d`. Its block matrix `[M^{(i+j)}(0)] = [CXⁱ·XʲB]` has "
            "rank at most `d`; and `M₁ + M₂` is made by `diag(X₁, X₂)`. So a matrix of exponential "
            "polynomials is always of this form, entry by entry, and the least `d` is the rank of the block "
            "matrix. For `M(u) = R(-ωu)`, `ω > 0`, it is `[I; -ωJ][I, -ωJ]`: of rank 2, not 8."
        ),
        hypotheses=(FINITE,),
        steps=steps,
        perturbations=breakers,
        rests_on=("general-form", "translates", "order-from-below"),
        comment=(
            "This is the general statement behind [the bridge](#bridge): squareness is not needed. RoPE's "
            "plane has four entries of order 2 each, and two slots make them all."
        ),
    )


def _matrix_realisation() -> Parts:
    """Steps and perturbations of the law."""
    c, c1, c2, b, b1, b2, p, q, e1, e2, both = letters("C C1 C2 B B1 B2 P Q E1 E2 PQ")
    split = Exact(
        name="blocks of M have rank d as well",
        goal=True,
        of=Words(c * both * b, (c * p) * (q * b), ((both, p * q),)),
        note="P, Q stand for Xⁱ, Xʲ",
    )
    ends = ((p * p, p), (q * q, q), (p * q, 0 * p), (q * p, 0 * p))
    inside = tuple(pair for a in (e1, e2) for k in (p, q) for pair in ((a * k, k * a),))
    side = Words(
        (c1 * p + c2 * q) * (p * e1 + q * e2) * (p * b1 + q * b2),
        c1 * p * e1 * b1 + c2 * q * e2 * b2,
        (*ends, *inside),
    )
    add = Exact(
        name="side by side, two realisations add",
        goal=True,
        of=side,
        note="P, Q: the projections on the two groups of slots, which E1, E2 respect",
    )
    turn = _turn_blocks()
    steps = (
        split,
        add,
        *turn,
        Cited(
            name="the rank is reached",
            lemma=(
                "the least dimension of C e^{uX} B is the rank of the block Hankel matrix (Ho and Kalman)"
            ),
            source=DE_SCHUTTER,
            needs=("finite",),
        ),
    )
    return steps, (
        add.but("the groups of slots overlap", rules=(*ends[:2], *inside)),
        turn[1].but(
            "J instead of -J on one side",
            rhs=product(_stack(-1), sp.Matrix.hstack(sp.eye(2), -w * sp.Matrix(J)).as_immutable()),
        ),
        split.but("the two factors swapped", rhs=c * q * p * b),
    )


def _stack(sign: int) -> sp.ImmutableMatrix:
    """The block column (I, ∓ωJ)."""
    return sp.Matrix.vstack(sp.eye(2), sign * -w * sp.Matrix(J)).as_immutable()


def _turn_blocks() -> tuple[Identity, Identity]:
    """The blocks M(0), M'(0), M''(0) of a turn, and their factorisation."""
    turn = R(-w * u)
    values = [At(turn, u, 0), At(D(turn, u), u, 0), At(D(turn, u, u), u, 0)]
    blocks = sp.Matrix.vstack(sp.eye(2), -w * sp.Matrix(J), -(w**2) * sp.eye(2)).as_immutable()
    found = Identity(
        name="M, M', M'' at 0 are I, -ωJ, -ω²I",
        lhs=sp.Matrix.vstack(*map(sp.Matrix, values)).as_immutable(),
        rhs=blocks,
    )
    whole = sp.Matrix(sp.BlockMatrix([[sp.eye(2), -w * J], [-w * J, -(w**2) * sp.eye(2)]]))
    row = sp.Matrix.hstack(sp.eye(2), -w * sp.Matrix(J)).as_immutable()
    factored = Identity(
        name="a turn: [[M, M'], [M', M'']] at 0 has rank 2",
        goal=True,
        lhs=whole.as_immutable(),
        rhs=product(_stack(1), row),
    )
    return found, factored


__all__ = ["BIASES", "Bias", "realised"]
