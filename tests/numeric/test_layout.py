"""The two pairings are one permutation apart, in tensors and in the rows of a checkpoint."""

import re

import pytest
import torch
from exptx.numeric import BadChoice, BadDtype, BadTensor, permute_qk, rotary_embedding, rotary_table
from exptx.numeric.layout import join_pairs, pair_order, rotated_width, select, split_pairs
from exptx.symbolic import frequencies
from hypothesis import given, settings
from hypothesis import strategies as st

LAW = settings(max_examples=30, deadline=None, derandomize=True)


@LAW
@given(st.integers(1, 128), st.booleans())
def test_joining_undoes_splitting(pairs, interleaved):
    x = torch.arange(2.0 * pairs)
    assert torch.equal(join_pairs(*split_pairs(x, interleaved), interleaved), x)


@LAW
@given(st.integers(1, 128))
def test_the_pair_order_takes_planes_of_one_pairing_to_planes_of_the_other(pairs):
    x = torch.arange(2 * pairs)
    for to, source, target in (("half", True, False), ("interleaved", False, True)):
        moved = x[pair_order(2 * pairs, to=to)]
        for before, after in zip(split_pairs(x, source), split_pairs(moved, target), strict=True):
            assert torch.equal(before, after)


@LAW
@given(st.integers(1, 5), st.integers(1, 16), st.integers(0, 3), st.sampled_from([(), (7,)]))
def test_permuting_there_and_back_is_the_identity(heads, pairs, tail, features):
    weight = torch.randn(heads * (2 * pairs + tail), *features)
    there = permute_qk(weight, heads, to="half", rotary_dim=2 * pairs)
    assert torch.equal(permute_qk(there, heads, to="interleaved", rotary_dim=2 * pairs), weight)


@LAW
@given(st.integers(1, 3), st.integers(1, 3), st.integers(2, 8))
def test_permuted_projections_rotate_to_the_same_planes_in_the_other_pairing(key_heads, group, pairs):
    """Weight and bias of queries and of grouped keys, each with its own heads; whole numbers, hence exact."""
    d, width, order = 2 * pairs, 6, pair_order(2 * pairs, to="half")
    x = torch.randint(-9, 10, (1, 4, width)).double()
    cos, sin = rotary_table(frequencies(10000, d), torch.arange(4), dtype=torch.float64)
    for heads in (key_heads, key_heads * group):
        weight, bias = (
            torch.randint(-9, 10, (heads * d, width)).double(),
            torch.randint(-9, 10, (heads * d,)).double(),
        )

        def rotated(weight, bias, interleaved, heads=heads):
            y = torch.nn.functional.linear(x, weight, bias).unflatten(-1, (heads, d)).transpose(1, 2)
            return rotary_embedding(y, cos, sin, interleaved=interleaved)

        moved = permute_qk(weight, heads, to="half"), permute_qk(bias, heads, to="half")
        before = rotated(weight, bias, True)
        assert torch.equal(rotated(*moved, False), before[..., order])  # so every score keeps its value
        assert not torch.equal(rotated(weight, bias, False), before[..., order])


@pytest.mark.parametrize(
    ("order", "shared"),
    [
        ([0, 1, 2, 3, 4, 5], True),
        ([2, 3], True),
        ([1, 3, 5], True),
        ([4], True),
        ([0, 1, 3], False),
        ([3, 2, 1], False),
        ([0, 0], False),
        ([0, 2, 1, 3], False),
    ],
)
@pytest.mark.parametrize("dim", [-1, -2])
def test_a_selection_is_a_view_exactly_where_its_places_are_evenly_spaced(order, shared, dim):
    x = torch.arange(72.0).reshape(2, 6, 6)
    chosen = select(x, order, dim)
    wanted = x[..., order] if dim == -1 else x[..., order, :]
    assert torch.equal(chosen, wanted)
    assert (chosen.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()) == shared


@pytest.mark.parametrize("head_dim", range(1, 9))
def test_the_widths_that_a_refusal_names_do_work(head_dim):
    if head_dim % 2 == 0:
        assert rotated_width(head_dim, None) == head_dim
        return
    with pytest.raises(BadTensor) as caught:
        rotated_width(head_dim, None)
    named = [int(n) for n in re.findall(r"\d+", str(caught.value).split(";")[1])]
    assert named
    for width in named[:2]:
        assert abs(width - head_dim) == 1
        assert rotated_width(width, None) == width
    if head_dim > 1:
        assert rotated_width(head_dim, named[2]) == head_dim - 1


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda w: permute_qk(w.tolist(), 2, to="half"), BadDtype, "weight is a list; a tensor of rows"),
        (lambda w: permute_qk(w, 4, to="half"), BadTensor, r"weight has shape \(10, 3\); \(4 \* head_dim"),
        (
            lambda w: permute_qk(w, 2, to="half"),
            BadTensor,
            "head_dim is 5, .*; head_dim 4 or 6 works, or rotary_dim=4",
        ),
        (lambda w: permute_qk(w, 0, to="half"), BadTensor, "num_heads is 0; the positive number of heads"),
        (lambda w: permute_qk(w, 1, to="neox"), BadChoice, "to is 'neox'; 'half' .* or 'interleaved'"),
        (
            lambda w: permute_qk(w, 1, to="half", rotary_dim=12),
            BadTensor,
            "rotary_dim is 12, .* head_dim is 10; an even number from 2 to 10 works",
        ),
        (lambda w: permute_qk(w[None], 1, to="half"), BadTensor, r"weight has shape \(1, 10, 3\)"),
    ],
)
def test_what_cannot_be_permuted_is_refused_in_one_sentence(call, error, words):
    with pytest.raises(error, match=words):
        call(torch.zeros(10, 3))
