"""The project's own certificates: the checker accepts them all, and every single step of them can fail."""

import copy
import json
import time
from fractions import Fraction

import pytest
from exptx.proofs.certificate import canonical, document, write_certificates
from exptx.proofs.checker import Verifier, check, claim, verify
from exptx.proofs.checking.reading import Refusal, spend, within
from exptx.proofs.checking.trees import read

TINY = ["num", "1/1000000000000000000000000000000000000000"]


@pytest.fixture(scope="module")
def certificates(proofs):
    return [json.loads(canonical(proof.certificate)) for proof in proofs]


def test_all_certificates_are_accepted_within_ten_seconds(tmp_path, proofs):
    write_certificates(proofs, tmp_path)
    start = time.process_time()
    assert [str(r) for r in verify(tmp_path)] == []
    assert time.process_time() - start < 10
    (tmp_path / "proofs.json").write_bytes(canonical(document(proofs)))
    assert [str(r) for r in verify(tmp_path / "proofs.json")] == []


def nudged(tree):
    """The tree plus 1e-39, in every entry of a matrix."""
    rows = read(tree)
    return (
        ["matadd", tree, ["matrix", [[TINY for _ in row] for row in rows]]]
        if isinstance(rows, list)
        else [
            "add",
            tree,
            TINY,
        ]
    )


def moved(step, low, high):
    """An interval beyond the end of this one."""
    low, high = Fraction(low), Fraction(high)
    width = high - low or abs(high) or Fraction(1)
    return [str(high + width), str(high + 2 * width)]


def other_truth(claims):
    name = next(iter(claims))
    return {**claims, name: not claims[name]}


def other_claim(step):
    """A sum one tiny part steeper, or a bound far above."""
    extra = ["mul", ["sym", step["index"]], TINY] if step["relation"] == "==" else ["num", "1000000"]
    return {symbol: ["add", tree, extra] for symbol, tree in step["claim"].items()}


def beyond(step):
    return dict(zip(("lower", "upper"), moved(step, step["lower"], step["upper"]), strict=True))


def gap(step):
    return {"gap": moved(step, *step["gap"][:2]) + step["gap"][2:]}


SPOILT = {
    ("identity", "proved"): lambda s: {"lhs": nudged(s["lhs"])},
    ("identity", "refuted"): gap,
    ("apart", "proved"): gap,
    ("apart", "refuted"): lambda s: {"lhs": nudged(s["lhs"])},
    ("enclosed", "proved"): beyond,
    ("enclosed", "refuted"): lambda s: {"lower": "-1000000000", "upper": "1000000000"},
    ("sign", "proved"): lambda s: {"sign": {"+": "-", "-": "+", "0": "+", "+0": "-", "-0": "+"}[s["sign"]]},
    ("sign", "refuted"): lambda s: {"witness": None},
    ("limit", "proved"): lambda s: {"value": "-oo" if s["value"] == "+oo" else "+oo"},
    ("limit", "refuted"): lambda s: {"actual": s["value"]},
    ("words", "proved"): lambda s: {"rhs": [["1/7", []]]},
    ("words", "refuted"): lambda s: {"lhs": s["rhs"]},
    ("induction", "proved"): lambda s: {"claim": other_claim(s)},
    ("induction", "refuted"): gap,
    ("reindex", "proved"): lambda s: {"rhs": nudged(s["rhs"])},
    ("reindex", "refuted"): gap,
    ("finite", "proved"): lambda s: {"axioms": other_truth(s["axioms"])},
    ("finite", "refuted"): lambda s: {"axiom": "nothing"},
    ("homomorphism", "proved"): lambda s: {"claims": other_truth(s["claims"])},
    ("homomorphism", "refuted"): lambda s: {"claim": "nothing"},
    ("cited", "proved"): lambda s: {"needs": ["a hypothesis nobody states"]},
    ("cited", "not_checked"): lambda s: {"needs": []},
}


def test_every_step_of_every_law_can_fail(certificates):
    survivors = []
    for certificate in certificates:
        stated = [h["name"] for h in certificate["statement"]["hypotheses"]]
        trials = certificate["perturbations"] + certificate["siblings"]
        for step in certificate["steps"] + [trial["step"] for trial in trials]:
            spend(0, afresh=True)
            spoilt = copy.deepcopy(step) | SPOILT[step["kind"], step["status"]](step)
            try:
                with within(""):
                    check(spoilt, stated)
                survivors.append((certificate["id"], step["name"]))
            except Refusal:
                pass
    assert survivors == []


def test_every_statement_and_every_status_is_tied_to_the_steps(certificates, tmp_path):
    """A formula that no step claims is rejected with its number, and so is another status."""
    (tmp_path / "index.json").write_text("{}")
    for certificate in certificates:
        formulas = certificate["statement"]["formulas"]
        assert all(f in [claim(s) for s in certificate["steps"]] for f in formulas)
        spoilt = copy.deepcopy({**certificate, "steps": certificate["steps"], "perturbations": [{}, {}]})
        for formula in spoilt["statement"]["formulas"]:
            formula["kind"] = "identity "
        for status in {"proved", "refuted", "undecided", "not_checked"} - {certificate["status"]}:
            verifier = Verifier(tmp_path)
            verifier.certificate(
                tmp_path, certificate["id"], {**spoilt, "status": status, "expected": status}, {}
            )
            places = {r.place for r in verifier.found}
            assert "status" in places
            assert not formulas or "statement, formulas[0]" in places
