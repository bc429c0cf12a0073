"""The checker as a whole: true folders and documents are accepted, corrupted ones rejected with the place."""

import copy
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from exptx.proofs import checker, checking
from exptx.proofs.checker import Rejection, verify


def num(x):
    return ["num", str(x)]


def add(*parts):
    return ["add", *parts]


def mul(*parts):
    return ["mul", *parts]


a, b, t, x = (["sym", name] for name in "abtx")
SQUARE, SHORT = ["pow", add(a, b), 2], add(["pow", a, 2], ["pow", b, 2])
RIGHT = add(SHORT, mul(num(2), a, b))


def equal(name, rhs, status="proved", **outcome):
    fields = {"kind": "identity", "name": name, "status": status, "reason": ""}
    return {**fields, "lhs": SQUARE, "rhs": rhs, "assume": [], **outcome}


def claim(step):
    return {key: step[key] for key in ("kind", "lhs", "rhs", "assume")}


def certificate(proof, expected, steps, perturbations=(), siblings=(), rests_on=()):
    law, _, encoding = proof.partition("/")
    return {
        "schema": "exptx-certificate/1",
        "id": proof,
        "law": law,
        "encoding": encoding or None,
        "expected": expected,
        "status": expected,
        "rests_on": list(rests_on),
        "steps": list(steps),
        "statement": {
            "text": "for all a, b",
            "hypotheses": [{"name": "real", "text": "a, b are real"}],
            "formulas": [claim(steps[0])],
        },
        "perturbations": [{"of": steps[0]["name"], "change": "", "step": step} for step in perturbations],
        "siblings": [{"of": steps[0]["name"], "change": "", "step": step} for step in siblings],
    }


@pytest.fixture
def certificates():
    """(a + b)² has a cross term: proved, resting on the refutation of the law without one."""
    point = {"witness": {"a": "1", "b": "1/2"}}
    short = equal("no cross term", SHORT, "refuted", **point, gap=["1", "1"])
    right, minus = equal("square", RIGHT), add(SHORT, mul(num(-2), a, b))
    cited = {"kind": "cited", "name": "known", "status": "proved", "reason": ""}
    cited |= {"lemma": "binomial", "source": "Euclid II.4", "needs": ["real"]}
    wrong = equal("other sign", minus, "refuted", **point, gap=["2", "2"])
    fade = certificate("fade", "refuted", [short], siblings=[right])
    rope = certificate("relative/rope", "proved", [right, cited], [short, wrong], rests_on=["fade"])
    return json.loads(json.dumps([rope, fade]))


def sha256(value):
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")) + "\n"
    return hashlib.sha256(text.encode()).hexdigest()


def hashes(cert):
    return {"statement_sha256": sha256(cert.get("statement")), "certificate_sha256": sha256(cert)}


def written(folder, certificates, hashed=None, names=("relative/rope", "fade")):
    """The folder as it is written; `hashed` are the certificates that the index was made from."""
    index = {}
    for name, cert, original in zip(names, certificates, hashed or certificates, strict=False):
        index[name] = {"file": name.replace("/", "--") + ".json", **hashes(original)}
        (folder / index[name]["file"]).write_text(json.dumps(cert))
    (folder / "index.json").write_text(json.dumps({"schema": "exptx-index/1", "proofs": index}))
    return folder


def document(folder, certificates):
    laws = [
        {**{k: c[k] for k in ("id", "status", "expected")}, **hashes(c), "certificate": c}
        for c in certificates
    ]
    (folder / "proofs.json").write_text(json.dumps({"schema": "exptx-proofs/1", "laws": laws}))
    return folder / "proofs.json"


def test_true_certificates_are_accepted(tmp_path, certificates):
    assert verify(written(tmp_path, certificates)) == []
    assert verify(str(document(tmp_path, certificates))) == []


def put(value, *path):
    """Set the value at the path inside the certificates."""

    def change(certificates):
        target = certificates
        for key in path[:-1]:
            target = target[key]
        target[path[-1]] = copy.deepcopy(value(target[path[-1]]) if callable(value) else value)

    return change


def without(*path):
    def change(certificates):
        for key in path[:-1]:
            certificates = certificates[key]
        del certificates[path[-1]]

    return change


def everywhere(key, value):
    """A claim changed in its step and in the statement alike: only the mathematics can tell."""

    def change(certificates):
        certificates[0]["steps"][0][key] = certificates[0]["statement"]["formulas"][0][key] = value

    return change


