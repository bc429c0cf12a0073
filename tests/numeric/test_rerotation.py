"""Cached keys carried to other frequencies: what rotating them afresh would have given, to the budget."""

import pytest
import sympy as sp
import torch
from exptx.numeric import (
    BadChoice,
    BadDtype,
    BadTensor,
    NotLowered,
    PositionOutOfRange,
    RotaryEmbedding,
    TooLarge,
    exact,
    rerotate,
    rotary_embedding,
    rotary_table,
)
from exptx.numeric.layout import join_pairs, split_pairs
from exptx.proofs import budget
from exptx.symbolic import frequencies
from exptx.symbolic.ramps import llama3, yarn
from exptx.symbolic.scaling import Frequencies, dynamic, linear, longrope, rotary
from hypothesis import given, settings
from hypothesis import strategies as st

LAW = settings(max_examples=40, deadline=None, derandomize=True)
DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]
SHORT, LONG = [1, 1, sp.Rational(9, 8), 2], [1, 2, 7, 32]
CHANGES = {  # what was cached, and what is asked for
    "LongRoPE at its switch": (
        longrope(10_000, 8, SHORT, sp.Rational(119, 100)),
        longrope(10_000, 8, LONG, sp.Rational(119, 100)),
    ),
    "dynamic NTK, one token more": (dynamic(10_000, 8, 2, 2048, 4096), dynamic(10_000, 8, 2, 2048, 4097)),
    "a trained base interpolated": (rotary(10_000, 8), linear(10_000, 8, 16)),
    "YaRN with a larger factor": (yarn(10_000, 8, 4, 2048), yarn(10_000, 8, 16, 2048)),
    "YaRN taken back": (yarn(10_000, 8, 16, 2048), rotary(10_000, 8)),
    "Llama 3": (rotary(500_000, 8), llama3(500_000, 8, 8, 8192, 1, 4)),
}


def table_dtype(dtype):
    return torch.float64 if dtype == torch.float64 else torch.float32


