"""What the checker reads: files and indexes that disagree, nonsense, giants; and what it may import."""

import hashlib
import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from exptx.proofs import checker, checking
from exptx.proofs.checker import Rejection, verify


def num(x):
    return ["num", str(x)]


def sym(name):
    return ["sym", name]


def add(*parts):
    return ["add", *parts]


def mul(*parts):
    return ["mul", *parts]


t = sym("t")


def squaring(proof, rests_on=()):
    """Squaring is no homomorphism of addition: refuted by a point; the true sibling has the cross term."""
    a, b = sym("a"), sym("b")
    sides = {"kind": "identity", "reason": "", "assume": [], "lhs": ["pow", add(a, b), 2]}
    short = add(["pow", a, 2], ["pow", b, 2])
    claim = {"kind": "identity", "assume": [], "lhs": sides["lhs"], "rhs": short}
    wrong = {
        **sides, "name": "no cross term", "status": "refuted", "rhs": short,
        "witness": {"a": "1", "b": "1/2"}, "gap": ["1", "1"],
    }  # fmt: skip
    right = {**sides, "name": "cross term", "status": "proved", "rhs": add(short, mul(num(2), a, b))}
    return {
        "schema": "exptx-certificate/1", "id": proof, "law": proof.partition("/")[0],
        "encoding": proof.partition("/")[2] or None, "expected": "refuted", "status": "refuted",
        "statement": {"text": "(a + b)² = a² + b²", "hypotheses": [], "formulas": [claim]},
        "rests_on": list(rests_on), "steps": [wrong], "perturbations": [],
        "siblings": [{"of": "no cross term", "change": "2ab", "step": right}],
    }  # fmt: skip


def sha256(value):
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")) + "\n"
    return hashlib.sha256(text.encode()).hexdigest()


def written(folder, certificates):
    index = {
        c["id"]: {
            "file": c["id"].replace("/", "--") + ".json",
            "statement_sha256": sha256(c["statement"]),
            "certificate_sha256": sha256(c),
        }
        for c in certificates
    }
    for cert in certificates:
        (folder / index[cert["id"]]["file"]).write_text(json.dumps(cert))
    (folder / "index.json").write_text(json.dumps({"schema": "exptx-index/1", "proofs": index}))
    return folder


def document(folder, certificates):
    laws = [{**{k: c[k] for k in ("id", "status", "expected")}, "certificate": c} for c in certificates]
    for law, cert in zip(laws, certificates, strict=True):
        law |= {"statement_sha256": sha256(cert["statement"]), "certificate_sha256": sha256(cert)}
    path = folder / "proofs.json"
    path.write_text(json.dumps({"schema": "exptx-proofs/1", "version": "0", "laws": laws}))
    return path


@pytest.fixture
def certificates():
    return [squaring("relative/rope", rests_on=["fade"]), squaring("fade")]


def test_a_document_of_true_certificates_is_accepted(tmp_path, certificates):
    assert verify(document(tmp_path, certificates)) == []
    assert verify(str(document(tmp_path, certificates))) == []


def test_a_document_is_corrupted_like_a_folder(tmp_path, certificates):
    certificates[1]["siblings"][0]["step"]["rhs"] = t
    place = 'siblings[0] "no cross term", step, lhs - rhs'
    assert verify(document(tmp_path, certificates)) == [
        Rejection("proofs.json", "fade", place, "is not zero in canonical form")
    ]
    twice = [certificates[0], certificates[0]]
    assert any(r.place == "laws[1], id" for r in verify(document(tmp_path, twice)))
    laws = json.loads(document(tmp_path, certificates).read_text())
    laws["laws"][0]["certificate_sha256"] = "0" * 64
    (tmp_path / "proofs.json").write_text(json.dumps(laws))
    assert any(r.place == "certificate_sha256" for r in verify(tmp_path / "proofs.json"))


def test_what_a_document_repeats_agrees_with_its_certificate(tmp_path, certificates):
    path = document(tmp_path, certificates)
    whole = path.read_text()
    for key, value in (
        ("status", "proved"),
        ("expected", "proved"),
        ("encoding", "alibi"),
        ("rests_on", ["nothing"]),
        ("statement", "for all t, s and more"),
        ("hypotheses", ["none"]),
        ("steps", []),
    ):
        laws = json.loads(whole)
        laws["laws"][1][key] = value
        path.write_text(json.dumps(laws))
        assert [r.place for r in verify(path)][:1] == [f"laws[1], {key}"]


def test_files_and_index_agree(tmp_path, certificates):
    written(tmp_path, certificates)
    (tmp_path / "stray.json").write_text("{}")
    (tmp_path / "fade.json").unlink()
    found = {r.file: r.reason for r in verify(tmp_path)}
    assert "not listed" in found["stray.json"]
    assert "cannot be read" in found["fade.json"]
    assert "no proof here" in found["relative--rope.json"]


