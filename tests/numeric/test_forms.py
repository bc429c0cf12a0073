"""Whether tensors share memory: shown by listing every entry of small ones; and what is refused of them."""

from itertools import product

import pytest
import torch
from exptx.numeric import BadTensor, rotary_embedding
from exptx.numeric.forms import Form, may_overlap, overlaps_itself
from hypothesis import given
from hypothesis import strategies as st

AXES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 12)), min_size=4, max_size=4)


def form(axes, dtype=torch.int32):
    return Form(tuple(n for n, _ in axes), tuple(stride for _, stride in axes), dtype)


def places(axes, start=0):
    """Where every entry stands."""
    index = product(*[range(n) for n, _ in axes])
    return [start + sum(i * stride for i, (_, stride) in zip(at, axes, strict=True)) for at in index]


@given(AXES)
def test_no_tensor_that_overlaps_itself_is_overlooked(axes):
    found = places(axes)
    if len(set(found)) < len(found):
        assert overlaps_itself(form(axes))


@given(st.permutations(range(4)), st.lists(st.integers(0, 3), min_size=4, max_size=4), st.integers(0, 3))
def test_views_of_a_contiguous_tensor_do_not_overlap_themselves(order, sizes, step):
    x = torch.empty([n + step for n in sizes]).permute(order)[tuple(slice(0, n) for n in sizes)]
    assert not overlaps_itself(Form(x.shape, x.stride(), x.dtype))


@given(AXES, AXES, st.integers(-40, 40))
def test_no_tensors_that_share_an_entry_are_overlooked(one, other, gap):
    if {*places(one)} & {*places(other, gap)}:
        assert may_overlap(form(one), form(other), 4 * gap)


@given(
    st.lists(st.integers(1, 3), min_size=4, max_size=4),
    st.lists(st.integers(0, 2), min_size=4, max_size=4),
    st.integers(-60, 60),
)
def test_of_two_slices_of_one_tensor_it_is_known_exactly(sizes, margins, gap):
    strides, reach = [], 1
    for n, margin in zip(reversed(sizes), reversed(margins), strict=True):
        strides.insert(0, reach)
        reach *= n + margin
    axes = list(zip(sizes, strides, strict=True))
    shared = bool({*places(axes)} & {*places(axes, gap)})
    assert may_overlap(form(axes), form(axes), 4 * gap) is shared


def test_entries_shifted_by_part_of_an_entry_do_overlap():
    assert may_overlap(form([(4, 1)]), form([(4, 1)]), 2)
    assert not may_overlap(form([(4, 1)]), form([(4, 1)]), 16)


def window(memory, start, strides=(128, 64, 16, 1), shape=(1, 2, 4, 16)):
    return memory.as_strided(shape, strides, start)


@pytest.mark.parametrize("impl", ["native", "eager"])
@pytest.mark.parametrize(
    ("start", "strides", "words"),
    [
        (1, (128, 64, 16, 1), "out shares memory with another tensor that is read or written"),
        (127, (128, 64, 16, 1), "out shares memory"),
        (0, (128, 16, 32, 1), "out shares memory"),  # x itself by other strides
        (300, (128, 0, 16, 1), "its entries share memory"),
        (300, (128, 64, 8, 1), "its entries share memory"),
        (480, (128, 64, 16, 1), "out shares memory"),  # the table
    ],
)
def test_no_path_writes_where_something_is_read(impl, start, strides, words):
    memory = torch.randn(1000, generator=torch.Generator().manual_seed(0))
    before, table = memory.clone(), [memory[500 + 32 * i : 532 + 32 * i].view(4, 8) for i in range(2)]
    with pytest.raises(BadTensor, match=words):
        rotary_embedding(window(memory, 0), *table, out=window(memory, start, strides), impl=impl)
    assert torch.equal(memory, before)


@pytest.mark.parametrize("impl", ["native", "eager"])
def test_x_itself_and_memory_beside_it_are_written(impl):
    memory = torch.randn(1000, generator=torch.Generator().manual_seed(0))
    table = [torch.rand(4, 8, generator=torch.Generator().manual_seed(i)) for i in range(2)]
    known = rotary_embedding(window(memory, 0), *table)
    for start in (128, 0):
        assert torch.equal(
            rotary_embedding(window(memory, 0), *table, out=window(memory, start), impl=impl), known
        )


def test_without_addresses_nothing_is_refused():
    """A compiler and a transform write into copies, and meta has no memory."""
    memory, table = torch.zeros(1000), [torch.ones(4, 8)] * 2
    rotary_embedding(
        window(memory, 0).to("meta"), *(x.to("meta") for x in table), out=window(memory, 1).to("meta")
    )
    torch.vmap(lambda x: rotary_embedding(x, *table, out=x))(torch.ones(3, 1, 2, 4, 16))
