"""Words, inductions, relabelled sums, finite tables in the checker: true accepted, forged rejected."""

import time

import pytest
from steps import a, accepted, add, g, inverse, minus, mul, n, neg, num, rejected, s, x

FLOW = {
    "letters": ["A", "B", "X"],
    "central": [],
    "rules": [
        [["A", "B"], [["1", []]]],
        [["B", "A"], [["1", []]]],
        [["X", "A"], [["1", ["A", "X"]]]],
        [["X", "B"], [["1", ["B", "X"]]]],
    ],
    "derivation": {"A": [["1", ["X", "A"]]], "B": [["-1", ["X", "B"]]], "X": []},
}


def test_words_follow_from_their_rules():
    flow = {**FLOW, "lhs": ["D", [["1", ["B", "A", "A"]]]], "rhs": [["1", ["A", "X"]]]}
    accepted("words", **flow)
    rejected("lhs - rhs", "words", **{**flow, "rhs": [["2", ["A", "X"]]]})
    for frozen in {"rules": flow["rules"][:1]}, {"derivation": {**flow["derivation"], "B": []}}:
        rejected("rules[0]", "words", **{**flow, **frozen})
    unknown = [flow["rules"][0], [["B", "A"], [["1", ["Z"]]]]]
    rejected("rules[1][1]", "words", **{**flow, "rules": unknown})
    rejected("derivation", "words", **{**flow, "derivation": {"A": ["D", [["1", ["A"]]]]}})
    rejected("derivation", "words", **{**flow, "derivation": {"Z": []}})


LOOP = {"letters": ["A", "B"], "central": [], "derivation": {}, "lhs": [["1", ["A"]]], "rhs": []}
ENDLESS = [
    [[["A"], [["1", ["A"]]]]],
    [[["A"], [["1", ["A", "A"]]]]],
    [[["A"], [["9" * 1999, ["A"]]]]],
    [[[], [["1", ["A"]]]]],
]
CONTRADICTORY = [
    [[["A", "B"], [["1", []]]], [["A"], []]],
    [[["A", "B"], [["2", []]]], [["A", "B"], [["1", []]]]],
    [[["A", "A"], []], [["A", "A", "B"], [["1", []]]]],
    [[["A", "B"], [["1", []]]], [["B", "A"], []]],  # A = A(BA) = 0, and yet AB = 1
]


@pytest.mark.parametrize("rules", [*ENDLESS, *CONTRADICTORY])
def test_rules_that_never_end_or_contradict_each_other_prove_nothing(rules):
    begin = time.process_time()
    rejected("", "words", **{**LOOP, "rhs": [["1", ["B"]]]}, rules=rules)
    if rules in CONTRADICTORY:
        rejected("rules", "words", **{**LOOP, "rhs": LOOP["lhs"]}, rules=rules)
    assert time.process_time() - begin < 2


def test_a_rule_that_does_not_go_on_to_hold_proves_nothing():
    """E = 1 for all time has the derivative 0; with E' = AE it would say A = 0 without a word."""
    moving = {"E": [["1", ["A", "E"]]]}
    claim = {"letters": ["A", "E"], "central": [], "derivation": moving, "lhs": ["D", [["1", ["E"]]]]}
    rejected("rules[0]", "words", **claim, rhs=[["1", ["A"]]], rules=[[["E"], [["1", []]]]])


def test_derivatives_of_derivatives_end_soon():
    """Sixty derivatives of A with A' = AB, B' = BA have more words than there are atoms."""
    poly, begin = [["1", ["A"]]], time.process_time()
    for _ in range(60):
        poly = ["D", poly]
    moving = {"A": [["1", ["A", "B"]]], "B": [["1", ["B", "A"]]]}
    rejected("lhs", "words", **{**LOOP, "derivation": moving, "lhs": poly}, rules=[])
    assert time.process_time() - begin < 2


def test_false_words_are_refuted_by_a_model():
    claim = {"letters": ["P", "Q"], "central": [], "lhs": [["1", ["P", "Q"]]], "rhs": [["1", ["Q", "P"]]]}
    rules, still = [[["P", "P"], [["1", ["P"]]]]], {"derivation": {}}
    model = {"P": [["1", "0"], ["0", "0"]], "Q": [["0", "1"], ["0", "0"]]}
    accepted("words", "refuted", **claim, **still, rules=rules, model=model)
    for change in (
        {"Q": [["3", "0"], ["0", "3"]]},
        {"P": [["2", "0"], ["0", "0"]]},
        {"R": model["P"]},
        {"Q": [["1"]]},
    ):
        rejected("model", "words", "refuted", **claim, **still, rules=rules, model={**model, **change})
    fixed = [*rules, [["Q", "P"], [["1", ["P", "Q"]]]]]
    rejected("model", "words", "refuted", **claim, **still, rules=fixed, model=model)
    rejected(
        "rules[0]",
        "words",
        "refuted",
        **claim,
        rules=rules,
        model=model,
        derivation={"P": [["1", ["Q", "P"]]]},
    )
    rejected("central", "words", "refuted", **{**claim, "central": ["Q"]}, **still, rules=rules, model=model)


