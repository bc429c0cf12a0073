"""Owns `run.json`: when, where, with what and how fast a report was made, and what was measured on the way.

None of this is deterministic, which is why it stands apart from `proofs.json`.
"""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ... import __version__
from .residuals import ResidualLike

SCHEMA = "exptx-run/1"
_PACKAGES = ("sympy", "python-flint", "numpy", "torch", "typst", "matplotlib")


@dataclass(frozen=True)
class Run:
    """The circumstances of one run."""

    command: str
    date: str
    commit: str | None
    machine: str
    versions: Mapping[str, str]
    seconds: Mapping[str, float]


def this_run(command: str, seconds: Mapping[str, float]) -> Run:
    """Look around: date, commit, machine and versions of what is installed."""
    date = datetime.now(UTC).isoformat(timespec="seconds")
    return Run(command, date, _commit(), _machine(), _versions(), dict(seconds))


def run_document(
    run: Run, residuals: Mapping[str, ResidualLike] | None, proofs_sha256: str
) -> dict[str, Any]:
    """`run.json`; residuals are null where nothing was measured."""
    fields = ("value", "budget", "ratio", "ratios", "where", "explanation", "violation", "as_expected")
    measured = {
        name: {key: getattr(residual, key) for key in fields} for name, residual in (residuals or {}).items()
    }
    return {"schema": SCHEMA, "proofs_sha256": proofs_sha256, **asdict(run), "residuals": measured or None}


def _versions() -> dict[str, str]:
    found = {"exptx": __version__, "Python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _machine() -> str:
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"


def _commit() -> str | None:
    """The commit of the checkout this package lies in, with a mark where files were changed since."""
    here = Path(__file__).resolve().parents[2]
    if not (here / ".git").exists():
        return None
    answers = []
    for question in (["rev-parse", "HEAD"], ["status", "--porcelain", "--untracked-files=no"]):
        try:
            done = subprocess.run(["git", "-C", here, *question], capture_output=True, text=True, timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            return None
        if done.returncode:
            return None
        answers.append(done.stdout.strip())
    return answers[0] + (" with local changes" if answers[1] else "")
