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
