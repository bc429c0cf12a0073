"""Words, inductions, relabellings and finite tables as the checker repeats them."""

import pytest
from exptx.proofs.checking.context import Context
from exptx.proofs.checking.refusal import Refusal
from exptx.proofs.checking.steps import check


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


def minus(a, b):
    return add(a, neg(b))


a, b, g, t, s, w, x, y = map(sym, "abgtswxy")


def step(kind, status="proved", **fields):
    return {"kind": kind, "name": "it", "status": status, "reason": "", **fields}


def accepted(kind, status="proved", hypotheses=(), **fields):
    check(Context(frozenset(hypotheses)), step(kind, status, **fields))


def rejected(where, why, kind, status="proved", hypotheses=(), **fields):
    with pytest.raises(Refusal) as caught:
        check(Context(frozenset(hypotheses)), step(kind, status, **fields))
    assert where in caught.value.where, (caught.value.where, caught.value.reason)
    assert why in caught.value.reason, (caught.value.where, caught.value.reason)


def rotation(angle):
    return ["matrix", [[["cos", angle], neg(["sin", angle])], [["sin", angle], ["cos", angle]]]]


def damped(at):
    turn = rotation(mul(w, at))
    return ["smul", ["exp", neg(mul(g, at))], turn]


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
    rejected("lhs - rhs", "normal form", "words", **{**flow, "rhs": [["2", ["A", "X"]]]})
    rejected("lhs - rhs", "normal form", "words", **{**flow, "rules": flow["rules"][:1]})
    rejected("lhs - rhs", "normal form", "words", **{**flow, "derivation": {**flow["derivation"], "B": []}})
    rejected(
        "rules[1][1][0][1][0]",
        "not among the letters",
        "words",
        **{**flow, "rules": [flow["rules"][0], [["B", "A"], [["1", ["Z"]]]]]},
    )


def test_central_letters_commute():
    claim = {"letters": ["A", "X", "t"], "central": ["t"], "rules": [], "derivation": {}}
    accepted("words", **claim, lhs=[["1", ["A", "t", "X"]]], rhs=[["1", ["t", "A", "X"]]])
    rejected(
        "lhs - rhs",
        "",
        "words",
        **{**claim, "central": []},
        lhs=[["1", ["A", "t", "X"]]],
        rhs=[["1", ["t", "A", "X"]]],
    )
    square = {**claim, "rules": [[["A", "t", "t"], [["3", ["X"]]]]]}
    accepted("words", **square, lhs=[["1", ["t", "X", "t", "A"]]], rhs=[["3", ["X", "X"]]])


def test_words_that_never_end_are_rejected():
    loop = {"letters": ["A"], "central": [], "derivation": {}, "lhs": [["1", ["A"]]], "rhs": []}
    rejected("", "", "words", **loop, rules=[[["A"], [["1", ["A"]]]]])
    rejected("", "letters", "words", **loop, rules=[[["A"], [["1", ["A", "A"]]]]])
    rejected("rules[0][0]", "empty", "words", **loop, rules=[[[], [["1", ["A"]]]]])


def test_a_model_with_a_derivation_needs_rules_that_stay_true():
    """A² = 1 at one instant says nothing about later ones unless A' = XA keeps it."""
    claim = {"letters": ["A", "X"], "central": [], "rules": [[["A", "A"], [["1", []]]]]}
    claim |= {"lhs": [["1", ["A", "X"]]], "rhs": [["1", ["X", "A"]]]}
    model = {"A": [["1", "0"], ["0", "-1"]], "X": [["0", "1"], ["0", "0"]]}
    accepted("words", "refuted", **claim, derivation={}, model=model)
    moving = {"A": [["1", ["X", "A"]]]}
    rejected("rules[0]", "do not imply", "words", "refuted", **claim, derivation=moving, model=model)