def drawn(shape, dtype, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def rotated(x, waves, ids, **options):
    return rotary_embedding(x, *rotary_table(waves, ids, dtype=table_dtype(x.dtype)), **options)


def angles(waves, ids):
    return ids.double().abs()[..., None] * torch.tensor([float(w) for w in waves], dtype=torch.float64)


def spread(x, interleaved):
    """|x0| + |x1|, for both coordinates of every plane."""
    x0, x1 = split_pairs(x.double().abs(), interleaved)
    return join_pairs(x0 + x1, x0 + x1, interleaved)


def allowed(x, cached, old, new, ids, interleaved):
    """How far carried keys may be from fresh ones: the cache's rounding, turned, and the turn's."""
    kind, m, ratio = table_dtype(x.dtype), float(old.attention_factor), float(_ratio(old, new))
    before, after = (join_pairs(a, a, interleaved)[:, None] for a in (angles(old, ids), angles(new, ids)))
    reach = spread(x, interleaved)
    first = budget.rotated_coordinate(
        m * reach, m * reach, 0.0, budget.table_entry(before, kind, m), reach, x.dtype
    )
    carried = ratio * spread(first, interleaved)
    reach = spread(cached, interleaved)
    drift = budget.rerotation_entry(before, after, kind, ratio)
    return carried + budget.rotated_coordinate(ratio * reach, ratio * reach, 0.0, drift, reach, x.dtype)


def _ratio(old, new):
    return sp.N(new.attention_factor / old.attention_factor, 40)


def fresh(x, waves, ids, interleaved):
    """m' R(s w')x by balls, and how far two float64 roundings of the amplitude leave it."""
    turned = exact.rotary_embedding(x, waves, ids, interleaved=interleaved)
    known = float(sp.N(waves.attention_factor, 40)) * turned
    return known, 3 * budget.ORACLE * known.abs()


@LAW
@given(
    st.sampled_from(sorted(CHANGES)),
    st.sampled_from(DTYPES),
    st.booleans(),
    st.lists(st.integers(-(2**20), 2**20), min_size=6, max_size=6),
)
def test_keys_carried_over_are_the_keys_rotated_afresh(change, dtype, interleaved, positions):
    old, new = CHANGES[change]
    x, ids = drawn((2, 2, 3, 8), dtype, 5), torch.tensor(positions).reshape(2, 3)
    ids = ids.clamp(max=(old.longest or 2**21) - 1)
    cached = rotated(x, old, ids, interleaved=interleaved)
    carried = rerotate(cached, ids, old, new, interleaved=interleaved)
    known, oracle = fresh(x, new, ids, interleaved)
    bound = allowed(x, cached, old, new, ids, interleaved) + oracle
    assert carried.dtype == dtype
    assert ((carried.double() - known).abs() <= bound).all()


@pytest.mark.parametrize("change", sorted(CHANGES))
def test_the_budget_tells_the_old_frequencies_and_the_old_amplitude_from_the_new(change):
    """Keys left as they were, and keys turned without the amplitude, lie far outside it."""
    old, new = CHANGES[change]
    x, ids = drawn((1, 2, 3, 8), torch.float32, 5), torch.tensor([[1000, 2000, 3000]])
    cached = rotated(x, old, ids)
    known, oracle = fresh(x, new, ids, False)
    bound = allowed(x, cached, old, new, ids, False) + oracle
    assert ((cached.double() - known).abs() > bound).any()
    if old.attention_factor != new.attention_factor:
        unscaled = rerotate(cached, ids, Frequencies(old.exact), Frequencies(new.exact))
        assert ((unscaled.double() - known).abs() > bound).any()


def test_scores_of_carried_keys_with_new_queries_depend_on_the_gap_alone():
    """The same vectors 3 apart, cached at the old length: 100 and 4000 positions in, they score alike."""
    old, new = CHANGES["LongRoPE at its switch"]
    q, k = drawn((2, 8), torch.float64, 3)
    found, left = [], []
    for s in (100, 4000):
        query = rotated(q.reshape(1, 1, 1, 8), new, torch.tensor([s + 3]))
        cached = rotated(k.reshape(1, 1, 1, 8), old, torch.tensor([s]))
        carried = rerotate(cached, torch.tensor([s]), old, new)
        found.append((query * carried).sum())
        left.append((query * cached).sum())
    m = sp.Rational(119, 100)
    known = float(m * m) * exact.rotary_score(q, k, Frequencies(new.exact), 3, 0)
    # of order 2^-53 times angles of at most 4003 radians, four times, times ‖q‖‖k‖m²
    bound = 4 * 3 * budget.ORACLE * 4003 * float(m * m) * float(q.norm() * k.norm())
    assert max(abs(x - known) for x in found) <= bound
    assert abs(left[0] - left[1]) > 1e6 * bound


def test_frequencies_as_tensors_and_an_amplitude_between_them():
    old, new = CHANGES["YaRN with a larger factor"]
    k, ids = drawn((1, 2, 3, 8), torch.float32, 1), torch.tensor([7, 9, 4000])
    waves = [torch.tensor([float(w) for w in f], dtype=torch.float64) for f in (old, new)]
    known = rerotate(k, ids, old, new)
    given_ratio = rerotate(k, ids, *waves, attention_scaling=float(_ratio(old, new)))
    assert torch.equal(given_ratio, known)
    assert torch.equal(rerotate(k, ids, old, new, attention_scaling=float(_ratio(old, new))), known)


@pytest.mark.parametrize("layout", ["bhtd", "bthd"])
def test_wider_heads_and_the_other_layout(layout):
    old, new = CHANGES["Llama 3"]
    k, ids = drawn((1, 2, 3, 12), torch.float32, 1), torch.tensor([7, 9, 4000])
    given_k = k if layout == "bhtd" else k.transpose(1, 2)
    found = rerotate(given_k, ids, old, new, layout=layout)
    found = found if layout == "bhtd" else found.transpose(1, 2)
    assert torch.equal(found[..., 8:], k[..., 8:])
    assert torch.equal(found[..., :8], rerotate(k[..., :8].contiguous(), ids, old, new))


def test_keys_of_float32_angles_are_carried_by_the_difference_of_those_angles():
    """Far out these angles are off by more than the table's roundoff, and the carried keys follow them."""
    old, new = frequencies(10_000, 8), frequencies(500_000, 8)
    x, ids = drawn((1, 1, 2, 8), torch.float32, 1), torch.tensor([100_001, 130_007])
    hf = [RotaryEmbedding(f, angles="hf").tables(ids) for f in (old, new)]
    cached, known = (rotary_embedding(x, *table) for table in hf)
    reach = spread(spread(x, False), False)
    # twice a table of float32 (cosines within 2u) and twice a rotation, each with its own rounding
    bound = 4 * budget.rotated_vector(4 * budget.unit_roundoff("float32"), "float32") * reach
    assert ((rerotate(cached, ids, old, new, angles="hf") - known).abs() <= bound).all()
    assert ((rerotate(cached, ids, old, new) - known).abs() > bound).any()


def test_the_gradient_is_the_turn_back():
    old, new = CHANGES["YaRN with a larger factor"]
    k = drawn((1, 1, 3, 8), torch.float64, 1).requires_grad_()
    ids = torch.tensor([0, 5, 11])
    assert torch.autograd.gradcheck(lambda x: rerotate(x, ids, old, new), k)


def test_a_cache_is_changed_in_place_when_asked():
    old, new = CHANGES["Llama 3"]
    k, ids = drawn((1, 2, 3, 8), torch.bfloat16, 1), torch.tensor([7, 9, 4000])
    known = rerotate(k, ids, old, new)
    assert rerotate(k, ids, old, new, out=k) is k
    assert torch.equal(k, known)


F = frequencies(10_000, 8)
K = torch.ones(1, 1, 3, 8)
IDS = torch.arange(3)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: rerotate(K, IDS, F, frequencies(10_000, 4)),
            BadTensor,
            "old has 4 planes and new has 2 planes",
        ),
        (lambda: rerotate(K, IDS, 10_000, F), BadDtype, "old is a int; Frequencies or a tensor"),
        (lambda: rerotate(K, IDS, F, torch.ones(2, 2, 4)), BadTensor, r"new has shape \(2, 2, 4\)"),
        (lambda: rerotate(K, IDS, F, torch.ones(2, 4)), BadTensor, "new has 4 planes on 2 axes"),
        (
            lambda: rerotate(K, IDS + 4096, dynamic(10_000, 8, 2, 2048, 4096), F),
            PositionOutOfRange,
            "position_ids contains 4098, but the frequencies old hold in texts of at most 4096 tokens",
        ),
        (
            lambda: rerotate(K, IDS + 2048, F, dynamic(10_000, 8, 2, 2048, 1)),
            PositionOutOfRange,
            "the frequencies new hold in texts of at most 2048 tokens",
        ),
        (lambda: rerotate(K, IDS[:2], F, F), BadTensor, "position_ids has shape"),
        (lambda: rerotate(K[0], IDS, F, F), BadTensor, "k has rank 3"),
        (lambda: rerotate(K.long(), IDS, F, F), BadDtype, "k has dtype torch.int64"),
        (lambda: rerotate(K, IDS, F, F, angles="fp32"), BadChoice, "angles is 'fp32'"),
        (
            lambda: rerotate(K, IDS, F, yarn(10_000, 8, 4, 2048), attention_scaling=2.0),
            BadChoice,
            "attention_scaling is 2.0",
        ),
        (
            lambda: rerotate(K, IDS, F, frequencies(sp.Symbol("b", positive=True), 8)),
            NotLowered,
            "frequency 1",
        ),
        (lambda: rerotate(K, IDS + 2**40, F, linear(10_000, 8, 2)), TooLarge, "the largest angle"),
        (
            lambda: rerotate(K[..., :6], IDS, F, F),
            BadTensor,
            "rotary_dim is 8, .* head_dim is 6",
        ),
    ],
)
def test_keys_that_cannot_be_carried_are_refused_in_one_sentence(call, error, words):
    with pytest.raises(error, match=words):
        call()
