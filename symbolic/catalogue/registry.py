"""The list of named encodings: what a name is called with, and the refusals of names and keywords."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from textwrap import indent
from types import MappingProxyType

from ..encoding import Encoding
from ..errors import BadInput, WrongType

Builder = Callable[..., Encoding]

_ENTRIES: dict[str, Entry] = {}


@dataclass(frozen=True)
class Entry:
    """What the catalogue says of a name; its verdicts are computed (`symbolic.verdicts`), not written here.

    published  the formula with the sign of its source, Unicode mathematics in backticks
    source     authors, title, arXiv number; the file where the code is the source
    danger     the known numerical danger, one sentence
    example    the parameters with which it is shown where none are given; defaults fill the rest
    """

    build: Builder
    published: str
    source: str
    danger: str
    example: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "example", MappingProxyType(dict(self.example)))
        if unknown := [key for key in self.example if key not in self.keywords]:
            raise BadInput(f"the example of {self.name} has {unknown[0]}, which is no keyword of it")
        if missing := [key for key in self.required if key not in self.example]:
            raise BadInput(f"the example of {self.name} lacks {missing[0]}, which has no default")

    @property
    def name(self) -> str:
        """The name of the builder."""
        return self.build.__name__

    @property
    def keywords(self) -> tuple[str, ...]:
        """The keywords, in order."""
        return tuple(inspect.signature(self.build).parameters)

    @property
    def required(self) -> tuple[str, ...]:
        """The keywords without a default."""
        parameters = inspect.signature(self.build).parameters.values()
        return tuple(p.name for p in parameters if p.default is p.empty)

    def shown(self) -> Encoding:
        """The encoding of the example."""
        return self.build(**self.example)


def register(
    *, published: str, source: str, danger: str, example: Mapping[str, object] | None = None
) -> Callable[[Builder], Builder]:
    """Enter a builder under its own name; its keywords are the keywords of the encoding."""

    def enter(build: Builder) -> Builder:
        _ENTRIES[build.__name__] = Entry(build, published, source, danger, example or {})
        return build

    return enter


def gather(folder: Path, package: str) -> None:
    """Import every file of the folder, so that what it registers is known; then document the listing."""
    for file in sorted(folder.glob("*.py")):
        if file.stem != "__init__":
            import_module(f".{file.stem}", package)
    encoding.__doc__ = "\n\n".join([inspect.getdoc(encoding) or "", "The names:", *map(_document, _sorted())])


def _sorted() -> list[Entry]:
    return [_ENTRIES[name] for name in sorted(_ENTRIES)]


def entries() -> dict[str, Entry]:
    """Every name with what the catalogue says of it, in alphabetical order."""
    return {entry.name: entry for entry in _sorted()}


def encodings() -> dict[str, tuple[str, ...]]:
    """Every name with the keywords it takes, in alphabetical order."""
    return {entry.name: entry.keywords for entry in _sorted()}


def encoding(name: str, **parameters: object) -> Encoding:
    """The encoding called `name`, e.g. encoding("rope", head_dim=64, rope_theta=500000).

    Numbers are exact: int, Fraction, sympy numbers and real symbols. `encodings()` has the names and keywords
    as data; those without a default must be given. BadInput names an unknown name or keyword (with what is
    close to it) or a missing one, WrongType a float.
    """
    if not isinstance(name, str):
        raise WrongType(f"name is a {type(name).__name__}; a name such as 'rope' works")
    if name not in _ENTRIES:
        raise BadInput(f"there is no encoding {name!r}{_close(name, sorted(_ENTRIES))}")
    entry = _ENTRIES[name]
    for given in parameters:
        if given not in entry.keywords:
            raise BadInput(f"{name} has no parameter {given!r}{_close(given, entry.keywords)}")
    for needed in entry.required:
        if needed not in parameters:
            raise BadInput(f"{name} needs {needed}; write encoding({name!r}, {needed}=...)")
    return entry.build(**parameters)


def _document(entry: Entry) -> str:
    """A name with its keywords, their defaults and its own words."""
    keywords = [
        key if keyword.default is keyword.empty else f"{key}={keyword.default!r}"
        for key, keyword in inspect.signature(entry.build).parameters.items()
    ]
    return f"{entry.name}({', '.join(keywords)})\n{indent(inspect.getdoc(entry.build) or '', '    ')}"


def _close(word: str, known) -> str:
    """'; did you mean …' with close matches, else the whole list."""
    near = get_close_matches(word, known, n=3, cutoff=0.5)
    if near:
        return f"; did you mean {' or '.join(map(repr, near))}?"
    return f"; known: {', '.join(known)}"
