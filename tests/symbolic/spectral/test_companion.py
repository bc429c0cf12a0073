"""Companion blocks: their flow against Arb's exponential, their eigenvalues against closed forms."""

import pytest
import sympy as sp
from exptx.symbolic.balls import enclose
from exptx.symbolic.decide import Status
from exptx.symbolic.enclosed_flow import ball_exp, ball_matrix
from exptx.symbolic.errors import BadInput, Unsupported, WrongType
from exptx.symbolic.generator import Generator
from exptx.symbolic.spectral.companion import CompanionBlock
from exptx.symbolic.spectral.rootflow import RootFlow, root_flow
from exptx.symbolic.typeset import to_latex, to_text, to_typst

x = sp.Symbol("x")
Q = sp.Rational


def over_q(factor):
    return sp.Poly(factor, x, domain="QQ")


BLOCKS = [
    CompanionBlock(over_q(x**3 - x - 1)),
    CompanionBlock(over_q(x**3 - 2), 2),
    CompanionBlock(over_q(x**4 + 10 * x**2 + 1), 2),
    CompanionBlock(over_q(x**8 + x / 2 + 3)),
    CompanionBlock(sp.Poly(x**2 - sp.sqrt(2), x, extension=True), 2),
]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"degree {block.degree}, size {block.size}")
def test_the_sum_over_roots_solves_its_equation(block):
    assert Generator.direct_sum(block).verify().status is Status.PROVED


@pytest.mark.parametrize("time", [0, 1, Q(-7, 3)])
@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"degree {block.degree}, size {block.size}")
def test_the_sum_over_roots_meets_the_matrix_exponential_of_arb(block, time):
    generator = Generator.direct_sum(block)
    independent, closed = ball_exp(generator, time), ball_matrix(generator.exp(time))
    for i in range(generator.dim):
        for j in range(generator.dim):
            assert independent[i, j].overlaps(closed[i, j])
            assert closed[i, j].rad() < 1e-9 * (1 + abs(closed[i, j]))


def test_a_derivation_over_roots_holds_and_cites_its_source():
    derivation = Generator([[1, 2, 0], [0, 1, 3], [1, 1, 1]]).derivation()
    assert derivation.holds
    assert [step.rule for step in derivation.steps if step.verdict][:2] == ["annihilated", "basis inverse"]
    assert any("Higham" in (step.cited or "") for step in derivation.steps)


def test_a_wrong_coefficient_over_the_roots_is_found():
    block = BLOCKS[0]
    unit = sp.ImmutableMatrix(sp.eye(3))
    flow = root_flow(block.factor, [(1, unit, unit)])
    wrong = RootFlow(flow.factor, ((flow.terms[0][0] * flow.terms[0][0], *flow.terms[0][1:]),))
    assert flow.solves(block.matrix)
    assert flow.start() == unit
    assert not wrong.solves(block.matrix)
    assert wrong.start() != unit


def test_eigenvalues_are_isolated_to_any_precision():
    plastic = BLOCKS[0].roots(50)[-1]
    closed = sp.cbrt(Q(1, 2) + sp.sqrt(Q(23, 108))) + sp.cbrt(Q(1, 2) - sp.sqrt(Q(23, 108)))  # Cardano
    assert plastic.imag.width == 0
    assert plastic.real.width < Q(1, 10**49)
    assert plastic.real.lower < sp.N(closed, 60) < plastic.real.upper


def test_a_sum_over_roots_is_enclosed_as_a_real_number():
    """exp(C) for p = λ³ - λ - 1, entry (0, 0), by the power series of Cᵏ in exact rationals."""
    power, series = sp.eye(3), sp.zeros(3)
    for k in range(40):
        series += power / sp.factorial(k)
        power = power * BLOCKS[0].matrix
    found = enclose(BLOCKS[0].exp(1)[0, 0], 20)
    assert abs(found.lower - series[0, 0]) < Q(1, 10**18)
    assert abs(found.upper - series[0, 0]) < Q(1, 10**18)


def test_a_sum_over_roots_is_typeset_in_every_form():
    entry = BLOCKS[0].exp(sp.Symbol("t"))[0, 0]
    assert to_text(entry).startswith("∑[λ³ - λ - 1 = 0]")
    assert to_latex(entry).startswith(r"\sum_{\lambda^{3} - \lambda - 1 = 0}")
    assert to_typst(entry).startswith("sum_(lambda^3 - lambda - 1 = 0)")


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ((x**3 - 2,), WrongType, "factor is a Add"),
        ((over_q(x**2 - 1),), BadInput, r"factor is x\*\*2 - 1; a monic irreducible"),
        ((over_q(x - 1),), BadInput, "degree >= 2"),
        ((over_q(2 * x**3 - 4),), BadInput, "monic"),
        ((over_q(x**3 - 2), 0), BadInput, "size is 0"),
    ],
)
def test_bad_companion_blocks_are_refused_by_name(arguments, error, sentence):
    with pytest.raises(error, match=sentence):
        CompanionBlock(*arguments)


def test_there_is_no_single_decay_or_frequency():
    with pytest.raises(Unsupported, match=r"3 eigenvalues and not one decay; roots\(\)"):
        _ = BLOCKS[0].decay
    with pytest.raises(Unsupported, match="not one frequency"):
        _ = BLOCKS[0].frequency
