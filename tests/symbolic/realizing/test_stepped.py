"""`realize` on the integers: finite exceptions, signs, frequencies modulo 2π, what no recurrence does."""

import pytest
import sympy as sp
from exptx.symbolic import BadInput, NotRealizable, Realization, Unsupported, decide, realize

n = sp.Symbol("n")
g, w, r1, r2 = sp.symbols("g w r1 r2", positive=True)
Q = sp.Rational
WINDOW = sp.Piecewise((n**2 + 1, n < 3), (0, True))

CAUSAL = [
    (sp.Min(n, 4), 5),
    (sp.Min(n, 3) * sp.exp(-g * n), 4),
    (sp.Piecewise((1, n < 3), (0, True)), 3),
    (WINDOW, 3),
    (sp.KroneckerDelta(n, 2), 3),
    (sp.Abs(n - Q(1, 2)), 3),
    (sp.Min(n, 2) * sp.cos(sp.pi * n / 3), 4),
    (sp.Abs(n), 2),
    (2 ** (-sp.Abs(n)), 1),
    (sp.Max(n, 2) - n, 2),
    (sp.Piecewise((7, sp.Eq(n, 5)), (2 ** (-n), True)), 7),
]
BOTH = [
    (-n, 2),
    (n**2, 3),
    (sp.cos(sp.pi * n), 1),
    ((-2) ** n + 3, 2),
    (n * (-1) ** n, 2),
    (sp.cos(2 * sp.pi * n) + n, 2),
    (sp.cos((2 * sp.pi - Q(1, 10)) * n), 2),
    (sp.cos(sp.pi * n / 2), 2),
    (sp.cos(w * n) * 2 ** (-n), 2),
    (sp.cos(sp.Abs(n)), 2),
    (sp.exp(sp.sqrt(2) * n), 1),
    (sp.cos(4 * sp.pi * n / 3) + sp.cos(2 * sp.pi * n / 3), 2),
    (sp.sin(4 * sp.pi * n / 3) + 2 * sp.sin(2 * sp.pi * n / 3), 2),
]
ALL = [(bias, order, "causal-integers") for bias, order in CAUSAL + BOTH]
ALL += [(bias, order, "integers") for bias, order in BOTH]
VALUES = {g: Q(1, 3), w: Q(5, 7)}


def powers(found, count):
    """cᵀ Aⁿ v by multiplication."""
    state, out = found.v.subs(VALUES), []
    for _ in range(count):
        out.append((found.c.subs(VALUES).T * state)[0])
        state = (found.step.subs(VALUES) * state).applyfunc(sp.expand)
    return out


@pytest.mark.parametrize(("bias", "order", "domain"), ALL, ids=str)
def test_the_powers_of_the_step_give_the_bias(bias, order, domain):
    found = realize(bias, n, domain=domain)
    assert isinstance(found, Realization)
    assert found.order == order == found.step.rows == found.annihilator.degree()
    assert found.verdict.holds
    for k, value in enumerate(powers(found, 2 * order + 1)):
        true = bias.subs(VALUES).subs(n, k)
        assert abs(sp.N(value - true, 20)) < 1e-12, k


@pytest.mark.parametrize(("bias", "order", "domain"), ALL, ids=str)
def test_the_determinant_is_that_of_the_values(bias, order, domain):
    found = realize(bias, n, domain=domain)
    values = [bias.subs(VALUES).subs(n, k) for k in range(2 * order - 1)]
    literal = sp.Matrix(order, order, lambda i, j: values[i + j]).det()
    assert abs(sp.N(found.determinant.subs(VALUES) - literal, 20)) < 1e-9
    assert abs(sp.N(literal, 20)) > 1e-9


def test_a_clipped_distance_is_a_constant_and_a_nilpotent_block():
    found = realize(sp.Min(n, 4), n, domain="causal-integers")
    assert found.X is None
    assert found.step.extract(range(1, 5), range(1, 5)) ** 4 == sp.zeros(4)
    assert (
        found.annihilator.as_expr()
        == sp.Poly((found.annihilator.gen - 1) * found.annihilator.gen**4).as_expr()
    )
    with pytest.raises(BadInput, match="slots need a generator"):
        found.slots(1)


