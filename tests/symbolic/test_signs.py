"""A sign is proved only where the formula has it everywhere, and refuted only at a point that shows it."""

from random import Random

import pytest
import sympy as sp
from exptx.symbolic.decide import Status
from exptx.symbolic.errors import BadInput, WrongType
from exptx.symbolic.sign_rules import polynomial_signs, signs_of
from exptx.symbolic.signs import CLAIMS, Sign
from exptx.symbolic.tree import D

x, y, t = sp.symbols("x y t", real=True)
g, w = sp.symbols("gamma omega", positive=True)
HALF = sp.Rational(1, 2)

TRUE = [
    (sp.exp(-g * t), "+", ()),
    (sp.exp(t) + 1, "+", ()),
    (-g, "-", ()),
    (x**2 + 1, "+", ()),
    (x**2 - 2 * x + 1, "+0", ()),
    (x**2 - 3 * x + 3, "+", ()),
    (g * (x - 1) ** 2 + y**2, "+0", ()),
    (x * (x + 1) / (2 * g), "+0", (x >= 0,)),
    (1 / x, "-", (x < 0,)),
    (1 / x**2, "+", (sp.Ne(x, 0),)),
    (sp.sin(t) ** 2 + sp.cos(t) ** 2, "+", ()),
    (sp.sin(t) ** 2 + sp.cos(t) ** 2 - 1, "0", ()),
    (sp.cosh(t) - sp.exp(t) / 2, "+", ()),
    (sp.Derivative(sp.exp(-g * t), t), "-", ()),
    (sp.sqrt(2) * x**2 + sp.pi, "+", ()),
    (t * sp.sinh(t), "+", (t > 0,)),
    (10 * x**4 - x**2 + sp.Rational(1, 39), "+", ()),
    (-(x**2) * sp.exp(-t), "-0", ()),
]

FALSE = [
    (sp.exp(g * t) - 1, "+", ()),
    (x**2, "+", ()),
    (x**2 - 2 * x + 1, "+", ()),
    (10 * x**4 - x**2 + sp.Rational(1, 41), "+", ()),
    (sp.cos(w * t), "+0", ()),
    (x * y, "0", ()),
    (1 / x, "+", ()),
    (x**3 - x, "+0", (x > 0,)),
    (sp.exp(-g * t), "-", ()),
    (g - w, "+", ()),
    (x + y, "+0", (x >= 0,)),
    (sp.Integer(0), "+", ()),
    (sp.pi - sp.Rational(22, 7), "+", ()),
]


@pytest.mark.parametrize(("expr", "sign", "assume"), TRUE, ids=str)
def test_what_follows_from_the_rules_is_proved(expr, sign, assume) -> None:
    assert Sign(expr, sign, assume).check().status is Status.PROVED


@pytest.mark.parametrize(("expr", "sign", "assume"), FALSE, ids=str)
def test_what_fails_somewhere_is_refuted_there(expr, sign, assume) -> None:
    """The witness obeys the assumptions, and sympy's own evaluation has a sign there that was not claimed."""
    verdict = Sign(expr, sign, assume).check()
    assert verdict.status is Status.REFUTED
    value = expr.subs(verdict.witness)
    assert int(sp.sign(sp.N(value, 30))) not in CLAIMS[sign]
    assert all(relation.subs(verdict.witness) is sp.true for relation in assume)
    assert verdict.certificate["witness"] == {s.name: str(v) for s, v in verdict.witness.items()}


@pytest.mark.parametrize("expr", [sp.exp(t) + sp.exp(-t) - 2, 2 + sp.cos(t), sp.Function("f")(t)], ids=str)
def test_what_the_rules_do_not_reach_is_undecided(expr) -> None:
    assert Sign(expr, "+0").check().status is Status.UNDECIDED


def test_a_divisor_that_may_vanish_proves_nothing() -> None:
    assert Sign(x**2 / x**2, "+").check().status is Status.PROVED  # sympy cancels before anyone looks
    assert Sign(sp.exp(1 / x), "+").check().status is Status.UNDECIDED
    assert Sign(sp.exp(1 / x), "+", (x > 0,)).check().status is not Status.REFUTED
    assert Sign(sp.tan(x) ** 2, "+0").check().status is Status.UNDECIDED
    quotient = sp.Mul(x**2 + y**2, sp.Pow(x**2 - y**2, -2), evaluate=False)
    assert Sign(quotient, "+").check().status is not Status.PROVED


def test_signs_are_those_where_there_is_a_value() -> None:
    assert signs_of(1 / x, Sign(x, "+0", (x >= 0,)).premises) == {1}


