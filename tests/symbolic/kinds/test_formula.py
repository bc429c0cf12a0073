"""Encodings given by formulas: what substitution proves, what is refuted, who is outside the family."""

import pytest
import sympy as sp
from exptx.symbolic.block import Block
from exptx.symbolic.catalogue import encoding
from exptx.symbolic.decide import Status
from exptx.symbolic.generator import Generator
from exptx.symbolic.kinds.formula import Formula

u = sp.Symbol("u", real=True)
m = sp.Symbol("m", positive=True)


def test_an_opaque_function_of_the_gap_is_relative_by_substitution():
    b = sp.Function("b", real=True)
    opaque = Formula("opaque", {}, 2, bias_formula=lambda t, s: b(t - s))
    verdict = opaque.is_relative()
    assert verdict.status is Status.PROVED
    assert "gone" in verdict.reason
    family = opaque.in_family()
    assert family.status is Status.UNDECIDED
    assert "opaque" in family.reason


def test_an_opaque_function_of_the_distance_may_be_even_and_is_not_called_outside():
    b = sp.Function("b", real=True)
    distance = Formula("opaque", {}, 2, bias_formula=lambda t, s: b(sp.Abs(t - s)))
    assert distance.in_family().status is Status.UNDECIDED


def test_an_opaque_function_of_both_positions_is_refuted():
    b = sp.Function("b", real=True)
    verdict = Formula("opaque", {}, 2, bias_formula=lambda t, s: b(t - s) + b(t)).is_relative()
    assert verdict.status is Status.REFUTED


def test_a_bias_that_depends_on_the_query_position_is_refuted():
    verdict = Formula("row", {}, 2, bias_formula=lambda t, s: -m * (t - s) + t**2).is_relative()
    assert verdict.status is Status.REFUTED


def test_a_free_refutation_does_not_speak_for_special_numbers():
    """Turning by w on one side and by v on the other is relative exactly when w = v."""
    w, v = sp.symbols("w v", positive=True)

    def two_sided(first, second):
        turns = tuple(Generator.direct_sum(Block(0, x), basis=sp.diag(1, -1)) for x in (first, second))
        return Formula(
            "two-sided",
            {},
            2,
            ingredients=turns,
            query=lambda x, t: x[0].exp(t).T,
            key=lambda x, s: x[1].exp(-s),
        )

    doubled = Formula(
        "doubled",
        {},
        2,
        ingredients=two_sided(sp.S.One, sp.Integer(2)).ingredients,
        query=lambda x, t: (x[0].exp(t) * x[0].exp(t)).T,
        key=lambda x, s: x[1].exp(-s),
    )
    assert doubled.is_relative().status is Status.PROVED
    assert two_sided(w, v).is_relative().status is Status.REFUTED
    assert two_sided(sp.S.One, sp.S.One).is_relative().status is Status.PROVED
    assert two_sided(sp.S.One, sp.Rational(1, 2)).is_relative().status is Status.REFUTED


def bias(formula):
    return Formula("given", {}, 2, bias_formula=lambda t, s: formula.subs(u, t - s))


@pytest.mark.parametrize(
    ("formula", "bidirectional", "bounded"),
    [
        (-m * sp.Abs(u), Status.PROVED, Status.REFUTED),
        (m * sp.Abs(u), Status.REFUTED, Status.REFUTED),
        (sp.exp(-sp.Abs(u)), Status.PROVED, Status.PROVED),
        (-m * u, Status.REFUTED, Status.REFUTED),
        (-m * u**2, Status.PROVED, Status.REFUTED),
        (sp.cos(u), Status.PROVED, Status.PROVED),
    ],
)
def test_a_bias_is_bidirectional_if_bounded_above_and_bounded_if_both_ways(formula, bidirectional, bounded):
    assert bias(formula).is_bidirectional().status is bidirectional
    assert bias(formula).is_bounded().status is bounded


def test_a_fade_is_bounded_forward_only():
    fade = bias(sp.exp(-m * u))
    assert fade.is_bounded().status is Status.REFUTED
    assert fade.is_bounded("causal").status is Status.PROVED


def test_positions_that_stay_in_the_score_leave_the_size_of_the_factors_to_ask_for():
    assert encoding("sinusoidal", head_dim=2).is_bidirectional().status is Status.PROVED
    assert encoding("same_side_boost").is_bidirectional().status is Status.REFUTED
    assert bias(u).is_relative().status is Status.PROVED
    moving = Formula("row", {}, 2, bias_formula=lambda t, s: -m * (t - s) + t**2)
    assert moving.is_bidirectional().status is Status.REFUTED
    assert "with s = 0 no upper bound as t → ∞" in moving.is_bidirectional().reason
    waving = Formula("row", {}, 2, bias_formula=lambda t, s: sp.cos(t * s))
    assert waving.is_bidirectional().status is waving.is_bounded().status is Status.PROVED


def test_values_that_grow_are_no_bounded_encoding():
    fade = Generator.direct_sum(Block(1))
    grown = Formula("values", {}, 1, ingredients=(fade,), values=lambda x, s: x[0].exp(s))
    assert grown.is_relative().status is Status.REFUTED
    assert grown.is_bounded().status is grown.is_bidirectional().status is Status.REFUTED
    assert "the value factor" in grown.is_bounded().reason
    assert grown.is_bounded("causal").status is Status.PROVED
