"""The document of a decision: as typed first, as sympy evaluates it where that is open."""

from __future__ import annotations

import pytest
from exptx.proofs.decision import decision
from exptx.symbolic import BadInput, Unreadable


def test_formulas_are_decided_as_typed_before_sympy_touches_them():
    found = decision("x/x", "1", ())
    assert (found["status"], found["side_conditions"]) == ("proved", ["x ≠ 0"])
    assert "sympy" not in found["reason"]


@pytest.mark.parametrize(("lhs", "rhs"), [("log(exp(x))", "x"), ("sqrt(x^2) - abs(x)", "0")])
def test_what_is_open_as_typed_is_decided_as_sympy_evaluates_it(lhs, rhs):
    found = decision(lhs, rhs, ())
    assert found["status"] == "proved"
    assert found["reason"].startswith("sympy's own evaluation makes this ")


def test_what_stays_open_says_why():
    found = decision("sqrt(x^2 + 1)*log(x)", "log(x)*sqrt(1 + x^2)", ())
    assert found["status"] == "undecided"
    assert "outside the decidable class" in found["reason"] or "write" in found["reason"]


def test_an_evaluation_without_a_value_leaves_the_question_open():
    assert decision("abs(x)/sinh(log(1))", "1", ())["status"] == "undecided"


def test_matrices_are_refuted_at_an_entry():
    found = decision("[[1, 2], [3, 4]]^2", "[[7, 10], [15, 23]]", ())
    assert found["entry"] == [1, 1]
    assert (found["witness"], found["gap"]) == ({}, "-1.000000000")


def test_an_assumption_changes_the_answer():
    assert decision("sqrt(x^2)", "x", ())["status"] == "refuted"
    assert decision("sqrt(x^2)", "x", ("x > 0",))["status"] == "proved"


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        (("2x", "x", ()), Unreadable, "lhs, column 2"),
        (("x", "2x", ()), Unreadable, "rhs, column 2"),
        (("x", "x", ("x > 1",)), Unreadable, "assume, column 1"),
        (("x", "x", ("y > 0",)), BadInput, "about y, which is on neither side"),
        (("1/(x - x)", "1", ()), BadInput, "identically zero"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, error, sentence):
    with pytest.raises(error, match=sentence):
        decision(*arguments)


@pytest.mark.parametrize(
    ("lhs", "rhs", "assume", "where"),
    [
        ("x/x", "1", [], ["x ≠ 0"]),
        ("exp(log(x))", "x", [], ["x > 0"]),
        ("exp(log(x))", "x", ["x > 0"], []),
        ("log(x) - log(x)", "0", [], ["x > 0"]),
        ("0*log(x)", "0", [], ["x > 0"]),
        ("0/x", "0", [], ["x ≠ 0"]),
        ("x^(1/2)*x^(-1/2)", "1", [], ["x > 0"]),
        ("sqrt(x)^2", "x", [], ["x ≥ 0"]),
        ("sqrt(x)^2", "x", ["x >= 0"], []),
        ("sqrt(x^2)", "x", ["x >= 0"], []),
        ("exp(2*log(x))", "x^2", [], ["x > 0"]),
        ("x", "exp(log(x))", [], ["x > 0"]),
        ("[[log(x) - log(x), 1], [1, y/y]]", "[[0, 1], [1, 1]]", [], ["x > 0", "y ≠ 0"]),
    ],
)
def test_what_is_proved_says_where_both_sides_have_a_value(lhs, rhs, assume, where):
    found = decision(lhs, rhs, assume)
    assert (found["status"], found["side_conditions"]) == ("proved", where)


@pytest.mark.parametrize(("lhs", "rhs"), [("exp(log(x))", "abs(x)"), ("sqrt(x)^2", "abs(x)")])
def test_nothing_is_refuted_where_a_side_has_no_value(lhs, rhs):
    """Both are equal for x > 0, and sympy's evaluation of the left side is not for x < 0."""
    assert decision(lhs, rhs, [])["status"] != "refuted"