def test_a_formula_that_is_not_real_has_no_sign() -> None:
    verdict = Sign(sp.I * x, "+").check()
    assert verdict.status is Status.UNDECIDED
    assert "not real" in verdict.reason
    assert Sign(sp.exp(sp.I * t) + sp.exp(-sp.I * t) - 2 * sp.cos(t), "0").check().status is Status.PROVED


@pytest.mark.parametrize("seed", range(150))
def test_a_random_sign_claim_is_never_proved_against_the_evidence(seed: int) -> None:
    """Proved claims hold at every sampled point; refuted ones fail at their witness."""
    rng = Random(seed)
    expr = random_formula(rng)
    sign = rng.choice(list(CLAIMS))
    assume = rng.choice([(), (x > 0,), (x >= 0, y > 0), (sp.Ne(x, 0),)])
    verdict = Sign(expr, sign, assume).check()
    for _ in range(25):
        point = {s: sp.Rational(rng.randint(-12, 12), rng.choice([1, 2, 5])) for s in (x, y)}
        if verdict.status is Status.PROVED and all(r.subs(point) == True for r in assume):  # noqa: E712
            assert int(sp.sign(sp.N(expr.subs(point), 30))) in CLAIMS[sign]
    if verdict.status is Status.REFUTED:
        assert int(sp.sign(sp.N(expr.subs(verdict.witness), 30))) not in CLAIMS[sign]


def random_formula(rng: Random) -> sp.Expr:
    atoms = [x, y, x**2, x * y, y**2, sp.exp(x), sp.exp(-y), sp.exp(x * y), x**2 * sp.exp(-x), sp.Integer(1)]
    terms = rng.sample(atoms, rng.randint(1, 4))
    total = sp.Add(*(rng.choice([1, 1, 2, HALF, -1]) * term for term in terms))
    return total * rng.choice([1, 1, total, sp.exp(-x), x])


@pytest.mark.parametrize("seed", range(60))
def test_sturm_finds_exactly_the_signs_that_occur(seed: int) -> None:
    """Against the roots themselves: products of linear and definite factors, sampled between."""
    rng = Random(seed)
    roots = [sp.Rational(rng.randint(-3, 3), rng.choice([1, 2])) for _ in range(rng.randint(0, 4))]
    formula = rng.choice([1, -2]) * sp.Mul(*(x - r for r in roots)) * rng.choice([1, x**2 + 1, x**2 + x + 1])
    domain = rng.choice(list(map(frozenset, ([1], [-1], [0, 1], [-1, 1], [-1, 0, 1]))))
    samples = {s for r in [*roots, 0] for s in (r, r + sp.Rational(1, 7), r - sp.Rational(1, 7))} | {-9, 9}
    seen = {
        int(sp.sign(formula.subs(x, s))) if formula.free_symbols else int(sp.sign(formula))
        for s in samples
        if sp.sign(s) in domain
    }
    assert polynomial_signs(sp.Poly(formula, x, domain="QQ"), domain) == seen


@pytest.mark.parametrize(
    ("make", "error", "names"),
    [
        (lambda: Sign(0.5 * x, "+"), WrongType, "expr"),
        (lambda: Sign(x, "positive"), BadInput, "positive"),
        (lambda: Sign(sp.eye(2), "+"), BadInput, "matrix"),
        (lambda: Sign(x, "+", (x <= 0,)), BadInput, "write -x for x"),
        (lambda: Sign(x, "+", (x > 1,)), BadInput, "assume"),
        (lambda: Sign(x, "+", (x > 0, x < 0)), BadInput, "contradict"),
        (lambda: Sign("x", "+"), WrongType, "string"),
        (lambda: Sign(x, "+", (sp.Symbol("x") > 0,)), BadInput, "two different symbols named x"),
    ],
)
def test_bad_input_gets_one_sentence_that_names_it(make, error, names) -> None:
    with pytest.raises(error, match=names):
        make()


def test_the_tree_is_the_claim_with_every_known_sign() -> None:
    tree = Sign(g * x, "+0", (x >= 0,)).tree()
    assert tree["assume"] == [["pos", "gamma"], ["nonneg", "x"]]
    assert (tree["kind"], tree["sign"]) == ("sign", "+0")
    assert Sign(g * x, "+0", (x >= 0,)).formula() == (g * x, "≥", 0)


def test_the_sign_of_a_derivative_is_looked_for_after_differentiating():
    u = sp.Symbol("u", real=True)
    verdict = Sign(D(sp.cosh(u), u), "+").check()
    assert verdict.status is Status.REFUTED
    assert Sign(D(sp.sinh(u), u), "+").check().status is Status.PROVED
