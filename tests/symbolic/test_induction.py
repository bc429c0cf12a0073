"""Base and step prove a claim for every n; only a false value at some n refutes it."""

from random import Random

import pytest
import sympy as sp
from exptx.symbolic.decide import Status
from exptx.symbolic.errors import BadInput, WrongType
from exptx.symbolic.induction import Induction

n, k, t, s, u, w, x, g = sp.symbols("n k t s u w x g", real=True)
a, b, c, d, p, tau = sp.symbols("a b c d p tau", real=True)
m, r = sp.Symbol("m", positive=True), sp.Symbol("r", nonnegative=True)
Q, K = sp.Matrix(sp.symbols("q0 q1", real=True)), sp.Matrix(sp.symbols("k0 k1", real=True))
V = sp.ImmutableMatrix([c, d])


def turn(angle: sp.Expr) -> sp.Matrix:
    return sp.Matrix([[sp.cos(angle), -sp.sin(angle)], [sp.sin(angle), sp.cos(angle)]])


def score(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    return ((turn(query * w) * Q).T * turn(key * w) * K)[0]


def planes(query: sp.Expr) -> Induction:
    """Scores at (query, s) and at (u, 0), summed over n planes with fresh contents and frequencies."""
    return Induction(n, 0, {a: (0, a + score(query, s)), b: (0, b + score(u, 0))}, {a: b})


def powers(claim: tuple) -> Induction:
    return Induction(n, 0, {V: (sp.Matrix([1, 0]), turn(t) * V)}, {V: sp.Matrix(claim)})


def gates(claim: sp.Expr) -> Induction:
    """The product of exp(g_l x) over the steps l, and the running sum of the gates g_l."""
    return Induction(n, 0, {p: (1, p * sp.exp(g * x)), tau: (0, tau + g)}, {p: claim})


def factorial_entries(following: sp.Expr, slope: sp.Expr, claim: sp.Expr) -> Induction:
    """a = t^k/k!, its left neighbour b = a_{k-1}, its derivative d."""
    state = {b: (1, a), a: (t, following), d: (1, slope)}
    return Induction(k, 1, state, {a: t * b / k, d: claim})


def losses(total: sp.Expr) -> Induction:
    """e = 1 - Π(1 - x_j) and d = Π(1 - x_j) + Σ x_j, for any new 0 <= x_j < 1 at every step."""
    lost = r / (r + m)
    state = {c: (0, c * (1 - lost) + lost), d: (1, d + lost * c)}
    return Induction(k, 1, state, {c: sp.S.Zero, d: total}, ">=")


TRUE = {
    "sums over n planes are relative": planes(s + u),
    "powers of a rotation turn n times": powers((sp.cos(n * t), sp.sin(n * t))),
    "a full turn n times does nothing": Induction(
        n, 0, {V: (sp.Matrix([1, 0]), turn(2 * sp.pi) * V)}, {V: sp.Matrix([1, 0])}
    ),
    "gates telescope": gates(sp.exp(tau * x)),
    "n equal steps": Induction(n, 0, {p: (1, p * sp.exp(x))}, {p: sp.exp(n * x)}),
    "t^k/k! differentiates to its neighbour": factorial_entries(a * t / (k + 1), (a + t * d) / (k + 1), b),
    "losses add up": losses(sp.S.One),
    "Bernoulli": Induction(n, 0, {p: (1, p * (1 + x))}, {p: 1 + n * x}, ">=", (x >= 0,)),
    "odd numbers sum to squares": Induction(n, 0, {a: (0, a + 2 * n + 1)}, {a: n**2}),
    "a start beyond zero": Induction(n, 5, {a: (10, a + n)}, {a: n * (n - 1) / 2}),
}

FALSE = {
    "only the query is shifted": planes(2 * s + u),
    "the wrong way round": powers((sp.cos(n * t), -sp.sin(n * t))),
    "twice the clock": gates(sp.exp(2 * tau * x)),
    "no factorial": factorial_entries(a * t, a + t * d, b),
    "twice the neighbour": factorial_entries(a * t / (k + 1), (a + t * d) / (k + 1), 2 * b),
    "losses add up twice": losses(sp.Integer(2)),
    "Bernoulli from above": Induction(n, 0, {p: (1, p * (1 + x))}, {p: 1 + 2 * n * x}, ">=", (x >= 0,)),
    "false from n = 5 on": Induction(n, 0, {a: (0, a + n * (n - 1) * (n - 2) * (n - 3))}, {a: 0}),
    "false at the start": Induction(n, 0, {a: (1, a + 1)}, {a: n}),
}


@pytest.mark.parametrize("claim", TRUE.values(), ids=TRUE)
def test_base_and_step_prove_all_n(claim: Induction) -> None:
    verdict = claim.check()
    assert verdict.status is Status.PROVED, verdict.reason


@pytest.mark.parametrize("claim", FALSE.values(), ids=FALSE)
def test_a_false_claim_fails_at_a_named_n(claim: Induction) -> None:
    """Sympy runs the recursion at the witness, and finds the claim false there."""
    verdict = claim.check()
    assert verdict.status is Status.REFUTED, verdict.reason
    gap = run(claim, verdict.witness, verdict.certificate["symbol"])
    lower, upper = map(sp.Rational, verdict.certificate["gap"])
    assert lower - sp.Rational(1, 10**6) <= gap <= upper + sp.Rational(1, 10**6)
    assert gap < 0 if claim.relation == ">=" else gap != 0


def run(claim: Induction, witness: dict, symbol: str) -> sp.Expr:
    last = int(witness[claim.index])
    chosen = dict(witness)
    chosen.pop(claim.index)
    now = {y: first.subs(chosen) for y, (first, _) in claim.state.items()}
    for i in range(claim.start, last):
        now = {
            y: f.subs(chosen).subs(claim.index, i).subs(now, simultaneous=True)
            for y, (_, f) in claim.state.items()
        }
    target = next(y for y in claim.claim if y.name == symbol)
    claimed = claim.claim[target].subs(chosen).subs(claim.index, last).subs(now)
    return sp.N(now[target] - claimed, 30)


def test_a_true_claim_too_weak_for_induction_is_undecided() -> None:
    """a >= 0 for 1, 1/2, 1, ..., but a >= 0 alone does not give a - 1/2 >= 0 at the first step."""
    weak = Induction(n, 1, {a: (1, a + n - sp.Rational(3, 2))}, {a: sp.Integer(0)}, ">=")
    verdict = weak.check()
    assert verdict.status is Status.UNDECIDED
    assert "no counterexample" in verdict.reason


def test_a_divisor_that_may_vanish_stops_the_proof() -> None:
    y = sp.Symbol("y", real=True)
    claim = Induction(n, 0, {a: (y, a)}, {a: sp.Mul(y**2 + y, 1 / (y + 1), evaluate=False)})
    assert claim.check().status is Status.UNDECIDED
    assert Induction(n, 0, {a: (m, a)}, {a: (m**2 + m) / (m + 1)}).check().status is Status.PROVED


@pytest.mark.parametrize("seed", range(80))
def test_a_random_claim_is_proved_only_if_the_numbers_agree(seed: int) -> None:
    """Polynomial claims on sums of random polynomials: proved exactly when the first ten values fit."""
    rng = Random(seed)
    summand = sum(rng.randint(-2, 2) * n**i for i in range(3))
    closed = sp.expand(sp.summation(summand, (n, 0, n - 1))) if rng.random() < 0.6 else n * rng.randint(-2, 2)
    closed += rng.choice([0, 0, 0, 1, n])
    verdict = Induction(n, 0, {a: (0, a + summand)}, {a: closed}).check()
    values = [sum(sp.sympify(summand).subs(n, j) for j in range(i)) for i in range(10)]
    agree = all(sp.sympify(closed).subs(n, i) == value for i, value in enumerate(values))
    assert verdict.status is (Status.PROVED if agree else Status.REFUTED)


@pytest.mark.parametrize(
    ("make", "error", "names"),
    [
        (lambda: Induction("n", 0, {a: (0, a)}, {a: 0}), WrongType, "index"),
        (lambda: Induction(n, 0.5, {a: (0, a)}, {a: 0}), WrongType, "start"),
        (lambda: Induction(n, 0, {a: (0, a)}, {a: 0}, "<="), BadInput, "relation"),
        (lambda: Induction(n, 0, {a: (0.5, a)}, {a: 0}), WrongType, "float"),
        (lambda: Induction(n, 0, {a: 0}, {a: 0}), BadInput, "pair"),
        (
            lambda: Induction(n, 0, {a: (0, a + sp.Symbol("n"))}, {a: n}),
            BadInput,
            "two different symbols named n",
        ),
        (lambda: Induction(n, 0, {}, {a: 0}), WrongType, "state"),
        (lambda: Induction(n, 0, {a: (0, a)}, {b: 0}), BadInput, "no state symbol"),
        (lambda: Induction(n, 0, {a: (0, a)}, {a: a}), BadInput, "not claimed"),
        (lambda: Induction(n, 0, {a: (b, a), b: (0, b)}, {a: 0}), BadInput, "starts with"),
        (
            lambda: Induction(n, 0, {a: (0, sp.Derivative(a * t, t))}, {a: 0}),
            BadInput,
            "carry the derivative",
        ),
        (lambda: Induction(n, 0, {n: (0, n)}, {n: 0}), BadInput, "index"),
        (lambda: Induction(n, 0, {a: (0, a)}, {a: 0}, assume=(a > 0,)), BadInput, "assume speaks of a"),
        (lambda: Induction(n, 0, {V: (sp.Matrix([1]), V)}, {c: 0}), BadInput, "shape"),
        (lambda: Induction(sp.Symbol("n", integer=True), 0, {a: (0, a)}, {a: 0}), BadInput, "integer symbol"),
    ],
)
def test_bad_input_gets_one_sentence_that_names_it(make, error, names) -> None:
    with pytest.raises(error, match=names):
        make()


def test_the_tree_is_the_claim() -> None:
    assert Induction(n, 1, {p: (1, 2 * p)}, {p: m}, ">=", (x >= 0,)).tree() == {
        "kind": "induction",
        "index": "n",
        "start": "1",
        "relation": ">=",
        "state": {"p": {"first": ["num", "1"], "next": ["mul", ["num", "2"], ["sym", "p"]]}},
        "claim": {"p": ["sym", "m"]},
        "assume": [["pos", "m"], ["nonneg", "x"]],
    }
