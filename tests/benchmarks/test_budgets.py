"""Error budgets admit what rounds as it says, and nothing that turns by another angle."""

import pytest
import torch
from exptx.benchmarks.budgets import Oracle, Policy
from exptx.numeric import reference, rotary_embedding, rotary_table
from exptx.symbolic import encoding, frequencies

SINGLE = Policy(torch.float32, torch.float32)
T = torch.tensor([0, 1, 17, 4095])


def heads(dtype=torch.float32, seed=0):
    return torch.randn(2, 3, len(T), 8, generator=torch.Generator().manual_seed(seed)).to(dtype)


def angles():
    return T.double()[None, None, :, None] * torch.tensor(
        [10_000 ** (-i / 4) for i in range(4)], dtype=torch.float64
    )


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("inverse", [False, True])
def test_the_oracle_is_the_specification(interleaved, inverse):
    x = heads()
    oracle = Oracle(x, angles(), interleaved, inverse)
    rope = encoding("rope", head_dim=8, interleaved=interleaved).generators[0]
    slow = reference.transport(x, rope, T, transpose=not inverse)
    assert (oracle.turned()[0] - slow).abs().max() < 1e-12 * 4096  # float64 angles


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("interleaved", [False, True])
def test_a_kernel_that_rounds_once_is_within_its_budget_and_uses_it(dtype, interleaved):
    x = heads(dtype)
    y = rotary_embedding(x, *rotary_table(frequencies(10_000, 8), T), interleaved=interleaved, impl="eager")
    assert 0.1 < Oracle(x, angles(), interleaved).used(y, SINGLE) <= 1


def turned(x, angle, dtype):
    """All in one dtype, half-split."""
    cos, sin = angle.cos().to(dtype), angle.sin().to(dtype)
    x0, x1 = x.to(dtype).chunk(2, -1)
    return torch.cat((x0 * cos - x1 * sin, x0 * sin + x1 * cos), -1).to(x.dtype)


def test_tables_and_arithmetic_in_bfloat16_have_a_budget_of_their_own():
    x, low = heads(torch.bfloat16), Policy(torch.bfloat16, torch.bfloat16)
    oracle, y = Oracle(x, angles(), False), turned(heads(torch.bfloat16), angles(), torch.bfloat16)
    assert oracle.used(y, low) <= 1 < oracle.used(y, SINGLE)


def test_angles_rounded_to_float32_are_admitted_where_a_library_takes_them_so():
    x, rounded = heads(), angles().float()
    oracle, y = Oracle(x, angles(), False), turned(heads(), rounded, torch.float32)
    assert oracle.used(y, Policy(torch.float32, torch.float32, angle=torch.float32)) <= 1
    assert oracle.used(y, SINGLE) > 1


@pytest.mark.parametrize("policy", [SINGLE, Policy(torch.bfloat16, torch.bfloat16)])
def test_bfloat16_angles_a_wrong_sign_another_pairing_and_nan_are_not_admitted(policy):
    x = heads(torch.bfloat16)
    oracle, table = Oracle(x, angles(), False), rotary_table(frequencies(10_000, 8), T)
    wrong = [
        turned(x, angles().bfloat16().float(), torch.float32),
        rotary_embedding(x, *table, inverse=True, impl="eager"),
        rotary_embedding(x, *table, interleaved=True, impl="eager"),
        rotary_embedding(x, *table, impl="eager").where(x < 2, torch.nan),
        x,
    ]
    assert all(oracle.used(y, policy) > 1 for y in wrong)
