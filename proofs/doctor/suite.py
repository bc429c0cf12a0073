"""The door: a subject, or a callable of a kind, examined by the module of its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

from .claims import Claims, one_of
from .device import on_device
from .failed import Failed
from .findings import Diagnosis, Finding, expected
from .kinds import KINDS
from .say import LEVELS, Say, silent
from .subject import Subject, subject


def check(
    target: Subject | Callable[..., Any],
    claims: Claims | None = None,
    *,
    kind: str | None = None,
    level: str = "quick",
    device: str = "cpu",
    reasons: Mapping[str, str] | None = None,
    say: Say = silent,
) -> Diagnosis:
    """Identify an implementation from calls alone and hold it to the laws of its kind and to what is claimed.

    target: a Subject, or a callable with a signature of `exptx.proofs.doctor.kinds.KINDS`. claims: of a
    callable, or in place of those of the Subject. kind: of a callable; by its number of arguments without it.
    level: quick, or full with what takes compilers and long inputs. device: where inputs are put before a
    call; what comes back is judged on the CPU. reasons: findings that are known, by code, besides those that
    the Subject expects. say: told what is being measured.
    Errors: BadClaim for what cannot be examined; what the subject raises is a finding.
    """
    one_of("level", level, LEVELS)
    given = target if isinstance(target, Subject) else subject(target, claims, kind)
    if claims is not None:
        given = replace(given, claims=claims)
    module = import_module(f".{KINDS[given.kind].module}", __package__)
    try:
        with on_device(device):
            found = module.examine(given, level, say)
    except Failed as failed:
        shown = f"subject(*arguments)  # {failed}"
        where = f"well-formed arguments at positions below {given.claims.longest} (the claim `longest`)"
        finding = Finding("call", where, None, None, str(failed), shown)
        found = Diagnosis(given.name, given.kind, "cannot be called", (finding,), (), ())
    found = replace(found, unjudged=(*found.unjudged, *given.notes))
    return expected(found, {**given.expected_failures, **(reasons or {})})
