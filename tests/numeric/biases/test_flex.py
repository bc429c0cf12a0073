"""Functions for FlexAttention against all pairs in float64; its uncompiled form runs plain products."""

import math

import pytest
import torch
from exptx.numeric import (
    BadDtype,
    BadTensor,
    alibi_score_mod,
    causal_mask_mod,
    decay_score_mod,
    t5_score_mod,
    table_score_mod,
)
from exptx.numeric.rounding import unit_roundoff
from exptx.proofs import budget
from exptx.symbolic import encoding
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

pytestmark = pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
B, H, T, D = 2, 3, 20, 8
RATES = torch.tensor([0.5, 0.3, 0.01], dtype=torch.float64)
LINES = {
    "counted": None,
    "line": 3 * torch.arange(T) + 2**30,
    "rows": torch.stack((torch.arange(T), 2 * torch.arange(T) - 50)),
    "clock": torch.linspace(0, 5, T, dtype=torch.float64),
}


def drawn(dtype=torch.float64):
    return torch.randn(3, B, H, T, D, generator=torch.Generator().manual_seed(0)).to(dtype).unbind(0)


def gaps(ids):
    ids = torch.atleast_2d(torch.arange(T) if ids is None else ids)
    return (ids[:, :, None] - ids[:, None]).double()[:, None]


def expected(q, k, v, change, gap, causal, scale=D**-0.5):
    scores = change(scale * q.double() @ k.double().mT, gap)
    scores = scores.masked_fill(gap < 0, -math.inf) if causal else scores
    return scores.softmax(-1) @ v.double()


def run(q, k, v, score_mod, ids=None, causal=True, **options):
    mask = create_block_mask(causal_mask_mod(ids), B, None, T, T, device="cpu") if causal else None
    return flex_attention(q, k, v, score_mod=score_mod, block_mask=mask, **options)


def close(found, known, dtype=torch.float64):
    """Sums over 8 features and 20 keys of numbers below 16; in half precision weights are rounded as well."""
    weights = unit_roundoff(dtype) if dtype == torch.bfloat16 else 0.0
    bound = budget.rounded(known.abs(), 16 * (2 * weights + budget.gamma(2 * (T + D), dtype)), dtype)
    return bool(((found.double() - known).abs() <= bound).all())


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("symmetric", [False, True])
def test_a_slide_is_taken_from_the_scaled_score(symmetric, name, dtype):
    given, ids, causal = drawn(dtype), LINES[name], not symmetric
    m = RATES[:, None, None]
    mod = alibi_score_mod(RATES, symmetric=symmetric, position_ids=ids)
    known = expected(*given, lambda x, u: x - m * (u.abs() if symmetric else u), gaps(ids), causal)
    assert close(run(*given, mod, ids, causal), known, dtype)
    wrong = expected(*given, lambda x, u: x + m * (u.abs() if symmetric else u), gaps(ids), causal)
    assert not close(run(*given, mod, ids, causal), wrong, dtype)


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("symmetric", [False, True])
def test_a_decay_multiplies_the_score(symmetric, name):
    given, ids, causal = drawn(), LINES[name], not symmetric
    g = RATES[:, None, None]
    mod = decay_score_mod(RATES, symmetric=symmetric, position_ids=ids)
    known = expected(*given, lambda x, u: x * torch.exp(-g * u.abs()), gaps(ids), causal)
    assert close(run(*given, mod, ids, causal), known)


def test_no_factor_grows_for_keys_that_are_hidden():
    zero, far = torch.tensor(0), torch.tensor(10**6)
    assert decay_score_mod(RATES)(torch.tensor(2.0), zero, zero, zero, far) == 2.0


def test_rates_may_differ_between_sequences():
    given = drawn()
    rates = torch.stack((RATES, 2 * RATES))
    known = expected(*given, lambda x, u: x - rates[:, :, None, None] * u, gaps(None), True)
    assert close(run(*given, alibi_score_mod(rates)), known)


def test_keys_may_stand_at_positions_of_their_own():
    q, k, v = drawn()
    t, s = torch.arange(T) + 5, torch.arange(T) * 2
    mod = alibi_score_mod(RATES, symmetric=True, position_ids=t, key_position_ids=s)
    gap = (t[:, None] - s).double()
    known = expected(q, k, v, lambda x, u: x - RATES[:, None, None] * u.abs(), gap, False)
    assert close(run(q, k, v, mod, causal=False), known)


