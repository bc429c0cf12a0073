"""`exptx decide`: what it prints, its exit status, and an end to every text within its limits."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


def decide(*arguments):
    command = [sys.executable, "-c", "from exptx.proofs.cli import main; main()", "decide", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_what_is_true_under_assumptions_is_proved_with_exit_0_and_all_that_was_used():
    done = decide("-0.1*sqrt(x^2)/y", "-x/(10*y)", "--assume", "x > 0")
    assert (done.returncode, done.stderr) == (0, "")
    first, *rows = done.stdout.splitlines()
    assert first == "proved:    -√(x²)/(10·y) = -x/(10·y)"
    assert rows[0].startswith("reason:    sympy's own evaluation makes this ")
    assert rows[1:] == ["where:     y ≠ 0", "given:     x > 0", "exact:     0.1 is read as 1/10"]


def test_what_is_false_is_refuted_with_exit_1_and_one_document():
    done = decide("x^2", "-x", "--json")
    assert (done.returncode, done.stderr) == (1, "")
    found = json.loads(done.stdout)
    assert (found["schema"], found["status"]) == ("exptx-decide/1", "refuted")
    assert (found["witness"], found["gap"]) == ({"x": "1"}, "2.000000000")


@pytest.mark.parametrize(
    ("arguments", "first", "last"),
    [
        (["x", "9**9**9**9"], "exptx: rhs, column 4: ", "     ^"),
        (["[[1]]", "x"], "exptx: one side is a matrix", "two of one kind"),
    ],
)
def test_a_wrong_call_is_one_sentence_and_exit_2(arguments, first, last):
    done = decide(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(first)
    assert done.stderr.rstrip("\n").endswith(last)


def test_a_limit_on_time_is_a_reason_to_be_undecided():
    matrix = "[[a,b,c],[d,f,g],[h,k,l]]"
    done = decide(f"{matrix}^60", f"{matrix}^59*{matrix}", "--seconds", "0.5")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines()[1] == "reason:    stopped after 0.5 s; a larger --seconds may do"
