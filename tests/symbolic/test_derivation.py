"""The closed form is derived: every step is computed or names its source, and a wrong one is refuted."""

from dataclasses import replace

import pytest
import sympy as sp
from exptx.symbolic.block import Block
from exptx.symbolic.decide import Status
from exptx.symbolic.derivation import DerivationStep
from exptx.symbolic.errors import BadInput
from exptx.symbolic.generator import Generator

g, w = sp.symbols("gamma omega", positive=True)
a = sp.Symbol("a", real=True)
SHEAR = sp.Matrix([[1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, a], [0, 0, 0, 1]])

GENERATORS = {
    "hold": Generator.direct_sum(Block(0)),
    "fade": Generator.direct_sum(Block(g)),
    "turn": Generator.direct_sum(Block(0, w)),
    "damped-turn": Generator.direct_sum(Block(g, w)),
    "slide": Generator.direct_sum(Block(0, 0, 2)),
    "faded-slide": Generator.direct_sum(Block(g, 0, 3)),
    "damped-turning-slide": Generator.direct_sum(Block(g, w, 3)),
    "rope": Generator(sp.Matrix([[0, w], [-w, 0]])),
    "sheared sum": Generator.direct_sum(Block(g, w), Block(0, 0, 2), basis=SHEAR),
    "irrational": Generator.direct_sum(Block(0, sp.Integer(10000) ** sp.Rational(-1, 64)), Block(sp.sqrt(2))),
}


@pytest.fixture(scope="module")
def derivations():
    return {name: generator.derivation() for name, generator in GENERATORS.items()}


@pytest.mark.parametrize("name", GENERATORS)
def test_every_computed_step_is_proved_and_every_other_names_its_source(derivations, name):
    for step in derivations[name].steps:
        if step.computed:
            assert step.verdict.status is Status.PROVED, str(step)
            assert step.cited is None
        else:
            assert step.cited
            assert step.verdict is None
        assert step.explanation.endswith(".")
    assert derivations[name].holds


@pytest.mark.parametrize("name", GENERATORS)
def test_every_derivation_ends_with_the_three_closing_steps(derivations, name):
    last = [step.rule for step in derivations[name].steps[-3:]]
    assert last == ["initial value", "differential equation", "uniqueness"]
    assert derivations[name].steps[-1].cited.startswith("Hall")


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("hold", {"scalar"}),
        ("fade", {"scalar"}),
        ("turn", {"quarter turn twice", "cos and sin", "rotation"}),
        ("slide", {"nilpotent", "finite series"}),
        (
            "damped-turning-slide",
            {
                "split",
                "commute",
                "commuting exponents",
                "scalar",
                "nilpotent",
                "finite series",
                "quarter turn twice",
                "cos and sin",
                "rotation",
                "multiply",
            },
        ),
    ],
)
def test_a_block_is_derived_from_its_parts_and_no_others(derivations, name, rules):
    assert {step.rule for step in derivations[name].steps[:-3]} == rules


def test_a_basis_is_part_of_the_derivation(derivations):
    rules = [step.rule for step in derivations["sheared sum"].steps]
    assert rules[-8:-3] == ["direct sum", "basis inverse", "basis", "change of basis", "assemble"]


def test_the_chain_leads_from_the_matrix_to_the_closed_form(derivations):
    steps = {step.rule: step for step in derivations["damped-turning-slide"].steps}
    generator = GENERATORS["damped-turning-slide"]
    assert steps["split"].before == generator.matrix
    assert steps["multiply"].after == generator.exp(generator.time)
    assert steps["uniqueness"].after == generator.exp(generator.time)


def corrupted(step):
    """The same step with the sign of one non-zero entry on the right turned round."""
    after = sp.Matrix(step.after.doit())
    place = next((i, j) for i in range(after.rows) for j in range(after.cols) if after[i, j] != 0)
    after[place] = -after[place]
    return replace(step, after=after.as_immutable())


@pytest.mark.parametrize("name", GENERATORS)
def test_a_corrupted_step_is_refuted(derivations, name):
    computed = [step for step in derivations[name].steps if step.computed]
    tried = 0
    for step in computed:
        if sp.Matrix(step.after.doit()).is_zero_matrix:
            continue
        wrong = corrupted(step)
        assert wrong.verdict.status is Status.REFUTED, str(step)
        assert not wrong.holds
        tried += 1
    assert tried


def test_a_series_that_stops_too_early_is_refuted(derivations):
    steps = {step.rule: step for step in derivations["damped-turning-slide"].steps}
    early = replace(steps["nilpotent"], before=sp.MatPow(steps["nilpotent"].before.base, 2, evaluate=False))
    assert early.verdict.status is Status.REFUTED


def test_parts_that_do_not_commute_are_refuted(derivations):
    steps = [step for step in derivations["damped-turning-slide"].steps if step.rule == "commute"]
    left, right = steps[-1].before.args
    wrong = left.as_mutable()
    wrong[0, 1] = -wrong[0, 1]
    swapped = [
        sp.MatMul(*pair, evaluate=False)
        for pair in [(wrong.as_immutable(), right), (right, wrong.as_immutable())]
    ]
    assert replace(steps[-1], before=swapped[0], after=swapped[1]).verdict.status is Status.REFUTED


def test_irrational_numbers_are_derived_as_symbols_and_listed(derivations):
    values = derivations["irrational"].parameters
    assert set(values.values()) == {sp.Integer(10000) ** sp.Rational(-1, 64), sp.sqrt(2)}
    assert not derivations["turn"].parameters


@pytest.mark.parametrize(("computed", "cited"), [(True, "somebody"), (False, None)])
def test_a_step_is_either_computed_or_cited(computed, cited):
    with pytest.raises(BadInput, match="either computed or cited"):
        DerivationStep("rule", sp.S.One, sp.S.One, computed, cited, "Because.")


def test_shown_in_notebook_paper_and_terminal(derivations):
    shown = str(derivations["damped-turn"])
    assert "split [computed: proved]" in shown
    assert "uniqueness [cited: Hall" in shown
    assert r"\begin{aligned}" in derivations["damped-turn"]._repr_latex_()
    assert "<pre" in derivations["damped-turn"]._repr_html_()
