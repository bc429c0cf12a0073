"""Generators, recognised or given as blocks: their flow verified exactly, and against Arb's exponential."""

import numpy as np
import pytest
import sympy as sp
from exptx.symbolic.block import Block
from exptx.symbolic.decide import Status, verify_flow
from exptx.symbolic.enclosed_flow import ball_exp, ball_matrix
from exptx.symbolic.errors import BadInput, ExptxError, WrongType
from exptx.symbolic.generator import Generator

t = sp.Symbol("t")
g, w, v = sp.symbols("gamma omega v", positive=True)
a = sp.Symbol("a", real=True)
J = sp.Matrix([[0, -1], [1, 0]])
Q = sp.Rational

BLOCKS = [
    Block(decay, frequency, size)
    for decay in (0, g, -g, Q(1, 3))
    for frequency in (0, w)
    for size in (1, 2, 4)
]


def unit_triangle(n):
    """Ones on and above the diagonal: a basis that mixes everything and has an integer inverse."""
    return sp.Matrix(n, n, lambda i, j: 1 if j >= i else 0)


def shear(n):
    """Ones on the diagonal and alternating ones just above it."""
    return sp.Matrix(n, n, lambda i, j: 1 if i == j else (-1) ** i if j == i + 1 else 0)


# ---------------------------------------------------------------- recognised or given


@pytest.mark.parametrize("block", BLOCKS, ids=repr)
def test_a_canonical_block_is_recognised(block):
    found = Generator(block.matrix)
    assert found.blocks == (block,)
    assert found.basis == sp.eye(block.dim)


def test_a_direct_sum_along_the_diagonal_is_recognised_in_order():
    blocks = (Block(0), Block(g, w, 2), Block(0, 0, 3), Block(0), Block(-g), Block(Q(1, 2), 3))
    found = Generator(Generator.direct_sum(*blocks).matrix)
    assert found.blocks == blocks
    assert found == Generator.direct_sum(*blocks)


def test_rope_turns_clockwise_and_its_basis_says_so():
    rope = Generator(sp.diag(-w * J, -v * J))
    assert rope.matrix == sp.diag(-w * J, -v * J)
    assert rope.blocks == (Block(0, w), Block(0, v))
    assert rope.basis == sp.diag(1, -1, 1, -1)
    assert rope.exp(t)[:2, :2] == sp.Matrix([[sp.cos(w * t), sp.sin(w * t)], [-sp.sin(w * t), sp.cos(w * t)]])
    assert rope.verify().holds


def test_a_clockwise_turning_slide_is_recognised():
    flip = sp.diag(1, -1, 1, -1)
    found = Generator(flip * Block(g, w, 2).matrix * flip)
    assert found.blocks == (Block(g, w, 2),)
    assert found.verify().holds


@pytest.mark.parametrize("numbers", [[[0, 1], [0, 0]], sp.Matrix([[0, 1], [0, 0]]), ((0, 1), (0, 0))])
def test_rows_of_exact_numbers_are_a_matrix(numbers):
    assert Generator(numbers).blocks == (Block(0, 0, 2),)


REFUSED = [
    ([[0, 1]], BadInput, "matrix is not square"),
    (sp.zeros(2, 3), BadInput, "matrix is not square"),
    ([[0, 1], [0]], BadInput, "matrix is not square"),
    ([], BadInput, "matrix .*empty"),
    (sp.zeros(0, 0), BadInput, "matrix .*empty"),
    ([[0.5]], WrongType, r"matrix\[0, 0\] is 0.5, which is a float.*exptx\.numeric\.float_spectrum"),
    (sp.Matrix([[0, 1], [sp.Float(0.5), 0]]), WrongType, r"matrix\[1, 0\]"),
    (sp.Matrix([[0.1 * g]]), WrongType, r"matrix\[0, 0\]"),
    ([[sp.nan]], BadInput, r"matrix\[0, 0\] is nan"),
    ([[sp.I]], BadInput, r"matrix\[0, 0\] is I"),
    (np.eye(2), WrongType, "matrix is a ndarray.*float_spectrum"),
    ("[[0]]", WrongType, "matrix is a str"),
    (3, WrongType, "matrix is a int"),
    (None, WrongType, "matrix is a NoneType"),
]


