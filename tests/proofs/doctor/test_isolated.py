"""`exptx check`: a subject runs in a process of its own, and what it does there is a finding."""

from __future__ import annotations

import json

import pytest
from exptx.proofs.cli import app
from exptx.proofs.doctor import isolated
from exptx.proofs.errors import BadClaim, UnknownLaw
from typer.testing import CliRunner

SOURCE = """
import os
import torch


def rotate(x, position_ids):
    print("a subject may print")
    inv_freq = 1.0 / 10000 ** (torch.arange(0, 64, 2) / 64)
    angle = position_ids[:, None, :, None] * inv_freq
    c, s = angle.cos(), angle.sin()
    x0, x1 = x.chunk(2, -1)
    return torch.cat((x0 * c - x1 * s, x0 * s + x1 * c), -1)


def crash(x, position_ids):
    os.abort()
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(SOURCE)
    return path


def run(*words):
    return CliRunner().invoke(app, ["check", *map(str, words)])


def test_a_right_kernel_passes_and_the_document_says_what_it_is(file):
    done = run(f"{file}:rotate", "--base", "10000", "--json")
    found = json.loads(done.stdout)
    assert done.exit_code == 0
    assert found["ok"]
    assert "base 10000" in found["subjects"][0]["identity"]
    assert f"executes the code of {file}:rotate" in done.stderr


def test_the_wrong_pairing_is_exit_status_1_and_words(file):
    done = run(f"{file}:rotate", "--pairing", "interleaved")
    assert done.exit_code == 1
    for word in ("pairing:", "cause:", "so:", "fix:", "show:"):
        assert word in done.stdout


def test_a_crash_is_a_finding(file):
    found = isolated.examine(f"{file}:crash", isolated.Request(), 60)
    assert [finding["code"] for finding in found["findings"]] == ["call"]
    assert "died" in found["findings"][0]["cause"]


@pytest.mark.parametrize("target", ["rotate", "mine.py:nothing", "json:__name__", "json:nothing"])
def test_what_is_no_subject_is_refused_in_one_sentence(target):
    with pytest.raises((BadClaim, FileNotFoundError)):
        isolated.examine(target, isolated.Request(), 60)


def test_a_code_is_explained_and_an_unknown_one_names_near_ones():
    shown = CliRunner().invoke(app, ["explain", "pairing"]).stdout
    assert "law:" in shown
    assert "fix:" in shown
    listed = CliRunner().invoke(app, ["explain"]).stdout
    assert len(listed.splitlines()) > 40
    with pytest.raises(UnknownLaw, match="pairing"):
        CliRunner().invoke(app, ["explain", "pairng"], catch_exceptions=False)
