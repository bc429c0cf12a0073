"""The checker as a whole: true folders and documents are accepted, corrupted ones rejected with the place."""

import copy
import hashlib
import json
import re

import pytest
from exptx.proofs.checker import verify


def num(x):
    return ["num", str(x)]


def sym(name):
    return ["sym", name]


def add(*parts):
    return ["add", *parts]


def mul(*parts):
    return ["mul", *parts]


def neg(part):
    return ["mul", num(-1), part]


t, s, w, g, q0, q1, k0, k1 = (sym(n) for n in ("t", "s", "w", "g", "q0", "q1", "k0", "k1"))


def rotated(vector, at):
    """The plane of RoPE: (x cos - y sin, x sin + y cos)."""
    (x, y), angle = vector, mul(w, at)
    c, d = ["cos", angle], ["sin", angle]
    return add(mul(x, c), neg(mul(y, d))), add(mul(x, d), mul(y, c))


def dot(a, b):
    return add(*(mul(x, y) for x, y in zip(a, b, strict=True)))


def step(kind, name, status="proved", **fields):
    return {"kind": kind, "name": name, "status": status, "reason": "", **fields}


def claim(of):
    outcome = ("name", "status", "reason", "witness", "entry", "gap", "nonzero", "model", "actual", "symbol")
    return {key: value for key, value in of.items() if key not in outcome}


SCORE = dot(rotated((q0, q1), t), rotated((k0, k1), s))
GAP_ONLY = dot(rotated((q0, q1), add(t, neg(s))), (k0, k1))
WRONG_GAP = dot(rotated((q0, q1), add(s, neg(t))), (k0, k1))
HALF = dot(rotated((q0, q1), t), (k0, k1))
POINT = {"t": "1", "s": "1/2", "w": "2", "q0": "1", "q1": "0", "k0": "0", "k1": "1"}


def certificate(
    proof, expected, steps, *, formulas=(), perturbations=(), siblings=(), rests_on=(), hypotheses=()
):
    law, _, encoding = proof.partition("/")
    return {
        "schema": "exptx-certificate/1",
        "id": proof,
        "law": law,
        "encoding": encoding or None,
        "expected": expected,
        "status": expected,
        "statement": {
            "text": "for all t, s",
            "hypotheses": [{"name": name, "text": name} for name in hypotheses],
            "formulas": [claim(f) for f in formulas],
        },
        "rests_on": list(rests_on),
        "steps": list(steps),
        "perturbations": [{"of": of, "change": change, "step": trial} for of, change, trial in perturbations],
        "siblings": [{"of": of, "change": change, "step": trial} for of, change, trial in siblings],
    }


def relative():
    """RoPE is relative: an identity, with a cited step and three perturbations."""
    equal = step("identity", "only the gap", lhs=SCORE, rhs=GAP_ONLY, assume=[["pos", "w"]], nonzero=[])
    cited = step("cited", "smooth", lemma="continuous is smooth", source="Hall, 2.14", needs=["continuity"])
    sign = step("sign", "amplitude", expr=add(["pow", w, 2], num(1)), sign="+", assume=[])
    # sin of the angle 2·(1 - 1/2) and of its opposite: 2 sin 1 = 1.68294196961579…
    wrong = step(
        "identity", "the sign of the gap", "refuted",
        lhs=SCORE, rhs=WRONG_GAP, assume=[["pos", "w"]], witness=POINT, gap=["1.682941969", "1.682941970"],
    )  # fmt: skip
    keys = step(
        "identity", "keys left", "refuted",
        lhs=SCORE, rhs=HALF, assume=[], witness={**POINT, "s": "1"}, gap=["-0.90929743", "-0.90929742"],
    )  # fmt: skip
    negative = step(
        "sign",
        "no one",
        "refuted",
        expr=add(["pow", w, 2], num(-1)),
        sign="+",
        assume=[],
        witness={"w": "1/2"},
    )
    return certificate(
        "relative/rope",
        "proved",
        [equal, cited, sign],
        formulas=[equal],
        perturbations=[
            ("only the gap", "s - t", wrong),
            ("only the gap", "keys stay", keys),
            ("amplitude", "minus one", negative),
        ],
        rests_on=["fade"],
        hypotheses=["continuity"],
    )


