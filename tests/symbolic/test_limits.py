"""The dominant exponent decides the limit; what oscillates or hangs on an unknown sign is left open."""

from random import Random

import pytest
import sympy as sp
from exptx.symbolic.decide import Status
from exptx.symbolic.errors import BadInput, WrongType
from exptx.symbolic.limits import Limit
from sympy import oo

t, x, y = sp.symbols("t x y", real=True)
g, w, d = sp.symbols("gamma omega delta", positive=True)

TRUE = [
    (sp.exp(-g * t) * sp.cos(w * t), oo, 0, ()),
    (sp.exp(g * t), oo, oo, ()),
    (sp.exp(-g * t), -oo, oo, ()),
    (t**3 * sp.exp(-g * t), oo, 0, ()),
    (t**3, -oo, -oo, ()),
    (-(t**2), oo, -oo, ()),
    (x + sp.exp(-g * t), oo, x, ()),
    (sp.exp(-g * t) / d + 1 / g, oo, 1 / g, ()),
    (t * x, oo, -oo, (x < 0,)),
    (t / x, oo, -oo, (x < 0,)),
    (sp.exp(-(t**2)) * sp.exp(5 * t), oo, 0, ()),
    (sp.exp(g * t) - sp.exp((g + d) * t), oo, -oo, ()),
    (sp.exp(2 * g * t) * (sp.cos(w * t) ** 2 + sp.sin(w * t) ** 2), oo, oo, ()),
    (t**2 * (sp.cos(w * t) ** 2 + sp.sin(w * t) ** 2 - 1) + 1, oo, 1, ()),
    (t + sp.cos(w * t), oo, oo, ()),
    (sp.cosh(g * t), -oo, oo, ()),
    (sp.Derivative(sp.exp(-g * t), t), oo, 0, ()),
    (sp.Integer(3), oo, 3, ()),
]


@pytest.mark.parametrize(("expr", "to", "value", "assume"), TRUE, ids=str)
def test_the_dominant_exponent_gives_the_limit(expr, to, value, assume) -> None:
    assert Limit(expr, t, to, value, assume).check().status is Status.PROVED


@pytest.mark.parametrize(("expr", "to", "value", "assume"), TRUE, ids=str)
def test_another_limit_is_refuted_by_the_true_one(expr, to, value, assume) -> None:
    for other in (oo, -oo, sp.Integer(7)):
        if other != value:
            verdict = Limit(expr, t, to, other, assume).check()
            assert verdict.status is Status.REFUTED
            assert f"the limit is {value}" in verdict.reason
            assert verdict.certificate["actual"] == Limit(expr, t, to, value, assume).tree()["value"]


@pytest.mark.parametrize(
    ("expr", "to", "why"),
    [
        (sp.cos(w * t), oo, "squared norm"),
        (sp.exp(-g * t) * sp.cos(w * t), -oo, "squared norm"),
        (t + t * sp.cos(t), oo, "squared norm"),
        (sp.exp(-x * t), oo, "sign of -x"),
        (sp.exp((g - d) * t), oo, "sign of"),
        (x * t, oo, "unknown sign"),
        (sp.tanh(t), oo, "denominator depends on t"),
        (sp.exp(-t) / x, oo, "may vanish"),
        (sp.Function("f")(x) + sp.exp(-t), oo, "undefined function"),
        (sp.I * sp.exp(-t), oo, "not real"),
    ],
)
def test_what_is_not_settled_says_why(expr, to, why) -> None:
    verdict = Limit(expr, t, to, 0).check()
    assert verdict.status is Status.UNDECIDED
    assert why in verdict.reason


def test_boundary_frequency_zero_is_not_mixed_up_with_a_turn() -> None:
    """cos(x t) at unknown x oscillates for almost every x: never a proof, whichever limit is claimed."""
    for value in (0, 1, oo):
        assert Limit(sp.cos(x * t), t, oo, value).check().status is Status.UNDECIDED


@pytest.mark.parametrize("seed", range(120))
def test_a_random_limit_agrees_with_far_away_values(seed: int) -> None:
    """A proved or named limit is approached: at t = 10^3 the value is near it, or beyond any bound."""
    rng = Random(seed)
    terms = [
        rng.choice([1, -1, 2]) * t ** rng.randint(0, 2) * sp.exp(rng.randint(-2, 2) * t) * turn(rng)
        for _ in range(rng.randint(1, 4))
    ]
    expr = sp.Add(*terms)
    verdict = Limit(expr, t, oo, 0).check()
    far = sp.N(expr.subs(t, 1000), 30)
    if verdict.status is Status.PROVED:
        assert abs(far) < 1
    elif verdict.status is Status.REFUTED:
        actual = verdict.certificate["actual"]
        if actual in ("+oo", "-oo"):
            assert sp.sign(far) == (1 if actual == "+oo" else -1)
            assert abs(far) > 100
        else:
            assert abs(far - sp.Rational(actual[1])) < sp.Rational(1, 100)


def turn(rng: Random) -> sp.Expr:
    return rng.choice(
        [sp.Integer(1), sp.Integer(1), sp.cos(t), sp.sin(2 * t), sp.cos(t) ** 2 + sp.sin(t) ** 2]
    )


@pytest.mark.parametrize(
    ("make", "error", "names"),
    [
        (lambda: Limit(0.1 * t, t, oo, 0), WrongType, "expr"),
        (lambda: Limit(t, "t", oo, 0), WrongType, "variable"),
        (lambda: Limit(t, t, 0, 0), BadInput, "to is 0"),
        (lambda: Limit(t, t, oo, t), BadInput, "value"),
        (lambda: Limit(sp.Symbol("t"), t, oo, 0), BadInput, "two different symbols named t"),
        (lambda: Limit(sp.eye(2), t, oo, 0), BadInput, "matrix"),
        (lambda: Limit(x * t, t, oo, 0, (x <= 0,)), BadInput, "write -x for x"),
        (lambda: Limit(t, t, oo, oo, (t > 0,)), BadInput, "assume speaks of t"),
    ],
)
def test_bad_input_gets_one_sentence_that_names_it(make, error, names) -> None:
    with pytest.raises(error, match=names):
        make()


def test_the_tree_is_the_claim() -> None:
    tree = Limit(sp.exp(-g * t), t, -oo, oo).tree()
    assert tree.pop("expr")[0] == "exp"
    assert tree == {
        "kind": "limit",
        "variable": "t",
        "to": "-oo",
        "value": "+oo",
        "assume": [["pos", "gamma"]],
    }
