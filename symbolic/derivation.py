"""How the closed form of exp(tX) comes about: each step as data, computed when made or cited.

X is split into commuting parts. The scalar part factors out, the series of the nilpotent part stops, the
powers of J cycle and sum to cos and sin; the product of the three is the closed form, then checked by
E(0) = I and E' = XE.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import InitVar, dataclass, field
from html import escape

import sympy as sp
from sympy.matrices.expressions import MatAdd, MatMul, MatPow

from .block import Block
from .decide import Status, Verdict, decide
from .errors import BadInput
from .flow import InBasis
from .matexp import MatExp
from .spectral.classify import AnyBlock
from .spectral.companion import CompanionBlock
from .spectral.rootflow import companion_matrix
from .tree import At, D
from .typeset import to_latex, to_text

Formula = sp.Basic | sp.MatrixBase
HIGHAM = "Higham, Functions of Matrices (2008), §1.2.2, Lagrange-Hermite interpolation"
HALL = "Hall, Lie Groups, Lie Algebras, and Representations, 2nd ed. (2015)"
_SERIES = "definition: the power series of exp, cos and sin"


@dataclass(frozen=True)
class DerivationStep:
    """`before = after` by `rule`. A computed step is decided when it is made; any other names its source.

    `settled` is given only where another exact procedure than `decide` has settled a computed step.
    """

    rule: str
    before: Formula
    after: Formula
    computed: bool
    cited: str | None
    explanation: str
    settled: InitVar[Verdict | None] = None
    verdict: Verdict | None = field(init=False, default=None, compare=False)

    def __post_init__(self, settled: Verdict | None) -> None:
        if self.computed == (self.cited is not None):
            raise BadInput(f"step {self.rule!r} must be either computed or cited, not both or neither")
        if self.computed:
            object.__setattr__(
                self, "verdict", settled if settled is not None else decide(self.before, self.after)
            )

    @property
    def holds(self) -> bool:
        """Proved, or taken from the cited source."""
        return self.verdict is None or self.verdict.status is Status.PROVED

    def latex(self) -> str:
        """`before = after` in LaTeX."""
        return f"{to_latex(self.before)} = {to_latex(self.after)}"

    def __str__(self) -> str:
        basis = f"cited: {self.cited}" if self.verdict is None else f"computed: {self.verdict.status.value}"
        claim = f"{to_text(self.before)} = {to_text(self.after)}"
        return f"{self.rule} [{basis}]\n    {self.explanation}\n    {claim}"


@dataclass(frozen=True)
class Derivation:
    """The steps from X to exp(tX), in order.

    `parameters` says which numbers stand behind symbols that the steps use in place of irrational decays and
    frequencies: what is derived for the symbol holds for its value.
    """

    steps: tuple[DerivationStep, ...]
    parameters: dict[sp.Symbol, sp.Expr] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether every computed step is proved."""
        return all(step.holds for step in self.steps)

    def __str__(self) -> str:
        return "\n".join(f"{i}. {step}" for i, step in enumerate(self.steps, 1))

    def latex(self) -> str:
        """One aligned line a step."""
        lines = (f"{to_latex(s.before)} &= {to_latex(s.after)} && \\text{{{s.rule}}}" for s in self.steps)
        return "\\begin{aligned}" + " \\\\ ".join(lines) + "\\end{aligned}"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def _repr_html_(self) -> str:
        return f'<pre class="exptx">{escape(str(self))}</pre>'


def computed(rule: str, before: Formula, after: Formula, explanation: str) -> DerivationStep:
    """A step that is decided as it is made."""
    return DerivationStep(rule, before, after, True, None, explanation)


def cited(rule: str, before: Formula, after: Formula, source: str, explanation: str) -> DerivationStep:
    """A step that rests on a named source."""
    return DerivationStep(rule, before, after, False, source, explanation)


def block_steps(block: AnyBlock, t: sp.Symbol) -> Iterator[DerivationStep]:
    """The derivation of e^{-γt} e^{tN} ⊗ R(ωt) for one block, or of the sum over the roots of its factor."""
    if isinstance(block, CompanionBlock):
        yield from _companion_steps(block, t)
        return
    scalar, turn, nilpotent = parts = _parts(block)
    present = [part for part in parts if not part.is_zero_matrix] or [scalar]
    if len(present) > 1:
        yield from _splitting(block, present, t)
    factors = []
    if not scalar.is_zero_matrix or (len(present) == 1 and present[0] is scalar):
        factors.append(sp.exp(-block.decay * t) * sp.eye(block.dim))
        yield _scalar_step(block, factors[-1], t)
    if not nilpotent.is_zero_matrix:
        yield from _nilpotent_steps(block, nilpotent, t)
        factors.append(_exp_nilpotent(nilpotent, block.size, t))
    if not turn.is_zero_matrix:
        yield from _turn_steps(block, t)
        factors.append(_exp_turn(block, t))
    if len(factors) > 1:
        product = MatMul(*map(sp.ImmutableMatrix, factors), evaluate=False)
        yield computed(
            "multiply", product, block.exp(t), "The parts multiply to the closed form of the block."
        )


