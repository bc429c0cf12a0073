"""A subject by its name: file.py:function or package.module:OBJECT. Loading it executes its code."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import BadClaim, UnknownPath


def load(target: str) -> Callable[..., Any]:
    """The object; UnknownPath or BadClaim where there is none. What the module raises passes through."""
    place, colon, name = target.rpartition(":")
    if not (colon and place and name):
        raise BadClaim(f"target is {target!r}; file.py:function or package.module:OBJECT works")
    found: Any = _file(Path(place)) if place.endswith(".py") else _module(place)
    for part in name.split("."):
        if not hasattr(found, part):
            raise BadClaim(f"{place} has no {name!r}")
        found = getattr(found, part)
    return found


def _file(path: Path) -> ModuleType:
    if not path.is_file():
        raise UnknownPath(f"{path} does not exist; a Python file works")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise BadClaim(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # dataclasses in it look their module up
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    return module


def _module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise BadClaim(f"{name} cannot be imported: {error}") from None
