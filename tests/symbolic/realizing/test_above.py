"""Upper bounds on the line: what the dominant terms decide, and what they leave open."""

import mpmath
import pytest
import sympy as sp
from exptx.symbolic.realizing.above import bounded_above, bounded_below
from exptx.symbolic.verdict import Status

u, x = sp.symbols("u x", real=True)
m, r = sp.symbols("m r", positive=True)
ROOT = sp.sqrt(sp.Abs(u))

BOUNDED = [
    -(sp.Abs(u) ** sp.Rational(3, 2)),
    -m * sp.Abs(u) ** sp.Rational(19, 10),
    sp.S.Zero,
    -r * u**2,
    -m * sp.Abs(u),
    sp.cos(r * u),
    5 * u**3 * sp.exp(-sp.Abs(u)) - 2 * u**2,
    -r * sp.log(1 + m * sp.Abs(u)),
    -r * ROOT,
    -sp.cosh(u),
    sp.exp(-(u**2)),
    (1 - u**2) * sp.exp(-(u**2) / 2),
    sp.Piecewise((m, u < 3), (r, True)),
    sp.Min(u, 4),
    -sp.exp(u**2) + sp.exp(3 * u),
    u - sp.Abs(u),
]
UNBOUNDED = [
    sp.Abs(u) ** sp.Rational(3, 2),
    -u * sp.Abs(u) ** sp.Rational(9, 10),
    -m * u,
    m * u,
    r * u**2,
    u**3 - u**2,
    sp.exp(-m * u),
    u * sp.cos(u),
    sp.exp(u) * sp.sin(u) - u,
    r * sp.log(1 + m * sp.Abs(u)),
    ROOT,
    sp.Max(u, 4),
    sp.exp(u**2) - sp.exp(3 * u),
    -u * sp.log(1 + sp.Abs(u)),
    u**2 * (2 + sp.cos(u)),
]
OPEN = [u * x, u**2 * sp.cos(u) - u**2, 1 / (2 + sp.sin(u)), sp.Function("f")(u)]


@pytest.mark.parametrize("bias", BOUNDED, ids=str)
def test_a_bias_with_an_upper_bound_has_no_sample_above_a_large_one(bias):
    assert bounded_above(bias, u).status is Status.PROVED
    numbers = bias.subs({m: 2, r: 3})
    assert all(numbers.subs(u, n).evalf() < 1000 for n in (-200, -10, -1, 0, 1, 10, 200))


@pytest.mark.parametrize("bias", UNBOUNDED, ids=str)
def test_a_bias_without_an_upper_bound_has_samples_above_any(bias):
    assert bounded_above(bias, u).status is Status.REFUTED
    numbers = bias.subs({m: 2, r: 3})
    assert any(numbers.subs(u, sign * n).evalf() > 6 for sign in (1, -1) for n in range(40, 1000, 40))


@pytest.mark.parametrize("bias", OPEN, ids=str)
def test_what_the_dominant_terms_do_not_decide_is_undecided(bias):
    assert bounded_above(bias, u).status is Status.UNDECIDED


def test_a_causal_bias_is_asked_about_the_future_only():
    assert bounded_above(-m * u, u, "causal").status is Status.PROVED
    assert bounded_above(m * u, u, "causal").status is Status.REFUTED


def test_a_bound_from_below_has_words_of_its_own():
    verdict = bounded_below(-(u**2), u)
    assert verdict.status is Status.REFUTED
    assert verdict.reason == "no lower bound as u → ∞, where it falls like |u|²"
    assert bounded_below(u**2, u).reason == "rises to ∞ as u → ∞; rises to ∞ as u → -∞"
    x = sp.Symbol("t", real=True)
    assert bounded_above(x, x, "causal").reason == "no upper bound as t → ∞, where it grows like |t|"


CANCELLING = [
    u * (sp.cos(sp.log(u**2 + 1)) - sp.cos(sp.log(u**2 + 2))),
    u * sp.cos(u) * (sp.log(2 + u**2) - sp.log(1 + u**2)),
    u * sp.cos(u) - u * sp.cos(u * (sp.sin(1) ** 2 + sp.cos(1) ** 2)),
    u * sp.cos(u * sp.log(sp.sqrt(2))) - u * sp.cos(u * sp.log(2) / 2),
    u**2 * sp.cos(u) - u**2 * sp.cos(u + sp.sqrt(5 + 2 * sp.sqrt(6)) - sp.sqrt(2) - sp.sqrt(3)),
    sp.sqrt(u**2 + 1) * sp.cos(u) - sp.Abs(u) * sp.cos(u),
    -sp.exp(2 * u**2) + 2 * sp.exp(u**2),
    1 / sp.sqrt(1 + u**2),
]


