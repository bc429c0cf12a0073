"""Ho-Kalman on exact samples: the recurrence they must have, and no claim that samples cannot carry."""

import pytest
import sympy as sp
from exptx.symbolic import BadInput, Realization, WrongType

x = sp.Symbol("x")
Q = sp.Rational


@pytest.mark.parametrize(
    ("law", "polynomial"),
    [
        (lambda n: n**2, (x - 1) ** 3),
        (lambda n: 2**n + (-1) ** n, (x - 2) * (x + 1)),
        (lambda n: Q(n, 2**n), (x - Q(1, 2)) ** 2),
        (lambda n: min(n, 4), x**4 * (x - 1)),
        (lambda n: int(n < 3), x**3),
        (lambda n: sp.fibonacci(n), x**2 - x - 1),
    ],
)
def test_the_recurrence_of_a_known_sequence_is_found(law, polynomial):
    samples = [law(n) for n in range(13)]
    found = Realization.from_samples(samples)
    assert sp.expand(found.annihilator.as_expr() - polynomial) == 0
    state, order = found.v, found.order
    for b in samples:
        assert (found.c.T * state)[0] == b
        state = found.step * state
    literal = sp.Matrix(order, order, lambda i, j: samples[i + j]).det()
    assert found.determinant == literal != 0


def test_one_wrong_sample_is_no_longer_of_that_order():
    samples = [n**2 for n in range(9)]
    samples[8] += 1
    with pytest.raises(BadInput, match="give more samples"):
        Realization.from_samples(samples)


@pytest.mark.parametrize(
    ("samples", "error"),
    [
        ([1, 2], BadInput),
        ([1, 4, 2, 8, 5, 7], BadInput),
        ([1.0, 2, 3], WrongType),
        ("123", WrongType),
        (5, WrongType),
        ([sp.sqrt(2), 1, 1], BadInput),
        ([0] * 1000, BadInput),
    ],
)
def test_samples_that_settle_nothing_are_refused(samples, error):
    with pytest.raises(error):
        Realization.from_samples(samples)


def test_the_claim_names_its_window_and_offers_no_slots():
    found = Realization.from_samples([1, 2, 4, 8, 16])
    assert found.domain == "n = 0, …, 4"
    with pytest.raises(BadInput, match="slots need a generator"):
        found.slots(1)


def test_zeros_follow_from_nothing():
    found = Realization.from_samples([0, 0, 0, 0])
    assert (found.order, found.step.shape, found.c.shape, found.determinant) == (0, (0, 0), (0, 1), 1)
