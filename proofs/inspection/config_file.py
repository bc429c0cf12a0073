"""A config.json read from disk: somebody else's file, so its size and its shape are checked first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..errors import BadFile, UnknownPath

MAX_BYTES = 8_000_000  # a config with every label of a large vocabulary has one or two
MAX_DEPTH = 100


def read_config_file(path: Path) -> dict[str, Any]:
    """The mapping in the file; UnknownPath or BadFile, one sentence, for everything else.

    NaN and Infinity pass here, since configs have them in places that no position depends on.
    """
    data = _bytes(path)
    try:
        found = json.loads(data, object_pairs_hook=_once)
    except _Twice as problem:
        raise BadFile(
            f"{path} has the key {problem} twice in one place; readers take one or the other"
        ) from None
    except RecursionError:
        raise BadFile(f"{path} is nested too deeply for a config") from None
    except ValueError as problem:
        raise BadFile(f"{path} is no JSON text: {problem}") from None
    if not isinstance(found, dict):
        raise BadFile(
            f"{path} holds a {type(found).__name__}; a config is an object {{…}} of keys and values"
        )
    if _depth(found) > MAX_DEPTH:
        raise BadFile(f"{path} is nested more than {MAX_DEPTH} deep, which no config is")
    return found


class _Twice(ValueError):
    """A key that stands twice in one object."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise _Twice(repr(next(name for name in names if names.count(name) > 1)))
    return found


def _bytes(path: Path) -> bytes:
    if not path.exists():
        raise UnknownPath(f"{path} does not exist; a model's config.json works")
    if path.is_dir() and (path / "config.json").is_file():
        path = path / "config.json"
    if not path.is_file():
        raise BadFile(f"{path} is no ordinary file; a model's config.json works")
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as problem:
        raise BadFile(f"{path} cannot be read: {problem.strerror}") from None
    if len(data) > MAX_BYTES:
        raise BadFile(f"{path} has more than {MAX_BYTES} bytes; a config.json has a few thousand")
    return data


def _depth(root: Any) -> int:
    """Levels of objects and lists."""
    level, depth = [root], 0
    while level:
        depth += 1
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, dict | list)
        ]
    return depth
