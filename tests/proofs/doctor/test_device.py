"""Where inputs are put: a device that is not here is refused; what comes back is judged on the CPU."""

from __future__ import annotations

import pytest
import torch
from exptx.proofs import check
from exptx.proofs.doctor.device import here, on_device, there
from exptx.proofs.errors import BadClaim


def test_a_device_that_is_not_here_is_refused_in_one_sentence():
    with pytest.raises(BadClaim, match="device is 'nowhere'"):
        check(lambda x, ids: x, device="nowhere")


def test_tensors_move_there_and_everything_else_stays():
    with on_device("meta"):
        assert there(torch.ones(2)).device.type == "meta"
        assert there("word") == "word"
    assert there(torch.ones(2)).device.type == "cpu"
    assert here((torch.ones(2), 3))[1] == 3