def test_false_words_are_refuted_by_a_model():
    claim = {
        "letters": ["P", "Q"],
        "central": [],
        "derivation": {},
        "lhs": [["1", ["P", "Q"]]],
        "rhs": [["1", ["Q", "P"]]],
    }
    rules = [[["P", "P"], [["1", ["P"]]]]]
    model = {"P": [["1", "0"], ["0", "0"]], "Q": [["0", "1"], ["0", "0"]]}
    accepted("words", "refuted", **claim, rules=rules, model=model)
    rejected("model", "equal", "words", "refuted", **claim, rules=rules, model={**model, "Q": "3"})
    rejected(
        "model",
        "breaks rules[0]",
        "words",
        "refuted",
        **claim,
        rules=rules,
        model={**model, "P": [["2", "0"], ["0", "0"]]},
    )
    rejected("model", "letter 'Q'", "words", "refuted", **claim, rules=rules, model={"P": "1"})
    rejected(
        "model", "commuting", "words", "refuted", **{**claim, "central": ["Q"]}, rules=rules, model=model
    )
    fixed = [*rules, [["Q", "P"], [["1", ["P", "Q"]]]]]
    rejected("model", "breaks rules[1]", "words", "refuted", **claim, rules=fixed, model=model)


GEOMETRIC = {
    "index": "n",
    "start": "0",
    "relation": "==",
    "state": {"S": {"first": num(0), "next": add(sym("S"), sym("n"), num(1))}},
    "claim": {"S": mul(num("1/2"), sym("n"), add(sym("n"), num(1)))},
    "assume": [],
}
BERNOULLI = {
    "index": "n",
    "start": "0",
    "relation": ">=",
    "state": {"P": {"first": num(1), "next": mul(sym("P"), add(num(1), x))}},
    "claim": {"P": add(num(1), mul(sym("n"), x))},
    "assume": [["nonneg", "y"]],
    "reparametrize": {"x": minus(y, num(1))},
}


def test_an_induction_has_base_and_step():
    accepted("induction", **GEOMETRIC)
    for field, value, where in (
        ("start", "1", "base"),
        ("claim", {"S": mul(num("1/2"), sym("n"), sym("n"))}, "step"),
        ("state", {"S": {"first": num(1), "next": GEOMETRIC["state"]["S"]["next"]}}, "base"),
        ("state", {"S": {"first": num(0), "next": add(sym("S"), sym("n"))}}, "step"),
        ("claim", {"T": num(1)}, "claim"),
        ("claim", {"S": sym("S")}, "claim"),
    ):
        rejected(where, "", "induction", **{**GEOMETRIC, field: value})


def test_a_rotation_by_induction_with_an_unclaimed_state():
    n, tau = sym("n"), sym("T")
    state = {
        "T": {"first": num(0), "next": add(tau, ["fn", "d", n])},
        "C": {"first": num(1), "next": mul(sym("C"), ["exp", neg(mul(g, ["fn", "d", n]))])},
    }
    claim = {"index": "n", "start": "0", "relation": "==", "state": state, "assume": []}
    accepted("induction", **claim, claim={"C": ["exp", neg(mul(g, tau))]})
    rejected("step", "", "induction", **claim, claim={"C": ["exp", mul(g, tau)]})


def test_an_inequality_by_induction_with_slack():
    accepted("induction", **BERNOULLI)
    rejected("step", "not shown", "induction", **{**BERNOULLI, "assume": []})
    rejected(
        "step",
        "not shown",
        "induction",
        **{**BERNOULLI, "claim": {"P": add(num(1), mul(num(2), sym("n"), x))}},
    )
    rejected("base", "not shown", "induction", **{**BERNOULLI, "claim": {"P": add(num(2), mul(sym("n"), x))}})
    rejected(
        "assume", "more of the index", "induction", **{**BERNOULLI, "assume": [["nonneg", "y"], ["pos", "n"]]}
    )


