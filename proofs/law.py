"""A law: one statement with its hypotheses, its proof, and what would break it.

Report and doctor read the same laws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from ..symbolic.decide import Status
from .errors import MalformedLaw, UnknownLaw
from .step import Cited, Perturbation, Source, Step, conclusive


@dataclass(frozen=True)
class Hypothesis:
    """A condition of the law, by the name that cited steps ask for."""

    name: str
    text: str


@dataclass(frozen=True)
class Renaming:
    """A substitution, made everywhere at once, that must leave every step proved."""

    change: str
    substitution: dict[Any, Any]


@dataclass(frozen=True, kw_only=True)
class Law:
    """Everything one proof id stands for.

    `statement` is a sentence with its quantifiers (mathematics in backticks); its formulas are the steps with
    `goal=True`. A law expected proved lists `perturbations` that must be refuted; one expected refuted lists
    `siblings` that must be proved. `answer`: what a table of cases shows where “proved” says too little.
    """

    id: str
    title: str
    statement: str
    steps: tuple[Step, ...]
    hypotheses: tuple[Hypothesis, ...] = ()
    expected: Status = Status.PROVED
    rests_on: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    perturbations: tuple[Perturbation, ...] = ()
    siblings: tuple[Perturbation, ...] = ()
    renamings: tuple[Renaming, ...] = ()
    comment: str = ""
    encoding: str | None = None
    answer: str = ""

    def __post_init__(self) -> None:
        names = [step.name for step in self.steps]
        if len(set(names)) != len(names):
            raise MalformedLaw(f"law {self.id}: two steps share a name in {names}")
        if not any(step.goal for step in self.steps):
            raise MalformedLaw(f"law {self.id}: no step is marked goal=True, so the statement has no formula")
        stated = {h.name for h in self.hypotheses}
        for step in self.steps:
            if isinstance(step, Cited) and not stated.issuperset(step.needs):
                raise MalformedLaw(
                    f"law {self.id}: step {step.name!r} needs {set(step.needs) - stated}, which is not stated"
                )
        for p in self.perturbations + self.siblings:
            if p.of not in names:
                raise MalformedLaw(f"law {self.id}: {p.change!r} changes a step {p.of!r} that does not exist")
        computed = any(conclusive(step) for step in self.steps)
        if self.expected is Status.PROVED and computed and len(self.perturbations) < 2:
            raise MalformedLaw(
                f"law {self.id}: a proved law needs at least two perturbations, it has "
                f"{len(self.perturbations)}"
            )
        if self.expected is Status.REFUTED and not self.siblings:
            raise MalformedLaw(f"law {self.id}: a refuted law needs a true sibling")

    @property
    def proof_id(self) -> str:
        return self.id if self.encoding is None else f"{self.id}/{self.encoding}"


@dataclass(frozen=True)
class Entry:
    """A law as registered: how to build it, and for which encodings."""

    id: str
    build: Callable[..., Law]
    encodings: tuple[str, ...] | None = None

    def proof_ids(self) -> tuple[str, ...]:
        return (self.id,) if self.encodings is None else tuple(f"{self.id}/{e}" for e in self.encodings)

    def laws(self, wanted: frozenset[str] | None = None) -> Iterator[Law]:
        """Build the laws of this entry, only for the encodings in `wanted` where that is given."""
        if self.encodings is None:
            if wanted is None:
                yield self.build()
            return
        for name in self.encodings:
            if wanted is None or name in wanted:
                yield self.build(name)


@dataclass
class Chapter:
    """A chapter of the report: a title, a short introduction, and its laws in reading order."""

    id: str
    title: str
    intro: str
    entries: list[Entry] = field(default_factory=list)

    def law(
        self, id: str, *, encodings: tuple[str, ...] | None = None
    ) -> Callable[[Callable[..., Law]], Callable[..., Law]]:
        """Register a builder. Nothing is computed until the law is asked for."""

        def register(build: Callable[..., Law]) -> Callable[..., Law]:
            if any(entry.id == id for entry in self.entries):
                raise MalformedLaw(f"law {id} is registered twice in chapter {self.id}")
            self.entries.append(Entry(id, build, encodings))
            return build

        return register


def select(
    chapters: tuple[Chapter, ...], laws: tuple[str, ...] | None, encodings: tuple[str, ...] | None
) -> Iterator[tuple[Chapter, Law]]:
    """The laws asked for, in story order; an id may be a law or a proof id `law/encoding`."""
    known = {pid for c in chapters for e in c.entries for pid in (e.id, *e.proof_ids())}
    names = {name for c in chapters for e in c.entries for name in e.encodings or ()}
    for kind, asked, valid in (("law", laws, known), ("encoding", encodings, names)):
        for name in asked or ():
            if name not in valid:
                raise UnknownLaw(_unknown(kind, name, valid))
    wanted = None if encodings is None else frozenset(encodings)
    for chapter in chapters:
        for entry in chapter.entries:
            if laws is not None and entry.id not in laws and not set(entry.proof_ids()) & set(laws):
                continue
            for law in entry.laws(wanted):
                if laws is None or entry.id in laws or law.proof_id in laws:
                    yield chapter, law


def _unknown(kind: str, name: str, valid: set[str]) -> str:
    starting = sorted(other for other in valid if name and other.startswith(name))
    near = [*starting, *get_close_matches(name, sorted(valid), n=3)]
    hint = f"did you mean {' or '.join(dict.fromkeys(near[:6]))}? " if near else ""
    return f"{kind} {name!r} does not exist; {hint}exptx prove --list names all"
