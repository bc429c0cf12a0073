"""Versions and machine, for reports and bug reports."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from typing import Any

from .. import __version__

PACKAGES = ("sympy", "numpy", "python-flint", "torch", "typst", "matplotlib")


def environment() -> dict[str, Any]:
    """{"exptx": …, "python": …, package: version or "not installed", "machine": …, "cores": …}."""
    found: dict[str, Any] = {"exptx": __version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found | {"machine": platform.platform(), "cores": os.cpu_count()}
