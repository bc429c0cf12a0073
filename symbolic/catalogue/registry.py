"""The list of named encodings: what a name is called with, and the refusals of names and keywords."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from difflib import get_close_matches

from ..encoding import Encoding
from ..errors import BadInput, WrongType

Builder = Callable[..., Encoding]

_BUILDERS: dict[str, Callable[..., Encoding]] = {}


def register(builder: Builder) -> Builder:
    """Enter a builder under its own name; its keywords are the keywords of the encoding."""
    _BUILDERS[builder.__name__] = builder
    return builder


def encodings() -> dict[str, tuple[str, ...]]:
    """Every name with the keywords it takes."""
    return {name: tuple(inspect.signature(builder).parameters) for name, builder in _BUILDERS.items()}


def encoding(name: str, **parameters: object) -> Encoding:
    """The encoding called `name`; `encodings()` lists names and keywords, numbers are exact.

    BadInput names an unknown name or keyword (with what is close to it) or a missing one, WrongType a float.
    """
    if not isinstance(name, str):
        raise WrongType(f"name is a {type(name).__name__}; a name such as 'rope' works")
    if name not in _BUILDERS:
        raise BadInput(f"there is no encoding {name!r}{_close(name, _BUILDERS)}")
    builder = _BUILDERS[name]
    keywords = inspect.signature(builder).parameters
    for given in parameters:
        if given not in keywords:
            raise BadInput(f"{name} has no parameter {given!r}{_close(given, keywords)}")
    for needed, keyword in keywords.items():
        if keyword.default is keyword.empty and needed not in parameters:
            raise BadInput(f"{name} needs {needed}; write encoding({name!r}, {needed}=...)")
    return builder(**parameters)


def _close(word: str, known) -> str:
    """'; did you mean …' with close matches, else the whole list."""
    near = get_close_matches(word, known, n=3, cutoff=0.5)
    if near:
        return f"; did you mean {' or '.join(map(repr, near))}?"
    return f"; known: {', '.join(known)}"
