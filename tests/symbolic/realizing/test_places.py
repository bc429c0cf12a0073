"""Breakpoints that are no rational numbers: found, ordered and cut at exactly, or refused."""

import pytest
import sympy as sp
from exptx.symbolic import NotRealizable, Realization, Unsupported, realize
from exptx.symbolic.catalogue.gap_bias import step_table
from exptx.symbolic.catalogue.jets import jordan_clamped
from exptx.symbolic.realizing.above import bounded_above
from exptx.symbolic.realizing.places import between, number_sign, ordered, real_roots, whole_part
from exptx.symbolic.verdict import Status

u, a = sp.symbols("u a", real=True)
m = sp.Symbol("m", positive=True)
LOG = 100 * sp.log(2)  # 69.31…
NESTED = sp.sqrt(2 + sp.sqrt(2))  # 1.84…
NOUGHT = sp.sqrt(5 + 2 * sp.sqrt(6)) - sp.sqrt(2) - sp.sqrt(3)  # 0, by its minimal polynomial
HIDDEN = sp.log(1 + sp.sqrt(2)) + sp.log(sp.sqrt(2) - 1)  # 0, which nothing here knows

KINKS = [
    sp.Abs(u - LOG),
    sp.Abs(u - 10 * NESTED),
    sp.Abs(u - sp.sqrt(2)),
    sp.Abs(u - sp.pi),
    sp.Abs(u**2 - sp.log(2)),
    sp.Abs(u**2 - 2),
    sp.Abs(u**3 - 2),
    sp.sqrt((u - 2 ** sp.Rational(1, 3)) ** 2),
    sp.Min(u, LOG),
    sp.Min(u, sp.sqrt(2)),
    sp.Max(u, LOG, 2 * u - LOG),
    sp.Piecewise((u, u < LOG), (5, True)),
    sp.Piecewise((0, u < NESTED), (u, True)),
]


@pytest.mark.parametrize("domain", ["real", "causal"])
@pytest.mark.parametrize("bias", KINKS, ids=str)
def test_a_kink_at_an_irrational_place_is_one(bias, domain):
    found = realize(bias, u, domain=domain)
    assert isinstance(found, NotRealizable)
    point = found.witness.data["point"][u]
    assert abs(sp.N(bias.subs(u, point) - found.witness.data["bias"], 20)) < 1e-15
    assert abs(sp.N(bias.subs(u, point) - found.witness.data["continued"], 20)) > 1e-3


@pytest.mark.parametrize("bias", [sp.Abs(u + 2 ** sp.Rational(1, 3)), sp.Abs(u + sp.log(2))], ids=str)
def test_a_kink_left_of_zero_is_one_on_the_whole_line_only(bias):
    assert isinstance(realize(bias, u), NotRealizable)
    assert realize(bias, u, domain="causal").order == 2


@pytest.mark.parametrize(
    ("bias", "order"),
    [
        (sp.Min(u, LOG), 71),
        (sp.Piecewise((u, u < LOG), (5, True)), 71),
        (sp.Min(u, sp.sqrt(2)), 3),
        (sp.Piecewise((0, u < NESTED), (u, True)), 4),
        (sp.Abs(u - sp.sqrt(2)), 4),
    ],
    ids=str,
)
def test_between_whole_numbers_a_kink_is_as_many_exceptions_as_lie_before_it(bias, order):
    found = realize(bias, u, domain="causal-integers")
    assert found.order == order
    state = found.v.evalf(30)
    step = found.step.evalf(30)
    for n in range(75):
        assert abs((found.c.T.evalf(30) * state)[0] - sp.N(bias.subs(u, n), 30)) < 1e-20
        state = step * state
    assert isinstance(realize(bias, u, domain="integers"), NotRealizable)


@pytest.mark.parametrize(
    "bias",
    [
        sp.Abs(u - a),
        sp.Abs(u + m),
        sp.Abs(1 + m * u),
        sp.Max(u, -m),
        sp.Abs(u + sp.log(u**2 + 2)),
        sp.Abs(u - a * sp.log(2)),
        sp.Abs(u**5 - u - 1),
    ],
    ids=str,
)
def test_a_kink_at_an_unknown_place_is_refused(bias):
    for domain in ("real", "integers"):
        with pytest.raises(Unsupported, match=r"sign|closed form"):
            realize(bias, u, domain=domain)


@pytest.mark.parametrize("bias", [sp.Abs(u + m), sp.Abs(1 + m * u), sp.Max(u, -m)], ids=str)
def test_a_symbol_with_a_sign_moves_no_kink_into_the_future(bias):
    plain = bias.subs(m, 3)
    assert isinstance(realize(bias, u, domain="causal"), Realization)
    assert isinstance(realize(plain, u, domain="causal"), Realization)
    assert isinstance(realize(plain, u), NotRealizable)


def test_branches_that_agree_make_no_kink_at_an_irrational_place():
    one = sp.cos(u) ** 2 + sp.sin(u) ** 2
    assert realize(sp.Piecewise((one, u < LOG), (1, True)), u).order == 1
    assert realize(u + sp.Abs(u - sp.log(2)) - sp.Abs(u - sp.log(4) / 2), u).order == 2
    jump = sp.Piecewise((0, sp.Eq(u, sp.sqrt(2))), (1, True))
    assert isinstance(realize(jump, u), NotRealizable)


@pytest.mark.parametrize(
    ("bias", "status"),
    [
        (sp.Min(u, LOG), Status.PROVED),
        (-sp.Abs(u - LOG), Status.PROVED),
        (sp.Abs(u - 10 * NESTED), Status.REFUTED),
        (sp.Piecewise((u, u < NESTED), (sp.sqrt(2), True)), Status.PROVED),
        (sp.Piecewise((sp.sqrt(2), u < NESTED), (u, True)), Status.REFUTED),
        (-sp.Abs(u - a), Status.UNDECIDED),
    ],
    ids=str,
)
def test_a_bound_is_that_of_the_branches_at_the_ends(bias, status):
    assert bounded_above(bias, u).status is status


def test_catalogue_entries_with_irrational_places_are_decided():
    table = step_table(edges=[sp.sqrt(2)], values=[0, 1])
    assert table.in_family().status is Status.REFUTED
    assert jordan_clamped(8, gamma=sp.sqrt(2)).in_family().status is not Status.PROVED


def test_places_are_told_apart_and_equal_ones_are_not():
    close = sp.sqrt(2) + sp.Rational(1, 10**30)
    assert ordered([sp.Integer(2), close, sp.sqrt(2), sp.log(2), sp.log(4) / 2]) == [
        sp.log(2),
        sp.sqrt(2),
        close,
        2,
    ]
    inside = between(sp.sqrt(2), close)
    assert inside**2 > 2
    assert inside < close
    assert number_sign(sp.sin(1) ** 2 + sp.cos(1) ** 2 - 1) == 0
    assert number_sign(NOUGHT) == 0
    assert ordered([NOUGHT, sp.Integer(0)]) == [NOUGHT]
    assert number_sign(HIDDEN) is None
    with pytest.raises(Unsupported, match="cannot be told apart"):
        ordered([HIDDEN, sp.Integer(0)])


def test_roots_and_whole_parts():
    assert ordered(real_roots(u**2 - 2, u)) == [-sp.sqrt(2), sp.sqrt(2)]
    assert real_roots(u**2 - 2 * sp.sqrt(2) * u + 2, u) == [sp.sqrt(2)]
    assert real_roots(u**2 + sp.log(2), u) == []
    assert [whole_part(x) for x in (LOG, -LOG, sp.Integer(3), sp.Rational(-1, 2))] == [69, -70, 3, -1]
