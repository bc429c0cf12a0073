"""Matrices over the field of their entries where square roots stand beside π or symbols, against Arb."""

import pytest
import sympy as sp
from exptx.symbolic.balls import enclose
from exptx.symbolic.decide import Status
from exptx.symbolic.enclosed_flow import ball_exp, ball_matrix
from exptx.symbolic.errors import BadInput, Unsupported
from exptx.symbolic.generator import Generator
from exptx.symbolic.spectral.spectrum import in_field, over_a_field

PI, TWO, THREE, FIVE = sp.pi, sp.sqrt(2), sp.sqrt(3), sp.sqrt(5)
a = sp.Symbol("a", positive=True)

MIXED = [
    [[TWO, PI], [1, THREE]],
    [[1, TWO], [PI, 1]],
    [[TWO, 1, 0], [0, THREE, 1], [1, 0, PI]],
    [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [-TWO, 0, -PI, 0]],
    [[-1, PI], [-TWO, -1]],
    [[1 / PI, TWO / PI], [1, TWO]],
    [[PI, TWO], [0, PI]],
]


@pytest.mark.parametrize("rows", MIXED, ids=str)
def test_square_roots_beside_pi_give_a_flow_that_solves_and_meets_arb(rows):
    generator = Generator(sp.Matrix(rows))
    assert generator.verify().status is Status.PROVED
    independent, closed = ball_exp(generator, 1), ball_matrix(generator.exp(1))
    for i in range(generator.dim):
        for j in range(generator.dim):
            assert independent[i, j].overlaps(closed[i, j])
            assert closed[i, j].rad() < 1e-9 * (1 + abs(closed[i, j]))


def test_square_roots_beside_symbols_are_classified_or_refused_in_a_sentence():
    assert Generator(sp.Matrix([[TWO, a], [-a * TWO, TWO]])).verify().status is Status.PROVED
    with pytest.raises(Unsupported, match="discriminant"):
        Generator(sp.Matrix([[-PI, a], [-a, -TWO]]))


@pytest.mark.parametrize(
    "matrix",
    [
        sp.Matrix([[TWO, PI], [2, TWO * PI]]),
        sp.Matrix([[1 + TWO, PI], [1, PI * (TWO - 1)]]),
        sp.Matrix([[TWO * PI - 1, PI], [7 * TWO * PI**2 - 7 * PI, 7 * TWO * PI**2 / TWO]]),
    ],
    ids=str,
)
def test_a_determinant_that_vanishes_is_seen_to(matrix):
    assert in_field(matrix).rank() == 1
    with pytest.raises(BadInput, match="basis is singular"):
        Generator.direct_sum(*Generator(sp.diag(1, 2)).blocks, basis=matrix)


def test_a_flow_with_all_eigenvalues_left_has_a_metric_also_with_mixed_entries():
    generator = Generator(sp.Matrix([[-TWO, PI], [-1, -THREE]]))
    metric = generator.metric()
    assert not metric.all_times
    assert metric.verdict.status is Status.PROVED
    assert 1 <= metric.bound.lower <= metric.bound.upper < 10


def test_dependent_square_roots_count_once():
    field = over_a_field(
        sp.Matrix([[TWO, THREE, FIVE], [sp.sqrt(6), sp.sqrt(10), sp.sqrt(15)], [1, 0, sp.sqrt(30)]])
    )
    assert field.domain.ext.minpoly.degree() == 8
    with pytest.raises(Unsupported, match="4 different square roots"):
        over_a_field(sp.Matrix([[TWO, THREE], [FIVE, sp.sqrt(7)]]))


def test_the_eigenvalues_of_a_mixed_matrix_have_its_trace_and_determinant():
    (block,) = Generator(sp.Matrix([[TWO, PI], [1, THREE]])).blocks
    roots = [root.real for root in block.roots(15)]
    trace, low = enclose(TWO + THREE, 15), sum(root.lower for root in roots)
    assert abs(low - trace.lower) < sp.Rational(1, 10**12)
    product = enclose(TWO * THREE - PI, 15)
    assert abs(roots[0].lower * roots[1].lower - product.lower) < sp.Rational(1, 10**12)
