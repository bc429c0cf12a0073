"""How gates are read: one a token, logarithms of forget gates, steps, rows turned into clocks."""

import pytest
import sympy as sp
from exptx.symbolic.catalogue.gates import forgotten, gate_rows, gates, step
from exptx.symbolic.errors import BadInput, WrongType
from exptx.symbolic.exact import exact_entry

HALF = sp.Rational(1, 2)


def test_a_forget_gate_moves_the_clock_by_minus_its_logarithm():
    assert forgotten(1, "f") == 0
    assert forgotten(HALF, "f") == sp.log(2)
    assert abs(forgotten(sp.Rational(1, 3), "f").n(20) - sp.log(3).n(20)) < 1e-18


@pytest.mark.parametrize("wrong", [0, -1, 2, sp.Symbol("f", real=True), sp.Symbol("f", positive=True)])
def test_a_forget_gate_lies_above_0_and_at_most_at_1(wrong):
    with pytest.raises(BadInput, match="at most 1"):
        forgotten(wrong, "f")


def test_a_step_is_not_negative():
    assert step(0, "a") == 0
    assert step(sp.Symbol("x", positive=True), "a").name == "x"
    for wrong in (-1, sp.Symbol("x", real=True)):
        with pytest.raises(BadInput, match="not negative"):
            step(wrong, "a")


def test_rows_of_tokens_become_clocks():
    assert gate_rows([[1, 2], [3, 4], [5, 6]], "a", 2, exact_entry) == ((1, 3, 5), (2, 4, 6))
    assert gate_rows(None, "a", 3, exact_entry) == (None, None, None)
    assert gates(None, "a", step) is None


def test_what_is_no_list_of_gates_is_refused_by_its_name():
    for wrong in ("ab", 3, [], [1, 2]):
        with pytest.raises(WrongType, match="decay"):
            gate_rows(wrong, "decay", 2, step)
    with pytest.raises(BadInput, match=r"decay\[1\] has 1 gates"):
        gate_rows([[1, 2], [3]], "decay", 2, step)