def closing_steps(
    matrix: sp.ImmutableMatrix, flow: sp.ImmutableMatrix, t: sp.Symbol, verdict: Verdict | None = None
) -> Iterator[DerivationStep]:
    """E(0) = I and E' = XE, computed (by `verdict` if given); that only exp(tX) has both, cited."""
    identity = sp.ImmutableMatrix(sp.eye(matrix.rows))
    start = "At t = 0 the closed form is the identity."
    yield DerivationStep("initial value", At(flow, t, 0), identity, True, None, start, verdict)
    product = MatMul(matrix, flow, evaluate=False)
    law = "The closed form E satisfies E' = XE."
    yield DerivationStep("differential equation", D(flow, t), product, True, None, law, verdict)
    whole = MatExp(MatMul(t, sp.MatrixSymbol("X", matrix.rows, matrix.rows)))
    yield cited(
        "uniqueness",
        whole,
        flow,
        f"{HALL}, Prop. 2.4 and Thm 2.14",
        "E' = XE and E(0) = I leave no choice: the derivative of exp(-tX) E(t) vanishes.",
    )


def joining_steps(generator: InBasis, settled: Verdict | None = None) -> Iterator[DerivationStep]:
    """How the blocks make up X: side by side, and in a basis; S S⁻¹ = I by `settled` if given."""
    blocks, basis, canonical = generator.blocks, generator.basis, generator.canonical
    matrix, inverse, size = generator.matrix, generator.inverse_basis, generator.matrix.rows
    if len(blocks) > 1:
        square = sp.ImmutableMatrix(sp.diag(*[block.matrix**2 for block in blocks]))
        yield computed(
            "direct sum",
            MatMul(canonical, canonical, evaluate=False),
            square,
            "Blocks side by side multiply block by block, so every power, and the series, does.",
        )
    if not basis.is_Identity:
        unit = sp.ImmutableMatrix(sp.eye(size))
        both = MatMul(basis, inverse, evaluate=False)
        yield DerivationStep("basis inverse", both, unit, True, None, "S⁻¹ undoes S.", settled)
        product = MatMul(basis, canonical, inverse, evaluate=False)
        yield computed("basis", product, matrix, "In the basis S the matrix X is a direct sum of blocks.")
        s, d = sp.MatrixSymbol("S", size, size), sp.MatrixSymbol("D", size, size)
        yield cited(
            "change of basis",
            MatExp(MatMul(generator.time, s, d, s.inv())),
            MatMul(s, MatExp(MatMul(generator.time, d)), s.inv()),
            f"{HALL}, Prop. 2.3 (6)",
            "Inside every power the inner S⁻¹ S cancel.",
        )
        if any(isinstance(block, CompanionBlock) for block in blocks):
            return  # sums over roots are checked as a whole, in the closing steps
        flow = sp.ImmutableMatrix(sp.diag(*[block.exp(generator.time) for block in blocks]))
        carried = MatMul(basis, flow, inverse, evaluate=False)
        whole = generator.exp(generator.time)
        yield computed("assemble", carried, whole, "The basis carries the flow of the blocks to that of X.")


def _companion_steps(block: CompanionBlock, t: sp.Symbol) -> Iterator[DerivationStep]:
    c, coefficients = companion_matrix(block.factor), block.factor.all_coeffs()
    unit = sp.ImmutableMatrix(sp.eye(block.degree))
    powers = [unit, c, *(MatPow(c, k, evaluate=False) for k in range(2, block.degree + 1))]
    terms = [
        power if value == 1 else MatMul(value, power, evaluate=False)
        for value, power in zip(reversed(coefficients), powers, strict=True)
        if value
    ]
    yield computed(
        "annihilated",
        MatAdd(*terms, evaluate=False),
        sp.ImmutableMatrix(sp.zeros(block.degree)),
        "The companion matrix C is a root of its own polynomial p.",
    )
    yield cited(
        "sum over roots",
        MatExp(MatMul(t, sp.MatrixSymbol("B", block.dim, block.dim))),
        block.exp(t),
        HIGHAM,
        "A function of a matrix interpolates at the roots of its polynomial; no root is needed by itself.",
    )


def _parts(block: Block) -> tuple[sp.ImmutableMatrix, sp.ImmutableMatrix, sp.ImmutableMatrix]:
    """-γI, the turn I_m ⊗ ωJ, the nilpotent N_m ⊗ I_2 (or N_m)."""
    n, width = block.dim, block.dim // block.size
    scalar = -block.decay * sp.eye(n)
    nilpotent = sp.Matrix(n, n, lambda i, j: 1 if j == i + width else 0)
    turn = sp.zeros(n)
    if block.turns:
        turn = block.frequency * _quarter_turns(block)
    return sp.ImmutableMatrix(scalar), sp.ImmutableMatrix(turn), sp.ImmutableMatrix(nilpotent)


