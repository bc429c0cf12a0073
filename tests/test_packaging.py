"""What is installed: the wheel is the tree, it works without torch, and the set-up refuses an old Python."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from itertools import chain
from pathlib import Path

import exptx
import pytest

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
ROOMS = ("symbolic", "numeric", "benchmarks", "proofs")
NOT_SOURCE = shutil.ignore_patterns(
    ".venv", ".git", "build", "dist", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis"
)
# Stands in for a machine without torch: no finder knows it.
WITHOUT_TORCH = """
import sys
class ButTorch:
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, *where):
        return None if name.partition(".")[0] == "torch" else self.finder.find_spec(name, *where)
sys.meta_path[:] = [ButTorch(finder) for finder in sys.meta_path]
"""


def shipped(root: Path) -> set[str]:
    """Every file of the rooms, by its path inside the package."""
    inside = (p for room in ROOMS for p in (root / room).rglob("*") if p.is_file())
    return {p.relative_to(root).as_posix() for p in inside} | {"__init__.py", "py.typed"}


@pytest.fixture(scope="session")
def clone(tmp_path_factory) -> Path:
    """A copy of the tree as it is, under another folder name."""
    return Path(shutil.copytree(ROOT, tmp_path_factory.mktemp("elsewhere") / "A clone-2", ignore=NOT_SOURCE))


@pytest.fixture(scope="session")
def built(clone) -> Path:
    """The folder with the wheel and the sdist of that copy, built without the network."""
    out = clone.parent / "built"
    out.mkdir()
    for kind in ("wheel", "sdist"):
        build = f"from setuptools import build_meta; build_meta.build_{kind}({str(out)!r})"
        done = subprocess.run([sys.executable, "-c", build], cwd=clone, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="session")
def installed(built) -> Path:
    """The wheel unpacked, as pip would lay it on the path."""
    target = built / "site"
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        wheel.extractall(target)
    return target


def python(code: str, *, path: Path, cwd: Path) -> subprocess.CompletedProcess:
    """Run `code` in a fresh interpreter that finds exptx in `path` before any other."""
    where = {**os.environ, "PYTHONPATH": str(path)}
    return subprocess.run([sys.executable, "-c", code], cwd=cwd, env=where, capture_output=True, text=True)


def test_wheel_and_tree_hold_the_same_files(installed, clone):
    inside = (p for p in (installed / "exptx").rglob("*") if p.is_file())
    assert {p.relative_to(installed / "exptx").as_posix() for p in inside} == shipped(clone)


def test_sdist_holds_all_that_the_wheel_is_built_from(built, clone):
    with tarfile.open(next(built.glob("*.tar.gz"))) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert shipped(clone) | {"pyproject.toml", "README.md", "LICENSE"} <= names


def test_every_folder_of_python_files_is_a_package():
    listed = set(PYPROJECT["tool"]["setuptools"]["packages"])
    folders = {p.parent.relative_to(ROOT) for room in ROOMS for p in (ROOT / room).rglob("*.py")}
    assert listed == {"exptx", *(".".join(("exptx", *folder.parts)) for folder in folders)}
    assert all((ROOT / folder / "__init__.py").exists() for folder in folders)


def test_the_wheel_is_what_runs(installed, tmp_path):
    done = python("import exptx; print(exptx.__file__)", path=installed, cwd=tmp_path)
    assert Path(done.stdout.strip()).is_relative_to(installed)


DOCTOR = ("Claims", "Subject", "check", "rope")  # what examines kernels needs torch


@pytest.mark.parametrize("name", DOCTOR)
def test_without_torch_the_doctor_says_what_to_install(name, installed, tmp_path):
    done = python(f"{WITHOUT_TORCH}from exptx.proofs import {name}", path=installed, cwd=tmp_path)
    assert done.returncode == 1
    assert "pip install 'exptx[torch]'" in done.stderr


@pytest.mark.parametrize("room", ["symbolic", "proofs"])
def test_without_torch_the_exact_rooms_work(room, installed, tmp_path):
    names = f"[name for name in room.__all__ if name not in {DOCTOR}]"
    use = f"import exptx.{room} as room\nprint(len([getattr(room, name) for name in {names}]))"
    done = python(WITHOUT_TORCH + use, path=installed, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 5


def test_without_torch_the_numeric_room_says_what_to_install(installed, tmp_path):
    done = python(f"{WITHOUT_TORCH}import exptx.numeric", path=installed, cwd=tmp_path)
    assert done.returncode == 1
    assert "pip install 'exptx[torch]'" in done.stderr.splitlines()[-1]


def test_without_torch_a_law_is_proved_and_its_certificate_verified(installed, tmp_path):
    def command(*words: str) -> subprocess.CompletedProcess:
        call = f"sys.argv[1:] = {list(words)!r}\nfrom exptx.proofs.cli import main\nmain()"
        return python(WITHOUT_TORCH + call, path=installed, cwd=tmp_path)

    law = "rope-plane"
    done = command("prove", law, "--json", "--certificates", "certificates")
    assert done.returncode == 0, done.stderr
    proofs = json.loads(done.stdout)["laws"]
    assert {p["status"] == p["expected"] for p in proofs} == {True}
    assert command("verify", "certificates").returncode == 0


def test_the_version_is_the_same_everywhere():
    version = PYPROJECT["project"]["version"]
    assert exptx.__version__ == version
    assert re.search(rf"^version: {re.escape(version)}$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text()


def test_every_pin_is_of_something_that_is_asked_for():
    project = PYPROJECT["project"]
    needs = chain(project["dependencies"], *project["optional-dependencies"].values())
    asked = {re.match(r"[\w-]+", need).group() for need in needs}
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = {line.partition("==")[0] for line in lines if line and not line.startswith("#")}
    assert pinned <= asked
    assert "torch" in pinned


def test_make_alone_lists_what_there_is_to_make(clone):
    done = subprocess.run(["make"], cwd=clone, capture_output=True, text=True)
    assert done.returncode == 0
    assert {"make report", "make test", "make lint", "make bench", "make clean"} <= {
        " ".join(line.split()[:2]) for line in done.stdout.splitlines()
    }


def test_an_old_python_is_refused_in_one_sentence(clone, tmp_path):
    old = tmp_path / "python3.9"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "Python 3.9.2" && exit 0\nexit 1\n')
    old.chmod(0o755)
    done = subprocess.run(["make", "test", f"PYTHON={old}"], cwd=clone, capture_output=True, text=True)
    assert done.returncode == 2
    assert "needs Python 3.11 or newer" in done.stdout
    assert "Python 3.9.2" in done.stdout
    assert not (clone / ".venv").exists()