@pytest.mark.parametrize(("matrix", "error", "sentence"), REFUSED)
def test_bad_matrices_are_refused_by_name(matrix, error, sentence):
    with pytest.raises(error, match=sentence) as caught:
        Generator(matrix)
    assert isinstance(caught.value, ExptxError)


@pytest.mark.parametrize(
    ("basis", "error", "sentence"),
    [
        ([[1, 1], [1, 1]], BadInput, "basis is singular"),
        ([[0, 0], [0, 0]], BadInput, "basis is singular"),
        ([[a, a], [1, 1]], BadInput, "basis is singular"),
        ([[sp.cos(a) ** 2 + sp.sin(a) ** 2, 1], [1, 1]], BadInput, "basis is singular"),
        ([[1 + sp.sqrt(2), -1], [1, 1 - sp.sqrt(2)]], BadInput, "basis is singular"),
        ([[1]], BadInput, "basis is 1 x 1, but the blocks have total size 2"),
        ([[1, 0, 0], [0, 1, 0]], BadInput, "basis is not square"),
        ([[1, 0], [0, 0.5]], WrongType, r"basis\[1, 1\] is 0.5, which is a float"),
        ("I", WrongType, "basis is a str"),
    ],
)
def test_bad_bases_are_refused_by_name(basis, error, sentence):
    with pytest.raises(error, match=sentence):
        Generator.direct_sum(Block(0, w), basis=basis)


def test_blocks_must_be_blocks():
    with pytest.raises(BadInput, match="blocks is empty"):
        Generator.direct_sum()
    with pytest.raises(WrongType, match=r"blocks\[1\] is a int"):
        Generator.direct_sum(Block(0), 1)


# ---------------------------------------------------------------- the flow, exactly


@pytest.mark.parametrize("size", range(1, 17))
@pytest.mark.parametrize("frequency", [0, w])
@pytest.mark.parametrize("decay", [0, g])
def test_every_block_up_to_size_16_solves_its_equation(decay, frequency, size):
    assert Generator.direct_sum(Block(decay, frequency, size)).verify().status is Status.PROVED


@pytest.mark.parametrize("size", [1, 2, 5])
def test_the_formula_of_a_turn_at_frequency_zero_still_solves_its_equation(size):
    block = Block(g, w, size)
    assert verify_flow(block.matrix.subs(w, 0), block.exp(t).subs(w, 0), t).holds


def test_equal_rates_and_vanishing_decays_are_no_special_case():
    generator = Generator.direct_sum(
        Block(g, w), Block(g, w), Block(0, w, 2), Block(g), Block(g, 0, 2), Block(0)
    )
    assert generator.verify().holds


@pytest.mark.parametrize("basis", [None, shear(64)], ids=["canonical", "sheared"])
def test_a_sum_of_blocks_of_total_size_64_solves_its_equation(basis):
    blocks = [Block(Q(1, k), k, 4) for k in range(1, 8)] + [Block(g, w, 4)]
    generator = Generator.direct_sum(*blocks, basis=basis)
    assert generator.dim == 64
    assert generator.verify().status is Status.PROVED


@pytest.mark.parametrize(
    "basis",
    [
        unit_triangle(5),
        sp.Matrix(5, 5, lambda i, j: Q(1, i + j + 1)),
        sp.diag(1, a**2 + 1, 1, 1, 1),
        sp.eye(5) + a * sp.Matrix(5, 5, lambda i, j: 1 if (i, j) == (0, 4) else 0),
        sp.diag(sp.Matrix([[sp.cos(a), -sp.sin(a)], [sp.sin(a), sp.cos(a)]]), sp.eye(3)),
        sp.diag(sp.sqrt(2), 1, 1, sp.Matrix([[1, sp.sqrt(3)], [0, 1]])),
    ],
    ids=["triangle", "hilbert", "scaled", "sheared", "rotated", "roots"],
)
def test_a_change_of_basis_carries_the_flow_along(basis):
    generator = Generator.direct_sum(Block(g, w), Block(0, 0, 3), basis=basis)
    assert generator.verify().status is Status.PROVED
    assert (generator.basis * generator.canonical - generator.matrix * generator.basis).applyfunc(
        lambda entry: sp.trigsimp(sp.expand(entry))
    ) == sp.zeros(5)