def fade():
    """A decay: its limit, its derivative as words, a closed form by induction, a table of values."""
    decay = ["exp", neg(mul(g, t))]
    goes = step("limit", "vanishes", expr=decay, variable="t", to="+oo", value=num(0), assume=[["pos", "g"]])
    flow = {"letters": ["A", "X"], "central": [], "rules": [[["X", "A"], [["1", ["A", "X"]]]]]}
    flow["derivation"] = {"A": [["1", ["X", "A"]]]}
    words = step("words", "flow", **flow, lhs=["D", [["1", ["A"]]]], rhs=[["1", ["A", "X"]]])
    state = {"P": {"first": num(1), "next": mul(sym("P"), ["exp", neg(g)])}}
    power = {"index": "n", "start": "0", "relation": "==", "state": state, "assume": []}
    steady = step("induction", "n steps", **power, claim={"P": ["exp", neg(mul(sym("n"), g))]})
    number = step("enclosed", "at 50", expr=["exp", num(-5)], lower="0.0067379", upper="0.0067380")
    grows = step(
        "limit", "grows", "refuted",
        expr=decay, variable="t", to="-oo", value=num(0), assume=[["pos", "g"]], actual="+oo",
    )  # fmt: skip
    model = {"A": [["1", "1"], ["0", "1"]], "X": [["0", "1"], ["0", "0"]]}
    twice = step(
        "words", "twice", "refuted", **flow, lhs=["D", [["1", ["A"]]]], rhs=[["2", ["A", "X"]]], model=model
    )
    later = step(
        "induction", "one step more", "refuted",
        **power, claim={"P": ["exp", neg(mul(add(sym("n"), num(1)), g))]},
        witness={"n": "0", "g": "1"}, symbol="P", gap=["0.632120558", "0.632120559"],
    )  # fmt: skip
    return certificate(
        "fade",
        "proved",
        [goes, words, steady, number],
        formulas=[goes, steady],
        perturbations=[("vanishes", "backwards", grows), ("flow", "2", twice), ("n steps", "late", later)],
    )


def keys_only():
    """Keys alone turned: refuted by a witness; the true sibling turns both."""
    wrong = step(
        "identity", "keys only", "refuted",
        lhs=dot((q0, q1), rotated((k0, k1), s)), rhs=dot((q0, q1), rotated((k0, k1), add(s, neg(t)))),
        assume=[], witness=POINT, gap=["-1.682941970", "-1.682941969"],
    )  # fmt: skip
    both = step("identity", "both turned", lhs=SCORE, rhs=GAP_ONLY, assume=[], nonzero=[])
    return certificate(
        "keys-only", "refuted", [wrong], formulas=[wrong], siblings=[("keys only", "queries too", both)]
    )


def sha256(value):
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")) + "\n"
    return hashlib.sha256(text.encode()).hexdigest()


def row(cert):
    return {
        "file": cert["id"].replace("/", "--") + ".json",
        "statement_sha256": sha256(cert["statement"]),
        "certificate_sha256": sha256(cert),
    }


def written(folder, certificates, hashed=None):
    """The folder as it is written; `hashed` are the certificates that the index was made from."""
    index = {c["id"]: row(c) for c in hashed or certificates}
    for cert in certificates:
        (folder / (cert["id"].replace("/", "--") + ".json")).write_text(json.dumps(cert))
    (folder / "index.json").write_text(json.dumps({"schema": "exptx-index/1", "proofs": index}))
    return folder


@pytest.fixture
def certificates():
    return json.loads(json.dumps([relative(), fade(), keys_only()]))


def test_true_certificates_are_accepted(tmp_path, certificates):
    assert verify(written(tmp_path, certificates)) == []


def put(value, *path):
    """Set the value at the path inside the certificates."""

    def change(certificates):
        target = certificates
        for key in path[:-1]:
            target = target[key]
        target[path[-1]] = copy.deepcopy(value(target[path[-1]]) if callable(value) else value)

    return change


def everywhere(change_claim):
    """A claim changed in its step and in the statement alike: only the mathematics can tell."""

    def change(certificates):
        change_claim(certificates[0]["steps"][0])
        certificates[0]["statement"]["formulas"] = [claim(certificates[0]["steps"][0])]

    return change


def term_dropped(of):
    of["lhs"] = of["lhs"][:-1]


def sign_flipped(of):
    of["rhs"] = WRONG_GAP


def digit_changed(of):
    of["rhs"] = add(of["rhs"], num("1/100000000000000000000000000000000000000"))


def exponent_added(of):
    of["lhs"] = json.loads(json.dumps(of["lhs"]).replace('["sym", "k1"]', '["pow", ["sym", "k1"], 2]', 1))


