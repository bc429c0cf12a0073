"""Certificates of all laws: accepted by the checker, the same bytes on a rerun, rejected when corrupted."""

from __future__ import annotations

import copy
import json

import pytest
from exptx.proofs import certificate as writing
from exptx.proofs import checker, prove


@pytest.fixture(scope="session")
def folder(proofs, tmp_path_factory):
    path = tmp_path_factory.mktemp("certificates")
    writing.write_certificates(proofs, path)
    return path


@pytest.fixture(scope="session")
def documents(proofs):
    return {proof.id: proof.certificate for proof in proofs}


def test_the_checker_accepts_every_certificate(folder, proofs):
    assert checker.verify(folder) == []
    assert len(list(folder.glob("*.json"))) == len(proofs) + 1


def test_the_checker_accepts_the_whole_document(proofs, tmp_path):
    path = tmp_path / "proofs.json"
    writing.write_atomically(path, writing.canonical(writing.document(proofs)))
    assert checker.verify(path) == []


def test_a_rerun_gives_the_same_bytes(proofs):
    again = writing.canonical(writing.document(prove()))
    assert again == writing.canonical(writing.document(proofs))


def test_the_index_names_statement_and_certificate(folder, documents):
    index = json.loads((folder / "index.json").read_bytes())
    for name, row in index["proofs"].items():
        assert row["certificate_sha256"] == writing.sha256(documents[name])
        assert row["statement_sha256"] == writing.sha256(documents[name]["statement"])
        assert (folder / row["file"]).exists()


def _with_foundations(documents, name):
    """The proof and everything it rests on: what a checker needs to judge it."""
    found, waiting = set(), [name]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += documents[one]["rests_on"]
    return sorted(found)


def _replace(node, old, new):
    """The document with the first leaf equal to `old` replaced, and whether it was found."""
    if node == old:
        return new, True
    if isinstance(node, list | dict):
        for key in node if isinstance(node, dict) else range(len(node)):
            node[key], found = _replace(node[key], old, new)
            if found:
                return node, True
    return node, False


def _first_goal(document):
    claims = document["statement"]["formulas"]
    return next(s for s in document["steps"] if any(s.items() >= c.items() for c in claims))


def _sign(document):
    _replace(_first_goal(document)["rhs"], ["sym", "u"], ["mul", ["num", "-1"], ["sym", "u"]])


def _dropped_term(document):
    _first_goal(document)["lhs"].pop()


def _exponent(document):
    step = _first_goal(document)
    step["rhs"] = ["pow", step["rhs"], 2]


def _status(document):
    document["perturbations"][0]["step"]["status"] = "proved"


def _witness(document):
    step = document["perturbations"][0]["step"]
    step["witness"] = dict.fromkeys(step["witness"], "0")


def _narrowed(document):
    document["steps"][0]["upper"] = document["steps"][0]["lower"]


def _hypothesis(document):
    document["statement"]["hypotheses"].pop()


def _true_perturbation(document):
    step = document["perturbations"][0]["step"]
    step["rhs"] = copy.deepcopy(step["lhs"])


def _claim_of_another_statement(document):
    document["statement"]["formulas"][0]["rhs"] = ["num", "7"]


def _rule(document):
    _first_goal(document)["derivation"]["E"] = [["1", ["E", "X"]]]


def _induction_step(document):
    state = _first_goal(document)["state"]
    name = sorted(state)[0]
    state[name]["next"] = ["add", state[name]["next"], ["num", "1"]]


def _unproved_foundation(document):
    document["rests_on"].append("cosine-only-but-better")


def _at128(document):
    step = next(s for s in document["steps"] if s["name"].startswith("256"))
    _replace(step["rhs"], ["num", "256"], ["num", "257"])


CORRUPTIONS = {
    "a digit": ("levels", _at128),
    "a sign": ("line-group", _sign),
    "a dropped term": ("plane-score", _dropped_term),
    "an exponent": ("rope-plane", _exponent),
    "a flipped status": ("rope-plane", _status),
    "a moved witness": ("plane-score", _witness),
    "a bound narrowed past the value": ("decay-table", _narrowed),
    "a hypothesis": ("uniqueness", _hypothesis),
    "a perturbation that holds": ("rope-plane", _true_perturbation),
    "a statement that is not what was proved": ("plane-score", _claim_of_another_statement),
    "another derivative": ("uniqueness", _rule),
    "another induction step": ("rope-relative", _induction_step),
    "a foundation that does not exist": ("rope-plane", _unproved_foundation),
}


@pytest.mark.parametrize("rehash", [False, True], ids=["hashes kept", "hashes recomputed"])
@pytest.mark.parametrize("what", CORRUPTIONS)
def test_a_corruption_is_rejected_with_its_place(documents, tmp_path, what, rehash):
    name, corrupt = CORRUPTIONS[what]
    kept = _with_foundations(documents, name)
    changed = {key: copy.deepcopy(documents[key]) for key in kept}
    corrupt(changed[name])
    index = writing.index(changed.values() if rehash else [documents[key] for key in kept])
    for key, value in changed.items():
        (tmp_path / writing.file_name(key)).write_bytes(writing.canonical(value))
    (tmp_path / "index.json").write_bytes(writing.canonical(index))
    assert changed[name] != documents[name], "the corruption did nothing"
    rejections = checker.verify(tmp_path)
    assert any(name in str(rejection) for rejection in rejections)
    if rehash:
        assert not any("sha256" in str(rejection).lower() for rejection in rejections)


def test_two_laws_swapped_are_rejected(documents, tmp_path):
    changed = {name: copy.deepcopy(documents[name]) for name in ("rope-plane", "plane-score")}
    changed["rope-plane"]["steps"], changed["plane-score"]["steps"] = (
        documents["plane-score"]["steps"],
        documents["rope-plane"]["steps"],
    )
    for key, value in changed.items():
        (tmp_path / writing.file_name(key)).write_bytes(writing.canonical(value))
    (tmp_path / "index.json").write_bytes(writing.canonical(writing.index(changed.values())))
    places = " ".join(map(str, checker.verify(tmp_path)))
    assert "rope-plane" in places
    assert "plane-score" in places


def test_a_folder_that_cannot_be_written_is_one_sentence(proofs, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(writing.Unwritable, match=r"cannot write .* name a folder that can be written"):
        writing.write_certificates(proofs[:1], blocked)


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    path.write_bytes(b"old")
    monkeypatch.setattr(writing.os, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        writing.write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]
