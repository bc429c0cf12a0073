"""Symbols, small matrices and sources that several chapters share; signs of symbols are declared here."""

from itertools import combinations
from itertools import product as product_of

import sympy as sp

from ...symbolic.free import WordPoly
from ...symbolic.induction import Induction
from ...symbolic.models import Rule
from ...symbolic.words import commuting
from ..step import Perturbation, Source, Step

Parts = tuple[tuple[Step, ...], tuple[Perturbation, ...]]  # steps of a law and their perturbations
t, s, u, v, c = sp.symbols("t s u v c", real=True)
w = sp.Symbol("omega", positive=True)
g = sp.Symbol("gamma", positive=True)
m = sp.Symbol("m", positive=True)
q0, q1, k0, k1 = sp.symbols("q0 q1 k0 k1", real=True)
x, y = sp.symbols("x y", real=True)
I2 = sp.eye(2).as_immutable()
J = sp.ImmutableMatrix([[0, -1], [1, 0]])
N = sp.ImmutableMatrix([[0, 1], [0, 0]])
Q, K = sp.ImmutableMatrix([q0, q1]), sp.ImmutableMatrix([k0, k1])


def R(angle: sp.Expr) -> sp.ImmutableMatrix:
    """Counter-clockwise rotation of the plane by `angle` radians."""
    return sp.ImmutableMatrix([[sp.cos(angle), -sp.sin(angle)], [sp.sin(angle), sp.cos(angle)]])


def dot(a: sp.MatrixBase, b: sp.MatrixBase) -> sp.Expr:
    """aᵀ b as a sum that is not expanded."""
    return sp.Add(*(p * r for p, r in zip(a, b, strict=True)))


def plus(*terms: sp.Expr) -> sp.Add:
    """A sum kept as it is written, so that a statement is not decided by its own notation."""
    return sp.Add(*terms, evaluate=False)


def times(*factors: sp.Expr) -> sp.Mul:
    """A product kept as it is written."""
    return sp.Mul(*factors, evaluate=False)


def product(*matrices: sp.MatrixBase) -> sp.MatMul:
    """A product that is written down and not multiplied out: the decider multiplies it in its own ring."""
    return sp.MatMul(*(a.as_immutable() for a in matrices), evaluate=False)


def transpose(a: sp.MatrixBase) -> sp.ImmutableMatrix:
    return a.T.as_immutable()


def scalars(numbers: tuple[WordPoly, ...], others: tuple[WordPoly, ...] = ()) -> tuple[Rule, ...]:
    """Rules by which the letters `numbers` commute with one another and with `others`, and stand in front."""
    pairs = [*combinations(numbers, 2), *product_of(numbers, others)]
    return tuple(rule for a, b in pairs for rule in commuting(a, b))


def repeated_turn(angle: sp.Expr) -> Induction:
    """R(angle)ⁿ = I for every n, by its columns: true for whole turns."""
    n = sp.Symbol("n", nonnegative=True)
    c_, s_ = sp.symbols("c s", real=True)
    turned = R(angle) * sp.Matrix([c_, s_])
    return Induction(n, 0, {c_: (1, turned[0]), s_: (0, turned[1])}, {c_: sp.S.One, s_: sp.S.Zero})


HALL = Source(
    "B. C. Hall, Lie Groups, Lie Algebras, and Representations, 2nd ed., Springer 2015, Theorem 2.14 "
    "(one-parameter subgroups)"
)
ROFORMER = Source(
    "J. Su et al., RoFormer: Enhanced Transformer with Rotary Position Embedding, 2021",
    "https://arxiv.org/abs/2104.09864",
)
ALIBI = Source(
    "O. Press, N. A. Smith, M. Lewis, Train Short, Test Long, ICLR 2022", "https://arxiv.org/abs/2108.12409"
)
VASWANI = Source("A. Vaswani et al., Attention Is All You Need, 2017", "https://arxiv.org/abs/1706.03762")
PURANIK = Source(
    "A. Puranik, Using group theory to explore the space of positional encodings for attention, Jane "
    "Street Blog, 2026",
    "https://blog.janestreet.com/using-group-theory-to-explore-positional-encodings-attention/",
)
KRANTZ_PARKS = Source(
    "S. G. Krantz, H. R. Parks, A Primer of Real Analytic Functions, 2nd ed., section 1.2 (uniqueness from "
    "values on an interval)"
)
LINDEMANN = Source(
    "F. Lindemann, Ueber die Zahl π, Mathematische Annalen 20 (1882) 213-225: π is transcendental"
)
