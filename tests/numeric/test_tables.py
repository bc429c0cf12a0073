"""Tables: within the promised bound at any position, and bit for bit as transformers forms them."""

import math

import pytest
import torch
from exptx.numeric import BadChoice, BadDtype, BadTensor, TooLarge, exact, rotary_table
from exptx.numeric import rotary_table as table
from exptx.proofs import budget
from exptx.symbolic import frequencies
from hypothesis import example, given, settings
from hypothesis import strategies as st

LAW = settings(max_examples=30, deadline=None, derandomize=True)
POSITIONS = st.lists(st.integers(-(2**20), 2**20), min_size=1, max_size=4)
BASES = st.sampled_from([100, 10000, 500000, 1000000])
DTYPES = st.sampled_from([torch.float32, torch.float64])


def as_tensor(inv_freq):
    if isinstance(inv_freq, torch.Tensor):
        return inv_freq.double()
    return torch.tensor([float(w) for w in inv_freq.exact], dtype=torch.float64)


def worst_ratio(inv_freq, positions, dtype, scaling=1.0):
    """The largest |entry - exact| / bound over a table."""
    ids = torch.tensor(positions)
    got = rotary_table(inv_freq, ids, attention_scaling=scaling, dtype=dtype)
    known = exact.rotary_table(inv_freq, ids, attention_scaling=scaling, dtype=torch.float64)
    waves = inv_freq.double() if isinstance(inv_freq, torch.Tensor) else as_tensor(inv_freq)
    bound = budget.table_entry(ids.double()[:, None] * waves, dtype, scaling)
    return max(float(((g.double() - k).abs() / bound).max()) for g, k in zip(got, known, strict=True))


@LAW
@given(POSITIONS, BASES, st.integers(1, 128), DTYPES)
def test_every_entry_is_within_the_bound_of_the_exact_value(positions, base, pairs, dtype):
    assert worst_ratio(frequencies(base, 2 * pairs), positions, dtype) <= 1


@LAW
@example(2**24 + 1, torch.float64, 1.0)  # beyond what float32 counts
@example(2**27 + 3, torch.float64, 1.0)
@given(st.integers(0, 2**28), DTYPES, st.floats(0.125, 8.0))
def test_the_bound_holds_up_to_the_largest_angle_and_scales_with_the_amplitude(position, dtype, scaling):
    assert worst_ratio(frequencies(10000, 16), [position, -position], dtype, scaling) <= 1


@LAW
@given(
    POSITIONS,
    st.integers(1, 32),
    st.sampled_from([torch.float16, torch.bfloat16, torch.float32, torch.float64]),
)
def test_the_entries_of_a_tensor_of_frequencies_count_as_exact(positions, pairs, dtype):
    waves = torch.rand(pairs, generator=torch.Generator().manual_seed(pairs)).to(dtype)
    assert worst_ratio(waves, positions, torch.float32) <= 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_bound_is_so_tight_that_eight_roundoffs_break_it(dtype):
    """At position 0 and at small angles, where cos is near 1."""
    inv_freq, ids = frequencies(10000, 16), torch.tensor([0, 1, 2])
    known, _ = exact.rotary_table(inv_freq, ids, dtype=torch.float64)
    cos, _ = rotary_table(inv_freq, ids, dtype=dtype)
    angle = ids.double()[:, None] * as_tensor(inv_freq)
    off = (cos.double() * (1 + 8 * torch.finfo(dtype).eps / 2) - known).abs() > budget.table_entry(
        angle, dtype
    )
    assert off[angle < 0.1].all()


@LAW
@given(POSITIONS, st.sampled_from([10000.0, 500000.0, 1000000.0]), st.integers(1, 64))
def test_hf_angles_are_those_of_transformers_bit_for_bit(positions, base, pairs):
    """The other side is written as the model code writes it: a matrix product with one inner dimension."""
    ids, dim = torch.tensor([positions]), 2 * pairs
    inv_freq = 1.0 / (base ** (torch.arange(0, dim, 2, dtype=torch.int64).to(dtype=torch.float) / dim))
    expanded = inv_freq[None, :, None].float().expand(1, -1, 1)
    freqs = (expanded.float() @ ids[:, None, :].float()).transpose(1, 2)
    emb = torch.cat((freqs, freqs), dim=-1)
    for given_as in (inv_freq, frequencies(int(base), dim)):
        cos, sin = rotary_table(given_as, ids, attention_scaling=1.25, angles="hf")
        assert torch.equal(torch.cat((cos, cos), -1), emb.cos() * 1.25)
        assert torch.equal(torch.cat((sin, sin), -1), emb.sin() * 1.25)


