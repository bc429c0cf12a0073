"""The checker: certificates re-checked from their JSON with integers and rationals, by code of its own.

`verify` takes a folder written by `exptx prove --certificates`, or a `proofs.json`. It expands every formula
into exponential sums itself, evaluates every witness and enclosure with its own intervals, and trusts nothing
that a certificate says about itself. Standard library only: neither sympy nor the symbolic room is imported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .checking.document import refusals
from .checking.reading import canonical_sha256, fields, items, read, text
from .checking.refusal import Refusal, shown, within

INDEX = "exptx-index/1"
PROOFS = "exptx-proofs/1"
_HASHES = ("statement_sha256", "certificate_sha256")


@dataclass(frozen=True)
class Rejection:
    """What is wrong and where: file, proof id (None: the file itself), place in the certificate, reason."""

    file: str
    proof: str | None
    place: str
    reason: str

    def __str__(self) -> str:
        return ": ".join(
            part for part in (self.file, self.proof, f"{self.place} {self.reason}".strip()) if part
        )


def verify(path: str | Path) -> list[Rejection]:
    """Re-check a folder of certificates with its index, or one `proofs.json`.

    Returns what is wrong, in the order of the index; an empty list accepts everything. Raises nothing on
    unreadable, malformed or oversized input: that is a rejection too.
    """
    path = Path(path)
    try:
        listed = _folder(path) if path.is_dir() else _proofs(path)
    except Refusal as refusal:
        return [_rejection(path / "index.json" if path.is_dir() else path, None, refusal)]
    return list(_checked(*listed))


@dataclass(frozen=True)
class _Listed:
    """One certificate as it was found, with the hashes recorded for it."""

    file: Path
    proof: str
    certificate: Any
    hashes: Mapping[str, Any]


def _rejection(file: Path, proof: str | None, refusal: Refusal) -> Rejection:
    return Rejection(
        _printable(file.name),
        proof and _printable(proof),
        _printable(refusal.where),
        _printable(refusal.reason),
    )


def _printable(text: str) -> str:
    return text if text.isprintable() else ascii(text)


def _folder(folder: Path) -> tuple[list[_Listed], list[Rejection]]:
    """The certificates that the index lists; files that it does not list are rejected."""
    index = fields(read(folder / "index.json"), ("schema", "proofs"))
    if index["schema"] != INDEX:
        raise Refusal(f"is {shown(index['schema'])}; {INDEX} is needed", "schema")
    if not isinstance(index["proofs"], dict):
        raise Refusal(f"is {shown(index['proofs'])}; an object is needed", "proofs")
    if not index["proofs"]:
        raise Refusal("is empty: there is nothing to check", "proofs")
    found, bad, names = [], [], {"index.json"}
    for proof, row in index["proofs"].items():
        name = proof.replace("/", "--") + ".json"
        names.add(name)
        try:
            with within("proofs", f"[{shown(proof)}]"):
                fields(row, ("file", *_HASHES))
                if row["file"] != name or len(Path(name).parts) != 1:
                    raise Refusal(f"is {shown(row['file'])}; {shown(name)} is needed", "file")
        except Refusal as refusal:
            bad.append(_rejection(folder / "index.json", proof, refusal))
            continue
        try:
            found.append(_Listed(folder / name, proof, read(folder / name), row))
        except Refusal as refusal:
            bad.append(_rejection(folder / name, proof, refusal))
    strays = (file.name for file in sorted(folder.glob("*.json")) if file.name not in names)
    bad += [Rejection(stray, None, "", "is not listed in index.json") for stray in strays]
    return found, bad


def _proofs(file: Path) -> tuple[list[_Listed], list[Rejection]]:
    """The certificates inside one document; what stands beside a certificate agrees with it."""
    document = read(file)
    if not isinstance(document, dict) or document.get("schema") != PROOFS:
        raise Refusal(f"is no document of the schema {PROOFS}")
    found, bad, seen = [], [], set()
    with within("laws"):
        laws = items(document.get("laws"))
    if not laws:
        raise Refusal("is empty: there is nothing to check", "laws")
    for i, law in enumerate(laws):
        try:
            with within(f"laws[{i}]"):
                listed = _law(file, law)
                if listed.proof in seen:
                    raise Refusal(f"is a second {shown(listed.proof)}", "id")
                seen.add(listed.proof)
                found.append(listed)
        except Refusal as refusal:
            bad.append(_rejection(file, law.get("id") if isinstance(law, dict) else None, refusal))
    return found, bad


def _law(file: Path, law: Any) -> _Listed:
    if not isinstance(law, dict):
        raise Refusal(f"is {shown(law)}; an object is needed")
    for key in ("id", "certificate"):
        if key not in law:
            raise Refusal("is missing", key)
    with within("id"):
        text(law["id"])
    for key, told in _told(law["certificate"]).items():
        if (key in law or key in ("status", "expected")) and law.get(key) != told:
            raise Refusal(f"is {shown(law.get(key))}; the certificate says {shown(told)}", key)
    certificate = law["certificate"]
    return _Listed(file, law["id"], certificate, {key: law[key] for key in _HASHES if key in law})


def _told(certificate: Any) -> dict[str, Any]:
    """What a document may repeat beside a certificate, as the certificate has it."""
    if not isinstance(certificate, dict):
        return {}
    told = {key: certificate.get(key) for key in ("status", "expected", "law", "encoding", "rests_on")}
    statement, steps = certificate.get("statement"), certificate.get("steps")
    if isinstance(statement, dict) and isinstance(statement.get("hypotheses"), list):
        told["statement"] = statement.get("text")
        told["hypotheses"] = [h.get("text") for h in statement["hypotheses"] if isinstance(h, dict)]
    if isinstance(steps, list):
        keys = ("name", "kind", "status", "reason")
        told["steps"] = [{key: s.get(key) for key in keys} for s in steps if isinstance(s, dict)]
    return told


def _checked(found: list[_Listed], bad: list[Rejection]) -> Iterator[Rejection]:
    yield from bad
    for listed in found:
        for refusal in (*refusals(listed.certificate), *_bookkeeping(listed)):
            yield _rejection(listed.file, listed.proof, refusal)
    yield from _foundations(found)


def _bookkeeping(listed: _Listed) -> Iterator[Refusal]:
    """The id and the recorded hashes, apart from what the certificate claims."""
    if not isinstance(listed.certificate, dict):
        return
    if listed.certificate.get("id") != listed.proof:
        yield Refusal(f"is {shown(listed.certificate.get('id'))}; {shown(listed.proof)} is listed", "id")
    parts = {_HASHES[0]: listed.certificate.get("statement"), _HASHES[1]: listed.certificate}
    for key in _HASHES:
        try:
            if key in listed.hashes and canonical_sha256(parts[key]) != listed.hashes[key]:
                yield Refusal("differs from the SHA-256 of what is here", key)
        except Refusal as refusal:
            yield refusal


def _foundations(found: list[_Listed]) -> Iterator[Rejection]:
    """What a proof rests on is here, came out as expected, and does not rest on the proof itself."""
    known = {c.proof: c.certificate for c in found if isinstance(c.certificate, dict)}
    edges = {proof: _rests_on(c) for proof, c in known.items()}
    circular = _circular(edges)
    for listed in found:
        for i, other in enumerate(edges.get(listed.proof, [])):
            reason = None
            if other not in known:
                reason = f"is {shown(other)}, which is no proof here"
            elif known[other].get("status") != known[other].get("expected"):
                reason = f"is {shown(other)}, which did not come out as expected"
            elif listed.proof in circular and other in circular:
                reason = f"is {shown(other)}, which rests in a circle on this proof"
            if reason:
                yield _rejection(listed.file, listed.proof, Refusal(reason, f"rests_on[{i}]"))


def _rests_on(certificate: Mapping[str, Any]) -> list[str]:
    value = certificate.get("rests_on")
    return [other for other in value if isinstance(other, str)] if isinstance(value, list) else []


def _circular(edges: Mapping[str, list[str]]) -> set[str]:
    """The proofs that are left when those with settled foundations are taken away again and again."""
    left = {proof: {o for o in others if o in edges} for proof, others in edges.items()}
    while settled := {proof for proof, others in left.items() if not others}:
        left = {proof: others - settled for proof, others in left.items() if proof not in settled}
    return set(left)


__all__ = ["Rejection", "verify"]