def steps_swapped(certificates):
    first, second = certificates[0], certificates[1]
    for key in ("steps", "perturbations"):
        first[key], second[key] = second[key], first[key]


def own_perturbation(certificates):
    (step,) = certificates[2]["steps"]
    certificates[2]["perturbations"] = [{"of": step["name"], "change": "nothing", "step": step}]


def laws_swapped(certificates):
    certificates[0], certificates[1] = certificates[1], certificates[0]


ROPE, FADE, KEYS = "relative/rope", "fade", "keys-only"
CORRUPTIONS = {
    "a digit": (everywhere(digit_changed), ROPE, "steps[0], lhs - rhs"),
    "a sign": (everywhere(sign_flipped), ROPE, "steps[0], lhs - rhs"),
    "an exponent": (everywhere(exponent_added), ROPE, "steps[0], lhs - rhs"),
    "a dropped term": (everywhere(term_dropped), ROPE, "steps[0], lhs - rhs"),
    "a statement that says more": (
        put(WRONG_GAP, 0, "statement", "formulas", 0, "rhs"), ROPE, "statement, formulas[0]",
    ),
    "a moved witness": (put("2", 2, "steps", 0, "witness", "t"), KEYS, "steps[0], gap"),
    "a witness outside the assumptions": (
        put("-2", 0, "perturbations", 0, "step", "witness", "w"), ROPE, "perturbations[0], step, witness",
    ),
    "a missing witness": (lambda c: c[2]["steps"][0].pop("witness"), KEYS, "steps[0], witness"),
    "bounds narrowed past the value": (put("0.00673794", 1, "steps", 3, "upper"), FADE, "steps[3], expr"),
    "a gap narrowed past the value": (put("-1.6829419696", 2, "steps", 0, "gap", 0), KEYS, "steps[0], gap"),
    "another limit": (put(num(1), 1, "steps", 0, "value"), FADE, "steps[0], value"),
    "a limit on the other side": (put("-oo", 1, "steps", 0, "to"), FADE, "steps[0], value"),
    "a dropped assumption": (put([], 1, "steps", 0, "assume"), FADE, "steps[0], expr"),
    "a dropped hypothesis": (put([], 0, "statement", "hypotheses"), ROPE, "steps[1], status"),
    "a rule removed from the words": (put([], 1, "steps", 1, "rules"), FADE, "steps[1], lhs - rhs"),
    "a rule added to the words": (
        put(lambda r: [*r, [["X", "X"], [["1", []]]]], 1, "perturbations", 1, "step", "rules"),
        FADE, "perturbations[1], step, model",
    ),
    "a model that refutes nothing": (
        put("0", 1, "perturbations", 1, "step", "model", "X", 0, 1), FADE, "perturbations[1], step, model",
    ),
    "an induction from another start": (put("1", 1, "steps", 2, "start"), FADE, "steps[2], base['P']"),
    "another recursion": (
        put(mul(sym("P"), ["exp", g]), 1, "steps", 2, "state", "P", "next"), FADE, "steps[2], step['P']",
    ),
    "the wrong sign of a square": (put("-", 0, "steps", 2, "sign"), ROPE, "steps[2], sign"),
    "a flipped status of a step": (put("refuted", 0, "steps", 0, "status"), ROPE, "steps[0], witness"),
    "a flipped status of the proof": (put("refuted", 0, "status"), ROPE, "status"),
    "a flipped expectation": (put("proved", 2, "expected"), KEYS, "expected"),
    "refuted called proved": (put("proved", 2, "steps", 0, "status"), KEYS, "steps[0], lhs - rhs"),
    "an undecided step": (put("undecided", 0, "steps", 0, "status"), ROPE, "status"),
    "a true perturbation": (
        put(lambda p: {**p, "step": {**p["step"], "rhs": add(GAP_ONLY, num(0))}}, 0, "perturbations", 0),
        ROPE, "perturbations[0], step, gap",
    ),
    "a perturbation that changes nothing": (
        put(lambda p: {**p, "step": {**p["step"], "rhs": GAP_ONLY}}, 0, "perturbations", 0),
        ROPE, "perturbations[0], step",
    ),
    "a perturbation of nothing": (put("nobody", 0, "perturbations", 0, "of"), ROPE, "perturbations[0], of"),
    "a perturbation of another kind": (
        put("flow", 1, "perturbations", 0, "of"), FADE, "perturbations[0], step, kind",
    ),
    "a repeated perturbation": (put(lambda p: [*p, p[0]], 0, "perturbations"), ROPE, "perturbations[3]"),
    "a proved perturbation": (
        put("proved", 0, "perturbations", 2, "step", "status"), ROPE, "perturbations[2], step, status",
    ),
    "too few perturbations": (put(lambda p: p[:1], 0, "perturbations"), ROPE, "perturbations"),
    "no sibling": (put([], 2, "siblings"), KEYS, "siblings"),
    "a false sibling": (put(HALF, 2, "siblings", 0, "step", "lhs"), KEYS, "siblings[0], step, lhs - rhs"),
    "the steps of two laws swapped": (steps_swapped, ROPE, "statement, formulas[0]"),
    "two laws swapped": (laws_swapped, ROPE, "id"),
    "a foundation that is not there": (put(["nowhere"], 0, "rests_on"), ROPE, "rests_on[0]"),
    "a foundation that failed": (put("refuted", 1, "status"), ROPE, "rests_on[0]"),
    "a circle": (put([ROPE], 1, "rests_on"), FADE, "rests_on[0]"),
    "a circle on itself": (put([FADE], 1, "rests_on"), FADE, "rests_on[0]"),
    "another law": (put("absolute", 0, "law"), ROPE, "id"),
    "a refuted step as its own perturbation": (own_perturbation, KEYS, "perturbations[0], step"),
    "a refuted sibling": (
        lambda c: c[2]["siblings"][0].update(step=c[2]["steps"][0]), KEYS, "siblings[0], step, status",
    ),
    "another id": (put("relative/alibi", 0, "id"), ROPE, "id"),
    "an unknown kind": (put("magic", 0, "steps", 0, "kind"), ROPE, "steps[0], kind"),
    "an unknown field": (put(True, 0, "steps", 0, "trusted"), ROPE, "steps[0], trusted"),
    "a missing field": (lambda c: c[0]["steps"][0].pop("assume"), ROPE, "steps[0], assume"),
    "a missing list": (lambda c: c[1].pop("rests_on"), FADE, "rests_on"),
    "a wrong type": (put({"a": 1}, 0, "steps"), ROPE, "steps"),
    "a tree that is none": (put(["cos", 3], 0, "steps", 0, "lhs", 1), ROPE, "steps[0], lhs[1][1]"),
    "an unknown function": (put(["gamma", t], 0, "steps", 0, "lhs", 2), ROPE, "steps[0], lhs[2]"),
    "no steps": (put([], 0, "steps"), ROPE, "steps"),
    "two steps of one name": (put("smooth", 0, "steps", 0, "name"), ROPE, "steps[1]"),
}  # fmt: skip


