"""A realised bias in spare coordinates: attention computes it without a bias argument."""

import pytest
import sympy as sp
import torch
from exptx.symbolic import realize
from torch.nn.functional import scaled_dot_product_attention

u = sp.Symbol("u")
LENGTH, HEAD_DIM = 24, 16
BIASES = [
    -u / 4,
    -(u**2) / 100,
    sp.exp(-u / 5) * sp.cos(u) - u / 8,
    2 ** (-u) + sp.cos(sp.pi * u / 3),
]


def rows(column, positions):
    """(time, width) float64 from exact columns."""
    return torch.tensor([[float(x) for x in column(n)] for n in positions], dtype=torch.float64)


@pytest.mark.parametrize("bias", BIASES, ids=str)
@pytest.mark.parametrize("gauge", [False, True])
def test_attention_over_longer_vectors_is_attention_with_the_bias(bias, gauge):
    generator = torch.Generator().manual_seed(5)
    q, k, v = torch.randn(3, 1, 2, LENGTH, HEAD_DIM, dtype=torch.float64, generator=generator)
    scale = 1 / sp.sqrt(HEAD_DIM)
    slots = realize(bias, u, modulo_row_constant=gauge).slots(scale)
    queries, keys = (rows(side, range(LENGTH)).expand(1, 2, -1, -1) for side in (slots.query, slots.key))
    longer = (torch.cat([x, extra], dim=-1) for x, extra in ((q, queries), (k, keys)))
    got = scaled_dot_product_attention(*longer, v, is_causal=True, scale=float(scale))

    gaps = [
        [float(sp.N(bias.subs(u, t - s))) if s <= t else -torch.inf for s in range(LENGTH)]
        for t in range(LENGTH)
    ]
    mask = torch.tensor(gaps, dtype=torch.float64)
    expected = scaled_dot_product_attention(q, k, v, attn_mask=mask)
    torch.testing.assert_close(got, expected, rtol=1e-9, atol=1e-9)
    plain = scaled_dot_product_attention(q, k, v, is_causal=True)
    assert (plain - expected).abs().max() > 1e-3


def test_the_default_scale_of_the_longer_vectors_is_another_bias():
    slots = realize(-u, u).slots(1 / sp.sqrt(HEAD_DIM))
    product = (slots.query(5).T * slots.key(2))[0]
    assert product / sp.sqrt(HEAD_DIM) == -3
    assert product / sp.sqrt(HEAD_DIM + slots.width) != -3


def test_an_approximated_logarithm_runs_in_the_same_kernel():
    found = realize(-sp.log(1 + u), u, tolerance=sp.Rational(1, 1000), window=(0, LENGTH))
    slots = found.realization.slots(1)
    product = rows(slots.query, range(LENGTH)) @ rows(slots.key, range(LENGTH)).T
    gaps = torch.arange(LENGTH, dtype=torch.float64)
    gaps = gaps[:, None] - gaps
    past = gaps >= 0
    error = (product + torch.log1p(gaps.clamp(min=0)))[past].abs().max()
    assert error <= float(found.bound) + 1e-9
