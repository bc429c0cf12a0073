"""`exptx bench`: one document on standard output; the exit status asks for right numbers, not fast ones."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

TINY = ("--rounds", "2", "--tokens", "8", "--no-compiled")


def bench(*arguments):
    command = [sys.executable, "-c", "from exptx.proofs.cli import main; main()", "bench", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_one_document_with_times_of_everyone_and_ratios_that_are_wanted():
    done = bench("prefill", *TINY, "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[0] == "prefill, float32, half-split"
    found = json.loads(done.stdout)
    assert (found["schema"], found["right"], len(found["races"])) == ("exptx-bench/1", True, 4)
    assert {"date", "processor", "threads", "huge_pages", "versions"} <= found["machine"].keys()
    first = found["races"][0]
    assert (first["group"], first["shape"]) == ("prefill", [1, 32, 8, 128])
    ours = {row["name"]: row for row in first["rows"]}["exptx, out="]
    assert (ours["kind"], ours["status"], len(ours["seconds"])) == ("ours", "timed", 2)
    assert 0 < ours["used"] <= 1
    assert ours["quartiles"]["lower"] <= ours["quartiles"]["median"] <= ours["quartiles"]["upper"]
    assert found["bars"][0]["wanted"] == {
        "above": "exptx, out=",
        "below": "copy",
        "at_most": 1.3,
        "at_least": None,
    }
    assert {bar["status"] for bar in found["bars"]} <= {"held", "not held"}


def test_text_and_tables_name_the_machine_and_what_was_wanted():
    plain, tables = bench("training", *TINY), bench("training", *TINY, "--markdown")
    assert (plain.returncode, tables.returncode) == (0, 0), plain.stderr + tables.stderr
    assert "training, bfloat16, interleaved: 1 x 32 x 8 x 128" in plain.stdout
    assert "torch.onnx.ops                               absent: has no gradient" in plain.stdout
    assert " of 2 held" in plain.stdout
    assert "| exptx | " in tables.stdout
    assert all("threads" in one.stdout for one in (plain, tables))


@pytest.mark.parametrize("arguments", [["prefil"], ["prefill", "--rounds", "0"]])
def test_a_wrong_call_is_status_2(arguments):
    done = bench(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
