"""`realize` on the reals and on u >= 0: orders, determinants, refusals, each against an independent route."""

import mpmath
import pytest
import sympy as sp
from exptx.symbolic import BadInput, NotRealizable, Realization, Unsupported, WrongType, decide, realize

u = sp.Symbol("u")
g, w, m, r1, r2 = sp.symbols("g w m r1 r2", positive=True)
Q = sp.Rational

ORDERS = [  # bias, order, Hankel-Wronskian determinant
    (-m * u, 2, -(m**2)),
    (u**2, 3, -8),
    (sp.cos(w * u), 2, -(w**2)),
    (u * sp.exp(-g * u) * sp.cos(w * u), 4, 16 * w**8),
    (sp.exp(-g * u) + sp.cos(w * u) + u, 5, g**4 * w**10 * (g**2 + w**2) ** 2),
    (u**2 * sp.exp(-u / 10) * sp.cos(3 * u), 6, None),
    (sp.log(sp.exp(-2 * u)), 2, -4),
    (sp.cos(u) ** 4, 5, None),
    (2 ** (-u), 1, 1),
    ((u + 1) ** 3 - u**3, 3, None),
    (sp.cos(sp.Abs(u)), 2, -1),
    (sp.cosh(u), 2, None),
    (sp.sqrt((u**2 + 1) ** 2), 3, None),
    (sp.exp(sp.sqrt(2) * u) * sp.cos(sp.pi * u / 3), 2, None),
    (sp.log(8) * u - 3 * sp.log(2) * u + 1, 1, 1),
    (sp.sin(u + 1) / (g + 1), 2, None),
    (sp.cos(sp.sqrt(2) * u) * sp.cos(sp.sqrt(3) * u), 4, None),
    (sp.sin(sp.sqrt(2) * u) * sp.cos(sp.sqrt(3) * u), 4, None),
    (sp.exp(-g * u) * sp.cos(w * u) + sp.exp(-3 * g * u), 3, None),
]
CASES = [pytest.param(*case, id=str(case[0])) for case in ORDERS]


def literal_determinant(bias, order):
    """det [b^(i+j)(0)] by sympy's own differentiation."""
    b = bias.xreplace({u: sp.Symbol("u", real=True)})
    x = sp.Symbol("u", real=True)
    derivatives = [sp.diff(b, x, k).subs(x, 0) for k in range(2 * order - 1)]
    return sp.Matrix(order, order, lambda i, j: derivatives[i + j]).det()


@pytest.mark.parametrize(("bias", "order", "determinant"), CASES)
@pytest.mark.parametrize("domain", ["real", "causal"])
def test_an_exponential_polynomial_has_its_order(bias, order, determinant, domain):
    found = realize(bias, u, domain=domain)
    assert isinstance(found, Realization)
    assert found.order == order == found.X.rows == found.c.rows == found.v.rows == found.annihilator.degree()
    assert determinant is None or sp.expand(found.determinant - determinant) == 0
    assert found.verdict.holds
    assert not found.conditions


@pytest.mark.parametrize(
    ("bias", "order", "determinant"), [CASES[k] for k in (0, 1, 2, 3, 5, 7, 8, 10, 11, 13)]
)
def test_the_determinant_is_that_of_the_derivatives_at_zero(bias, order, determinant):
    values = {g: Q(1, 3), w: Q(5, 7), m: 2}
    found = realize(bias, u).determinant.subs(values)
    plain = bias.subs(values).replace(sp.Abs, lambda x: x)
    assert abs(sp.N(found - literal_determinant(plain, order), 30)) < 1e-20


@pytest.mark.parametrize(("bias", "order", "determinant"), CASES)
def test_the_matrix_exponential_gives_the_bias(bias, order, determinant):
    """c' exp(uX) v by mpmath's exponential, which knows nothing of blocks."""
    values = {g: Q(1, 3), w: Q(5, 7), m: 2}
    found = realize(bias, u)
    with mpmath.workdps(30):
        X, c, v = (mpmath.matrix(x.subs(values).evalf(30).tolist()) for x in (found.X, found.c, found.v))
        for point in (Q(-3, 2), Q(1, 3), Q(11, 4)):
            got = (c.T * mpmath.expm(X * mpmath.mpf(point.p) / point.q) * v)[0]
            true = sp.N(bias.subs(values).subs(u, point), 30)
            assert abs(got - mpmath.mpmathify(true)) < mpmath.mpf(10) ** -20


