"""What is typed comes back as a document and as lines; the process that asks stays light."""

from __future__ import annotations

import subprocess
import sys

from exptx.proofs.typed import decide, decided_lines


def test_the_lines_hold_all_the_evidence():
    lines = decided_lines(decide("[[x, 2], [3, 4]]^2", "[[x^2 + 6, 2.0*x + 8], [1, 1]]", ["x > 0"], 60, 2000))
    assert lines[0] == "refuted: [[x, 2], [3, 4]]² = [[x² + 6, 2·x + 8], [1, 1]]"
    assert lines[2:] == [
        "witness: x = 1",
        "entry:   (1, 0), counted from 0",
        "gap:     lhs - rhs = 14.00000000",
        "given:   x > 0",
        "exact:   2.0 is read as 2",
    ]


def test_a_limit_is_a_reason_and_leaves_the_formulas_as_typed():
    document = decide("x" + "+1" * 200, "x", (), 0.01, 2000)
    first, reason = decided_lines(document)
    assert first.startswith("undecided: x+1+1")
    assert first.endswith("… = x")
    assert reason == "reason:  stopped after 0.01 s; a larger --seconds may do"


def test_asking_imports_no_sympy():
    probe = "import sys\nfrom exptx.proofs import typed\nassert 'sympy' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", probe]).returncode == 0
