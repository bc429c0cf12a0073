"""Running laws: `prove` decides every step of every law asked for and returns the proofs.

The status of a proof is computed from its steps and never typed in: refuted if a step is refuted, else
undecided, else not checked, else proved. A law that only cites is not checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..symbolic.decide import Status, Verdict
from .law import Chapter, Hypothesis, Law, select
from .step import Cited, Formula, Perturbation, Source, Step, conclusive

CERTIFICATE = "exptx-certificate/1"


@dataclass(frozen=True)
class Executed:
    """A step together with what deciding it found."""

    step: Step
    verdict: Verdict

    @cached_property
    def kind(self) -> str:
        return self.step.claim()["kind"]

    @property
    def name(self) -> str:
        return self.step.name

    @property
    def note(self) -> str:
        return self.step.note

    @property
    def goal(self) -> bool:
        return self.step.goal

    @property
    def status(self) -> Status:
        return self.verdict.status

    @property
    def reason(self) -> str:
        return self.verdict.reason

    @property
    def witness(self) -> dict[Any, Any] | None:
        return self.verdict.witness

    @property
    def formula(self) -> Formula | None:
        return self.step.formula()


@dataclass(frozen=True)
class Trial:
    """A perturbation or a sibling, decided."""

    of: str
    change: str
    executed: Executed

    @property
    def status(self) -> Status:
        return self.executed.status


@dataclass(frozen=True)
class Proof:
    """One proof id: the law, its executed steps, and the trials of its perturbations and siblings."""

    law_object: Law
    chapter: Chapter
    steps: tuple[Executed, ...]
    perturbations: tuple[Trial, ...]
    siblings: tuple[Trial, ...]

    @property
    def id(self) -> str:
        return self.law_object.proof_id

    @property
    def law(self) -> str:
        return self.law_object.id

    @property
    def encoding(self) -> str | None:
        return self.law_object.encoding

    @property
    def anchor(self) -> str:
        """The permanent address of this proof inside the report."""
        return self.id.replace("/", "--")

    @property
    def title(self) -> str:
        return self.law_object.title

    @property
    def statement(self) -> str:
        return self.law_object.statement

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        return self.law_object.hypotheses

    @property
    def expected(self) -> Status:
        return self.law_object.expected

    @property
    def rests_on(self) -> tuple[str, ...]:
        return self.law_object.rests_on

    @property
    def sources(self) -> tuple[Source, ...]:
        cited = tuple(e.step.source for e in self.steps if isinstance(e.step, Cited))
        return tuple(dict.fromkeys(self.law_object.sources + cited))

    @property
    def comment(self) -> str:
        return self.law_object.comment

    @property
    def answer(self) -> str:
        return self.law_object.answer

    @cached_property
    def status(self) -> Status:
        return status_of(self.steps)

    @cached_property
    def as_expected(self) -> bool:
        """The status is the expected one, every perturbation is refuted and every sibling proved."""
        teeth = all(t.status is Status.REFUTED for t in self.perturbations)
        truths = all(t.status is Status.PROVED for t in self.siblings)
        return self.status is self.expected and teeth and truths

    @cached_property
    def certificate(self) -> dict[str, Any]:
        """The JSON document that the checker re-checks."""
        return _certificate(self)


def _step(executed: Executed) -> dict[str, Any]:
    step = executed.step
    body = {"name": step.name, **step.claim(), "status": executed.status.value, "reason": executed.reason}
    return body | step.outcome(executed.verdict)


def _trial(trial: Trial) -> dict[str, Any]:
    return {"of": trial.of, "change": trial.change, "step": _step(trial.executed)}


def _certificate(proof: Proof) -> dict[str, Any]:
    """The certificate of one proof: statement as expression trees, steps, witnesses, trials."""
    return {
        "schema": CERTIFICATE,
        "id": proof.id,
        "law": proof.law,
        "encoding": proof.encoding,
        "expected": proof.expected.value,
        "status": proof.status.value,
        "statement": {
            "text": proof.statement,
            "hypotheses": [{"name": h.name, "text": h.text} for h in proof.hypotheses],
            "formulas": [e.step.claim() for e in proof.steps if e.goal],
        },
        "rests_on": list(proof.rests_on),
        "steps": [_step(e) for e in proof.steps],
        "perturbations": [_trial(t) for t in proof.perturbations],
        "siblings": [_trial(t) for t in proof.siblings],
    }


def status_of(steps: Iterable[Executed]) -> Status:
    """The worst status among the steps; not checked where nothing was computed."""
    executed = tuple(steps)
    found = {e.status for e in executed}
    for status in (Status.REFUTED, Status.UNDECIDED, Status.NOT_CHECKED):
        if status in found:
            return status
    return Status.PROVED if any(conclusive(e.step) for e in executed) else Status.NOT_CHECKED


def run(chapter: Chapter, law: Law) -> Proof:
    """Decide every step and every trial of one law."""
    stated = frozenset(h.name for h in law.hypotheses)

    def execute(step: Step) -> Executed:
        return Executed(step, step.check(stated))

    def trials(changes: tuple[Perturbation, ...]) -> tuple[Trial, ...]:
        return tuple(Trial(p.of, p.change, execute(p.step)) for p in changes)

    return Proof(
        law, chapter, tuple(map(execute, law.steps)), trials(law.perturbations), trials(law.siblings)
    )


def proofs(laws: Iterable[str] | None = None, encodings: Iterable[str] | None = None) -> Iterator[Proof]:
    """The proofs of the laws asked for, one at a time, in story order."""
    from .laws import CHAPTERS

    chosen = None if laws is None else tuple(laws)
    named = None if encodings is None else tuple(encodings)
    for chapter, law in select(CHAPTERS, chosen, named):
        yield run(chapter, law)


def prove(
    laws: Iterable[str] | None = None,
    encodings: Iterable[str] | None = None,
    *,
    progress: Callable[[Proof], None] | None = None,
) -> list[Proof]:
    """Prove the laws asked for (all, where None) and return one `Proof` per proof id.

    laws: ids of laws ("group-law") or of single proofs ("group-law/rope"). encodings: names to restrict to.
    progress: called with each finished proof. Raises `UnknownLaw` for an id or a name that does not exist.
    """
    done = []
    for proof in proofs(laws, encodings):
        done.append(proof)
        if progress is not None:
            progress(proof)
    return done


def foundations(proofs: Iterable[Proof]) -> list[Proof]:
    """The proofs that the given ones rest on, all the way down, without the given ones."""
    given = {proof.id: proof for proof in proofs}
    found: dict[str, Proof] = {}
    wanted = {name for proof in given.values() for name in proof.rests_on}
    while wanted := wanted - given.keys() - found.keys():
        found |= {proof.id: proof for proof in prove(sorted(wanted))}
        wanted = {name for proof in found.values() for name in proof.rests_on}
    return list(found.values())
