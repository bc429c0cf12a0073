"""The step kinds: which fields each has, what its claim is, and which check repeats it.

Every step has kind, name, status, reason; claim fields and outcome fields are in `KINDS`. An outcome field
that is null counts as absent. `undecided` and `not_checked` make no claim and need no outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .context import Context
from .equalities import apart, enclosed, identity
from .inequalities import sign
from .limits import limit
from .reading import distinct, fields, one_of, text, texts
from .recurrences import induction
from .refusal import Refusal, within
from .relabelling import reindex
from .tables import finite, homomorphism
from .words import words

STATUSES = ("proved", "refuted", "undecided", "not_checked")
_POINT = ("witness", "gap", "functions")
Check = Callable[[Context, Mapping[str, Any]], None]


@dataclass(frozen=True)
class Kind:
    """Claim fields, optional claim fields, outcome fields, and the check of a decided step."""

    claim: tuple[str, ...]
    optional: tuple[str, ...]
    outcome: tuple[str, ...]
    check: Check


def _cited(context: Context, step: Mapping[str, Any]) -> None:
    """Counts as proved exactly if every needed hypothesis is stated."""
    for key in ("lemma", "source"):
        with within(key):
            text(step[key])
    with within("needs"):
        missing = [need for need in distinct(texts(step["needs"])) if need not in context.hypotheses]
    expected = "not_checked" if missing else "proved"
    if step["status"] != expected:
        why = f"the hypothesis {missing[0]!r} is not stated" if missing else "all that it needs is stated"
        raise Refusal(f"is {step['status']}; {expected} is right, since {why}", "status")


KINDS = {
    "identity": Kind(("lhs", "rhs", "assume"), (), ("nonzero", "entry", *_POINT), identity),
    "apart": Kind(("lhs", "rhs", "assume"), (), ("nonzero", "entry", *_POINT), apart),
    "enclosed": Kind(("expr", "lower", "upper"), (), (), enclosed),
    "cited": Kind(("lemma", "source", "needs"), (), (), _cited),
    "sign": Kind(("expr", "sign", "assume"), ("domain",), _POINT, sign),
    "limit": Kind(("expr", "variable", "to", "value", "assume"), (), ("actual",), limit),
    "words": Kind(
        ("letters", "central", "rules", "derivation", "lhs", "rhs"),
        (),
        ("model",),
        lambda _, step: words(step),
    ),
    "induction": Kind(
        ("index", "start", "relation", "state", "claim", "assume"),
        ("reparametrize",),
        ("symbol", *_POINT),
        induction,
    ),
    "reindex": Kind(("index", "bijection", "body", "rhs"), ("operation",), ("permutation", *_POINT), reindex),
    "finite": Kind(
        ("elements", "table", "axioms"), (), ("axiom", "elements_witness"), lambda _, step: finite(step)
    ),
    "homomorphism": Kind(
        ("source", "target", "images", "claims"),
        (),
        ("claim", "elements_witness"),
        lambda _, step: homomorphism(step),
    ),
}


def claim(step: Mapping[str, Any]) -> dict[str, Any]:
    """The kind and its claim fields: what a statement repeats."""
    kind = KINDS[step["kind"]]
    return {key: step[key] for key in ("kind", *kind.claim, *kind.optional) if key in step}


def form(step: Any) -> Kind:
    """The kind of a step whose fields are exactly the known ones."""
    if not isinstance(step, dict) or "kind" not in step:
        raise Refusal("is no step: an object with a kind is needed")
    with within("kind"):
        kind = KINDS[one_of(step["kind"], KINDS)]
    fields(step, ("kind", "name", "status", "reason", *kind.claim), (*kind.optional, *kind.outcome))
    for key in ("name", "reason"):
        with within(key):
            text(step[key])
    with within("status"):
        one_of(step["status"], STATUSES)
    return kind


def check(context: Context, step: Any) -> str:
    """Repeat one step; its status, or a refusal with the place inside it."""
    kind = form(step)
    context.renew()
    if kind.check is _cited or step["status"] in ("proved", "refuted"):
        kind.check(context, step)
    return step["status"]
