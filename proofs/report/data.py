"""Owns what the page shows, as plain frozen data: proofs, verdicts and residuals put into reading order.

Nothing is judged here beyond comparing a verdict with the expected one, along everything a proof rests on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from .residuals import Residual, ResidualLike, residual_view

TELLING = ("turn", "rope")
"""The cases that say most, of a law that has many."""

MARKS = {"PROVED": "✓", "REFUTED": "✗", "UNDECIDED": "?", "NOT_CHECKED": "○"}
WORDS = {name: name.replace("_", " ").lower() for name in MARKS}


class StepLike(Protocol):
    """One executed step: its claim (`step`), what was found (`verdict`), and the formula to typeset."""

    @property
    def step(self) -> Any: ...
    @property
    def verdict(self) -> Any: ...
    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def note(self) -> str: ...
    @property
    def goal(self) -> bool: ...
    @property
    def status(self) -> Any: ...
    @property
    def reason(self) -> str: ...
    @property
    def witness(self) -> Any: ...
    @property
    def formula(self) -> tuple[Any, str, Any] | None: ...


class TrialLike(Protocol):
    """A changed step, executed."""

    @property
    def of(self) -> str: ...
    @property
    def change(self) -> str: ...
    @property
    def executed(self) -> StepLike: ...


class ProofLike(Protocol):
    """One proof, as `exptx.proofs.prove` returns it."""

    @property
    def id(self) -> str: ...
    @property
    def law(self) -> str: ...
    @property
    def encoding(self) -> str | None: ...
    @property
    def title(self) -> str: ...
    @property
    def chapter(self) -> Any: ...
    @property
    def statement(self) -> str: ...
    @property
    def hypotheses(self) -> Sequence[Any]: ...
    @property
    def expected(self) -> Any: ...
    @property
    def status(self) -> Any: ...
    @property
    def as_expected(self) -> bool: ...
    @property
    def rests_on(self) -> Sequence[str]: ...
    @property
    def steps(self) -> Sequence[StepLike]: ...
    @property
    def perturbations(self) -> Sequence[TrialLike]: ...
    @property
    def siblings(self) -> Sequence[TrialLike]: ...
    @property
    def sources(self) -> Sequence[Any]: ...
    @property
    def anchor(self) -> str: ...
    @property
    def comment(self) -> str: ...
    @property
    def answer(self) -> str: ...


@dataclass(frozen=True)
class Badge:
    """A verdict in words, with its CSS class; loud where it is not the expected one."""

    mark: str
    words: str
    kind: str
    loud: bool = False


def badge(proof: ProofLike) -> Badge:
    """The verdict of a proof beside the one that was announced for it."""
    name, expected = proof.status.name, proof.expected.name
    kind = name.lower().replace("_", "-")
    if name != expected:
        return Badge("!", f"{WORDS[name]}; expected {WORDS[expected]}", kind, True)
    if not proof.as_expected:
        return Badge("!", f"{WORDS[name]}; but its trials went wrong", kind, True)
    return Badge(MARKS[name], WORDS[name] if name == "PROVED" else f"{WORDS[name]}, as expected", kind)


@dataclass(frozen=True)
class Entry:
    """One proof in its place: badge, measurement, who uses it, and what below it is not as expected."""

    proof: ProofLike
    badge: Badge
    residual: Residual | None
    used_by: tuple[str, ...]
    unsettled: tuple[str, ...]
    sha256: str

    @property
    def misbehaves(self) -> bool:
        """Whether a kernel was measured to break the law (or to keep one that must fail)."""
        return self.residual is not None and self.residual.alarm


@dataclass(frozen=True)
class Law:
    """All proofs of one law under one number: a single one, or one per encoding."""

    id: str
    number: str
    title: str
    entries: tuple[Entry, ...]

    @property
    def shown(self) -> Entry:
        """The case that is unfolded from the start: the turn where there is one."""
        telling = [entry for entry in self.entries if entry.proof.encoding in TELLING]
        return telling[0] if telling else self.entries[0]

    @property
    def comment(self) -> str:
        """The comment that all cases of a law with several share."""
        comments = {entry.proof.comment for entry in self.entries}
        return comments.pop() if len(self.entries) > 1 and len(comments) == 1 else ""


@dataclass(frozen=True)
class Chapter:
    """One chapter with its laws."""

    id: str
    number: int
    title: str
    introduction: str
    laws: tuple[Law, ...]


@dataclass(frozen=True)
class Book:
    """Everything the page is drawn from; anchors and titles are by law id and by proof id."""

    chapters: tuple[Chapter, ...]
    anchors: Mapping[str, str] = field(hash=False)
    titles: Mapping[str, str] = field(hash=False)

    @property
    def laws(self) -> list[Law]:
        return [law for chapter in self.chapters for law in chapter.laws]

    @property
    def entries(self) -> list[Entry]:
        return [entry for law in self.laws for entry in law.entries]

    @property
    def surprises(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.badge.loud or entry.unsettled or entry.misbehaves]

    def counts(self) -> dict[str, int]:
        """How many proofs have each verdict; verdicts that nobody has are left out."""
        statuses = [entry.proof.status.name for entry in self.entries]
        return {WORDS[name]: statuses.count(name) for name in MARKS if name in statuses}

    def step_counts(self) -> dict[str, int]:
        """How many steps were computed, enclosed and cited, over all proofs."""
        kinds = [evidence(step) for entry in self.entries for step in entry.proof.steps]
        return {kind: kinds.count(kind) for kind in ("computed", "enclosed", "cited")}


def book(
    proofs: Iterable[ProofLike],
    residuals: Mapping[str, ResidualLike],
    hashes: Mapping[str, str],
) -> Book:
    """The proofs in the order given, grouped by chapter and law; `hashes`: of certificates, by proof id."""
    known = {proof.id: proof for proof in proofs}
    used_by = {name: tuple(p.id for p in known.values() if name in p.rests_on) for name in _names(known)}

    def entry(proof: ProofLike) -> Entry:
        residual = residuals.get(proof.id) or residuals.get(proof.law)
        users = used_by[proof.id] if proof.id == proof.law else used_by[proof.id] + used_by[proof.law]
        return Entry(
            proof,
            badge(proof),
            residual_view(residual) if residual else None,
            tuple(dict.fromkeys(users)),
            tuple(sorted(unsettled(proof, known))),
            hashes.get(proof.id, ""),
        )

    chapters = []
    for number, group in enumerate(_grouped(known.values(), lambda p: p.chapter.id), 1):
        laws = tuple(
            Law(same[0].law, f"{number}.{place}", heading(same), tuple(map(entry, same)))
            for place, same in enumerate(_grouped(group, lambda p: p.law), 1)
        )
        head = group[0].chapter
        chapters.append(Chapter(head.id, number, head.title, head.intro, laws))
    return Book(tuple(chapters), *_directory(_grouped(known.values(), lambda p: p.law)))


def _grouped(items: Iterable[Any], key: Any) -> list[list[Any]]:
    groups: dict[Any, list[Any]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.values())


def _names(known: Mapping[str, ProofLike]) -> set[str]:
    return set(known) | {proof.law for proof in known.values()}


def heading(same: Sequence[ProofLike]) -> str:
    """The title shared by the proofs of a law, or its id in words where each has a title of its own."""
    titles = {proof.title for proof in same}
    return same[0].title if len(titles) == 1 else same[0].law.replace("-", " ").capitalize()


def case_name(proof: ProofLike) -> str:
    """What a case is called in a table: what its title says before the colon, or its id in words."""
    named, colon, _ = proof.title.partition(":")
    return named.strip("“") if colon else str(proof.encoding).replace("_", " ").replace("-", " ")


def _directory(laws: Iterable[Sequence[ProofLike]]) -> tuple[dict[str, str], dict[str, str]]:
    """Anchor and title, by law id and by proof id; the anchor of a law is its id."""
    anchors: dict[str, str] = {}
    titles: dict[str, str] = {}
    for same in laws:
        title = heading(same)
        anchors[same[0].law], titles[same[0].law] = same[0].law, title
        for proof in same:
            anchors[proof.id] = proof.anchor
            titles[proof.id] = (
                proof.title if proof.title != title or len(same) == 1 else f"{title} ({case_name(proof)})"
            )
    return anchors, titles


def unsettled(proof: ProofLike, known: Mapping[str, ProofLike]) -> set[str]:
    """Ids of everything `proof` rests on, directly or not, that is missing or not as expected."""
    found, seen, queue = set(), set(), list(proof.rests_on)
    while queue:
        name = queue.pop()
        if name in seen:
            continue
        seen.add(name)
        below = [p for p in known.values() if name in (p.id, p.law)]
        if not all(p.as_expected for p in below) or not below:
            found.add(name)
        queue += [deeper for p in below for deeper in p.rests_on]
    return found


def evidence(step: StepLike) -> str:
    """Who vouches for a step: `computed`, `enclosed` or `cited`."""
    return step.kind if step.kind in ("cited", "enclosed") else "computed"


@dataclass(frozen=True)
class Citation:
    """A cited place: the lemma as the first law that needs it words it, and all who need it."""

    lemma: str
    source: Any
    needed_by: tuple[str, ...]


def citations(proofs: Iterable[ProofLike]) -> list[Citation]:
    """Every cited place once, in order of appearance, though each law words its lemma for itself."""
    quoted: dict[str, tuple[str, Any, list[str]]] = {}
    for proof in proofs:
        for executed in proof.steps:
            if executed.kind == "cited":
                claim = executed.step
                _, _, users = quoted.setdefault(claim.source.text, (claim.lemma, claim.source, []))
                users.append(proof.law)
    return [Citation(lemma, source, tuple(dict.fromkeys(users))) for lemma, source, users in quoted.values()]
