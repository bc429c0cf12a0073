"""An examination in a process of its own: a subject that crashes or never returns is a finding."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...symbolic.configs.description import Rotary
from ...symbolic.configs.read import read_config
from ...symbolic.errors import ExptxError
from ..errors import BadClaim, Stopped
from ..inspection.config_file import read_config_file
from ..worker import within
from .adapters.signatures import adapted, takes_tables
from .claims import Claims, rope
from .findings import Diagnosis, Finding
from .load import load
from .subject import Subject
from .suite import check

MEGABYTES = 32_000  # of addresses, which libraries reserve and do not use
SCHEMA = "exptx-check/1"


def claims(
    config: Path | None,
    base: float | None,
    head_dim: int | None,
    pairing: str | None,
    layout: str,
    longest: int,
) -> Claims:
    """What options claim; BadClaim where two say different things, or a config has no rotary."""
    if config is not None and (base is not None or head_dim is not None):
        raise BadClaim("config says base and head_dim; --config alone works, or the other two")
    encoding = None
    if config is not None:
        found = read_config(read_config_file(config)).group().encoding
        if not isinstance(found, Rotary):
            raise BadClaim(f"{config} has no rotary layers; a config of a rotary model works")
        encoding = found
    elif base is not None:
        encoding = rope(base, head_dim or 64)
    size = encoding.head_dim if encoding is not None else head_dim or 64
    return Claims(encoding, size, pairing=pairing, layout=layout, longest=longest)


def examine(target: str, given: Claims, seconds: float, adapter: str | None = None) -> dict[str, Any]:
    """The document of the examination of file.py:function or package.module:OBJECT.

    given: the claims of a callable; a Subject brings its own. adapter: of a kernel that takes tables, from
    `adapters.signatures.NAMES`. Errors: an ExptxError for what is no subject.
    """
    try:
        return within(seconds, MEGABYTES, _examined, target, given, adapter)
    except Stopped as stopped:
        shown = f"exptx check {target} --seconds {seconds:g}"
        crashed = Finding("call", "the process", None, None, str(stopped), shown)
        return document(Diagnosis(target, "unknown", "did not come back", (crashed,), (), ()))


def document(found: Diagnosis) -> dict[str, Any]:
    """What --json prints."""
    rows = [{**asdict(finding), **asdict(finding.law)} for finding in found.findings]
    return {"schema": SCHEMA, "ok": found.ok, **asdict(found), "findings": rows}


def _examined(target: str, told: Claims, adapter: str | None) -> dict[str, Any]:
    os.dup2(2, 1)  # what the subject prints is no part of the answer
    try:
        found = load(target)
    except ExptxError:
        raise
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        broken = Finding("call", "when it is loaded", None, None, said, f"exptx check {target}")
        return document(Diagnosis(target, "unknown", "cannot be loaded", (broken,), (), ()))
    if isinstance(found, Subject):
        return document(check(found))
    if adapter is None and callable(found) and takes_tables(found):
        adapter = "auto"
    return document(check(found, told) if adapter is None else check(adapted(found, adapter, told)))
