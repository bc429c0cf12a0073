"""What is typed is asked in another process, and the process that asks stays light."""

from __future__ import annotations

import subprocess
import sys

import pytest
from exptx.proofs.typed import classify, decide, settings
from exptx.symbolic import BadInput


def test_a_question_comes_back_as_a_document():
    assert decide("x", "x", ["x > 0"], 60, 2000)["status"] == "proved"
    assert classify("-u", (), {"domain": "causal"}, {}, 60, 2000)["order"] == 2


def test_a_limit_is_a_reason_and_leaves_the_formulas_as_typed():
    document = decide("x+1", "x", (), 0.01, 2000)
    assert (document["status"], document["read"]) == ("undecided", {"lhs": "x+1", "rhs": "x"})
    assert document["reason"] == "stopped after 0.01 s; a larger --seconds may do"


def test_settings_are_names_with_values():
    assert settings(["head_dim = 8", "gamma=1/10"]) == {"head_dim": "8", "gamma": "1/10"}
    for text in ("head_dim", "=8", "head_dim="):
        with pytest.raises(BadInput, match="name=value works"):
            settings([text])


def test_asking_imports_no_sympy():
    probe = "import sys\nfrom exptx.proofs import answers, typed\nassert 'sympy' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", probe]).returncode == 0
