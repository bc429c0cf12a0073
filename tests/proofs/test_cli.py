"""The command line: exit status, one document on standard output, one sentence for a wrong call."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


def exptx(*arguments, **options):
    command = [sys.executable, "-c", "from exptx.proofs.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


def test_prove_prints_a_table_and_exits_0():
    done = exptx("prove", "cosine-only", "plane-score")
    assert done.returncode == 0, done.stderr
    assert "cosine-only" in done.stdout
    assert "the sides differ" in done.stdout, "a counterexample is shown"
    assert "2 proofs: 1 proved, 1 refuted; all as expected" in done.stdout


def test_a_whole_table_keeps_ids_in_one_piece():
    done = exptx("prove", "relative", "in-family")
    assert "in-family/mismatched_pairings " in done.stdout
    assert "the sides differ" not in done.stdout


def test_list_names_every_law_with_its_cases():
    done = exptx("prove", "--list")
    assert done.returncode == 0
    assert "rope-relative\n" in done.stdout
    assert "gates-telescope  / fade, turn" in done.stdout


def test_prove_json_is_one_document_with_the_promised_keys():
    done = exptx("prove", "relative", "--encoding", "rope", "--json")
    document = json.loads(done.stdout)
    assert document["schema"] == "exptx-proofs/1"
    (row,) = document["laws"]
    assert {"id", "status", "expected", "statement", "steps", "sources"} <= row.keys()
    assert (row["id"], row["status"]) == ("relative/rope", "proved")


def test_certificates_written_by_prove_are_verified(tmp_path):
    made = exptx("prove", "rope-length", "cosine-only", "--certificates", tmp_path / "c")
    assert made.returncode == 0
    assert (tmp_path / "c" / "plane-score.json").exists(), "what a proof rests on is written too"
    done = exptx("verify", tmp_path / "c")
    assert (done.returncode, done.stderr) == (0, "")
    assert "certificates" in done.stdout


def test_verify_rejects_a_changed_certificate_with_exit_1(tmp_path):
    exptx("prove", "plane-score", "--certificates", tmp_path)
    path = tmp_path / "plane-score.json"
    path.write_text(path.read_text().replace('"sin"', '"cos"', 1))
    done = exptx("verify", tmp_path)
    assert done.returncode == 1
    assert "plane-score" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["prove", "rope-relativ"], "rope-relative"),
        (["prove", "rope"], "rope-plane"),
        (["prove", "relative", "--encoding", "ropr"], "did you mean"),
        (["verify", "/nowhere/at/all"], "/nowhere/at/all"),
    ],
)
def test_a_wrong_call_is_one_sentence_and_exit_2(arguments, sentence):
    done = exptx(*arguments)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_folder_that_cannot_be_written_is_refused_before_any_proof(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    done = exptx("prove", "plane-score", "--certificates", blocked)
    assert done.returncode == 2
    assert "cannot write" in done.stderr
    assert done.stdout == ""


def test_env_names_versions():
    assert json.loads(exptx("env", "--json").stdout)["sympy"]


def test_no_color_is_honoured():
    import os

    done = exptx("prove", "cosine-only", env={**os.environ, "NO_COLOR": "1", "FORCE_COLOR": ""})
    assert "\x1b[" not in done.stdout
