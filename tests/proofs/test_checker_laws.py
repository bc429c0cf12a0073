"""The project's own certificates: the checker accepts them all, and every single step of them can fail."""

import copy
import json
import time
from fractions import Fraction

import pytest
from exptx.proofs.certificate import canonical, document, write_certificates
from exptx.proofs.checker import verify
from exptx.proofs.checking.context import Context
from exptx.proofs.checking.document import refusals
from exptx.proofs.checking.refusal import Refusal
from exptx.proofs.checking.steps import check, claim
from exptx.proofs.prove import prove

TINY = ["num", "1/1000000000000000000000000000000000000000"]


@pytest.fixture(scope="module")
def proofs():
    return prove()


@pytest.fixture(scope="module")
def certificates(proofs):
    return [json.loads(canonical(proof.certificate)) for proof in proofs]


def test_all_certificates_are_accepted_within_ten_seconds(tmp_path, proofs):
    write_certificates(proofs, tmp_path)
    start = time.process_time()
    assert [str(r) for r in verify(tmp_path)] == []
    assert time.process_time() - start < 10


def test_the_document_of_all_laws_is_accepted(tmp_path, proofs):
    (tmp_path / "proofs.json").write_bytes(canonical(document(proofs)))
    assert [str(r) for r in verify(tmp_path / "proofs.json")] == []


def shape(tree):
    """(rows, columns) of a matrix tree, None of a scalar."""
    if tree[0] == "matrix":
        return len(tree[1]), len(tree[1][0])
    if tree[0] == "matmul":
        return shape(tree[1])[0], shape(tree[-1])[1]
    if tree[0] == "transpose":
        return shape(tree[1])[::-1]
    if tree[0] in ("matadd", "matpow", "diff", "at"):
        return shape(tree[1])
    return shape(tree[2]) if tree[0] == "smul" else None


def nudged(tree):
    """The tree plus 1e-39, in every entry of a matrix."""
    size = shape(tree)
    if size is None:
        return ["add", tree, TINY]
    return ["matadd", tree, ["matrix", [[TINY] * size[1]] * size[0]]]


def moved(ends):
    """The interval beyond its own end."""
    low, high = map(Fraction, ends)
    width = high - low or abs(high) or Fraction(1)
    return [str(high + width), str(high + 2 * width)]


def spoil_equal(step):
    step["lhs"] = nudged(step["lhs"])


def spoil_gap(step):
    step["gap"] = moved(step["gap"][:2]) + step["gap"][2:]


def spoil_enclosed(step):
    step["lower"], step["upper"] = moved([step["lower"], step["upper"]])


def spoil_sign(step):
    step["sign"] = {"+": "-", "-": "+", "0": "+", "+0": "-", "-0": "+"}[step["sign"]]


def spoil_limit(step):
    step["value"] = "-oo" if step["value"] == "+oo" else "+oo"


def spoil_actual(step):
    step["actual"] = step["value"]


def spoil_words(step):
    step["rhs"] = [["1/7", []]]


def spoil_model(step):
    step["lhs"] = step["rhs"]


def spoil_induction(step):
    symbol = next(iter(step["claim"]))
    extra = ["mul", ["sym", step["index"]], TINY] if step["relation"] == "==" else ["num", "1000000"]
    step["claim"][symbol] = ["add", step["claim"][symbol], extra]


def spoil_rhs(step):
    step["rhs"] = nudged(step["rhs"])


def spoil_truth(key):
    def spoil(step):
        name = next(iter(step[key]))
        step[key][name] = not step[key][name]

    return spoil


def spoil_named(key):
    def spoil(step):
        step[key] = "nothing"

    return spoil


SPOILT = {
    ("identity", "proved"): spoil_equal,
    ("identity", "refuted"): spoil_gap,
    ("apart", "proved"): spoil_gap,
    ("apart", "refuted"): spoil_equal,
    ("enclosed", "proved"): spoil_enclosed,
    ("enclosed", "refuted"): lambda step: step.update(lower="-1000000000", upper="1000000000"),
    ("sign", "proved"): spoil_sign,
    ("sign", "refuted"): lambda step: step.pop("witness"),
    ("limit", "proved"): spoil_limit,
    ("limit", "refuted"): spoil_actual,
    ("words", "proved"): spoil_words,
    ("words", "refuted"): spoil_model,
    ("induction", "proved"): spoil_induction,
    ("induction", "refuted"): spoil_gap,
    ("reindex", "proved"): spoil_rhs,
    ("reindex", "refuted"): spoil_gap,
    ("finite", "proved"): spoil_truth("axioms"),
    ("finite", "refuted"): spoil_named("axiom"),
    ("homomorphism", "proved"): spoil_truth("claims"),
    ("homomorphism", "refuted"): spoil_named("claim"),
    ("cited", "proved"): lambda step: step["needs"].append("a hypothesis nobody states"),
    ("cited", "not_checked"): lambda step: step.update(needs=[]),
}


def every_step(certificate):
    yield from certificate["steps"]
    yield from (entry["step"] for key in ("perturbations", "siblings") for entry in certificate[key])


def test_every_step_of_every_law_can_fail(certificates):
    survivors = []
    for certificate in certificates:
        stated = frozenset(h["name"] for h in certificate["statement"]["hypotheses"])
        for step in every_step(certificate):
            spoilt = copy.deepcopy(step)
            SPOILT[step["kind"], step["status"]](spoilt)
            try:
                check(Context(stated), spoilt)
                survivors.append((certificate["id"], step["name"]))
            except Refusal:
                pass
    assert survivors == []


def test_every_statement_is_tied_to_its_steps(certificates):
    """A formula of the statement that no step claims is rejected with its number."""
    for certificate in certificates:
        for i in range(len(certificate["statement"]["formulas"])):
            spoilt = copy.deepcopy(certificate)
            spoilt["statement"]["formulas"][i]["kind"] = "identity " + str(i)
            assert f"statement, formulas[{i}]" in [r.where for r in refusals(spoilt)], certificate["id"]
        formulas = certificate["statement"]["formulas"]
        assert all(f in [claim(s) for s in certificate["steps"]] for f in formulas)


def test_every_law_is_tied_to_its_status(certificates):
    for certificate in certificates:
        for status in ("proved", "refuted", "undecided", "not_checked"):
            if status != certificate["status"]:
                spoilt = {**certificate, "status": status, "expected": status}
                assert {"status", "expected"} & {r.where for r in refusals(spoilt)}, certificate["id"]