ROPE, FADE = 0, 1
CORRUPTIONS = {
    "a digit": (everywhere("rhs", add(RIGHT, num("1/" + "9" * 40))), ROPE, "steps[0], lhs - rhs"),
    "a dropped term": (everywhere("lhs", ["pow", a, 2]), ROPE, "steps[0], lhs - rhs"),
    "an exponent": (everywhere("lhs", ["pow", add(a, b), 3]), ROPE, "steps[0], lhs - rhs"),
    "a tree that is none": (everywhere("lhs", add(a, ["cos", 3])), ROPE, "steps[0], lhs[2][1]"),
    "an unknown function": (everywhere("lhs", add(a, ["gamma", t])), ROPE, "steps[0], lhs[2]"),
    "a statement that says more": (
        put(SHORT, 0, "statement", "formulas", 0, "rhs"),
        ROPE,
        "statement, formulas[0]",
    ),
    "a statement that says nothing": (put([], 0, "statement", "formulas"), ROPE, "statement, formulas"),
    "a moved witness": (put("2", 1, "steps", 0, "witness", "a"), FADE, "steps[0], gap"),
    "a missing witness": (without(1, "steps", 0, "witness"), FADE, "steps[0], witness"),
    "a dropped hypothesis": (put([], 0, "statement", "hypotheses"), ROPE, "steps[1], status"),
    "a flipped status of a step": (put("refuted", 0, "steps", 0, "status"), ROPE, "steps[0], witness"),
    "refuted called proved": (put("proved", 1, "steps", 0, "status"), FADE, "steps[0], lhs - rhs"),
    "a status that is none": (put("true", 0, "steps", 0, "status"), ROPE, "steps[0], status"),
    "a flipped status of the proof": (put("refuted", 0, "status"), ROPE, "status"),
    "a flipped expectation": (put("proved", 1, "expected"), FADE, "expected"),
    "an undecided step": (put("undecided", 0, "steps", 0, "status"), ROPE, "status"),
    "only citations": (put(lambda s: s[1:], 0, "steps"), ROPE, "status"),
    "no steps": (put([], 0, "steps"), ROPE, "steps"),
    "two steps of one name": (put("known", 0, "steps", 0, "name"), ROPE, "steps[1]"),
    "a perturbation that changes nothing": (
        put(RIGHT, 0, "perturbations", 0, "step", "rhs"),
        ROPE,
        "perturbations[0], step",
    ),
    "a perturbation of nothing": (put("nobody", 0, "perturbations", 0, "of"), ROPE, "perturbations[0], of"),
    "a perturbation of another kind": (
        put("known", 0, "perturbations", 0, "of"),
        ROPE,
        "perturbations[0], step, kind",
    ),
    "a repeated perturbation": (put(lambda p: [*p, p[0]], 0, "perturbations"), ROPE, "perturbations[2]"),
    "a proved perturbation": (
        put(equal("same", add(RIGHT, num(0))), 0, "perturbations", 1, "step"),
        ROPE,
        "perturbations[1], step, status",
    ),
    "too few perturbations": (put(lambda p: p[:1], 0, "perturbations"), ROPE, "perturbations"),
    "perturbations that are no list": (put({"a": 1, "b": 2}, 0, "perturbations"), ROPE, "perturbations"),
    "no sibling": (put([], 1, "siblings"), FADE, "siblings"),
    "a false sibling": (put(SHORT, 1, "siblings", 0, "step", "rhs"), FADE, "siblings[0], step, lhs - rhs"),
    "a refuted sibling": (
        lambda c: c[1]["siblings"][0].update(step=c[1]["steps"][0]),
        FADE,
        "siblings[0], step, status",
    ),
    "a foundation that is not there": (put(["nowhere"], 0, "rests_on"), ROPE, "rests_on[0]"),
    "a foundation that failed": (put("proved", 1, "status"), ROPE, "rests_on[0]"),
    "foundations that are no names": (put([["fade"]], 0, "rests_on"), ROPE, "rests_on[0]"),
    "a circle": (put(["relative/rope"], 1, "rests_on"), FADE, "rests_on[0]"),
    "a circle on itself": (put(["fade"], 1, "rests_on"), FADE, "rests_on[0]"),
    "another law": (put("absolute", 0, "law"), ROPE, "id"),
    "another id": (put("relative/alibi", 0, "id"), ROPE, "id"),
    "two laws swapped": (lambda c: c.reverse(), ROPE, "id"),
    "another schema": (put("exptx-certificate/2", 0, "schema"), ROPE, "schema"),
    "an unknown kind": (put("magic", 0, "steps", 0, "kind"), ROPE, "steps[0], kind"),
    "a kind that is no text": (put([], 0, "steps", 0, "kind"), ROPE, "steps[0], kind"),
    "an unknown field": (put(True, 0, "steps", 0, "trusted"), ROPE, "steps[0], trusted"),
    "an unknown field of the proof": (put(True, 0, "trusted"), ROPE, "trusted"),
    "a missing field": (without(0, "steps", 0, "assume"), ROPE, "steps[0], assume"),
    "a missing list": (without(1, "rests_on"), FADE, "rests_on"),
    "a wrong type": (put({"a": 1}, 0, "steps"), ROPE, "steps"),
}


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_a_corruption_is_rejected_by_what_it_says_and_by_the_hashes(tmp_path, certificates, name):
    """First with every hash recomputed, so that only the content can tell."""
    change, proof, place = CORRUPTIONS[name]
    original = copy.deepcopy(certificates)
    change(certificates)
    found = verify(written(tmp_path, certificates))
    places = [re.sub(r' "[^"]*"', "", r.place) for r in found if r.proof == ("relative/rope", "fade")[proof]]
    assert any(p.startswith(place) for p in places), list(map(str, found))
    assert not any("sha256" in r.place for r in found)
    assert any(r.place == "certificate_sha256" for r in verify(written(tmp_path, certificates, original)))


