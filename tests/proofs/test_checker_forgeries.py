"""Forged steps: statements that are false, or that say nothing, with outcomes that once looked right."""

import os
import time

import pytest
from exptx.proofs.checker import verify
from exptx.proofs.checking.context import Context
from exptx.proofs.checking.document import refusals
from exptx.proofs.checking.refusal import Refusal
from exptx.proofs.checking.steps import check


def rejected(why, kind, status="proved", **fields):
    step = {"kind": kind, "name": "forged", "status": status, "reason": "", **fields}
    with pytest.raises(Refusal) as caught:
        check(Context(), step)
    assert why in caught.value.reason


def accepted(kind, status="proved", **fields):
    check(Context(), {"kind": kind, "name": "true", "status": status, "reason": "", **fields})


ONE, ZERO, X, Y = ["num", "1"], ["num", "0"], ["sym", "x"], ["sym", "y"]
MINUS_X = ["mul", ["num", "-1"], X]


def F(tree):
    return ["fn", "f", tree]


@pytest.mark.parametrize(("to", "decay"), [("+oo", MINUS_X), ("-oo", X)])
@pytest.mark.parametrize("unknown", [F(X), F(["fn", "g", X]), ["diff", F(X), "x", 1]])
def test_decay_does_not_tame_an_unknown_function(to, decay, unknown):
    """f(x) exp(-x) need not tend to 0: f may be exp(2x); in either direction and inside another function."""
    expr = ["mul", unknown, ["exp", decay]]
    rejected(
        "opaque function of the variable", "limit", expr=expr, variable="x", to=to, value=ZERO, assume=[]
    )


def test_a_function_of_other_symbols_is_a_constant_in_a_limit():
    expr = ["mul", F(Y), ["exp", X]]
    accepted("limit", expr=expr, variable="x", to="-oo", value=ZERO, assume=[])


def test_a_stated_limit_has_a_value():
    """exp(-x) + 1 tends to 1, not to y/y, which is nothing at y = 0."""
    fields = {"expr": ["add", ["exp", MINUS_X], ONE], "variable": "x", "to": "+oo"}
    value = ["mul", Y, ["pow", Y, -1]]
    rejected("divides by y", "limit", **fields, value=value, assume=[])
    accepted("limit", **fields, value=value, assume=[["ne", "y"]])


def test_two_limits_written_with_roots_of_unity_are_told_apart():
    """2 cos(π/5) is not 1, though its form has complex roots of unity."""
    roots = [["exp", ["mul", ["num", f"{sign}1/5"], ["i"], ["pi"]]] for sign in ("", "-")]
    fields = {"expr": ["add", ["exp", MINUS_X], *roots], "variable": "x", "to": "+oo", "assume": []}
    accepted("limit", "refuted", **fields, value=ONE, actual=["add", *roots])
    rejected("does not differ", "limit", "refuted", **fields, value=["add", *roots], actual=["add", *roots])


def test_a_central_letter_has_a_central_derivative():
    """If c commutes with X and Y at all times then so does c' = X, and XY = YX is true, model or not."""
    rejected(
        "derivative of a central letter",
        "words",
        "refuted",
        letters=["X", "Y", "c"],
        central=["c"],
        rules=[],
        derivation={"c": [["1", ["X"]]]},
        lhs=[["1", ["X", "Y"]]],
        rhs=[["1", ["Y", "X"]]],
        model={"c": "1", "X": [["0", "1"], ["0", "0"]], "Y": [["0", "0"], ["1", "0"]]},
    )


def test_a_counterexample_obeys_what_is_assumed_of_a_replaced_parameter():
    """a_n = n x >= 0 for x >= 0; the value x = -1, by way of x := -y, is no counterexample."""
    claim = {
        "index": "n",
        "start": "0",
        "relation": ">=",
        "state": {"a": {"first": ZERO, "next": ["add", ["sym", "a"], X]}},
        "claim": {"a": ZERO},
        "reparametrize": {"x": ["mul", ["num", "-1"], Y]},
    }
    outcome = {"witness": {"n": "1", "y": "1"}, "symbol": "a", "gap": ["-3/2", "-1/2"]}
    rejected("assumed of", "induction", "refuted", **claim, **outcome, assume=[["nonneg", "x"]])
    accepted("induction", "refuted", **claim, **outcome, assume=[])


def test_derivatives_of_derivatives_end_soon():
    """Sixty derivatives of A with A' = AB, B' = BA have more words than there are atoms."""
    poly = [["1", ["A"]]]
    for _ in range(60):
        poly = ["D", poly]
    begin = time.perf_counter()
    rejected(
        "grows",
        "words",
        letters=["A", "B"],
        central=[],
        rules=[],
        derivation={"A": [["1", ["A", "B"]]], "B": [["1", ["B", "A"]]]},
        lhs=poly,
        rhs=[],
    )
    assert time.perf_counter() - begin < 2


@pytest.mark.parametrize(
    "rules",
    [
        [[["A", "B"], [["1", []]]], [["A"], []]],
        [[["A"], [["1", []]]], [["B"], [["1", ["A"]]]], [["A", "B"], []]],
        [[["A", "B"], [["2", []]]], [["A", "B"], [["1", []]]]],
        [[["A", "A"], []], [["A", "A", "B"], [["1", []]]]],
    ],
)
def test_rules_that_make_zero_equal_one_prove_nothing(rules):
    """A = 0 and AB = 1 together prove every claim, so they are no hypotheses."""
    claim = {"letters": ["A", "B"], "central": [], "derivation": {}}
    rejected("contradict", "words", **claim, rules=rules, lhs=[["1", ["A"]]], rhs=[["1", ["A"]]])


def test_rules_that_meet_and_agree_prove():
    """Inverses and commuting letters meet in many words; the two ways to rewrite each agree."""
    inverse = [[["A", "B"], [["1", []]]], [["B", "A"], [["1", []]]]]
    claim = {"letters": ["A", "B", "c"], "central": ["c"], "derivation": {}, "rules": inverse}
    accepted("words", **claim, lhs=[["1", ["A", "B", "A", "c"]]], rhs=[["1", ["c", "A"]]])


def test_only_regular_files_are_read(tmp_path):
    """A pipe never ends to wait for, /dev/zero never ends to be read; links to files are files."""
    pipe, zero = tmp_path / "pipe.json", tmp_path / "zero.json"
    os.mkfifo(pipe)
    zero.symlink_to("/dev/zero")
    for path in (pipe, zero):
        (rejection,) = verify(path)
        assert "no regular file" in rejection.reason


@pytest.mark.parametrize("kind", [[], {}, ["num"], None, 5, True])
def test_a_perturbed_step_of_no_kind_is_a_rejection(kind):
    """Whatever JSON stands where the name of a kind should."""
    step = {"kind": kind, "name": "s", "status": "proved", "reason": ""}
    twin = {"kind": "identity", "name": "p", "lhs": ONE, "rhs": ZERO, "assume": [], "witness": {}}
    twin |= {"status": "refuted", "reason": "", "gap": ["1/2", "2"]}
    certificate = {
        "schema": "exptx-certificate/1",
        "id": "law",
        "law": "law",
        "encoding": None,
        "expected": "proved",
        "status": "proved",
        "statement": {"text": "", "hypotheses": [], "formulas": []},
        "rests_on": [],
        "steps": [step],
        "perturbations": [{"of": "s", "change": "", "step": twin}],
        "siblings": [],
    }
    assert any("kind" in refusal.where for refusal in refusals(certificate))
