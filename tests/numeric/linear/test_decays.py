"""Decay factors of a chunk: products of steps, all of them, and none above 1."""

from fractions import Fraction

import pytest
import torch
from exptx.numeric.linear.decays import carried, halved, two_terms, weighed_scores
from exptx.proofs import budget

SIZES = (1, 2, 8, 32)


def steps(size, seed=0):
    """(size, 3) steps in [0, 1], some exactly 0 and some exactly 1."""
    drawn = torch.rand(size, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return torch.where(drawn < 0.1, 0.0, torch.where(drawn > 0.9, 1.0, drawn))


def product(step, after, last):
    """Steps after + 1 … last of every feature, in fractions."""
    result = []
    for feature in step.T.tolist():
        exact = Fraction(1)
        for value in feature[after + 1 : last + 1]:
            exact *= Fraction(value)
        result.append(float(exact))
    return torch.tensor(result, dtype=torch.float64)


@pytest.mark.parametrize("size", SIZES)
def test_every_pair_is_parted_by_one_border_and_its_two_factors_are_its_lag(size):
    step, seen = steps(size), set()
    decays, error = halved(step), budget.gamma(2 * size, "float64")
    for level, (to_query, to_border) in enumerate(decays.borders):
        half = 2**level
        for block in range(size // (2 * half)):
            for i in range(half):
                for j in range(half):
                    query, key = (2 * block + 1) * half + i, 2 * block * half + j
                    found, known = to_query[block, i] * to_border[block, j], product(step, key, query)
                    assert ((found - known).abs() <= error * known).all()
                    seen.add((query, key))
    assert seen == {(i, j) for i in range(size) for j in range(i)}


@pytest.mark.parametrize("size", SIZES)
def test_the_ends_of_a_chunk_are_reached(size):
    step, error = steps(size), budget.gamma(2 * size, "float64")
    decays = halved(step)
    for i in range(size):
        for found, known in (
            (decays.from_start[i], product(step, -1, i)),
            (decays.to_end[i], product(step, i, size - 1)),
        ):
            assert ((found - known).abs() <= error * known).all()
    assert torch.equal(decays.whole[0], decays.from_start[-1])


def test_no_factor_exceeds_one():
    decays = halved(torch.ones(64, 1, dtype=torch.float64) * 0.99)
    every = [decays.from_start, decays.to_end, *(x for pair in decays.borders for x in pair)]
    assert all(((x >= 0) & (x <= 1)).all() for x in every)


@pytest.mark.parametrize("size", SIZES)
def test_weighed_scores_are_sums_over_features_below_the_diagonal(size):
    step = steps(size, 1)
    q, k = torch.randn(2, size, 3, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    table = weighed_scores(q, k, halved(step))
    for i in range(size):
        for j in range(size):
            terms = q[i] * k[j] * product(step, j, i) if j <= i else torch.zeros(3, dtype=torch.float64)
            bound = budget.gamma(2 * size + 6, "float64") * terms.abs().sum()
            assert (table[i, j] - terms.sum()).abs() <= bound


def test_two_terms_hold_a_factor_to_twice_the_digits_and_move_as_it_does():
    factor = torch.rand(100, generator=torch.Generator().manual_seed(3), dtype=torch.float64).requires_grad_()
    high, low = two_terms(factor, torch.float32)
    unit = budget.unit_roundoff("float32")
    assert ((high.double() + low.double() - factor).abs() <= 2 * unit**2 * factor).all()
    assert torch.equal(torch.autograd.grad((high + low).sum(), factor)[0], torch.ones_like(factor))
    assert two_terms(factor, torch.float64) == (factor, None)


def test_a_state_is_carried_by_both_terms():
    state, factor = torch.tensor([3.0, 1e7]), torch.tensor([1 - 2.0**-40, 1 / 3], dtype=torch.float64)
    moved = carried(state, two_terms(factor, torch.float32), torch.tensor([2.0**-24, 1.0]))
    known = state.double() * factor + torch.tensor([2.0**-24, 1.0], dtype=torch.float64)
    assert ((moved.double() - known).abs() <= 2 * budget.unit_roundoff("float32") * known).all()