def test_the_statement_has_a_hash_of_its_own(tmp_path, certificates):
    original = copy.deepcopy(certificates)
    certificates[0]["statement"]["text"] = "for all t"
    found = verify(written(tmp_path, certificates, hashed=original))
    assert {r.place for r in found} == {"statement_sha256", "certificate_sha256"}


def test_a_document_is_corrupted_like_a_folder(tmp_path, certificates):
    path = document(tmp_path, certificates)
    whole = path.read_text()
    told = {
        "status": "undecided",
        "expected": "proved",
        "encoding": "alibi",
        "rests_on": ["nothing"],
        "statement": "and more",
        "hypotheses": ["none"],
        "steps": [],
        "certificate_sha256": "0" * 64,
        "id": "rope",
    }
    for key, value in told.items():
        laws = json.loads(whole)
        laws["laws"][1][key] = value
        path.write_text(json.dumps(laws))
        assert verify(path)[0].place == (key if "sha256" in key else f"laws[1], {key}")
    assert any(r.place == "laws[1], id" for r in verify(document(tmp_path, [certificates[1]] * 2)))
    certificates[1]["siblings"][0]["step"]["rhs"] = t
    place, reason = 'siblings[0] "no cross term", step, lhs - rhs', "is not zero in canonical form"
    assert verify(document(tmp_path, certificates)) == [Rejection("proofs.json", "fade", place, reason)]


def test_files_and_index_agree(tmp_path, certificates):
    written(tmp_path, certificates)
    index = json.loads((tmp_path / "index.json").read_text())
    index["proofs"]["../../etc/x"] = {**index["proofs"]["fade"], "file": "../../etc/x.json"}
    index["proofs"]["fade"]["file"] = "relative--rope.json"
    for odd in ("a\x00b", "\ud800"):
        index["proofs"][odd] = {**index["proofs"]["fade"], "file": odd + ".json"}
    (tmp_path / "index.json").write_text(json.dumps(index))
    (tmp_path / "stray.json").write_text("{}")
    found = verify(tmp_path)
    places = {(r.file, r.place) for r in found}
    assert {("index.json", "proofs['../../etc/x'], file"), ("index.json", "proofs['fade'], file")} <= places
    assert any(r.file == "stray.json" and "not listed" in r.reason for r in found)
    assert sum("cannot be read" in str(r) for r in found) == 2
    assert all(str(r).isprintable() for r in found)
    written(tmp_path, certificates)
    (tmp_path / "fade.json").unlink()
    assert any(r.file == "fade.json" and "cannot be read" in r.reason for r in verify(tmp_path))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "cannot be read"),
        (b"{", "cannot be read"),
        (b"[1, 2]", "dict is needed"),
        (b'{"schema": 0.5}', "float 0.5"),
        (b'{"schema": NaN}', "float NaN"),
        (b'{"id": "a", "id": "b"}', "twice"),
        (b'{"power": 1' + b"0" * 1_000_000 + b"}", "cannot be read"),
        (b"[" * 100_000 + b"]" * 100_000, "cannot be"),
        (b'{"schema": "\\ud800"}', ""),
        (b"\xed\xa0\x80", "cannot be read"),
        (b'{"schema": "exptx-index/1", "proofs": {}}', ""),
        (b'{"schema": "exptx-proofs/1", "laws": []}', ""),
    ],
)
def test_nonsense_is_rejected_and_never_an_error(tmp_path, certificates, text, reason):
    for name in ("fade.json", "index.json", "proofs.json"):
        document(written(tmp_path, certificates).parent, certificates)
        (written(tmp_path, certificates) / name).write_bytes(text)
        path = tmp_path / name if name == "proofs.json" else tmp_path
        found = verify(path)
        assert found
        assert name != "fade.json" or any(r.proof == "fade" and reason in r.reason for r in found)
        (tmp_path / name).unlink()


