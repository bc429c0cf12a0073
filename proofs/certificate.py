"""Writing proofs down: one JSON certificate per proof id, an index of hashes, and the document `proofs.json`.

Everything here is deterministic: the same laws give the same bytes. Times and residuals stand elsewhere.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .. import __version__
from .errors import Unwritable
from .prove import Proof

INDEX = "exptx-index/1"
PROOFS = "exptx-proofs/1"


def canonical(document: Any) -> bytes:
    """The one way in which a document is written: sorted keys, no spaces, UTF-8, a final newline."""
    text = json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return text.encode() + b"\n"


def sha256(document: Any) -> str:
    return hashlib.sha256(canonical(document)).hexdigest()


def file_name(proof_id: str) -> str:
    return proof_id.replace("/", "--") + ".json"


def index(certificates: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Proof id to file and SHA-256 of statement and certificate."""
    rows = {
        c["id"]: {
            "file": file_name(c["id"]),
            "statement_sha256": sha256(c["statement"]),
            "certificate_sha256": sha256(c),
        }
        for c in certificates
    }
    return {"schema": INDEX, "proofs": rows}


def document(proofs: Iterable[Proof]) -> dict[str, Any]:
    """`proofs.json`: every law with its verdict and its certificate; deterministic content only."""
    rows = [_row(proof) for proof in proofs]
    return {"schema": PROOFS, "version": __version__, "laws": rows}


def _row(proof: Proof) -> dict[str, Any]:
    cert = proof.certificate
    return {
        "id": proof.id,
        "law": proof.law,
        "encoding": proof.encoding,
        "chapter": proof.chapter.id,
        "title": proof.title,
        "status": proof.status.value,
        "expected": proof.expected.value,
        "as_expected": proof.as_expected,
        "statement": proof.statement,
        "hypotheses": [h.text for h in proof.hypotheses],
        "rests_on": list(proof.rests_on),
        "steps": [
            {"name": e.name, "kind": e.kind, "status": e.status.value, "reason": e.reason}
            for e in proof.steps
        ],
        "sources": [{"text": s.text, "url": s.url} for s in proof.sources],
        "anchor": proof.anchor,
        "statement_sha256": sha256(cert["statement"]),
        "certificate_sha256": sha256(cert),
        "certificate": cert,
    }


def write_atomically(path: Path, content: bytes) -> None:
    """Write beside `path` and rename: readers see the old file or the new one, never half of one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise Unwritable(
            f"cannot write {path}: {error.strerror or error}; name a folder that can be written"
        ) from error
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def require_writable(folder: Path) -> None:
    """Refuse a folder that cannot be written before any work is done; nothing is left behind in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = error.strerror or error
        raise Unwritable(f"cannot write to {folder}: {reason}; name a folder that can be written") from error


def write_certificates(proofs: Iterable[Proof], folder: Path) -> int:
    """Write one certificate per proof and the index, which comes last; returns how many."""
    require_writable(folder)
    certificates = [proof.certificate for proof in proofs]
    for cert in certificates:
        write_atomically(folder / file_name(cert["id"]), canonical(cert))
    write_atomically(folder / "index.json", canonical(index(certificates)))
    return len(certificates)


def count(path: Path) -> int:
    """How many proofs a folder of certificates, or a proofs.json, holds."""
    if path.is_dir():
        return len(json.loads((path / "index.json").read_bytes())["proofs"])
    return len(json.loads(path.read_bytes())["laws"])
