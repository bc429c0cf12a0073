"""Findings as SARIF 2.1.0, which code hosts show beside the lines of a file."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .codes import CODES

Document = dict[str, Any]
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(targets: Sequence[str], found: Sequence[Document], version: str) -> Document:
    """One run. targets, found: as given on the command line, and the document of each."""
    rules = [
        {
            "id": code,
            "shortDescription": {"text": law.law},
            "fullDescription": {"text": f"{law.law}. Otherwise {law.consequence}."},
            "help": {"text": law.fix},
        }
        for code, law in CODES.items()
    ]
    driver = {"name": "exptx", "version": version, "rules": rules}
    results = [
        _result(target, finding)
        for target, document in zip(targets, found, strict=True)
        for finding in document["findings"]
    ]
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }


def _result(target: str, finding: Document) -> Document:
    place, _, name = target.rpartition(":")
    off = ""
    if finding["residual"] is not None:
        off = f" Off by {finding['residual']:.3g}, allowed {finding['budget']:.3g}."
    text = f"{name}: {finding['law']}: not so at {finding['where']}.{off} Cause: {finding['cause']}."
    uri = place if place.endswith(".py") else place.replace(".", "/") + ".py"
    location = {"artifactLocation": {"uri": uri}, "region": {"startLine": _line(Path(place), name)}}
    print_ = hashlib.sha256(f"{target} {finding['code']}".encode()).hexdigest()
    return {
        "ruleId": finding["code"],
        "ruleIndex": list(CODES).index(finding["code"]),
        "level": "error",
        "message": {"text": text},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"exptx/v1": print_},
    }


def _line(path: Path, name: str) -> int:
    """Where the object is defined, as far as its text tells; 1 otherwise."""
    if path.suffix != ".py" or not path.is_file():
        return 1
    pattern = re.compile(rf"^\s*(?:def|class)\s+{re.escape(name)}\b|^{re.escape(name)}\s*[:=]")
    lines = path.read_text(errors="replace").splitlines()
    return next((n for n, line in enumerate(lines, 1) if pattern.search(line)), 1)