TRIANGULAR = {
    "index": "n",
    "start": "0",
    "relation": "==",
    "assume": [],
    "state": {"S": {"first": num(0), "next": add(["sym", "S"], n, num(1))}},
    "claim": {"S": mul(num("1/2"), n, add(n, num(1)))},
}
BERNOULLI = {
    "index": "n",
    "start": "0",
    "relation": ">=",
    "assume": [["nonneg", "x"]],
    "state": {"P": {"first": num(1), "next": mul(["sym", "P"], add(num(1), x))}},
    "claim": {"P": add(num(1), mul(n, x))},
}


def test_an_induction_has_base_and_step():
    accepted("induction", **TRIANGULAR)
    accepted("induction", **BERNOULLI)
    for field, value, where in (
        ("start", "1", "base"),
        ("claim", {"S": mul(num("1/2"), n, n)}, "step"),
        ("claim", {"T": num(1)}, "claim"),
        ("state", {"S": {"first": num(1), "next": TRIANGULAR["state"]["S"]["next"]}}, "base"),
        ("state", {"S": {"first": num(0), "next": add(["sym", "S"], n)}}, "step"),
        ("claim", {}, "claim"),
        ("claim", {"S": ["sym", "S"]}, "claim"),
        ("start", "1/2", "start"),
        ("index", "S", "index"),
        ("state", {"S": {"first": n, "next": num(0)}}, "state"),
    ):
        rejected(where, "induction", **{**TRIANGULAR, field: value})
    for field, value, where in (
        ("assume", [], "step"),
        ("claim", {"P": add(num(1), mul(num(2), n, x))}, "step"),
        ("claim", {"P": add(num(2), mul(n, x))}, "base"),
        ("assume", [["nonneg", "x"], ["pos", "n"]], "assume"),
    ):
        rejected(where, "induction", **{**BERNOULLI, field: value})


def test_an_induction_with_an_unclaimed_state():
    tau, c = ["sym", "T"], ["sym", "C"]
    state = {
        "T": {"first": num(0), "next": add(tau, ["fn", "d", n])},
        "C": {"first": num(1), "next": mul(c, ["exp", neg(mul(g, ["fn", "d", n]))])},
    }
    claim = {"index": "n", "start": "0", "relation": "==", "state": state, "assume": []}
    accepted("induction", **claim, claim={"C": ["exp", neg(mul(g, tau))]})
    rejected("step", "induction", **claim, claim={"C": ["exp", mul(g, tau)]})
    growing = {
        "p": {"first": num(1), "next": mul(num(2), ["sym", "p"])},
        "s": {"first": num(0), "next": add(s, ["sym", "p"])},
    }
    claim = {"index": "n", "start": "0", "relation": ">=", "state": growing, "claim": {"s": num(0)}}
    accepted("induction", **claim, assume=[["pos", "p"]])
    rejected("step", "induction", **claim, assume=[])
    growing["p"]["next"] = neg(["sym", "p"])
    rejected("step['p']", "induction", **claim, assume=[["pos", "p"]])
    growing["p"] = {"first": num(0), "next": ["sym", "p"]}
    rejected("base['p']", "induction", **claim, assume=[["pos", "p"]])
    divided = {"s": {"first": num(0), "next": mul(s, inverse(a))}}
    rejected("step", "induction", **{**claim, "state": divided}, assume=[])


def test_the_index_counts_from_its_start():
    """n² >= 3n - 2 for n >= 2: the step is 2n - 2, positive in n - 2; from 0 on it is false and not shown."""
    square = {"s": {"first": num(4), "next": add(s, mul(num(2), n), num(1))}}
    claim = {"index": "n", "relation": ">=", "assume": [], "claim": {"s": minus(mul(num(3), n), num(2))}}
    accepted("induction", **claim, state=square, start="2")
    square["s"]["first"] = num(0)
    rejected("step", "induction", **claim, state=square, start="0")


@pytest.mark.parametrize("body", [["diff", s, "x", 1], ["at", minus(s, x), "x", num(0)]])
@pytest.mark.parametrize("key", ["first", "next", "claim"])
def test_a_state_symbol_is_no_constant_for_a_derivative(body, key):
    """s_n depends on x, so that its derivative is not zero: diff and at are refused in an induction."""
    state = {"s": {"first": x, "next": mul(x, s)}, "d": {"first": num(0), "next": num(0)}}
    claim = {"d": num(0)}
    (claim if key == "claim" else state["d"])["d" if key == "claim" else key] = body
    where = "claim" if key == "claim" else "state"
    rejected(where, "induction", index="n", start="0", relation="==", state=state, claim=claim, assume=[])


