"""Memory of new results: the shape asked for, and huge pages only inside it."""

import sys

import pytest
import torch
from exptx.numeric import native
from exptx.numeric.native import memory


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_a_fresh_result_is_contiguous_and_like_what_it_is_for(dtype):
    x = torch.zeros(3, 4, 5, 6, dtype=dtype).transpose(0, 3)[:, ::2]
    y = native.fresh(x)
    assert (y.shape, y.dtype, y.is_contiguous()) == (x.shape, dtype, True)
    assert y.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()


@pytest.mark.parametrize("entries", [0, 1, 2**20 - 1, 2**20, 2**20 + 1, 2**22 + 12345])
def test_only_whole_pages_inside_a_large_result_are_asked_for(entries, monkeypatch):
    asked = []
    monkeypatch.setattr(memory, "_advice", lambda: lambda *call: asked.append(call))
    y = native.fresh(torch.empty(entries))
    assert len(asked) == (y.nbytes >= 2**22)
    for first, size, advice in asked:
        assert first % 2**21 == size % 2**21 == 0
        assert y.data_ptr() <= first
        assert first + size <= y.data_ptr() + y.nbytes
        assert advice == 14


def test_elsewhere_than_on_linux_nothing_is_asked_for(monkeypatch):
    memory._advice.cache_clear()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert memory._advice() is None
    memory._advice.cache_clear()