def test_a_parameter_beyond_the_index_is_constant_along_the_recursion():
    """The sum of m - j over j < n is >= 0 for every m >= n: m = n + r is put in last."""
    n, m, r = sym("n"), sym("m"), sym("r")
    falling = {
        "index": "n", "start": "0", "relation": ">=", "assume": [["nonneg", "r"]],
        "state": {"f": {"first": num(0), "next": add(sym("f"), minus(m, n))}},
        "claim": {"f": num(0)}, "reparametrize": {"m": add(n, r)},
    }  # fmt: skip
    accepted("induction", **falling)
    rejected("step", "not shown", "induction", **{**falling, "reparametrize": {"m": r}})
    for tree in (add(neg(n), r), add(n, mul(num(2), r)), add(n, ["pow", r, 2]), n, add(n, sym("f"))):
        rejected("reparametrize['m']", "", "induction", **{**falling, "reparametrize": {"m": tree}})
    rejected("reparametrize['m']", "own r", "induction", **{**falling, "assume": []})
    rejected(
        "reparametrize['m']",
        "assumed of",
        "induction",
        **{**falling, "assume": [["nonneg", "r"], ["pos", "m"]]},
    )
    used = {"f": {"first": num(0), "next": add(sym("f"), minus(m, n), r)}}
    rejected("reparametrize['m']", "own r", "induction", **{**falling, "state": used})
    moving = {
        **falling,
        "relation": "==",
        "claim": {"f": mul(n, m)},
        "state": {"f": {"first": num(0), "next": add(sym("f"), m)}},
    }
    accepted("induction", **moving)
    wrong = {**moving, "claim": {"f": mul(n, n)}}
    rejected("step", "differ", "induction", **wrong)
    accepted("induction", "refuted", **wrong, witness={"n": "2", "r": "1"}, symbol="f", gap=["2", "2"])


def test_the_index_counts_from_its_start():
    """n² >= 3n - 2 for n >= 2: the step is 2n - 2, positive in n - 2; from 0 on it is false and not shown."""
    n = sym("n")
    square = {"s": {"first": num(4), "next": add(sym("s"), mul(num(2), n), num(1))}}
    claim = {
        "index": "n",
        "relation": ">=",
        "state": square,
        "assume": [],
        "claim": {"s": minus(mul(num(3), n), num(2))},
    }
    accepted("induction", **claim, start="2")
    low = {"s": {"first": num(0), "next": square["s"]["next"]}}
    rejected("step", "not shown", "induction", **{**claim, "state": low}, start="0")


def test_an_assumption_on_a_state_symbol_is_itself_proved():
    state = {
        "p": {"first": num(1), "next": mul(num(2), sym("p"))},
        "s": {"first": num(0), "next": add(sym("s"), sym("p"))},
    }
    claim = {"index": "n", "start": "0", "relation": ">=", "state": state, "claim": {"s": num(0)}}
    accepted("induction", **claim, assume=[["pos", "p"]])
    rejected("step", "not shown", "induction", **claim, assume=[])
    state["p"]["next"] = neg(sym("p"))
    rejected("assume", "not kept", "induction", **claim, assume=[["pos", "p"]])


def test_a_state_symbol_is_no_constant_for_a_derivative():
    """s_n depends on x, so that its derivative is not zero: diff and at around it are refused."""
    state = {"s": {"first": x, "next": mul(x, sym("s"))}, "d": {"first": num(0), "next": None}}
    claim = {
        "index": "n",
        "start": "0",
        "relation": "==",
        "state": state,
        "claim": {"d": num(0)},
        "assume": [],
    }
    for body in (["diff", sym("s"), "x", 1], ["at", minus(sym("s"), x), "x", num(0)]):
        state["d"]["next"] = body
        rejected("state", "around a state symbol", "induction", **claim)
        state["d"]["next"] = ["diff", ["pow", x, 2], "y", 1]
        accepted("induction", **claim)


def test_a_false_induction_is_refuted_by_running_it():
    wrong = {**GEOMETRIC, "claim": {"S": mul(num("1/2"), sym("n"), sym("n"))}}
    accepted("induction", "refuted", **wrong, witness={"n": "3"}, symbol="S", gap=["1.5", "1.5"])
    rejected(
        "gap",
        "does not contain",
        "induction",
        "refuted",
        **wrong,
        witness={"n": "2"},
        symbol="S",
        gap=["1.5", "1.5"],
    )
    rejected(
        "witness",
        "integer",
        "induction",
        "refuted",
        **wrong,
        witness={"n": "1/2"},
        symbol="S",
        gap=["1.5", "1.5"],
    )
    rejected(
        "symbol",
        "claimed",
        "induction",
        "refuted",
        **wrong,
        witness={"n": "3"},
        symbol="T",
        gap=["1.5", "1.5"],
    )
    rejected(
        "gap",
        "does not contain",
        "induction",
        "refuted",
        **GEOMETRIC,
        witness={"n": "3"},
        symbol="S",
        gap=["1.5", "1.5"],
    )
    strong = {**BERNOULLI, "claim": {"P": add(num(1), mul(num(2), sym("n"), x))}}
    accepted("induction", "refuted", **strong, witness={"n": "1", "y": "2"}, symbol="P", gap=["-1", "-1"])
    rejected(
        "gap",
        "below 0",
        "induction",
        "refuted",
        **strong,
        witness={"n": "1", "y": "0"},
        symbol="P",
        gap=["1", "1"],
    )


