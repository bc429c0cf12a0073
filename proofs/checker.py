"""The checker: certificates re-checked from their JSON with integers and rationals, by code of its own.

`verify` takes a folder written by `exptx prove --certificates`, or a `proofs.json`. It expands every formula
into exponential sums itself, evaluates every witness with its own intervals, and trusts nothing that a
certificate says about itself. Standard library only: neither sympy nor the symbolic room is imported.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from .checking import claims, discrete
from .checking.reading import (
    Refusal,
    canonical,
    each,
    entries,
    fields,
    integer,
    load,
    need,
    number,
    one_of,
    part,
    spend,
    typed,
    within,
)
from .checking.sums import form
from .checking.trees import Node, read

STATUSES = ("refuted", "undecided", "not_checked", "proved")  # the first that a step has is the proof's
HASHES = ("statement_sha256", "certificate_sha256")
STEPS = ("steps", "perturbations", "siblings")
BODY = ("schema", "id", "law", "encoding", "expected", "status", "statement", "rests_on", *STEPS)
READERS: dict[str, tuple[Any, ...]] = {
    "text": (typed,), "texts": (each, typed), "number": (number,), "numbers": (each, number),
    "tree": (read,), "scalar": (read, Node), "scalars": (each, read, Node), "end": (claims.end,),
    "signs": (claims.assumptions,), "rules": (entries, claims.rule), "forms": (entries, claims.still),
    "point": (entries, number), "tables": (entries, claims.table), "model": (entries, discrete.square),
    "truths": (entries, typed, bool), "indices": (each, integer, 0, 127), "raw": (lambda value: value,),
    "==|>=": (one_of, ("==", ">=")), "sum|product": (one_of, ("sum", "product")),
    "+|-": (one_of, claims.CLAIMED), "oo": (one_of, claims.INFINITE),
}  # fmt: skip
APART = "nonzero:scalars entry:indices witness:point gap:numbers functions:tables"
RUN = "witness:point gap:numbers functions:tables"
KINDS: dict[str, tuple[Callable[[Any], Any], str, str]] = {  # check, what a step claims, what it may rest on
    "identity": (claims.identity, "lhs:tree rhs:tree assume:signs", APART),
    "apart": (claims.apart, "lhs:tree rhs:tree assume:signs", APART),
    "enclosed": (claims.enclosed, "expr:scalar lower:number upper:number", ""),
    "sign": (claims.sign, "expr:scalar sign:+|- assume:signs", "witness:point functions:tables"),
    "limit": (claims.limit, "expr:scalar variable:text to:oo value:end assume:signs", "actual:end"),
    "induction": (
        claims.induction,
        "index:text start:number relation:==|>= state:rules claim:forms assume:signs",
        "symbol:text " + RUN,
    ),
    "reindex": (
        claims.reindex,
        "index:text bijection:text body:scalar rhs:scalar operation:sum|product",
        "permutation:indices " + RUN,
    ),
    "words": (
        discrete.words,
        "letters:texts central:texts rules:raw derivation:raw lhs:raw rhs:raw",
        "model:model",
    ),
    "finite": (
        discrete.finite,
        "elements:texts table:raw axioms:truths",
        "axiom:text elements_witness:texts",
    ),
    "homomorphism": (
        discrete.homomorphism,
        "source:raw target:raw images:texts claims:truths",
        "claim:text elements_witness:texts",
    ),
    "cited": (lambda step: None, "lemma:text source:text needs:texts", ""),
}


@dataclass(frozen=True)
class Rejection:
    """What is wrong and where: file, proof id (None: the file itself), place in the certificate, reason."""

    file: str
    proof: str | None
    place: str
    reason: str

    def __str__(self) -> str:
        found = ": ".join(filter(None, (self.file, self.proof, f"{self.place} {self.reason}".strip())))
        return found if found.isprintable() else ascii(found)


def verify(path: str | Path) -> list[Rejection]:
    """Re-check a folder of certificates with its index, or one `proofs.json`; an empty list accepts it all.

    Raises nothing on unreadable, malformed or oversized input: that is a rejection too.
    """
    return Verifier(Path(path)).found


def claim(step: Any) -> dict[str, Any]:
    """The kind and its claim fields, of a step whose fields are exactly the known ones."""
    _, claimed, outcome = KINDS[part(typed(step, dict), "kind", one_of, KINDS)]
    given = [key for key, _ in pairs(claimed) if key in step or key != "operation"]
    fields(step, ("kind", "name", "status", "reason", *given), [key for key, _ in pairs(outcome)])
    return {key: step[key] for key in ("kind", *given)}


def pairs(text: str) -> list[list[str]]:
    return [pair.split(":") for pair in text.split()]


def check(step: Any, hypotheses: Collection[str] = ()) -> None:
    """Repeat one step. A citation counts exactly if all that it needs is stated."""
    given = claim(step)
    function, claimed, outcome = KINDS[step["kind"]]
    status, s = part(step, "status", one_of, STATUSES), SimpleNamespace()
    s.proved = status == "proved"
    for key, reader in pairs("name:text reason:text " + claimed + " " + outcome):
        absent = step.get(key) is None and key not in given
        setattr(s, key, None if absent else part(step, key, *READERS[reader]))
    if step["kind"] == "cited":
        right = "proved" if {*s.needs} <= {*hypotheses} else "not_checked"
        need(status == right, f"is not {right}, as what is stated makes it", "status")
    elif status in ("proved", "refuted"):
        function(s)


class Verifier:
    """Goes through a folder or a document and collects what is refused."""

    def __init__(self, path: Path) -> None:
        self.file, self.found = path / "index.json" if path.is_dir() else path, list[Rejection]()
        self.known: dict[str, tuple[Path, Any]] = {}
        self.attempt(self.file, None, "", self.folder if path.is_dir() else self.document)
        for proof, (file, cert) in self.known.items():
            for i, other in enumerate(cert["rests_on"] if isinstance(cert["rests_on"], list) else ()):
                self.attempt(file, proof, f"rests_on[{i}]", self.foundation, proof, other)

    def attempt(
        self, file: Path, proof: str | None, place: str, action: Callable[..., Any], *more: Any
    ) -> Any:
        try:
            with within(place):
                return action(*more)
        except Refusal as refusal:
            self.found.append(Rejection(file.name, proof, refusal.place, refusal.reason))

    def folder(self) -> None:
        """The files that the index lists, and no others."""
        index = fields(load(self.file), ("schema", "proofs"))
        part(index, "schema", one_of, ("exptx-index/1",))
        need(part(index, "proofs", typed, dict), "is empty: there is nothing to check", "proofs")
        files = {proof: self.file.parent / (proof.replace("/", "--") + ".json") for proof in index["proofs"]}
        for proof, row in index["proofs"].items():
            self.attempt(self.file, proof, f"proofs[{proof!r:.60}]", self.row, files[proof], proof, row)
        for stray in sorted({*self.file.parent.glob("*.json")} - {*files.values(), self.file}):
            self.found.append(Rejection(stray.name, None, "", "is not listed in index.json"))

    def row(self, file: Path, proof: str, row: Any) -> None:
        fields(row, ("file", *HASHES))
        need(
            row["file"] == file.name and file.parent == self.file.parent, f"is not {file.name!r:.80}", "file"
        )
        self.attempt(file, proof, "", lambda: self.certificate(file, proof, load(file), row))

    def document(self) -> None:
        """The certificates inside one file."""
        document = typed(load(self.file), dict)
        part(document, "schema", one_of, ("exptx-proofs/1",))
        need(part(document, "laws", typed, list), "is empty: there is nothing to check", "laws")
        for i, law in enumerate(document["laws"]):
            named = isinstance(law, dict) and isinstance(law.get("id"), str)
            self.attempt(self.file, law["id"] if named else None, f"laws[{i}]", self.law, law)

    def law(self, law: Any) -> None:
        """What stands beside a certificate agrees with it."""
        cert = fields(part(typed(law, dict), "certificate", typed, dict), BODY)
        stated, keys = cert["statement"], ("name", "kind", "status", "reason")
        told = {key: cert[key] for key in ("id", "status", "expected", "law", "encoding", "rests_on")}
        told |= {"statement": stated["text"], "hypotheses": [entry["text"] for entry in stated["hypotheses"]]}
        told["steps"] = [{key: step[key] for key in keys} for step in cert["steps"]]
        for key, value in told.items():
            asked = key in law or key in ("id", "status", "expected")
            need(not asked or law.get(key) == value, "is not what the certificate says", key)
        need(typed(cert["id"]) not in self.known, "is there twice", "id")
        self.certificate(self.file, cert["id"], cert, law)

    def certificate(self, file: Path, proof: str, cert: Any, row: Mapping[str, Any]) -> None:
        spend(0, afresh=True)
        form.cache_clear()
        attempt = partial(self.attempt, file, proof)
        attempt(HASHES[1], same_hash, cert, row.get(HASHES[1]))
        self.known[proof] = file, fields(cert, BODY)
        attempt(HASHES[0], same_hash, cert["statement"], row.get(HASHES[0]))
        for rule, *more in (head, proof), (statement,), (status,):
            attempt("", rule, cert, *more)
        for key in STEPS:
            for i, entry in enumerate(attempt("", part, cert, key, typed, list) or ()):
                label = entry.get("name") or entry.get("of") if isinstance(entry, dict) else None
                place = f"{key}[{i}]" + (f' "{label!s:.60}"' if label else "")
                attempt(place, step if key == "steps" else trial, cert, key, i)

    def foundation(self, proof: str, other: str) -> None:
        """What a proof rests on is here, came out as expected, and does not rest on the proof itself."""
        need(other in self.known, f"is {other!r:.80}, which is no proof here")
        reached, todo = set[str](), [other]
        while todo:
            one = todo.pop()
            need(one != proof, "rests in a circle on this proof")
            if one in self.known and one not in reached:
                reached.add(one)
                todo += self.known[one][1]["rests_on"]
        cert = self.known[other][1]
        need(cert["status"] == cert["expected"], f"is {other!r:.80}, which did not come out as expected")


def same_hash(value: Any, recorded: Any) -> None:
    found = hashlib.sha256(canonical(value)).hexdigest()
    need(recorded in (None, found), "differs from the SHA-256 of what is here")


def head(cert: Mapping[str, Any], proof: str) -> None:
    part(cert, "schema", one_of, ("exptx-certificate/1",))
    encoding = "" if cert["encoding"] is None else "/" + part(cert, "encoding", typed)
    right = part(cert, "law", typed) + encoding
    need(cert["id"] == right == proof, f"is not {right!r:.80}, or not {proof!r:.80}", "id")
    part(cert, "rests_on", each, typed)


def statement(cert: Mapping[str, Any]) -> None:
    """Every formula is the claim of a step."""
    stated = part(cert, "statement", fields, ("text", "hypotheses", "formulas"))
    claimed = [canonical(claim(step)) for step in cert["steps"]]
    with within("statement"):
        part(stated, "text", typed)
        for hypothesis in part(stated, "hypotheses", each, fields, ("name", "text")):
            need(all(isinstance(text, str) for text in hypothesis.values()), "has no text", "hypotheses")
        for i, formula in enumerate(part(stated, "formulas", each, canonical)):
            need(formula in claimed, "is the claim of no step", f"formulas[{i}]")


def status(cert: Mapping[str, Any]) -> None:
    """The first of the statuses that a step has, or not_checked for a proof that only cites.

    A law that computes states a formula; proved, it has two ways to fail, and refuted, a true sibling.
    """
    steps = part(cert, "steps", each, typed, dict)
    found = next((status for status in STATUSES if any(step["status"] == status for step in steps)), None)
    computed = any(step["kind"] != "cited" for step in steps)
    found = "not_checked" if found == "proved" and not computed else found
    need(found, "is empty", "steps")
    need(cert["status"] == found, f"is not {found}, as the steps make it", "status")
    need(cert["expected"] == found, f"is not {found}, as the steps make it", "expected")
    need(cert["statement"]["formulas"] or not computed, "is empty", "statement, formulas")
    enough = found != "proved" or not computed or len(cert["perturbations"]) > 1
    need(enough, "has less than the two entries of a law that computes", "perturbations")
    need(found != "refuted" or cert["siblings"], "is empty, but the law is refuted", "siblings")


def step(cert: Mapping[str, Any], key: str, i: int) -> None:
    entry = cert[key][i]
    check(entry, [hypothesis["name"] for hypothesis in cert["statement"]["hypotheses"]])
    need(all(entry["name"] != before["name"] for before in cert[key][:i]), "has the name of one before it")


def trial(cert: Mapping[str, Any], key: str, i: int) -> None:
    """A perturbation is a step that is changed and refuted, a sibling is a relative that is proved."""
    entry = fields(cert[key][i], ("of", "change", "step"))
    part(entry, "change", typed)
    original = [step for step in cert["steps"] if step["name"] == entry["of"]]
    need(original or key == "siblings", "is the name of no step", "of")
    with within("step"):
        part(entry["step"], "status", one_of, ("refuted" if key == "perturbations" else "proved",))
        if key == "perturbations":
            part(entry["step"], "kind", one_of, (original[0]["kind"],))
            others = (*original, *(before["step"] for before in cert[key][:i]))
            same = canonical(claim(entry["step"])) in [canonical(claim(other)) for other in others]
            need(not same, "claims the same as what it perturbs, or as one before it")
        check(entry["step"], [hypothesis["name"] for hypothesis in cert["statement"]["hypotheses"]])