@pytest.mark.parametrize(("bias", "order", "determinant"), [CASES[k] for k in (0, 2, 3, 5, 9)])
def test_a_perturbed_bias_is_refuted(bias, order, determinant):
    found = realize(bias, u)
    x = found.u
    closed = (found.c.T * found.generator.exp(x) * found.v)[0]
    exact = bias.xreplace({u: x})
    assert decide(closed, exact).holds
    assert not decide(closed, exact + sp.exp(-7 * x) / 1000).holds
    assert not decide(closed, exact * Q(1001, 1000)).holds


def test_the_companion_moves_the_derivatives():
    bias = u * sp.exp(-u) * sp.cos(2 * u)
    found = realize(bias, u)
    jets = [sp.diff(bias, u, k).subs(u, Q(1, 2)) for k in range(5)]
    moved = found.companion * sp.Matrix(jets[:4])
    assert max(abs(sp.N(a - b, 20)) for a, b in zip(moved, jets[1:], strict=True)) < 1e-15


@pytest.mark.parametrize(
    ("bias", "before", "after", "determinant"),
    [
        (-u, 2, 1, -1),
        (u**2, 3, 2, -4),
        (2 ** (-u), 1, 1, -sp.log(2)),
        (sp.cos(w * u) + u, 4, 3, -(w**8)),
        (sp.Integer(3), 1, 0, 1),
        (sp.exp(-u), 1, 1, -1),
    ],
    ids=str,
)
def test_a_row_constant_saves_one_exactly_when_zero_is_an_eigenvalue(bias, before, after, determinant):
    whole, reduced = realize(bias, u), realize(bias, u, modulo_row_constant=True)
    assert (whole.order, reduced.order) == (before, after)
    assert (sp.det(whole.X) == 0) == (after < before)
    assert sp.expand(reduced.determinant - determinant) == 0
    slope = sp.diff(bias, u)
    assert (
        after == 0
        or abs(sp.N((literal_determinant(slope, after) - determinant).subs(w, Q(2, 3)), 20)) < 1e-15
    )


@pytest.mark.parametrize(
    ("bias", "word"),
    [
        (sp.log(1 + u), "log(u + 1)"),
        (-r1 * sp.log(1 + r2 * u), "log(r2*u + 1)"),
        (sp.log(1 + u) - sp.log(2 + u), "log(u + "),
        (sp.cos(u) - sp.log(1 + u), "log(u + 1)"),
        (sp.sqrt(u), "a power of u that is not whole"),
        (-m * u ** Q(1, 2), "a power of u that is not whole"),
        ((1 + u) ** Q(-1, 2), "a power of u + 1 that is not whole"),
        ((1 + u) ** sp.sqrt(2), "a power of u + 1 that is not whole"),
        (sp.exp(-(u**2)), "exp(-u**2)"),
        ((1 - u**2) * sp.exp(-(u**2) / 2), "exp(-u**2/2)"),
        (sp.cos(u**2) + u, "exp(I*u**2)"),
        (sp.log(u**2), "log("),
        ((1 + u) ** u, "a power of u + 1 that is not whole"),
    ],
    ids=str,
)
@pytest.mark.parametrize("domain", ["real", "causal"])
def test_what_is_no_exponential_polynomial_is_refused_with_its_reason(bias, word, domain):
    found = realize(bias, u, domain=domain)
    assert isinstance(found, NotRealizable)
    assert word in found.reason
    assert found.cited
    assert "excludes orders below 4" in found.witness.sentence


@pytest.mark.parametrize(
    "bias", [sp.floor(u), sp.ceiling(-u / 3), sp.Mod(u, 7), u - sp.floor(2 * u)], ids=str
)
@pytest.mark.parametrize("domain", ["real", "causal"])
def test_steps_without_end_are_refused_at_a_point_of_another_step(bias, domain):
    found = realize(bias, u, domain=domain)
    assert isinstance(found, NotRealizable)
    point = found.witness.data["point"][found.u]
    assert bias.subs(u, point) == found.witness.data["bias"] != found.witness.data["continued"]


@pytest.mark.parametrize(
    ("bias", "order"),
    [
        ((sp.exp(2 * u) - 1) / (sp.exp(u) - 1), 2),
        (sp.sin(3 * u) / sp.sin(u), 3),
        ((1 - 2 ** (-5 * u)) / (1 - 2 ** (-u)), 5),
        ((u**2 - 1) * sp.exp(u) / (u - 1), 2),
    ],
    ids=str,
)
def test_a_quotient_that_comes_out_is_realised(bias, order):
    assert realize(bias, u, domain="causal").order == order