@pytest.mark.parametrize("name", ["counted", "line", "rows"])
def test_a_table_is_read_at_the_clipped_gap(name):
    given, ids = drawn(), LINES[name]
    values = torch.randn(H, 9, generator=torch.Generator().manual_seed(1), dtype=torch.float64)

    def change(x, u):
        index = u.long().clamp(-4, 4) + 4
        return x + torch.stack([values[h][index[:, 0]] for h in range(H)], dim=1)

    known = expected(*given, change, gaps(ids), False)
    assert close(run(*given, table_score_mod(values, position_ids=ids), causal=False), known)


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(("buckets", "most"), [(32, 128), (8, 12)])
def test_the_buckets_of_t5_are_those_of_the_catalogue(bidirectional, buckets, most):
    """Read off a table of all gaps, against the exact formula at each of them."""
    values = [n * n - 7 * n for n in range(buckets)]
    formula = encoding(
        "t5", head_dim=D, num_buckets=buckets, max_distance=most, bidirectional=bidirectional, values=values
    )
    zero = {x: 0 for side in formula.content() for x in side}
    table = torch.tensor(values, dtype=torch.float64)[:, None].expand(-1, H)
    mod = t5_score_mod(table, max_distance=most, bidirectional=bidirectional)
    far = 3 * most // 2
    for gap in [*range(-far, far + 1, max(1, most // 16)), -most, most, most - 1, 1 - most]:
        if gap < 0 and not bidirectional:
            continue  # which is hidden; the catalogue answers about its formula there too
        i, j = torch.tensor(max(gap, 0)), torch.tensor(max(-gap, 0))
        got = mod(torch.tensor(0.0, dtype=torch.float64), torch.tensor(0), torch.tensor(1), i, j)
        assert got == int(formula.score(max(gap, 0), max(-gap, 0)).subs(zero))


def test_the_buckets_of_t5_are_those_of_transformers():
    bucket = pytest.importorskip("transformers.models.t5.modeling_t5").T5Attention._relative_position_bucket
    table = torch.arange(32.0)[:, None].expand(-1, H)
    gap = torch.arange(-200, 201)
    for bidirectional in (True, False):
        mod = t5_score_mod(table, bidirectional=bidirectional)
        theirs = bucket(-gap, bidirectional=bidirectional, num_buckets=32, max_distance=128)
        zero = torch.tensor(0.0)
        ours = torch.stack(
            [mod(zero, zero.long(), zero.long(), u.clamp(min=0), (-u).clamp(min=0)) for u in gap]
        )
        assert torch.equal(ours.long(), theirs)


def test_t5_runs_unscaled():
    given = drawn()
    table = torch.randn(32, H, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    index = torch.arange(T)
    each = torch.where(index[:, None] >= index, index[:, None] - index, 16 + index - index[:, None])
    assert each.max() < 16 + T  # gaps below 8 have a bucket each
    mod = t5_score_mod(table)
    bias = torch.stack([mod(torch.zeros(T, T).double(), 0, h, index[:, None], index) for h in range(H)])
    near = (index[:, None] - index).abs() < 8
    assert torch.equal(bias[:, near], table[each[near]].T)
    known = expected(*given, lambda x, _: x + bias, gaps(None), False, scale=1.0)
    assert close(run(*given, mod, causal=False, scale=1.0), known)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: alibi_score_mod([0.5]), BadDtype, "slopes is a list"),
        (lambda: decay_score_mod(torch.zeros(1, 2, 3)), BadTensor, r"rates has shape \(1, 2, 3\)"),
        (lambda: table_score_mod(torch.zeros(2, 4)), BadTensor, r"values has shape \(2, 4\)"),
        (
            lambda: table_score_mod(torch.zeros(2, 5), position_ids=torch.zeros(4)),
            BadTensor,
            "read at whole gaps; integers work",
        ),
        (lambda: t5_score_mod(torch.zeros(5, 2)), BadTensor, r"table has shape \(5, 2\)"),
        (lambda: t5_score_mod(torch.zeros(32, 2), max_distance=8), BadTensor, "max_distance is 8"),
        (lambda: causal_mask_mod(torch.zeros(3, dtype=torch.bool)), BadDtype, "position_ids has dtype"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(call, error, words):
    with pytest.raises(error, match=words):
        call()