def test_a_sum_is_relabelled():
    j, i = sym("j"), sym("i")
    body = mul(["fn", "a", i, j], ["fn", "v", j])
    moved = mul(["fn", "a", i, ["fn", "p", j]], ["fn", "v", ["fn", "p", j]])
    half = mul(["fn", "a", i, ["fn", "p", j]], ["fn", "v", j])
    names = {"index": "j", "bijection": "p", "body": body}
    accepted("reindex", **names, rhs=moved)
    accepted("reindex", **names, rhs=moved, operation="product")
    rejected("rhs", "is not body", "reindex", **names, rhs=half)
    tables = {
        "witness": {"i": "0"},
        "functions": {"a": [[["0", "0"], "1"], [["0", "1"], "2"]], "v": [[["0"], "3"], [["1"], "5"]]},
        "permutation": [1, 0],
    }
    accepted("reindex", "refuted", **names, rhs=half, **tables, gap=["2", "2"])
    rejected("gap", "", "reindex", "refuted", **names, rhs=moved, **tables, gap=["2", "2"])
    rejected(
        "permutation",
        "no permutation",
        "reindex",
        "refuted",
        **names,
        rhs=half,
        **{**tables, "permutation": [1, 1]},
        gap=["2", "2"],
    )


def cyclic(n):
    names = [str(k) for k in range(n)]
    return {"elements": names, "table": [[str((i + j) % n) for j in range(n)] for i in range(n)]}


GROUP = dict.fromkeys(("closure", "identity", "inverses", "associativity", "commutativity"), True)


def test_a_finite_group_is_checked_exhaustively():
    accepted("finite", **cyclic(12), axioms=GROUP)
    broken = cyclic(12)
    broken["table"][5][7] = "1"
    rejected("axioms", "fails", "finite", **broken, axioms=GROUP)
    rejected(
        "axioms[commutativity]", "holds", "finite", **cyclic(12), axioms={**GROUP, "commutativity": False}
    )
    accepted("finite", "refuted", **broken, axioms=GROUP, axiom="associativity")
    rejected("axiom", "refutes nothing", "finite", "refuted", **broken, axioms=GROUP, axiom="closure")
    accepted("finite", "refuted", **broken, axioms=GROUP, axiom="inverses", elements_witness=["5"])
    rejected(
        "elements_witness",
        "",
        "finite",
        "refuted",
        **broken,
        axioms=GROUP,
        axiom="inverses",
        elements_witness=["4"],
    )
    open_table = {"elements": ["1", "2"], "table": [["2", "3"], ["3", "4"]]}
    accepted("finite", **open_table, axioms={"closure": False, "inverses": False})
    rejected("axioms[associativity]", "no meaning", "finite", **open_table, axioms={"associativity": True})


def test_a_homomorphism_is_checked_exhaustively():
    maps = {"source": cyclic(4), "target": cyclic(2)}
    claims = {"homomorphism": True, "injective": False, "surjective": True}
    accepted("homomorphism", **maps, images=["0", "1", "0", "1"], claims=claims)
    rejected(
        "claims[homomorphism]", "fails", "homomorphism", **maps, images=["0", "1", "1", "1"], claims=claims
    )
    accepted(
        "homomorphism", "refuted", **maps, images=["0", "1", "1", "1"], claims=claims, claim="homomorphism"
    )
    rejected("images[3]", "no element", "homomorphism", **maps, images=["0", "1", "0", "2"], claims=claims)