@pytest.mark.parametrize("bias", CANCELLING, ids=str)
def test_leading_terms_that_may_cancel_refute_nothing(bias):
    assert bounded_above(bias, u).status is not Status.REFUTED


@pytest.mark.parametrize(
    "bias", [sp.exp(2 * u**2) - 2 * sp.exp(u**2), sp.exp(sp.log(1 + u**2) ** 2)], ids=str
)
def test_what_grows_faster_than_it_looks_is_not_proved_bounded(bias):
    assert bounded_above(bias, u).status is not Status.PROVED


def test_symbols_that_would_let_the_leading_terms_cancel_are_conditions():
    q = sp.Symbol("q", positive=True)
    assert bounded_above(u * sp.cos(q * u) - u * sp.cos(r * u), u).side_conditions in ((q - r,), (r - q,))
    assert bounded_above(u * x * sp.cos(u), u).side_conditions == (x,)
    turning = sp.Abs(u) ** sp.sqrt(2) * sp.cos(u)
    assert bounded_above(turning, u).status is Status.REFUTED


@pytest.mark.parametrize(
    ("bias", "status"),
    [
        (sp.sqrt(1 + 4 * u**2) - sp.Rational(3, 2) * sp.sqrt(1 + u**2), Status.REFUTED),
        (sp.Rational(3, 2) * sp.log(1 + sp.Abs(u)) - sp.log(1 + u**2), Status.PROVED),
        ((1 + u**2) ** sp.Rational(3, 4) - sp.Abs(u), Status.REFUTED),
        (sp.floor(u), Status.UNDECIDED),
    ],
    ids=str,
)
def test_degrees_and_leading_coefficients_of_what_stands_in_roots_and_logarithms_count(bias, status):
    assert bounded_above(bias, u).status is status


def test_an_exponential_beside_a_root_fades_on_its_own_side():
    found = bounded_above(-sp.exp(u) * sp.sqrt(1 + u**2), u)
    assert found.reason == "falls to -∞ as u → ∞; bounded as u → -∞"


def test_constants_of_any_size_are_no_hindrance():
    """exp(10**6)·cos u swings as far as cos u does; sympy would write out the power."""
    huge = sp.exp(10**6)
    assert (
        bounded_above(huge * sp.cos(u) + u**2 * sp.cos(2 * u) * (huge**2 + huge), u).status is Status.REFUTED
    )
    assert bounded_above(huge * sp.cos(u) - huge**2 * u**2, u).status is Status.PROVED


@pytest.mark.parametrize(
    "bias",
    [
        u * sp.cos(sp.log(1 + u**2)),
        -u * sp.cos(sp.log(1 + u**2)) + sp.log(1 + u**2),
        sp.sqrt(1 + u**2) * sp.sin(3 * sp.log(2 + u**2) + 1),
    ],
    ids=str,
)
def test_one_cosine_of_a_logarithm_swings_for_ever(bias):
    """At log(1 + u²) = 2πn the cosine is 1, and mpmath sees values beyond any bound on the way out."""
    assert bounded_above(bias, u).status is bounded_below(bias, u).status is Status.REFUTED
    with mpmath.workdps(30):
        given = sp.lambdify(u, bias, "mpmath")
        values = [given(mpmath.exp(mpmath.mpf(k) / 20)) for k in range(400, 600)]
    assert max(values) > 10**8
    assert min(values) < -(10**8)


def test_phases_that_stay_put_swing_no_more():
    """log(1 + u²) - 2 log(1 + |u|) tends to 0, so its cosine tends to 1."""
    still = sp.cos(sp.log(1 + u**2) - 2 * sp.log(1 + sp.Abs(u)))
    assert bounded_above(-sp.Abs(u) * still, u).status is not Status.REFUTED
    assert bounded_above(sp.cos(sp.log(1 + u**2)), u).status is Status.PROVED
