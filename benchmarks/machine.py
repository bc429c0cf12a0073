"""Where and when it was measured: what a reader needs to compare figures with their own."""

from __future__ import annotations

import os
import platform
import re
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

from .. import __version__
from ..numeric.errors import NotBuilt
from ..numeric.native.build import find_compiler

PACKAGES = ("torch", "transformers", "rotary-embedding-torch", "x-transformers", "sympy")
HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def machine() -> dict[str, Any]:
    """Date, processor, cores, threads of torch, load, huge pages, system, compiler, versions."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "huge_pages": _chosen(HUGE_PAGES),
        "system": platform.platform(),
        "compiler": _compiler(),
        "versions": {"exptx": __version__, "python": platform.python_version()}
        | {package: version(package) for package in PACKAGES},
    }


def _processor() -> str:
    try:
        found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else platform.processor() or platform.machine()


def _chosen(path: Path) -> str:
    """The word in brackets, e.g. "madvise"; "unknown" where the system has no such file."""
    try:
        found = re.search(r"\[(\w+)\]", path.read_text())
    except OSError:
        found = None
    return found[1] if found else "unknown"


def _compiler() -> str:
    try:
        said = find_compiler().identity
    except NotBuilt as error:
        return str(error)
    found = re.search(r'^#define __VERSION__ "(.*)"$', said, re.MULTILINE)
    return found[1] if found else "unknown"


def version(package: str) -> str:
    """Of an installed package, or "not installed"."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


__all__ = ["machine", "version"]
