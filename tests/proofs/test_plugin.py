"""The pytest plugin in somebody else's project: subjects are tests, and nothing heavy is imported before."""

from __future__ import annotations

import subprocess
import sys

import pytest

SOURCE = """
import torch
from exptx.proofs import Claims, Subject, rope


def rotate(x, position_ids, sign=1):
    angle = position_ids[:, None, :, None] / 10000 ** (torch.arange(0, 32, 2) / 32)
    c, s = angle.cos(), sign * angle.sin()
    x0, x1 = x.chunk(2, -1)
    return torch.cat((x0 * c - x1 * s, x0 * s + x1 * c), -1)


def clockwise(x, position_ids):
    return rotate(x, position_ids, -1)


SAID = Claims(rope(10000.0, 32), 32, pairing="half")
RIGHT = Subject(rotate, "rotary", SAID)
WRONG = Subject(clockwise, "rotary", SAID)
KNOWN = Subject(clockwise, "rotary", SAID, expected_failures={"direction": "weights were trained so"})
STALE = Subject(rotate, "rotary", SAID, expected_failures={"direction": "weights were trained so"})
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "mine.py").write_text(SOURCE)
    (tmp_path / "test_mine.py").write_text("def test_other():\n    pass\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\nexptx_subjects =\n    mine.py:RIGHT\n")
    return tmp_path


def run(project, *words):
    # by its module, since the entry point is there only where the package was installed since it got one
    plugin = ("-p", "no:exptx", "-p", "exptx.proofs.plugin")
    command = [sys.executable, "-m", "pytest", *plugin, "-q", *words]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=300, check=False)


def test_a_subject_of_the_ini_file_is_a_test(project):
    done = run(project)
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout


def test_a_broken_subject_fails_with_the_examination_as_text(project):
    done = run(project, "--exptx", "mine.py:WRONG", "-k", "WRONG")
    assert done.returncode == 1
    for words in ("direction:", "claimed counter-clockwise", "fix:", "1 failed"):
        assert words in done.stdout


def test_expected_failures_are_strict(project):
    done = run(project, "--exptx", "mine.py:KNOWN", "--exptx", "mine.py:STALE", "-k", "KNOWN or STALE")
    assert "1 failed, 1 passed" in done.stdout
    assert "expected because" in done.stdout


def test_subjects_are_shared_out_by_xdist(project):
    done = run(project, "-n", "2", "--exptx", "mine.py:WRONG")
    assert "1 failed, 2 passed" in done.stdout


def test_what_is_no_subject_is_one_sentence(project):
    done = run(project, "--exptx", "mine.py:NOTHING", "-k", "NOTHING")
    assert "mine.py has no 'NOTHING'" in done.stdout
    assert "Traceback" not in done.stdout


def test_a_level_that_is_none_is_refused(project):
    (project / "pytest.ini").write_text("[pytest]\nexptx_level = slow\n")
    done = run(project)
    assert done.returncode == 4
    assert "exptx_level is 'slow'" in done.stderr


def test_loading_the_plugin_imports_nothing_heavy(project):
    (project / "test_mine.py").write_text(
        "import sys\n\n\ndef test_light():\n"
        "    assert not {'torch', 'sympy', 'numpy', 'flint', 'typer', 'rich'} & sys.modules.keys()\n"
    )
    done = run(project, "-k", "light")
    assert "1 passed" in done.stdout, done.stdout