def _quarter_turns(block: Block) -> sp.ImmutableMatrix:
    """I_m ⊗ J with J = [[0, -1], [1, 0]]."""
    return sp.ImmutableMatrix(sp.diag(*[sp.Matrix([[0, -1], [1, 0]])] * block.size))


def _splitting(block: Block, present: list[sp.ImmutableMatrix], t: sp.Symbol) -> Iterator[DerivationStep]:
    whole = MatAdd(*present, evaluate=False)
    yield computed("split", block.matrix, whole, "X is a sum of a scalar, a turn and a nilpotent part.")
    for i, a in enumerate(present):
        for b in present[i + 1 :]:
            yield computed(
                "commute",
                MatMul(a, b, evaluate=False),
                MatMul(b, a, evaluate=False),
                "The parts commute: AB = BA.",
            )
    a, b = (sp.MatrixSymbol(name, block.dim, block.dim) for name in "AB")
    yield cited(
        "commuting exponents",
        MatExp(MatMul(t, MatAdd(a, b))),
        MatMul(MatExp(MatMul(t, a)), MatExp(MatMul(t, b))),
        f"{HALL}, Prop. 2.3 (5)",
        "For commuting matrices the exponential of a sum is the product of the exponentials.",
    )


def _scalar_step(block: Block, fade: sp.Matrix, t: sp.Symbol) -> DerivationStep:
    fade = sp.ImmutableMatrix(fade)
    return computed(
        "scalar",
        D(fade, t),
        MatMul(sp.ImmutableMatrix(-block.decay * sp.eye(block.dim)), fade, evaluate=False),
        "The scalar part -γI factors out as the number exp(-γt), which solves E' = -γE.",
    )


def _nilpotent_steps(block: Block, n: sp.ImmutableMatrix, t: sp.Symbol) -> Iterator[DerivationStep]:
    m = block.size
    zero = sp.ImmutableMatrix(sp.zeros(block.dim))
    yield computed(
        "nilpotent", MatPow(n, m, evaluate=False), zero, f"N to the power {m} is 0: the series stops."
    )
    powers = [n, *(MatPow(n, k, evaluate=False) for k in range(2, m))]
    terms = [MatMul(t**k / sp.factorial(k), power, evaluate=False) for k, power in enumerate(powers, 1)]
    series = MatAdd(sp.ImmutableMatrix(sp.eye(block.dim)), *terms, evaluate=False)
    closed = sp.ImmutableMatrix(_exp_nilpotent(n, m, t))
    yield computed(
        "finite series", series, closed, f"What is left of exp(tN) ends at the power {m - 1} of t."
    )


def _exp_nilpotent(n: sp.ImmutableMatrix, size: int, t: sp.Symbol) -> sp.Matrix:
    """Σ t^k N^k / k!, whose k-th term fills the k-th (block) diagonal."""
    width = n.rows // size
    return sp.Matrix(
        n.rows,
        n.rows,
        lambda i, j: (
            t ** ((j - i) // width) / sp.factorial((j - i) // width) if j >= i and (j - i) % width == 0 else 0
        ),
    )


def _turn_steps(block: Block, t: sp.Symbol) -> Iterator[DerivationStep]:
    j, unit = _quarter_turns(block), sp.ImmutableMatrix(sp.eye(block.dim))
    square = MatMul(j, j, evaluate=False)
    yield computed(
        "quarter turn twice", square, -unit, "J² = -I: the powers of J cycle through I, J, -I, -J."
    )
    angle = block.frequency * t
    symbol, one = sp.MatrixSymbol("J", block.dim, block.dim), sp.Identity(block.dim)
    yield cited(
        "cos and sin",
        MatExp(MatMul(angle, symbol)),
        MatAdd(MatMul(sp.cos(angle), one), MatMul(sp.sin(angle), symbol)),
        _SERIES,
        "Even powers of J collect the series of cos, odd powers that of sin.",
    )
    collected = MatAdd(
        MatMul(sp.cos(angle), unit, evaluate=False), MatMul(sp.sin(angle), j, evaluate=False), evaluate=False
    )
    rotation = sp.ImmutableMatrix(_exp_turn(block, t))
    yield computed("rotation", collected, rotation, "cos(ωt) I + sin(ωt) J is the rotation by ωt.")


def _exp_turn(block: Block, t: sp.Symbol) -> sp.Matrix:
    """I_m ⊗ R(ωt)."""
    c, s = sp.cos(block.frequency * t), sp.sin(block.frequency * t)
    return sp.diag(*[sp.Matrix([[c, -s], [s, c]])] * block.size)
