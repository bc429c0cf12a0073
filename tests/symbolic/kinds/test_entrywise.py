"""Entries of a map one by one: exponential polynomials, and what is refuted or left open."""

import pytest
import sympy as sp
from exptx.symbolic.entries import GAP
from exptx.symbolic.errors import BadInput
from exptx.symbolic.kinds.entrywise import realizable
from exptx.symbolic.verdict import Status

u = sp.Symbol("u", real=True)
m = sp.Symbol("m", positive=True)


@pytest.mark.parametrize(
    ("bias", "edge"),
    [(sp.Abs(u), 0), (m * sp.exp(-sp.Abs(u)), 0), (sp.Piecewise((0, u < 3), (1, True)), 3)],
)
def test_a_bias_with_a_kink_or_a_step_is_outside(bias, edge):
    verdict = realizable({"bias": (bias,)})
    assert verdict.status is Status.REFUTED
    assert verdict.witness[u] < edge
    assert "Rudin" in verdict.reason


@pytest.mark.parametrize("bias", [u**2, sp.cos(u), sp.exp(-u) * u, sp.cosh(sp.Abs(u)), sp.Abs(u) ** 2])
def test_a_bias_that_is_one_exponential_polynomial_is_inside(bias):
    assert realizable({"bias": (bias,)}).status is Status.PROVED


@pytest.mark.parametrize("bias", [sp.sqrt(1 + sp.Abs(u)), sp.log(1 + u**2), sp.exp(-(u**2))])
def test_roots_logarithms_and_gaussians_are_outside_with_a_cited_lemma(bias):
    verdict = realizable({"bias": (bias,)})
    assert verdict.status is Status.REFUTED
    assert "exponential" in verdict.reason


def test_a_bias_beyond_the_decidable_class_is_undecided_with_its_reason():
    verdict = realizable({"bias": (sp.log(2 + sp.cos(u)),)})
    assert verdict.status is Status.UNDECIDED
    assert "logarithm" in verdict.reason


def test_steps_with_symbolic_levels_are_told_apart_by_different_trial_values():
    """With every symbol at 1 the two levels would be one number."""
    verdict = realizable({"bias": (sp.Piecewise((m, u < 3), (1, True)),)})
    assert verdict.status is Status.REFUTED


def test_an_entry_that_is_zero_in_disguise_is_realised_by_every_generator():
    zero = sp.cos(u) ** 2 + sp.sin(u) ** 2 - 1
    assert realizable({"bias": (zero, sp.exp(-u))}).status is Status.PROVED
    assert realizable({"bias": (zero, sp.Abs(u))}).status is Status.REFUTED


def test_an_entry_that_is_not_real_is_an_error_and_not_a_zero():
    with pytest.raises(BadInput, match="real"):
        realizable({"score": (sp.I * GAP,)})