def test_float32_angles_stay_in_their_own_larger_budget_and_leave_the_exact_one():
    inv_freq, ids = frequencies(500000, 128), torch.tensor([8191, 131071, 1048575])
    angle = ids.double()[:, None] * as_tensor(inv_freq)
    known, _ = exact.rotary_table(inv_freq, ids, dtype=torch.float64)
    cos, _ = rotary_table(inv_freq, ids, angles="hf")
    error = (cos.double() - known).abs()
    assert (error <= budget.single_angle_entry(angle, frequency_roundings=math.log(500000) + 3)).all()
    assert (error > budget.table_entry(angle, torch.float32)).any(dim=1).all()


def test_tables_are_half_width_and_have_the_shape_of_the_positions():
    f = frequencies(10000, 8)
    for shape in ((), (3,), (2, 3), (0,), (2, 0), (2, 3, 5)):
        cos, sin = rotary_table(f, torch.zeros(shape, dtype=torch.int32))
        assert cos.shape == sin.shape == (*shape, 4)
        assert cos.dtype == torch.float32
        assert (cos == 1).all()
        assert (sin == 0).all()


def test_a_clock_reading_may_be_a_float():
    f = frequencies(10000, 8)
    half = rotary_table(f, torch.tensor([2.5], dtype=torch.float64), dtype=torch.float64)
    known = exact.rotary_table(f, [2.5], dtype=torch.float64)
    bound = budget.table_entry(2.5, torch.float64)
    assert all(((a - b).abs() <= bound).all() for a, b in zip(half, known, strict=True))


def test_meta_positions_give_meta_tables():
    cos, sin = rotary_table(frequencies(10000, 8), torch.zeros(2, 3, dtype=torch.int64, device="meta"))
    assert cos.is_meta
    assert sin.shape == (2, 3, 4)


def test_a_gradient_reaches_learned_frequencies():
    waves = torch.rand(3, dtype=torch.float64, requires_grad=True)
    ids = torch.tensor([0, 2, -5])
    assert torch.autograd.gradcheck(lambda w: rotary_table(w, ids, dtype=torch.float64), (waves,))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda f: table(f, torch.tensor([2**28 + 1])),
            TooLarge,
            r"2.684e\+08 > 2\^28 radians.*exact\.rotary",
        ),
        (lambda f: table(f, torch.tensor([2**53 + 1])), TooLarge, r"9007199254740993 > 2\^53"),
        (lambda f: table(f, torch.tensor([float("nan")])), BadTensor, "position_ids contains NaN"),
        (lambda f: table(f, [1, 2]), BadDtype, "position_ids is a list; an integer tensor works"),
        (lambda f: table(f, torch.tensor([True])), BadDtype, "position_ids has dtype torch.bool"),
        (
            lambda f: table(f, torch.ones(2).bfloat16()),
            BadDtype,
            "position_ids has dtype torch.bfloat16",
        ),
        (
            lambda f: table(f, torch.arange(2), dtype=torch.bfloat16),
            BadDtype,
            "half precision would spoil",
        ),
        (
            lambda f: table(f, torch.arange(2), angles="fp32"),
            BadChoice,
            "angles is 'fp32'; 'exact' or 'hf'",
        ),
        (
            lambda f: table(f, torch.arange(2), angles="hf", dtype=torch.float64),
            BadChoice,
            "angles='hf' forms",
        ),
        (
            lambda f: table(f, torch.arange(2), attention_scaling=float("inf")),
            BadTensor,
            "attention_scaling is inf",
        ),
        (
            lambda f: table(10000.0, torch.arange(2)),
            BadDtype,
            "inv_freq is a float; Frequencies or a tensor",
        ),
        (
            lambda f: table(torch.ones(2, 2, 2), torch.arange(2)),
            BadTensor,
            r"inv_freq has shape \(2, 2, 2\)",
        ),
        (
            lambda f: table(torch.tensor([float("nan")]), torch.arange(2)),
            BadTensor,
            "inv_freq contains NaN",
        ),
        (
            lambda f: table(torch.ones(2, device="meta"), torch.arange(2)),
            BadTensor,
            "inv_freq is on meta but position_ids is on cpu; move one of them",
        ),
    ],
)
def test_a_table_that_would_be_wrong_is_refused_in_one_sentence(call, error, words):
    with pytest.raises(error, match=words):
        call(frequencies(10000, 8))


def test_hf_angles_need_a_base():
    from exptx.symbolic import Frequencies

    f = Frequencies(frequencies(10000, 8).exact[::-1])
    with pytest.raises(BadChoice, match="angles='hf' needs the base"):
        rotary_table(f, torch.arange(2), angles="hf")


def test_two_amplitudes_are_refused():
    from dataclasses import replace

    import sympy as sp

    f = replace(frequencies(10000, 8), attention_factor=sp.Rational(6, 5))
    assert (rotary_table(f, torch.tensor([0]))[0] == torch.tensor(1.2)).all()
    with pytest.raises(BadChoice, match=r"attention_scaling is 2\.0 but inv_freq has attention_factor 1\.2"):
        rotary_table(f, torch.tensor([0]), attention_scaling=2.0)