def test_a_wrong_flow_is_refuted_at_a_rational_time():
    block = Block(g, w, 2)
    wrong = block.exp(t).as_mutable()
    wrong[0, 2] = -wrong[0, 2]
    verdict = verify_flow(block.matrix, wrong.as_immutable(), t)
    assert verdict.status is Status.REFUTED
    assert verdict.witness


def test_a_decay_of_the_wrong_sign_is_refuted():
    assert verify_flow(Block(g, w).matrix, Block(-g, w).exp(t), t).status is Status.REFUTED


def test_irrational_rates_are_verified_through_free_symbols():
    frequencies = [sp.Integer(10000) ** Q(-k, 8) for k in range(8)]
    generator = Generator.direct_sum(*[Block(sp.log(2), frequency) for frequency in frequencies])
    general, values = generator.freed()
    assert generator.verify().holds
    assert [block.frequency.subs(values) for block in general.blocks] == frequencies
    assert all(symbol.is_positive for symbol in values)
    assert len(values) == 5  # ln 2 and the odd powers of √(1/10)


def test_the_name_of_time_is_never_taken():
    generator = Generator.direct_sum(Block(sp.Symbol("t", positive=True)))
    assert generator.time.name != "t"
    assert generator.verify().holds


# ---------------------------------------------------------------- the flow, numerically, by another route


NUMERIC = [
    Generator.direct_sum(Block(0), Block(Q(1, 10)), Block(Q(-1, 3)), Block(0, 0, 4)),
    Generator.direct_sum(Block(Q(1, 10), 2, 3), Block(0, Q(1, 7), 2)),
    Generator.direct_sum(*[Block(0, sp.Integer(10000) ** Q(-k, 8)) for k in range(8)]),
    Generator.direct_sum(Block(sp.sqrt(2), sp.pi / 3), Block(0, 0, 3), basis=unit_triangle(5)),
    Generator.direct_sum(Block(1, 1, 16), basis=shear(32)),
]


@pytest.mark.parametrize("time", [0, 1, Q(-7, 3), 12])
@pytest.mark.parametrize("generator", NUMERIC, ids=lambda generator: f"n{generator.dim}")
def test_the_closed_form_meets_the_matrix_exponential_of_arb(generator, time):
    independent, closed = ball_exp(generator, time), ball_matrix(generator.exp(time))
    for i in range(generator.dim):
        for j in range(generator.dim):
            assert independent[i, j].overlaps(closed[i, j])
            assert independent[i, j].rad() < 1e-9 * (1 + abs(closed[i, j]))


def test_the_matrix_exponential_of_arb_tells_a_wrong_sign():
    generator = Generator.direct_sum(Block(Q(1, 10), 2))
    independent, wrong = ball_exp(generator, 1), ball_matrix(Block(Q(-1, 10), 2).exp(1))
    assert not independent[0, 0].overlaps(wrong[0, 0])


def test_numbers_need_numbers():
    with pytest.raises(BadInput, match="gamma"):
        ball_exp(Generator.direct_sum(Block(g)), 1)


# ---------------------------------------------------------------- shown


def test_shown_in_notebook_paper_and_terminal():
    generator = Generator.direct_sum(Block(0, w), Block(0, 0, 2))
    assert str(generator).splitlines()[0] == "turn ⊕ slide, 4 x 4"
    assert generator.latex() in generator._repr_latex_()
    assert "turn ⊕ slide" in generator._repr_html_()
    assert repr(generator).startswith("Generator.direct_sum(Block(0, frequency=omega, size=1), ")
