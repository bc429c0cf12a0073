"""Bounds of formulas of one position and of two: proved by form or growth, refuted along a line, or open."""

import pytest
import sympy as sp
from exptx.symbolic.kinds.bounds import FROM_ABOVE, in_both, in_one, within
from exptx.symbolic.verdict import Status

t, s, u = sp.symbols("t s u", real=True)
m = sp.Symbol("m", positive=True)
f = sp.Function("f", real=True)


@pytest.mark.parametrize(
    ("entry", "bounded"),
    [
        (sp.cos(u**2) * sp.sin(u) + m, True),
        (sp.Piecewise((m, u < 3), (sp.cos(u) ** 2, True)), True),
        (sp.Max(sp.cos(u), m), True),
        (sp.Piecewise((m, u < 3), (u, True)), False),
        (1 / (2 + sp.cos(u)), False),
        (u * sp.cos(u), False),
        (f(u), False),
        (sp.cos(f(u)), True),
    ],
)
def test_formulas_made_of_bounded_ones_are_seen_by_their_form(entry, bounded):
    assert within(entry, {u}) is bounded


@pytest.mark.parametrize(
    ("entries", "size", "above"),
    [
        ([sp.cos(u), 1], Status.PROVED, Status.PROVED),
        ([sp.cos(u), -(u**2)], Status.REFUTED, Status.PROVED),
        ([u**2, sp.cos(u)], Status.REFUTED, Status.REFUTED),
        ([f(u)], Status.NOT_CHECKED, Status.NOT_CHECKED),
        ([f(u), u**2], Status.REFUTED, Status.REFUTED),
        ([f(sp.S.One)], Status.NOT_CHECKED, Status.NOT_CHECKED),
        ([], Status.PROVED, Status.PROVED),
    ],
)
def test_one_entry_decides_for_all(entries, size, above):
    given = [sp.sympify(entry) for entry in entries]
    assert in_one("the content", given, u).status is size
    assert in_one("the content", given, u, sides=FROM_ABOVE).status is above


def test_forward_is_from_zero_on():
    fade = [sp.exp(-m * u)]
    assert in_one("the content", fade, u).status is Status.REFUTED
    assert in_one("the content", fade, u, "causal").status is Status.PROVED


@pytest.mark.parametrize(
    ("entry", "status"),
    [
        (sp.cos(t * s), Status.PROVED),
        (t - s, Status.REFUTED),
        (t * s, Status.REFUTED),
        (s**3, Status.REFUTED),
        ((t - s) * s, Status.REFUTED),
        ((t - s) * t * s, Status.UNDECIDED),
        (f(t, s), Status.NOT_CHECKED),
    ],
)
def test_two_positions_are_proved_by_form_and_refuted_along_a_line(entry, status):
    assert in_both("the bias", [entry]).status is status


def test_no_key_ahead_is_looked_at_forward():
    ahead = [sp.exp(s - t)]
    assert in_both("the bias", ahead).status is Status.REFUTED
    assert in_both("the bias", ahead, "causal").status is Status.UNDECIDED


def test_reasons_name_the_part():
    assert in_one("the content", [sp.S.One], u).reason == "the content is not moved"
    assert in_one("the key factor", [sp.S.One], u).reason == "the key factor is the same at all positions"
    assert in_one("the bias", [-sp.Abs(u)], u).reason.startswith("the bias: no lower bound as u → ∞")