def unnamed(place):
    """`steps[0] "shift", lhs` without the name of the step."""
    return re.sub(r' "[^"]*"', "", place)


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_a_corruption_is_rejected_by_its_mathematics(tmp_path, certificates, name):
    """The corrupter has recomputed every hash, so that only the content can tell."""
    change, proof, place = CORRUPTIONS[name]
    names = [c["id"] for c in certificates]
    change(certificates)
    index = {
        n: {**row(c), "file": row({**c, "id": n})["file"]} for n, c in zip(names, certificates, strict=True)
    }
    for cert, listed in zip(certificates, index.values(), strict=True):
        (tmp_path / listed["file"]).write_text(json.dumps(cert))
    (tmp_path / "index.json").write_text(json.dumps({"schema": "exptx-index/1", "proofs": index}))
    found = verify(tmp_path)
    assert any(r.proof == proof and unnamed(r.place).startswith(place) for r in found), list(map(str, found))
    assert not any("sha256" in r.place for r in found)


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_a_corruption_is_also_seen_by_the_hashes(tmp_path, certificates, name):
    change, _, _ = CORRUPTIONS[name]
    index = {c["id"]: row(c) for c in certificates}
    files = [r["file"] for r in index.values()]
    change(certificates)
    for cert, file in zip(certificates, files, strict=True):
        (tmp_path / file).write_text(json.dumps(cert))
    (tmp_path / "index.json").write_text(json.dumps({"schema": "exptx-index/1", "proofs": index}))
    assert any(r.place == "certificate_sha256" for r in verify(tmp_path))


def test_the_statement_has_a_hash_of_its_own(tmp_path, certificates):
    original = copy.deepcopy(certificates)
    certificates[0]["statement"]["text"] = "for all t"
    found = verify(written(tmp_path, certificates, hashed=original))
    assert {r.place for r in found} == {"statement_sha256", "certificate_sha256"}
