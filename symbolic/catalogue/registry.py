"""The list of named encodings: what a name is called with, and the refusals of names and keywords."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from difflib import get_close_matches
from textwrap import indent

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
    """The encoding called `name`, e.g. encoding("rope", head_dim=64, rope_theta=500000).

    Numbers are exact: int, Fraction, sympy numbers and real symbols. `encodings()` has the names and keywords
    as data; those without a default must be given. BadInput names an unknown name or keyword (with what is
    close to it) or a missing one, WrongType a float.
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


def required(name: str) -> tuple[str, ...]:
    """The keywords of an encoding that have no default."""
    keywords = inspect.signature(_BUILDERS[name]).parameters.values()
    return tuple(keyword.name for keyword in keywords if keyword.default is keyword.empty)


def document() -> None:
    """Let help(encoding) show every registered name with its keywords, their defaults and its own words."""
    entries = [inspect.getdoc(encoding), "The names, by family:"]
    for name, builder in _BUILDERS.items():
        keywords = [
            key if keyword.default is keyword.empty else f"{key}={keyword.default!r}"
            for key, keyword in inspect.signature(builder).parameters.items()
        ]
        entries.append(f"{name}({', '.join(keywords)})\n{indent(inspect.getdoc(builder) or '', '    ')}")
    encoding.__doc__ = "\n\n".join(filter(None, entries))


def _close(word: str, known) -> str:
    """'; did you mean …' with close matches, else the whole list."""
    near = get_close_matches(word, known, n=3, cutoff=0.5)
    if near:
        return f"; did you mean {' or '.join(map(repr, near))}?"
    return f"; known: {', '.join(known)}"