@pytest.mark.parametrize(
    "bias",
    [sp.tanh(u), 1 / (1 + u), 1 / (1 + u**2), 1 / (1 + sp.exp(-u)), sp.sin(u) / u, (3**u - 1) / (2**u - 1)],
    ids=str,
)
@pytest.mark.parametrize("domain", ["real", "causal"])
def test_a_quotient_that_does_not_come_out_is_refused(bias, domain):
    found = realize(bias, u, domain=domain)
    assert isinstance(found, NotRealizable)
    assert "does not divide" in found.reason


def test_the_finite_witness_of_the_logarithm_is_its_hankel_determinant():
    found = realize(sp.log(1 + u), u, domain="causal")
    assert abs(float(found.witness.data["determinant"].lower) + 1.481120055798154e-5) < 1e-19


@pytest.mark.parametrize(
    ("bias", "sentence"),
    [
        (sp.Abs(u), "at u = -1 the bias is 1 and not -1"),
        (sp.sqrt(u**2), "at u = -1 the bias is 1 and not -1"),
        (sp.sqrt(u**2 * sp.exp(2 * u)), "at u = -1 the bias is exp(-1) and not -exp(-1)"),
        (sp.exp(-sp.Abs(u)), "at u = -1 the bias is exp(-1) and not e"),
        (sp.Piecewise((1, u < 3), (0, True)), "at u = 2 the bias is 1 and not 0"),
        (sp.Min(u, 4), "at u = 3 the bias is 3 and not 4"),
        (sp.sign(u) ** 2, "at u = 0 the bias is 0 and not 1"),
        (sp.Max(0, 1 - u), "at u = 0 the bias is 1 and not 0"),
    ],
    ids=str,
)
def test_a_kink_or_step_is_refused_with_a_point(bias, sentence):
    found = realize(bias, u)
    assert isinstance(found, NotRealizable)
    assert found.witness.sentence == sentence


@pytest.mark.parametrize(
    "f", [u**2, sp.cos(3 * u), sp.cosh(u / 2), u, sp.exp(-u), u**3 + u**2, sp.sin(u)], ids=str
)
def test_a_function_of_the_distance_is_realizable_exactly_if_it_is_even(f):
    x = sp.Symbol("u", real=True)
    even = decide(f.xreplace({u: x}), f.xreplace({u: -x})).holds
    assert isinstance(realize(f.xreplace({u: sp.Abs(u)}), u), Realization) == even
    assert isinstance(realize(f.xreplace({u: sp.Abs(u)}), u, domain="causal"), Realization)


def test_powers_inside_a_logarithm_come_before_it():
    assert realize(sp.log((1 + u) ** 3) - 3 * sp.log(1 + u) + u, u, domain="causal").order == 2
    assert realize(sp.log((1 + u) ** 4 * sp.exp(u)) - 4 * sp.log(1 + u), u, domain="causal").order == 2
    assert realize(sp.log(1 / (3 + 3 * u)) + sp.log(1 + u) + u, u, domain="causal").order == 2
    assert isinstance(realize(sp.log((1 + u) ** 4) - 3 * sp.log(1 + u), u, domain="causal"), NotRealizable)


def test_a_variable_keeps_its_name_in_the_answer():
    assert realize(-u, u).u is u
    assert u in realize(sp.Abs(u), u).witness.data["point"]


def test_symbols_that_may_vanish_become_conditions():
    a = sp.Symbol("a", real=True)
    assert realize(a * u, u).conditions == (a,)
    assert realize(a * sp.log(1 + u), u).conditions == (a,)
    assert realize(sp.log(1 + a * u), u).conditions == (a,)
    assert realize(sp.exp(a * u**2), u).conditions == (a,)


@pytest.mark.parametrize(
    "bias",
    [sp.log(1 + r1 * u) - sp.log(1 + r2 * u), sp.exp(-r1 * u**2) - sp.exp(-r2 * u**2)],
    ids=str,
)
@pytest.mark.parametrize("domain", ["real", "causal"])
def test_terms_that_cancel_for_equal_symbols_are_refused_for_different_ones(bias, domain):
    found = realize(bias, u, domain=domain)
    assert isinstance(found, NotRealizable)
    assert any(sp.expand(condition.subs(r1, r2)) == 0 for condition in found.conditions)


