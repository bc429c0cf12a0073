"""The chapter on realisation against numbers found another way: matrix exponentials, ranks, enumeration."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import mpmath as mp
import pytest
import sympy as sp
from exptx.proofs.laws.kinds import KINDS
from exptx.proofs.laws.realisation import companion
from exptx.proofs.laws.realised import BIASES
from exptx.proofs.laws.sequences import SEQUENCES
from exptx.symbolic import realize
from exptx.symbolic.realization import Realization

u = sp.Symbol("u", real=True)
SAMPLE = {"gamma": sp.Rational(1, 10), "omega": sp.Rational(3, 2), "m": sp.Rational(1, 4)}
ORDERS = {"slope": 2, "square": 3, "fade": 1, "wave": 2, "faded-wave-slide": 4, "mixture": 5}


def numbers(formula):
    return formula.subs({s: SAMPLE[s.name] for s in formula.free_symbols if s.name in SAMPLE})


def test_the_orders_are_those_of_the_theory():
    assert {name: len(bias.low) for name, bias in BIASES.items()} == ORDERS


@pytest.mark.parametrize("name", BIASES)
def test_the_companion_flow_makes_the_bias(name):
    """e₁ᵀ exp(uX) v by mpmath's matrix exponential, at gaps of both signs."""
    bias = BIASES[name]
    formula, d = numbers(bias.formula), len(bias.low)
    flow = mp.matrix(numbers(companion(*bias.low)).evalf(30).tolist())
    start = mp.matrix([mp.mpf(str(sp.N(sp.diff(formula, u, k).subs(u, 0), 30))) for k in range(d)])
    with mp.workdps(30):
        for gap in (-2, mp.mpf(1) / 3, 5):
            found = (mp.expm(flow * gap) * start)[0]
            assert mp.almosteq(
                found, mp.mpf(str(sp.N(formula.subs(u, sp.Rational(str(gap))), 30))), 1e-15, 1e-15
            )


@pytest.mark.parametrize("name", BIASES)
def test_the_determinant_is_that_of_the_derivatives_and_the_next_one_vanishes(name):
    bias = BIASES[name]
    formula, d = numbers(bias.formula), len(bias.low)

    def hankel(size):
        return sp.Matrix(size, size, lambda i, j: sp.diff(formula, u, int(i + j)).subs(u, 0))

    assert sp.expand(hankel(d).det() - numbers(sp.sympify(bias.determinant, strict=True))) == 0
    assert sp.expand(hankel(d + 1).det()) == 0


@pytest.mark.parametrize("name", BIASES)
def test_realize_finds_the_same_order_and_equation(name):
    found = realize(BIASES[name].formula, u)
    assert found.order == ORDERS[name]
    assert found.annihilator.all_coeffs()[1:] == list(reversed(BIASES[name].low))


def test_a_clipped_distance_follows_no_recurrence_of_order_four():
    values = [min(n, 4) for n in range(12)]
    rows = sp.Matrix([[values[i + j] for j in range(5)] for i in range(7)])
    assert rows.rank() == 5
    assert realize(sp.Min(u, 4), u, domain="causal-integers").order == 5


@pytest.mark.parametrize("name", SEQUENCES)
def test_recurrences_are_those_of_the_samples(name):
    """Ho and Kalman on eight samples of the formula; the determinant by sympy."""
    told = {"square": lambda n: n**2, "alternating": lambda n: 2**n + (-1) ** n}
    b = told.get(name, lambda n: Fraction(n, 2**n))
    samples = [sp.Rational(str(b(n))) for n in range(8)]
    found, d = SEQUENCES[name], len(SEQUENCES[name].low)
    assert Realization.from_samples(samples).annihilator.all_coeffs()[1:] == list(reversed(found.low))
    assert list(found.values) == samples[: len(found.values)]
    assert sp.Matrix(d, d, lambda i, j: samples[int(i + j)]).det() == found.determinant


def test_row_constants_save_a_slot_where_zero_is_an_eigenvalue():
    """The rank of [b(t - s)] after its first column is taken from every row."""
    for bias, order, reduced in (
        (lambda n: -n, 2, 1),
        (lambda n: n**2, 3, 2),
        (lambda n: Fraction(1, 2) ** n, 1, 1),
    ):
        table = sp.Matrix(6, 6, lambda t, s, b=bias: sp.Rational(str(b(int(t - s)))))
        without = sp.Matrix(6, 6, lambda t, s, m=table: m[t, s] - m[t, 0])
        assert (table.rank(), without.rank()) == (order, reduced)


def test_the_number_of_kinds_by_listing_them():
    """All multisets of clusters: a partition each, of n for a real eigenvalue and of n/2 for a pair."""

    def partitions(n, most):
        return (
            [()]
            if n == 0
            else [(k, *rest) for k in range(min(n, most), 0, -1) for rest in partitions(n - k, k)]
        )

    def multisets(n, kinds):
        if n == 0:
            return [()]
        return [
            (kind, *rest)
            for i, (kind, size) in enumerate(kinds)
            if size <= n
            for rest in multisets(n - size, kinds[i:])
        ]

    for d, number in enumerate(KINDS, start=1):
        clusters = [((w, p), w * n) for n, w in product(range(1, d + 1), (1, 2)) for p in partitions(n, n)]
        found = multisets(d, clusters)
        assert len(found) == number
        assert max(Counter(found).values()) == 1
