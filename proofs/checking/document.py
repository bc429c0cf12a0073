"""One certificate: its steps, and whether statement, status, perturbations and siblings agree with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .context import Context
from .reading import distinct, fields, items, one_of, text, texts
from .refusal import Refusal, shown, within
from .steps import KINDS, STATUSES, check, claim, form

SCHEMA = "exptx-certificate/1"
_FIELDS = (
    "schema", "id", "law", "encoding", "expected", "status", "statement", "rests_on", "steps",
    "perturbations", "siblings",
)  # fmt: skip
_UNCHECKED = ("title", "chapter", "comment", "sources", "anchor")


def refusals(certificate: Any) -> Iterator[Refusal]:
    """Everything that is wrong with the certificate, each with its place."""
    try:
        fields(certificate, _FIELDS, _UNCHECKED)
    except Refusal as refusal:
        yield refusal
        return
    context = Context()
    yield from _caught(lambda: _head(certificate))
    yield from _caught(lambda: _hypotheses(context, certificate["statement"]))
    yield from _all(certificate, "steps", lambda step: _checked(context, step))
    yield from _all(certificate, "perturbations", lambda entry: _perturbation(context, entry, certificate))
    yield from _all(certificate, "siblings", lambda entry: _sibling(context, entry))
    for rule in (_names, _status, _formulas, _enough, _different):
        yield from _caught(lambda rule=rule: rule(certificate))


def _caught(action: Callable[[], Any]) -> Iterator[Refusal]:
    try:
        with within():
            action()
    except Refusal as refusal:
        yield refusal


def _all(certificate: Mapping[str, Any], key: str, action: Callable[[Any], None]) -> Iterator[Refusal]:
    entries = certificate[key]
    if not isinstance(entries, list):
        yield Refusal(f"is {shown(entries)}; a list is needed", key)
        return
    for i, entry in enumerate(entries):
        try:
            with within(_label(key, i, entry)):
                action(entry)
        except Refusal as refusal:
            yield refusal


def _label(key: str, i: int, entry: Any) -> str:
    """`steps[3] "shift"`"""
    title = (entry.get("name") or entry.get("of") or entry.get("change")) if isinstance(entry, dict) else None
    return f'{key}[{i}] "{title[:60]}"' if isinstance(title, str) else f"{key}[{i}]"


def _checked(context: Context, step: Any) -> None:
    check(context, step)


def _head(certificate: Mapping[str, Any]) -> None:
    with within("schema"):
        one_of(certificate["schema"], (SCHEMA,))
    for key in ("id", "law"):
        with within(key):
            text(certificate[key])
    encoding = certificate["encoding"]
    if encoding is not None:
        with within("encoding"):
            text(encoding)
    right = certificate["law"] if encoding is None else f"{certificate['law']}/{encoding}"
    if certificate["id"] != right:
        raise Refusal(f"is {shown(certificate['id'])}; law and encoding make {shown(right)}", "id")
    for key in ("expected", "status"):
        with within(key):
            one_of(certificate[key], STATUSES)
    with within("rests_on"):
        distinct(texts(certificate["rests_on"]))


def _hypotheses(context: Context, statement: Any) -> None:
    with within("statement"):
        fields(statement, ("text", "hypotheses", "formulas"))
        with within("text"):
            text(statement["text"])
        names = []
        with within("hypotheses"):
            for i, hypothesis in enumerate(items(statement["hypotheses"])):
                with within(f"[{i}]"):
                    fields(hypothesis, ("name", "text"))
                    names.append(text(hypothesis["name"]))
                    text(hypothesis["text"])
            distinct(names)
        context.hypotheses = frozenset(names)


def _perturbation(context: Context, entry: Any, certificate: Mapping[str, Any]) -> None:
    """A changed step that is refuted, and changed indeed."""
    fields(entry, ("of", "change", "step"))
    with within("change"):
        text(entry["change"])
    original = next((s for s in _steps(certificate) if s.get("name") == entry["of"]), None)
    if original is None:
        raise Refusal(f"is {shown(entry['of'])}, the name of no step", "of")
    with within("step"):
        form(entry["step"])
        with within("status"):
            one_of(entry["step"]["status"], ("refuted",))
        with within("kind"):
            one_of(
                entry["step"]["kind"], [original["kind"]] if original.get("kind") in tuple(KINDS) else KINDS
            )
        if _same(claim(entry["step"]), _claim(original)):
            raise Refusal("claims the same as the step that it perturbs")
        check(context, entry["step"])


def _sibling(context: Context, entry: Any) -> None:
    """A true relative: its step or steps are proved."""
    plural = isinstance(entry, dict) and "steps" in entry
    fields(entry, ("change", "steps" if plural else "step"), ("of",))
    with within("change"):
        text(entry["change"])
    steps = items(entry["steps"]) if plural else [entry["step"]]
    if not steps:
        raise Refusal("has no step", "steps")
    for i, step in enumerate(steps):
        with within(f"steps[{i}]" if plural else "step"):
            form(step)
            with within("status"):
                one_of(step["status"], ("proved",))
            check(context, step)


def _steps(certificate: Mapping[str, Any], key: str = "steps") -> list[dict[str, Any]]:
    value = certificate[key]
    return [s for s in value if isinstance(s, dict)] if isinstance(value, list) else []


def _claim(step: Mapping[str, Any]) -> dict[str, Any] | None:
    try:
        form(step)
    except Refusal:
        return None
    return claim(step)


def _names(certificate: Mapping[str, Any]) -> None:
    names = [s["name"] for s in _steps(certificate) if isinstance(s.get("name"), str)]
    with within("steps"):
        if not names:
            raise Refusal("is empty: a proof has at least one step")
        distinct(names)
    with within("siblings"):
        for entry in _steps(certificate, "siblings"):
            if "of" in entry and entry["of"] not in names:
                raise Refusal(f"is of {shown(entry['of'])}, the name of no step")


def status_of(steps: list[dict[str, Any]]) -> str:
    """refuted, else undecided, else not checked, else proved; citations alone prove nothing here."""
    found = [s.get("status") for s in steps]
    for status in ("refuted", "undecided", "not_checked"):
        if status in found:
            return status
    return "proved" if any(s.get("kind") != "cited" for s in steps) else "not_checked"


def _status(certificate: Mapping[str, Any]) -> None:
    found = status_of(_steps(certificate))
    if certificate["status"] != found:
        raise Refusal(f"is {shown(certificate['status'])}; the steps make it {found}", "status")
    if certificate["expected"] != found:
        raise Refusal(f"is {shown(certificate['expected'])}; the steps make it {found}", "expected")


def _formulas(certificate: Mapping[str, Any]) -> None:
    """Everything that is stated is the claim of a step."""
    if not isinstance(certificate["statement"], dict):
        return
    claims = [c for c in map(_claim, _steps(certificate)) if c is not None]
    with within("statement", "formulas"):
        formulas = items(certificate["statement"].get("formulas", []))
        if not formulas and any(c["kind"] != "cited" for c in claims):
            raise Refusal("is empty: a computed law states at least one formula")
        for i, formula in enumerate(formulas):
            if not any(_same(formula, c) for c in claims):
                raise Refusal("is the claim of no step", f"[{i}]")


def _same(a: Any, b: Any) -> bool:
    """JSON equality: true is not 1."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(_same, a, b))
    return a == b


def _enough(certificate: Mapping[str, Any]) -> None:
    """What is proved by computing can fail: two perturbations. What is refuted has a true sibling."""
    computed = any(s.get("kind") != "cited" for s in _steps(certificate))
    count = len(_steps(certificate, "perturbations"))
    if certificate["expected"] == "proved" and computed and count < 2:
        raise Refusal(
            f"has {count} entries; a computed law lists at least two that are refuted", "perturbations"
        )
    if certificate["expected"] == "refuted" and not _steps(certificate, "siblings"):
        raise Refusal("is empty; a refuted law lists a true sibling", "siblings")


def _different(certificate: Mapping[str, Any]) -> None:
    """No perturbation is listed twice."""
    steps = [entry.get("step") for entry in _steps(certificate, "perturbations")]
    claims = [_claim(s) if isinstance(s, dict) else None for s in steps]
    for i, c in enumerate(claims):
        if c is not None and any(_same(c, d) for d in claims[:i]):
            raise Refusal("claims the same as one before it", f"perturbations[{i}]")
