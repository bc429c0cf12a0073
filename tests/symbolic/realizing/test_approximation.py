"""Sums of decays in place of a logarithm or a power: their number, their proved bound, their window."""

import mpmath
import numpy
import pytest
import sympy as sp
from exptx.symbolic import BadInput, Unsupported, WrongType, decide, realize
from exptx.symbolic.realizing.certified import Error, TooLarge, certify

u = sp.Symbol("u")
Q = sp.Rational
LIMIT, WINDOW = Q(1, 10**4), (0, 8192)
KERPLE = {(1, 1): 13, (2, 10): 16, (Q(1, 2), Q(1, 10)): 10}


@pytest.fixture(scope="module")
def kerple():
    return {
        rates: realize(-rates[0] * sp.log(1 + rates[1] * u), u, tolerance=LIMIT, window=WINDOW)
        for rates in KERPLE
    }


def gap(found, rates, at):
    """bias - formula in mpmath, term by term."""
    r1, r2 = (mpmath.mpf(r.p) / r.q for r in map(Q, rates))
    real = [(mpmath.mpf(w.p) / w.q, mpmath.mpf(rate.p) / rate.q) for w, rate in found.decays]
    constant = mpmath.mpf(found.constant.p) / found.constant.q
    return -r1 * mpmath.log1p(r2 * at) - constant - sum(w * mpmath.exp(-rate * at) for w, rate in real)


@pytest.mark.parametrize("rates", KERPLE, ids=str)
def test_few_decays_come_within_a_ten_thousandth_of_a_logarithm(kerple, rates):
    found = kerple[rates]
    assert len(found.decays) <= KERPLE[rates]
    assert all(rate > 0 for _, rate in found.decays)
    assert 0 < found.bound <= LIMIT
    with mpmath.workdps(30):
        places = [mpmath.mpf(8192) * mpmath.mpf(k) ** 3 / 300**3 for k in range(301)]
        worst = max(abs(gap(found, rates, at)) for at in places)
    assert worst <= found.bound
    assert worst >= found.bound / 10


def test_the_formula_is_realised_exactly_with_one_coordinate_more_than_decays(kerple):
    found = kerple[1, 1].realization
    assert found.order == len(kerple[1, 1].decays) + 1
    assert found.verdict.holds
    slots = found.slots(1)
    t, s = Q(13, 2), Q(5, 3)
    assert decide(
        (slots.query(t).T * slots.key(s))[0], kerple[1, 1].formula.subs(kerple[1, 1].u, t - s)
    ).holds


def test_softmax_needs_no_constant():
    found = realize(-sp.log(1 + u), u, tolerance=Q(1, 100), window=(0, 100), modulo_row_constant=True)
    assert found.realization.order == len(found.decays) == found.realization.slots(1).width


@pytest.mark.parametrize(
    ("bias", "tolerance", "window"),
    [
        (-sp.sqrt(u), Q(1, 100), (1, 1000)),
        (-sp.log(1 + u), Q(1, 1000), (Q(16, 3), Q(400, 7))),
        (2 ** (-u) + sp.exp(-u / 50), Q(1, 10**6), (0, 500)),
        (1 / (1 + u), Q(1, 1000), (0, 1000)),
        (-sp.sqrt(u), Q(1, 10), (0, 4096)),
        (-(u ** Q(1, 3)), Q(1, 50), (0, 4096)),
        (-sp.sqrt(u - Q(1, 3)), Q(1, 10), (Q(1, 3), 100)),
        (-sp.sqrt(u**2 + u), Q(1, 100), (0, 10)),
        (sp.exp(-(u**2) / 100), Q(1, 1000), (0, 64)),
        (-sp.Min(u, 40) * 0 - sp.log(3 + u), Q(1, 1000), (0, 30)),
    ],
    ids=str,
)
def test_other_fading_biases_are_approximated_too(bias, tolerance, window):
    found = realize(bias, u, tolerance=tolerance, window=window)
    a, b = window
    with mpmath.workdps(30):
        for k in range(101):
            at = a + Q(k, 100) ** 2 * (b - a)
            real = sp.N((bias - found.formula.xreplace({found.u: u})).subs(u, at), 25)
            assert abs(real) <= found.bound