@pytest.mark.parametrize(
    ("arguments", "options", "error"),
    [
        ((0.5 * u, u), {}, WrongType),
        (("-u", u), {}, WrongType),
        ((-u, "u"), {}, WrongType),
        ((-u, 3), {}, WrongType),
        ((-u, u), {"domain": "complex"}, BadInput),
        ((-u, u), {"modulo_row_constant": 1}, WrongType),
        ((sp.I * u, u), {}, BadInput),
        ((sp.Matrix([u]), u), {}, BadInput),
        ((sp.Function("f")(u), u), {}, BadInput),
        ((sp.oo * u, u), {}, BadInput),
        (((-2) ** u, u), {}, Unsupported),
        ((u**g, u), {}, Unsupported),
        ((sp.gamma(u), u), {}, Unsupported),
        ((sp.log(1 + sp.exp(u)), u), {}, Unsupported),
        ((sp.exp(-sp.sqrt(u)), u), {}, Unsupported),
        (((sp.exp(g * u) - 1) / (sp.exp(u) - 1), u), {}, Unsupported),
        (((u + 1) / (sp.E * u + u), u), {}, Unsupported),
        ((sp.floor(u**2), u), {}, Unsupported),
        ((sp.floor(u) + sp.ceiling(-u), u), {}, Unsupported),
        ((-u, sp.Symbol("u", real=True)), {}, BadInput),
        ((-u, sp.Symbol("u", imaginary=True)), {}, BadInput),
        ((sp.Abs(u**5 - u - 1), u), {}, Unsupported),
    ],
)
def test_nonsense_is_refused_with_one_sentence(arguments, options, error):
    with pytest.raises(error) as caught:
        realize(*arguments, **options)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) > 30


@pytest.mark.parametrize("domain", ["real", "causal-integers"])
def test_an_order_that_would_take_minutes_is_refused_at_once(domain):
    with pytest.raises(Unsupported, match="the order of the bias is 1001; orders up to 200"):
        realize(u**1000, u, domain=domain)


@pytest.mark.parametrize("domain", ["real", "causal", "integers", "causal-integers"])
@pytest.mark.parametrize("bias", [sp.Integer(0), 2 ** (3 * u) - 8**u])
def test_zero_is_realised_by_nothing(bias, domain):
    found = realize(bias, u, domain=domain)
    assert (found.order, found.X.shape, found.c.shape, found.v.shape) == (0, (0, 0), (0, 1), (0, 1))
    assert found.step is None or found.step.shape == (0, 0)
    assert found.verdict.holds
    assert found.determinant == 1
    assert (found.annihilator.as_expr(), found.companion.shape) == (1, (0, 0))
    with pytest.raises(BadInput, match="the bias is 0"):
        found.slots(1)


@pytest.mark.parametrize("domain", ["real", "causal-integers"])
@pytest.mark.parametrize("values", [(2, 5), (5, 2), (3, 1)])
def test_a_frequency_of_unknown_sign_is_realised_by_its_absolute_value(values, domain):
    """cᵀ E v at numbers for a and b, against the bias itself."""
    p, q = sp.symbols("p q", positive=True)
    bias = sp.sin(p * u) * sp.cos(q * u) * sp.exp(-u)
    found = realize(bias, u, domain=domain)
    assert found.order == 4
    assert domain != "real" or found.conditions == (p - q,)
    point = dict(zip((p, q), map(sp.Integer, values), strict=True))
    point |= {name: value.xreplace(point) for name, value in found.values.items()}
    for at in (1, 2, 7):
        realised = (found.c.T * found.generator.exp(at) * found.v)[0].xreplace(point)
        assert abs(sp.N(realised - bias.xreplace(point).subs(u, at), 30)) < 1e-25


def test_conditions_of_the_given_formula_are_kept():
    once = realize((u**2 - 1) / (u - 1), u)
    assert (once.order, once.defined) == (2, (sp.Ne(u - 1, 0, evaluate=False),))
    assert realize(sp.log(1 + u), u).defined == (sp.Gt(u + 1, 0, evaluate=False),)
    assert realize(sp.log(1 + u), u, domain="causal").defined == ()
    typed = sp.exp(sp.log(u, evaluate=False), evaluate=False)
    assert [relation.rel_op for relation in realize(typed, u).defined] == [">"]
    near = realize(-sp.log(u), u, tolerance=sp.Rational(1, 10), window=(1, 10))
    assert near.defined == ()


def test_a_kink_where_the_given_formula_has_no_value_is_none():
    root = sp.Pow(sp.sqrt(u), 2, evaluate=False)
    assert realize(root + sp.Abs(u), u).order == 2
    assert isinstance(realize(sp.Abs(u), u), NotRealizable)


def test_a_quotient_of_logarithms_has_no_value_where_they_have_none():
    found = realize(sp.Mul(sp.log(u), sp.Pow(sp.log(u), -1, evaluate=False), evaluate=False), u)
    assert isinstance(found, Realization)
    assert found.order == 1
    assert sp.Gt(u, 0) in found.defined