@pytest.mark.parametrize(
    ("bias", "reduced"), [(-n, 1), (2 ** (-n), 1), (sp.Min(n, 4), 4), (sp.cos(sp.pi * n) + 1, 1), (n**2, 2)]
)
def test_a_row_constant_saves_one_exactly_when_one_is_an_eigenvalue_of_the_step(bias, reduced):
    found = realize(bias, n, domain="causal-integers", modulo_row_constant=True)
    whole = realize(bias, n, domain="causal-integers")
    assert found.order == reduced
    fixed = decide((whole.step - sp.eye(whole.order)).det()).holds
    assert whole.order - reduced == (1 if fixed else 0)
    steps = [(bias.subs(n, k + 1) - bias.subs(n, k)) for k in range(2 * reduced)]
    literal = sp.Matrix(reduced, reduced, lambda i, j: steps[i + j]).det()
    assert sp.nsimplify(found.determinant - literal) == 0


@pytest.mark.parametrize(
    ("bias", "sentence"),
    [
        (sp.Abs(n), "at n = -1 the bias is 1 and not -1"),
        (2 ** (-sp.Abs(n)), "at n = -1 the bias is 1/2 and not 2"),
        (sp.Min(n, 4), "at n = 3 the bias is 3 and not 4"),
        (sp.Piecewise((1, n < 3), (0, True)), "at n = 2 the bias is 1 and not 0"),
        (sp.Piecewise((5, sp.Eq(n, 0)), (1, True)), "at n = 0 the bias is 5 and not 1"),
        (sp.Max(n, -3), "at n = -4 the bias is -3 and not -4"),
    ],
    ids=str,
)
def test_on_all_integers_what_holds_in_the_end_holds_always(bias, sentence):
    found = realize(bias, n, domain="integers")
    assert isinstance(found, NotRealizable)
    assert found.witness.sentence == sentence
    assert "invertible" in found.cited


@pytest.mark.parametrize(
    ("bias", "word"),
    [
        (sp.log(1 + n), "(log n)^1"),
        (-r1 * sp.log(1 + r2 * n), "(log n)^1"),
        (sp.sqrt(n), "n^(1/2)"),
        (n * sp.log(1 + n) + 2**n, "n^(1) (log n)^1"),
        ((1 + n**2) ** Q(1, 3), "n^(2/3)"),
        (sp.exp(-(n**2)), "exp(-n**2)"),
        (sp.exp(-(n**2)) + sp.exp(n - n**2), "exp(-n**2 + n)"),
    ],
    ids=str,
)
def test_what_grows_at_no_rate_of_a_recurrence_is_refused(bias, word):
    found = realize(bias, n, domain="causal-integers")
    assert isinstance(found, NotRealizable)
    assert word in found.reason
    assert "growth lemma" in found.cited


@pytest.mark.parametrize(
    "bias",
    [
        sp.log(1 + n) - sp.log(2 + n),
        sp.sqrt(n**2 + 1),
        sp.cos(sp.pi * n**2),
        sp.Min(n, 10**6),
        1 / (1 + n),
    ],
    ids=str,
)
def test_what_growth_does_not_decide_is_left_open(bias):
    with pytest.raises(Unsupported):
        realize(bias, n, domain="causal-integers")


def test_a_variable_declared_whole_or_positive_is_the_same_variable():
    whole = sp.Symbol("n", integer=True, nonnegative=True)
    assert realize(sp.Min(whole, 4), whole, domain="causal-integers").order == 5
    assert realize((-1) ** whole, whole, domain="integers").order == 1
    assert isinstance(realize(sp.Abs(n), n, domain="integers"), NotRealizable)


def test_a_bias_that_is_zero_on_the_integers_needs_nothing():
    found = realize(sp.sin(sp.pi * n), n, domain="integers")
    assert (found.order, found.step.shape, found.verdict.holds) == (0, (0, 0), True)