def test_an_index_cannot_point_elsewhere(tmp_path, certificates):
    written(tmp_path, certificates)
    index = json.loads((tmp_path / "index.json").read_text())
    index["proofs"]["../../etc/x"] = {**index["proofs"]["fade"], "file": "../../etc/x.json"}
    index["proofs"]["fade"]["file"] = "relative--rope.json"
    (tmp_path / "index.json").write_text(json.dumps(index))
    found = [(r.file, r.place) for r in verify(tmp_path)]
    assert ("index.json", "proofs['../../etc/x'], file") in found
    assert ("index.json", "proofs['fade'], file") in found


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not readable JSON"),
        ("{", "not readable JSON"),
        ("[1, 2]", "an object is needed"),
        ('{"schema": 0.5}', "float 0.5"),
        ('{"schema": NaN}', "float NaN"),
        ('{"id": "a", "id": "b"}', "twice"),
        ('{"power": 1' + "0" * 1_000_000 + "}", "not readable JSON"),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        ("\ud800".encode("utf-8", "surrogatepass"), "cannot be read"),
    ],
)
def test_nonsense_is_rejected_and_never_an_error(tmp_path, certificates, text, reason):
    written(tmp_path, certificates)
    (tmp_path / "fade.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    assert any(r.proof == "fade" and reason in r.reason for r in verify(tmp_path))
    (tmp_path / "proofs.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    assert verify(tmp_path / "proofs.json")
    (tmp_path / "index.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    assert verify(tmp_path)


def test_an_empty_collection_is_rejected(tmp_path):
    assert "nothing to check" in verify(written(tmp_path, []))[0].reason
    (tmp_path / "proofs.json").write_text('{"schema": "exptx-proofs/1", "laws": []}')
    assert "nothing to check" in verify(tmp_path / "proofs.json")[0].reason


def test_names_that_cannot_be_printed_or_opened_are_rejected_in_print(tmp_path, certificates):
    written(tmp_path, certificates)
    index = json.loads((tmp_path / "index.json").read_text())
    for odd in ("a\x00b", "\ud800"):
        index["proofs"][odd] = {**index["proofs"]["fade"], "file": odd + ".json"}
    (tmp_path / "index.json").write_text(json.dumps(index))
    found = [str(r) for r in verify(tmp_path)]
    assert sum("cannot be read" in text for text in found) == 2
    assert all(text.isprintable() for text in found)


def test_what_does_not_exist_is_rejected(tmp_path):
    assert "cannot be read" in verify(tmp_path)[0].reason
    assert "cannot be read" in verify(tmp_path / "proofs.json")[0].reason


def nested(depth):
    tree = sym("x")
    for _ in range(depth):
        tree = ["exp", tree]
    return tree


HEAVY = {
    "nesting": (nested(900), "nested"),
    "a giant power": (["pow", add(sym("x"), sym("y"), num(1)), 10_000], "term products"),
    "a power of a power": (["pow", ["pow", num(7), 10_000], 10_000], "bits"),
    "a power beyond the limit": (["pow", sym("x"), 10**100], "integer of"),
    "a number of a million digits": (num("1" * 1_000_000), "2000 digits"),
    "a root of unity of giant order": (
        add(["cos", mul(num("1/1000003"), ["pi"])], ["cos", mul(num("1/999983"), ["pi"])]), "order",
    ),
    "a giant prime under the root": (["sqrt", "1000003"], "prime"),
    "a product of sixty cosines": (mul(*(["cos", mul(sym(f"w{k}"), t)] for k in range(60))), "term products"),
    "a derivative of order a million": (["diff", ["exp", t], "t", 1_000_000], "1 to 20"),
    "a truth value as a power": (["pow", sym("x"), True], "integer is needed"),
}  # fmt: skip


@pytest.mark.parametrize("name", HEAVY)
def test_what_is_too_heavy_is_refused_with_its_place(tmp_path, name):
    tree, reason = HEAVY[name]
    cert = squaring("fade")
    cert["steps"][0]["lhs"] = tree
    cert["steps"][0]["status"] = "proved"
    found = verify(written(tmp_path, [cert]))
    assert any(r.place.startswith('steps[0] "no cross term", lhs') and reason in r.reason for r in found), (
        list(map(str, found))
    )


def test_the_checker_imports_only_the_standard_library():
    code = """
        import sys
        import exptx.proofs.checker
        import importlib, pkgutil
        import exptx.proofs.checking as inside
        for module in pkgutil.iter_modules(inside.__path__):
            importlib.import_module(f"exptx.proofs.checking.{module.name}")
        known = {*sys.stdlib_module_names, "exptx", "__main__"}
        foreign = {name.partition(".")[0] for name in sys.modules} - known
        rooms = {name for name in sys.modules if name.startswith(("exptx.symbolic", "exptx.numeric"))}
        print(sorted(rooms | {name for name in foreign if not name.startswith(("_", "__editable"))}))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


def test_the_checker_never_runs_what_it_reads():
    sources = [Path(checker.__file__), *Path(checking.__path__[0]).glob("*.py")]
    for source in sources:
        text = source.read_text()
        assert not any(word in text for word in ("eval(", "exec(", "pickle", "sympify", "__import__"))
