"""Budgets: true bounds of what torch does, and so tight that eight roundoffs stand out."""

from fractions import Fraction

import pytest
import torch
from exptx.proofs import budget
from hypothesis import given, settings
from hypothesis import strategies as st

LAW = settings(max_examples=60, deadline=None, derandomize=True)
DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]
UNIT = st.floats(-1, 1)


def arithmetic(dtype):
    return torch.float64 if dtype == torch.float64 else torch.float32


@LAW
@given(UNIT, UNIT, UNIT, UNIT, st.sampled_from(DTYPES))
def test_a_coordinate_is_within_its_budget_of_the_exact_fraction(a, b, c, s, dtype):
    x = torch.tensor([a, b]).to(dtype)
    table = torch.tensor([c, s]).to(arithmetic(dtype))
    got = (x[0].to(table.dtype) * table[0] - x[1].to(table.dtype) * table[1]).to(dtype)
    (x0, x1), (cos, sin) = ([Fraction(e) for e in pair.double().tolist()] for pair in (x, table))
    known = x0 * cos - x1 * sin
    near, far = float(abs(x0 * cos)), float(abs(x1 * sin))
    bound = budget.rotated_coordinate(abs(float(known)), near, far, 0.0, float(abs(x0) + abs(x1)), dtype)
    assert abs(Fraction(got.item()) - known) <= bound


@pytest.mark.parametrize("dtype", DTYPES)
def test_half_the_budget_would_be_no_bound_and_eight_roundoffs_leave_it(dtype):
    """One dominant product: the budget is at most 4 roundoffs of it, so a change by 8 cannot hide."""
    bound = budget.rotated_coordinate(1.0, 1.0, 0.0, 0.0, 1.0, dtype)
    assert budget.unit_roundoff(dtype) <= bound <= 4 * budget.unit_roundoff(dtype)


@LAW
@given(st.integers(1, 300), st.sampled_from([torch.float64, torch.float32]), st.integers(0, 99))
def test_a_dot_product_is_within_its_budget(length, dtype, seed):
    q, k = torch.randn(2, length, generator=torch.Generator().manual_seed(seed)).to(dtype)
    known = sum((Fraction(a) * Fraction(b) for a, b in zip(q.tolist(), k.tolist(), strict=True)), Fraction(0))
    none = torch.zeros(length, dtype=torch.float64)
    bound = budget.score(q.double().abs(), k.double().abs(), none, none, length, dtype)
    assert abs(Fraction((q @ k).item()) - known) <= float(bound)


@LAW
@given(st.integers(1, 50), st.floats(0.1, 30), st.integers(0, 99))
def test_an_attention_output_is_within_its_budget(keys, spread, seed):
    generator = torch.Generator().manual_seed(seed)
    logits = (spread * torch.randn(1, keys, generator=generator)).float()
    v = torch.randn(keys, 3, generator=generator)
    p = logits.double().softmax(-1)
    below = logits.double().amax(-1, keepdim=True) - logits.double()
    none = torch.zeros_like(p)
    bound = budget.attention_output(p, below, v.double().abs(), none, torch.float32)
    assert ((logits.softmax(-1) @ v).double() - p @ v.double()).abs().le(bound).all()
    moved = logits.double() + 1e-3  # a common shift cancels, an error of one logit does not
    moved[0, 0] -= 2e-3
    wider = budget.attention_output(p, below, v.double().abs(), none + 1e-3, torch.float32)
    assert (moved.softmax(-1) @ v.double() - p @ v.double()).abs().le(wider).all()


def test_budgets_grow_with_angle_amplitude_length_and_coarseness():
    assert budget.table_entry(1e6, "float32") > budget.table_entry(1.0, "float32")
    assert budget.table_entry(1.0, "float32", 2.0) == 2 * budget.table_entry(1.0, "float32")
    assert budget.single_angle_entry(1e6) > 1e5 * budget.single_angle_entry(0.0)
    assert budget.gamma(128, "float32") > budget.gamma(64, "float32")
    wide = [budget.rounded(1.0, 0.0, name) for name in ("float64", "float32", "float16", "bfloat16")]
    assert wide == sorted(wide)


def test_the_promise_of_the_tables_is_the_sum_of_its_three_parts():
    for angle in (0.0, 1.0, 2.0**28):
        known = 2.0**-24 + 2.0**-52 * angle + 2.0**-51
        assert budget.table_entry(angle, "float32") == known