def test_a_wrong_sum_is_refused_at_a_point(kerple):
    found = kerple[1, 1]
    f = -sp.log(1 + found.u)
    certify(Error(f, found.u, found.constant, found.decays), Q(0), Q(8192), LIMIT)
    (w, rate), *others = found.decays
    for wrong in ([(w + LIMIT * 3, rate), *others], [(w, rate * Q(1001, 1000)), *others], others):
        with pytest.raises(TooLarge, match="exceeds 1/10000 at"):
            certify(Error(f, found.u, found.constant, wrong), Q(0), Q(8192), LIMIT)


def test_nothing_is_certified_outside_the_window(kerple):
    found = kerple[1, 1]
    with pytest.raises(TooLarge):
        certify(Error(-sp.log(1 + found.u), found.u, found.constant, found.decays), Q(0), Q(10**6), LIMIT)


@pytest.mark.parametrize(
    ("bias", "options", "error"),
    [
        (-sp.log(1 + u), {"tolerance": LIMIT}, BadInput),
        (-sp.log(1 + u), {"window": WINDOW}, BadInput),
        (-sp.log(1 + u), {"tolerance": 1e-4, "window": WINDOW}, WrongType),
        (-sp.log(1 + u), {"tolerance": 0, "window": WINDOW}, BadInput),
        (-sp.log(1 + u), {"tolerance": LIMIT, "window": 8192}, WrongType),
        (-sp.log(1 + u), {"tolerance": LIMIT, "window": (8, 8)}, BadInput),
        (-sp.log(1 + u), {"tolerance": LIMIT, "window": (-8, 8)}, BadInput),
        (-sp.Symbol("r") * sp.log(1 + u), {"tolerance": LIMIT, "window": WINDOW}, BadInput),
        (-sp.log(u), {"tolerance": LIMIT, "window": WINDOW}, Unsupported),
        (1 / u, {"tolerance": LIMIT, "window": (0, 4)}, Unsupported),
        (sp.Min(u, 4), {"tolerance": LIMIT, "window": (0, 8)}, Unsupported),
    ],
    ids=str,
)
def test_nonsense_is_refused_with_one_sentence(bias, options, error):
    with pytest.raises(error) as caught:
        realize(bias, u, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("bias", "limit", "window"),
    [
        (-u * sp.log(u) / 100, 0, (0, 100)),
        ((1 - sp.exp(-u)) / u, 1, (0, 50)),
        (sp.log(1 + u) / u, 1, (0, 100)),
    ],
    ids=str,
)
def test_a_window_may_begin_where_the_bias_only_has_a_limit(bias, limit, window):
    found = realize(bias, u, domain="causal", tolerance=Q(1, 100), window=window)
    assert abs(found.formula.subs(found.u, 0) - limit) <= found.bound
    for k in range(1, 60):
        at = Q(window[1], 2**k)
        assert abs(sp.N((bias - found.formula.xreplace({found.u: u})).subs(u, at), 25)) <= found.bound


def test_coefficients_are_decimals_and_have_more_digits_the_more_they_cancel():
    bell = realize(sp.exp(-(u**2) / 100), u, tolerance=Q(1, 1000), window=(0, 64))
    calm = realize(-sp.log(1 + u), u, tolerance=Q(1, 100), window=(0, 8192))
    longest = []
    for found in (bell, calm):
        numbers = [found.constant, *(x for pair in found.decays for x in pair)]
        assert all(set(sp.factorint(x.q)) <= {2, 5} for x in numbers)
        longest.append(max(len(str(x.p * 10**60 // x.q).strip("-").rstrip("0")) for x in numbers))
    assert longest[0] > 12 > 8 > longest[1]


@pytest.mark.parametrize(
    ("bias", "tolerance", "window", "carried"),
    [(sp.exp(-(u**2) / 100), Q(1, 1000), (0, 64), False), (-sp.log(1 + u), Q(1, 100), (0, 8192), True)],
    ids=str,
)
def test_the_amplification_bounds_what_float32_loses(bias, tolerance, window, carried):
    """Each weight, rate, exponential, product and sum rounded to float32."""
    found = realize(bias, u, tolerance=tolerance, window=window)
    single, worst = numpy.float32, 0
    for at in numpy.linspace(*window, 200):
        total = single(float(found.constant))
        for w, rate in found.decays:
            total += single(float(w)) * numpy.exp(-single(float(rate)) * single(at))
        exact = float(found.formula.subs(found.u, Q(float(single(at)))).evalf(25))
        worst = max(worst, abs(float(total) - exact))
    assert bool(worst < tolerance / 10) is carried
    assert worst <= 2 * len(found.decays) * 2.0**-24 * found.amplification * tolerance