def test_only_regular_files_are_read(tmp_path):
    """A pipe never ends to wait for, /dev/zero never ends to be read, and a folder may have no index."""
    pipe, zero = tmp_path / "pipe.json", tmp_path / "zero.json"
    os.mkfifo(pipe)
    zero.symlink_to("/dev/zero")
    for path in (pipe, zero, tmp_path, tmp_path / "nothing.json"):
        (rejection, *_) = verify(path)
        assert "no regular file" in rejection.reason or "cannot be read" in rejection.reason


def nested(depth):
    tree = x
    for _ in range(depth):
        tree = ["exp", tree]
    return tree


def tower(kind, depth):
    tree = x
    for _ in range(depth):
        tree = [kind, tree, tree]
    return tree


FULL = ["matrix", [[x] * 128] * 128]
HEAVY = {
    "nesting": nested(900),
    "more nesting": nested(250),
    "a giant power": ["pow", add(x, t, num(1)), 10_000],
    "a power of a power": ["pow", ["pow", num(7), 10_000], 10_000],
    "powers of powers": ["pow", ["pow", ["pow", add(num(7), x), 30], 30], 30],
    "a power beyond the limit": ["pow", x, 10**100],
    "a number of a million digits": num("1" * 1_000_000),
    "numbers of two thousand digits": mul(*[num("7" * 2000)] * 5000),
    "roots of unity of giant order": add(*(["cos", mul(num(f"1/{p}"), ["pi"])] for p in (1000003, 999983))),
    "a product of sixty cosines": mul(*(["cos", mul(["sym", f"w{k}"], t)] for k in range(60))),
    "a sum times a sum": mul(
        *(add(*(["exp", mul(["sym", f"w{k}"], y)] for k in range(600))) for y in (x, t))
    ),
    "a derivative of order a million": ["diff", ["exp", t], "t", 1_000_000],
    "twenty derivatives": ["diff", ["exp", ["cos", mul(t, x, ["exp", t])]], "t", 20],
    "fractions in fractions": ["pow", add(*(["pow", add(x, num(k)), -1] for k in range(40))), -1],
    "a tower of products": tower("mul", 15),
    "matrices": ["matmul", FULL, FULL, FULL],
    "a matrix power": [
        "matpow",
        ["matrix", [[["cos", mul(num(i + j), x)] for i in range(9)] for j in range(9)]],
        64,
    ],
}


@pytest.mark.parametrize("name", HEAVY)
@pytest.mark.parametrize("status", ["proved", "refuted"])
def test_what_is_too_heavy_is_refused_with_its_place_and_soon(tmp_path, name, status):
    step = equal("square", RIGHT, status) | {"lhs": HEAVY[name], "rhs": num(0)}
    step |= {"witness": {"x": "1/3", "t": "2"}, "gap": ["7", "8"], "entry": None}
    cert = certificate("fade", status, [step])
    begin = time.process_time()
    found = verify(written(tmp_path, [cert], names=["fade"]))
    assert any(r.place.startswith('steps[0] "square"') for r in found)
    assert time.process_time() - begin < 3


def test_the_checker_imports_only_the_standard_library_and_runs_nothing():
    code = """
import importlib, pkgutil, sys
import exptx.proofs.checker, exptx.proofs.checking as inside
for module in pkgutil.iter_modules(inside.__path__):
    importlib.import_module(f"exptx.proofs.checking.{module.name}")
known = {*sys.stdlib_module_names, "exptx", "__main__"}
foreign = {name.partition(".")[0] for name in sys.modules} - known
rooms = {name for name in sys.modules if name.startswith(("exptx.symbolic", "exptx.numeric"))}
print(sorted(rooms | {name for name in foreign if not name.startswith(("_", "__editable"))}))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
    for source in (Path(checker.__file__), *Path(checking.__path__[0]).glob("*.py")):
        words = ("eval(", "exec(", "pickle", "sympify", "__import__")
        assert not any(word in source.read_text() for word in words)
