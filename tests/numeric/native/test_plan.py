"""What a native kernel is told about tensors."""

import pytest
import torch
from exptx.numeric.forms import Form
from exptx.numeric.native import plan


@pytest.mark.parametrize(
    ("shape", "strides", "past"),
    [
        ((1, 32, 4096, 128), (2**24, 2**19, 128, 1), True),
        ((1, 32, 256, 128), (2**20, 2**15, 128, 1), False),  # 4 MiB stay in the cache
        ((1, 32, 4096, 128), (2**25, 2**20, 256, 1), True),
        ((1, 32, 4096, 128), (2**25, 2**20, 136, 1), False),  # rows of broken lines
    ],
)
def test_large_results_of_whole_lines_go_past_the_cache(shape, strides, past):
    assert bool(plan._goes_past(Form(shape, strides, torch.float32), 64)) is past
