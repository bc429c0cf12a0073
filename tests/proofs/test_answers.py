"""The lines that a person reads hold all the evidence of a document, and no line is without end."""

from __future__ import annotations

import pytest
from exptx.proofs.answers import classified, decided
from exptx.proofs.classification import classification
from exptx.proofs.decision import decision


def decided_lines(lhs, rhs, *assume):
    return decided(decision(lhs, rhs, assume) | {"assume": assume})


def classified_lines(what, **parameters):
    return classified(classification(what, (), {}, parameters))


def test_a_refutation_comes_with_witness_entry_gap_and_what_was_assumed():
    lines = decided_lines("[[x, 2], [3, 4]]^2", "[[x^2 + 6, 2.0*x + 8], [1/y, 1]]", "x > 0")
    assert lines[0] == "refuted:   [[x, 2], [3, 4]]² = [[x² + 6, 2·x + 8], [1/y, 1]]"
    assert lines[2:] == [
        "witness:   x = 1, y = 2",
        "entry:     (1, 0), counted from 0",
        "gap:       lhs - rhs = 14.50000000",
        "where:     y ≠ 0",
        "given:     x > 0",
        "exact:     2.0 is read as 2",
    ]


def test_a_turn_in_disguise_comes_with_its_metric_and_bound():
    lines = classified_lines("[[6,-15],[3,-6]]")
    assert lines[1:3] == [
        "type:      turn",
        "block:     turn, frequency 3, size 1, period 2·π/3 ≈ 2.09440; kernels cos(3·t), sin(3·t)",
    ]
    assert "P:         [[1, -2], [-2, 5]] has XᵀP + PX = 0, so ‖exp(tX)‖ ≤ 5.828427125" in lines


def test_a_fade_is_bounded_on_one_side_only():
    (metric,) = [line for line in classified_lines("[[-1, 0], [0, -1]]") if line.startswith("P:")]
    assert metric.endswith("XᵀP + PX ⪯ 0, so ‖exp(tX)‖ ≤ 1 for t ≥ 0")


def test_equal_blocks_are_counted():
    lines = classified_lines("[[-1, 0], [0, -1]]")
    assert "block:     2 times fade, decay 1, size 1, half-life ln(2) ≈ 0.693147; kernels e^(-t)" in lines


def test_many_blocks_are_shortened_and_neighbours_of_one_kind_counted():
    lines = classified_lines("rope", head_dim="64")
    assert "type:          turn (32 times)" in lines
    assert sum(line.startswith("block:") for line in lines) == 8
    assert any(line.startswith("blocks:        24 more") for line in lines)


@pytest.mark.parametrize("what", ["[[0,1,0],[0,0,1],[2,0,0]]", "cos(u)^4", "log(1+u)", "rope", "keys_only"])
def test_every_kind_of_answer_has_lines_and_none_is_endless(what):
    lines = classified_lines(what)
    assert all(len(line) < 700 and "None" not in line for line in lines)
    assert len(lines) >= 5


def test_a_determinant_of_thousands_of_digits_is_counted():
    (line,) = [line for line in classified_lines("u^57") if line.startswith("least:")]
    assert line.endswith("order 58 is -177471…000000 (4444 digits), not 0")
    (line,) = [line for line in classified_lines("u^20") if line.startswith("least:")]
    assert line.endswith("(387 digits), not 0")
    (line,) = [line for line in classified_lines("u^2") if line.startswith("least:")]
    assert line.endswith("order 3 is -8, not 0")