def test_a_false_induction_is_refuted_by_running_it():
    wrong = {**TRIANGULAR, "claim": {"S": mul(num("1/2"), n, n)}, "gap": ["1.5", "1.5"]}
    accepted("induction", "refuted", **wrong, witness={"n": "3"}, symbol="S")
    for point in ("2", "1/2", "-1", "1000"):
        rejected("", "induction", "refuted", **wrong, witness={"n": point}, symbol="S")
    rejected("witness", "induction", "refuted", **wrong, witness={}, symbol="S")
    rejected("symbol", "induction", "refuted", **wrong, witness={"n": "3"}, symbol="T")
    rejected("gap", "induction", "refuted", **{**wrong, **TRIANGULAR}, witness={"n": "3"}, symbol="S")
    strong = {**BERNOULLI, "claim": {"P": add(num(1), mul(num(2), n, x))}}
    accepted("induction", "refuted", **strong, witness={"n": "1", "x": "1"}, symbol="P", gap=["-1", "-1"])
    rejected(
        "gap", "induction", "refuted", **strong, witness={"n": "3", "x": "4"}, symbol="P", gap=["100", "100"]
    )
    rejected(
        "witness", "induction", "refuted", **strong, witness={"n": "1", "x": "-1"}, symbol="P", gap=["1", "1"]
    )


def test_a_sum_is_relabelled():
    i, j = ["sym", "i"], ["sym", "j"]
    p = ["fn", "p", j]
    body, moved, half = (mul(["fn", "a", i, k], ["fn", "v", m]) for k, m in ((j, j), (p, p), (p, j)))
    names = {"index": "j", "bijection": "p", "body": body}
    accepted("reindex", **names, rhs=moved)
    accepted("reindex", **names, rhs=moved, operation="product")
    rejected("rhs", "reindex", **names, rhs=half)
    tables = {"witness": {"i": "0"}, "gap": ["2", "2"], "permutation": [1, 0]}
    tables["functions"] = {"a": [[["0", "0"], "1"], [["0", "1"], "2"]], "v": [[["0"], "3"], [["1"], "5"]]}
    accepted("reindex", "refuted", **names, rhs=half, **tables)
    rejected("gap", "reindex", "refuted", **names, rhs=half, **tables, operation="product")
    rejected("gap", "reindex", "refuted", **names, rhs=moved, **tables)
    for wrong in ([1, 1], [], [0, 2], None):
        rejected("permutation", "reindex", "refuted", **names, rhs=half, **{**tables, "permutation": wrong})


def cyclic(n):
    names = [str(k) for k in range(n)]
    return {"elements": names, "table": [[str((i + j) % n) for j in range(n)] for i in range(n)]}


GROUP = dict.fromkeys(("closure", "identity", "inverses", "associativity", "commutativity"), True)


def test_a_finite_group_is_checked_exhaustively():
    accepted("finite", **cyclic(12), axioms=GROUP)
    broken = cyclic(12)
    broken["table"][5][7] = "1"
    rejected("axioms", "finite", **broken, axioms=GROUP)
    rejected("axioms[commutativity]", "finite", **cyclic(12), axioms={**GROUP, "commutativity": False})
    accepted("finite", "refuted", **broken, axioms=GROUP, axiom="associativity")
    accepted("finite", "refuted", **broken, axioms=GROUP, axiom="inverses", elements_witness=["5"])
    rejected("axiom", "finite", "refuted", **broken, axioms=GROUP, axiom="closure")
    rejected("axiom", "finite", "refuted", **broken, axioms=GROUP)
    wrong = {"axioms": GROUP, "axiom": "inverses", "elements_witness": ["4"]}
    rejected("elements_witness", "finite", "refuted", **broken, **wrong)
    open_table = {"elements": ["1", "2"], "table": [["2", "3"], ["3", "4"]]}
    accepted("finite", **open_table, axioms={"closure": False, "inverses": False, "identity": False})
    rejected("axioms", "finite", **open_table, axioms={"associativity": True})
    for bad in (
        {"elements": ["1", "1"]},
        {"table": [["1"]]},
        {"axioms": {}},
        {"axioms": {"order": True}},
        {"axioms": {"closure": 1}},
    ):
        rejected("", "finite", **{**open_table, "axioms": {"closure": False}, **bad})


def test_a_homomorphism_is_checked_exhaustively():
    maps = {"source": cyclic(4), "target": cyclic(2)}
    claims = {"homomorphism": True, "injective": False, "surjective": True}
    right, wrong = ["0", "1", "0", "1"], ["0", "1", "1", "1"]
    accepted("homomorphism", **maps, images=right, claims=claims)
    accepted("homomorphism", "refuted", **maps, images=wrong, claims=claims, claim="homomorphism")
    rejected("claims[homomorphism]", "homomorphism", **maps, images=wrong, claims=claims)
    rejected("claims[injective]", "homomorphism", **maps, images=right, claims={**claims, "injective": True})
    rejected(
        "claims[surjective]", "homomorphism", **maps, images=right, claims={**claims, "surjective": False}
    )
    rejected("images[3]", "homomorphism", **maps, images=["0", "1", "0", "2"], claims=claims)
    rejected("", "homomorphism", **maps, images=["0", "1", "0"], claims=claims)
