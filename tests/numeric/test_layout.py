"""The two pairings are one permutation apart, in tensors and in the rows of a checkpoint."""

import re

import pytest
import torch
from exptx.numeric import BadChoice, BadDtype, BadTensor, permute_qk, rotary_embedding, rotary_table
from exptx.numeric.layout import join_pairs, pair_order, rotated_width, select, split_pairs
from exptx.symbolic import frequencies
from hypothesis import given, settings
from hypothesis import strategies as st
from tensors import nested

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


class Attention(torch.nn.Module):
    """A tiny language model: grouped-query attention whose heads turn in part, and logits of 11 tokens."""

    def __init__(self, heads=4, key_heads=2, head_dim=10, rotary_dim=6, interleaved=True):
        super().__init__()
        self.heads, self.key_heads, self.rotary_dim, self.interleaved = (
            heads,
            key_heads,
            rotary_dim,
            interleaved,
        )
        self.tokens = torch.nn.Embedding(11, 12, dtype=torch.float64)
        self.q_proj = torch.nn.Linear(12, heads * head_dim, dtype=torch.float64)
        self.k_proj = torch.nn.Linear(12, key_heads * head_dim, dtype=torch.float64)
        self.v_proj = torch.nn.Linear(12, key_heads * head_dim, dtype=torch.float64)
        self.head = torch.nn.Linear(heads * head_dim, 11, dtype=torch.float64)

    def forward(self, ids):
        x, table = (
            self.tokens(ids),
            rotary_table(frequencies(100, self.rotary_dim), torch.arange(ids.shape[-1]), dtype=torch.float64),
        )
        q, k, v = (
            project(x).unflatten(-1, (count, -1)).transpose(1, 2)
            for project, count in (
                (self.q_proj, self.heads),
                (self.k_proj, self.key_heads),
                (self.v_proj, self.key_heads),
            )
        )
        q, k = (
            rotary_embedding(y, *table, rotary_dim=self.rotary_dim, interleaved=self.interleaved)
            for y in (q, k)
        )
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.head(y.transpose(1, 2).flatten(2))


@pytest.mark.parametrize("to", ["half", "interleaved"])
def test_a_checkpoint_moved_to_the_other_pairing_gives_the_same_logits_there(to):
    """Only the order of the sums in a score changes: 2 · 10 roundings, and what comes of them behind."""
    torch.manual_seed(0)
    old, ids = Attention(interleaved=to == "half"), torch.randint(11, (2, 7))
    new = Attention(interleaved=to == "interleaved")
    state = old.state_dict()
    new.load_state_dict(state)
    known = old(ids)
    assert (new(ids) - known).abs().max() > 1e-3 * known.abs().max()  # unmoved, it is another model
    for name, heads in (("q_proj", old.heads), ("k_proj", old.key_heads)):
        for part in ("weight", "bias"):
            state[f"{name}.{part}"] = permute_qk(state[f"{name}.{part}"], heads, to=to, rotary_dim=6)
    new.load_state_dict(state)
    assert (new(ids) - known).abs().max() <= 2.0**-53 * 200 * known.abs().max()


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
        (
            lambda w: permute_qk(w.tolist(), 2, to="half"),
            BadDtype,
            "weight is a list; a dense tensor of rows",
        ),
        (
            lambda w: permute_qk(nested([w]), 2, to="half"),
            BadDtype,
            "weight is a nested tensor",
        ),
        (lambda w: permute_qk(w.to_sparse(), 2, to="half"), BadDtype, "weight is a torch.sparse_coo tensor"),
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
