"""A sum over all tokens does not see their order; what does see it is told apart on three tokens."""

from fractions import Fraction
from itertools import permutations
from random import Random

import pytest
import sympy as sp
from exptx.symbolic.decide import Status
from exptx.symbolic.errors import BadInput, WrongType
from exptx.symbolic.reindex import Reindex

i, j, beta = sp.symbols("i j beta", real=True)
p, q, w, v, s, Z = map(sp.Function, ("p", "q", "w", "v", "s", "Z"))

TRUE = {
    "outputs follow their tokens": Reindex(j, p, w(p(i), j) * v(j), w(p(i), p(j)) * v(p(j))),
    "softmax denominators agree": Reindex(j, p, sp.exp(s(p(i), j)), sp.exp(s(p(i), p(j)))),
    "softmax outputs": Reindex(
        j, p, sp.exp(s(p(i), j)) / Z(p(i)) * v(j), sp.exp(s(p(i), p(j))) / Z(p(i)) * v(p(j))
    ),
    "products": Reindex(j, p, v(j) + beta, v(p(j)) + beta, "product"),
    "twice relabelled": Reindex(j, p, v(p(j)) * w(j, j), v(p(p(j))) * w(p(j), p(j))),
}

FALSE = {
    "values stay behind": Reindex(j, p, w(p(i), j) * v(j), w(p(i), p(j)) * v(j)),
    "scores stay behind": Reindex(j, p, w(p(i), j) * v(j), w(p(i), j) * v(p(j))),
    "the query is not moved": Reindex(j, p, w(p(i), j) * v(j), w(i, p(j)) * v(p(j))),
    "a mask that stays": Reindex(j, p, q(i, j) * w(p(i), j), q(p(i), p(j)) * w(p(i), j)),
    "a position is added": Reindex(j, p, v(j) * j, v(p(j)) * j),
    "a factor is lost": Reindex(j, p, beta * v(j), v(p(j))),
    "exponents": Reindex(j, p, sp.exp(s(p(i), j)), sp.exp(s(i, p(j)))),
}


@pytest.mark.parametrize("claim", TRUE.values(), ids=TRUE)
def test_relabelling_a_sum_changes_nothing(claim: Reindex) -> None:
    assert claim.check().status is Status.PROVED


@pytest.mark.parametrize("claim", TRUE.values(), ids=TRUE)
def test_what_is_proved_holds_for_every_permutation_of_three_with_drawn_values(claim: Reindex) -> None:
    rng = Random(7)
    for shuffle in permutations(range(3)):
        values: dict = {}
        left, right = (
            total(claim, side, shuffle, {i: 1, beta: 2}, values, rng) for side in (claim.body, claim.rhs)
        )
        assert abs(sp.N(left - right, 30)) < sp.Rational(1, 10**20)


@pytest.mark.parametrize("claim", FALSE.values(), ids=FALSE)
def test_what_depends_on_the_order_is_refuted_by_a_small_instance(claim: Reindex) -> None:
    """The published permutation and function values give two different sums, computed afresh."""
    verdict = claim.check()
    assert verdict.status is Status.REFUTED, verdict.reason
    shown = verdict.certificate
    values = {
        (name, tuple(map(Fraction, arguments))): sp.Rational(value)
        for name, rows in shown["functions"].items()
        for arguments, value in rows
    }
    point = {sp.Symbol(name, real=True): sp.Rational(value) for name, value in shown["witness"].items()}
    shuffle = shown["permutation"]
    assert sorted(shuffle) == list(range(len(shuffle)))
    left, right = (total(claim, side, shuffle, point, values, None) for side in (claim.body, claim.rhs))
    lower, upper = map(sp.Rational, shown["gap"])
    assert lower <= sp.N(left - right, 40) <= upper or left - right == lower == upper
    assert lower * upper > 0


def total(claim: Reindex, side: sp.Expr, shuffle, point: dict, values: dict, rng: Random | None) -> sp.Expr:
    """The sum or product over j, functions read from `values`, and drawn where they are missing."""

    def call(node: sp.Expr) -> sp.Expr:
        if node.func == claim.bijection:
            return sp.Integer(shuffle[int(node.args[0])])
        key = (str(node.func), tuple(Fraction(int(x.p), int(x.q)) for x in node.args))
        if rng is not None and key not in values:
            values[key] = sp.Rational(rng.randint(1, 9), rng.randint(1, 4))
        return values[key]

    terms = []
    for index in range(len(shuffle)):
        term = side.subs({**point, claim.index: index}, simultaneous=True)
        while calls := sorted(inner(term), key=str):
            term = term.subs({node: call(node) for node in calls})
        terms.append(term)
    return sp.Add(*terms) if claim.operation == "sum" else sp.Mul(*terms)


def inner(term: sp.Expr) -> set:
    calls = term.atoms(sp.core.function.AppliedUndef)
    return {node for node in calls if all(x.is_Rational for x in node.args)}


def test_a_difference_that_no_small_instance_shows_is_undecided() -> None:
    assert Reindex(j, p, v(j), v(j)).check().status is Status.UNDECIDED
    assert "leaves the index set" in Reindex(j, p, v(j), v(p(j + 1))).check().reason
    assert "no index" in Reindex(j, p, v(sp.exp(j)), v(j)).check().reason


@pytest.mark.parametrize("seed", range(60))
def test_a_random_relabelling_is_proved_only_if_it_is_one(seed: int) -> None:
    """Each j of the body becomes p(j) or stays; proved exactly when all of them become p(j)."""
    rng = Random(seed)
    spots = sp.symbols("a0:4", real=True)
    shape = rng.choice(
        [spots[0] * 0 + v(spots[0]) * w(spots[1], spots[2]), q(spots[0]) ** 2 + beta * v(spots[1])]
    )
    moved = [p(j) if rng.random() < 0.7 else j for _ in spots]
    body = shape.subs(dict.fromkeys(spots, j))
    rhs = shape.subs(dict(zip(spots, moved, strict=True)))
    verdict = Reindex(j, p, body, rhs).check()
    assert (verdict.status is Status.PROVED) == (rhs == body.subs(j, p(j)))


@pytest.mark.parametrize(
    ("make", "error", "names"),
    [
        (lambda: Reindex("j", p, v(j), v(p(j))), WrongType, "index"),
        (lambda: Reindex(j, p, v(sp.Symbol("j")), v(p(j))), BadInput, "two different symbols named j"),
        (lambda: Reindex(j, "p", v(j), v(p(j))), WrongType, "bijection"),
        (lambda: Reindex(j, p, 0.5 * v(j), v(p(j))), WrongType, "body"),
        (lambda: Reindex(j, p, v(j), v(p(j, i))), BadInput, "one index"),
        (lambda: Reindex(j, p, v(j), sp.Derivative(v(j), j)), BadInput, "rhs"),
        (lambda: Reindex(j, p, v(j), v(p(j)), "mean"), BadInput, "operation"),
    ],
)
def test_bad_input_gets_one_sentence_that_names_it(make, error, names) -> None:
    with pytest.raises(error, match=names):
        make()


def test_the_tree_of_a_true_claim_substitutes_term_by_term() -> None:
    tree = TRUE["outputs follow their tokens"].tree()
    moved = str(tree["body"]).replace("['sym', 'j']", "['fn', 'p', ['sym', 'j']]")
    assert str(tree["rhs"]) == moved
    assert "operation" not in tree
    assert TRUE["products"].tree()["operation"] == "product"
