"""An examination in a process of its own: a subject that crashes or never returns is a finding.

This process imports nothing heavy; the one that examines imports torch, once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from ...symbolic.errors import ExptxError
from ..errors import BadClaim, Stopped
from ..worker import within
from .findings import Diagnosis, Finding

if TYPE_CHECKING:
    from collections.abc import Callable

MEGABYTES = 32_000  # of addresses, which libraries reserve and do not use


@dataclass(frozen=True)
class Request:
    """options: as `spec.claims_of` takes them; a Subject brings its own claims and refuses others.

    level: quick or full. device: where inputs are put. reasons: known findings by code, each with its reason.
    adapter: of a kernel that takes tables, from `adapters.signatures.NAMES`; found by calls where its
    arguments say that it does. progress: whether what is measured is said on standard error.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    level: str = "quick"
    device: str = "cpu"
    reasons: Mapping[str, str] = field(default_factory=dict)
    adapter: str | None = None
    progress: bool = False


def examine(target: str, request: Request, seconds: float) -> dict[str, Any]:
    """The document of the examination of file.py:function or package.module:OBJECT.

    seconds: for everything, imports included. Errors: an ExptxError for what is no subject, or no claim.
    """
    try:
        return within(seconds, MEGABYTES, _examined, target, request)
    except Stopped as stopped:
        shown = f"exptx check {target} --seconds {seconds:g}"
        crashed = Finding("call", "the process", None, None, str(stopped), shown)
        return document(Diagnosis(target, "unknown", "did not come back", (crashed,), (), ()))


def document(found: Diagnosis) -> dict[str, Any]:
    """One subject of what --json prints."""

    def row(finding: Finding) -> dict[str, Any]:
        return {**asdict(finding), **asdict(finding.law)}

    rows = {name: [row(one) for one in getattr(found, name)] for name in ("findings", "expected")}
    return {"ok": found.ok, **asdict(found), **rows}


def _examined(target: str, request: Request) -> dict[str, Any]:
    from .adapters.signatures import adapted, takes_tables
    from .load import load
    from .readings import examined
    from .spec import claims_of
    from .subject import Subject
    from .suite import check

    os.dup2(2, 1)  # what the subject prints is no part of the answer
    told, kind = claims_of(request.options)
    try:
        found = load(target)
    except ExptxError:
        raise
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        broken = Finding("call", "when it is loaded", None, None, said, f"exptx check {target}")
        return document(Diagnosis(target, "unknown", "cannot be loaded", (broken,), (), ()))
    more: dict[str, Any] = {"level": request.level, "device": request.device, "reasons": request.reasons}
    more["say"] = _say(request.progress)
    if isinstance(found, Subject):
        if any(value is not None for value in request.options.values()):
            raise BadClaim(f"{target} is a Subject, which brings its own claims; no other option works")
        return document(check(found, **more))
    adapter = request.adapter
    if adapter is None and kind is None and callable(found) and takes_tables(found):
        adapter = "auto"
    if adapter is not None:
        return document(check(adapted(found, adapter, told), **more))
    return document(examined(found, told, {**request.options, "kind": kind}, more))


def _say(progress: bool) -> Callable[[str], None]:
    def say(what: str) -> None:
        if progress:
            print(f"… {what}", file=sys.stderr, flush=True)

    return say
