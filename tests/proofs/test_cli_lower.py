"""`exptx lower`: the source on standard output, the verdict beside it, and the exit status."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


def lower(*arguments):
    command = [sys.executable, "-c", "from exptx.proofs.cli import main; main()", "lower", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_rope_in_c_is_printed_and_proved():
    done = lower("rope", "--to", "c")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[6:] == [
        "void rope(const float *x, const float *c_row, const float *s_row, float *y)",
        "{",
        "    for (int i = 0; i < 2; ++i) {",
        "        const float x0 = x[i];",
        "        const float x1 = x[i + 2];",
        "        const float c = c_row[i];",
        "        const float s = s_row[i];",
        "        const float y0 = x0 * c - x1 * s;",
        "        const float y1 = x0 * s + x1 * c;",
        "        y[i] = y0;",
        "        y[i + 2] = y1;",
        "    }",
        "}",
    ]


def test_without_a_language_the_programs_are_shown_with_their_verdict():
    done = lower("decay")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "decay(head_dim=4, gamma=gamma)",
        "head_dim 4 is an example; give yours, as in --set head_dim=128",
        "y = exp(tX)ᵀ·x, for a query at position t",
        "4 x fade: coordinate i, i < 4",
        "    f = e^(-γ·t)",
        "",
        "fade_transposed: y0",
        "  f = e^(-γ·t)",
        "  y0 = x0·f",
        "proved: all statements, and their direct sum, equal the closed form",
    ]


def test_a_size_that_was_given_is_no_example():
    assert "is an example" not in lower("decay", "--set", "head_dim=4").stdout


def test_what_is_printed_is_c_as_it_stands(tmp_path):
    source = tmp_path / "kernel.c"
    source.write_text(lower("jordan_rope", "--to", "c", "--set", "head_dim=8").stdout)
    strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    assert subprocess.run(["cc", *strict, source], capture_output=True, text=True, check=True).stderr == ""


def test_one_document_with_schema_and_verdict():
    done = lower("[[0, 1], [0, 0]]", "--to", "triton", "--factor", "key", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert (found["schema"], found["kind"], found["to"]) == ("exptx-lower/1", "matrix", "triton")
    assert found["programs"][0]["steps"] == [["y0", "x0 - x1 * t"], ["y1", "x1"]]
    assert found["check"]["status"] == "proved"


@pytest.mark.parametrize(
    "arguments", [["rop", "--to", "c"], ["rope", "--to", "rust"], ["t5"], ["rope", "--set", "head_dim"]]
)
def test_a_wrong_call_is_one_sentence_and_exit_2(arguments):
    done = lower(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("exptx: ")
    assert len(done.stderr.splitlines()) == 1
