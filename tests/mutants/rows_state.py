"""Reports on buffers, meta tensors, shared state and compilation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from exptx.proofs import rope
from mutant import Mutant
from parts import DIM, angles, half, inv_freq, issue, kernel, pull, rotary, turn
from torch import Tensor, nn

CONFIG = {
    "model_type": "llama",
    "hidden_size": 4 * DIM,
    "num_attention_heads": 4,
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
}
MADE = half(encoding=rope(10000.0, DIM, interleaved=False), config=CONFIG)


def base_of(config: Mapping[str, Any]) -> float:
    return config["rope_parameters"]["rope_theta"]


class Materialised(nn.Module):
    """Built on the meta device and then given memory, with frequencies filled in again, or not."""

    def __init__(self, refilled: bool, garbage: float):
        super().__init__()
        with torch.device("meta"):
            self.register_buffer("inv_freq", inv_freq(), persistent=False)
        self.to_empty(device="cpu")
        self.inv_freq.fill_(garbage)  # what uninitialised memory happens to hold
        if refilled:
            self.inv_freq.copy_(inv_freq())

    def forward(self, x: Tensor, position_ids: Tensor) -> Tensor:
        return rotary(self.inv_freq)(x, position_ids)


class SharedTable:
    """One table for all instances, or one each."""

    shared: ClassVar[dict[str, Tensor]] = {}

    def __init__(self, config: Mapping[str, Any], shares: bool):
        self.table = SharedTable.shared if shares else {}
        self.base = base_of(config)

    def __call__(self, x: Tensor, position_ids: Tensor) -> Tensor:
        if "w" not in self.table:
            self.table["w"] = inv_freq(self.base)
        return rotary(self.table["w"])(x, position_ids)


def sharing(config: Mapping[str, Any]) -> SharedTable:
    return SharedTable(config, True)


def separate(config: Mapping[str, Any]) -> SharedTable:
    return SharedTable(config, False)


class Replaced(nn.Module):
    """A table is stored on the module in every call, which guards of compiled code see as new."""

    def __init__(self, stores: bool):
        super().__init__()
        self.stores = stores
        self.calls = 0
        self.frequencies = inv_freq()

    def forward(self, x: Tensor, position_ids: Tensor) -> Tensor:
        if self.stores:
            self.calls += 1
        return rotary(self.frequencies * 1.0**self.calls)(x, position_ids)


class Replayed:
    """A view of the last result is kept and handed out again, as a replayed graph does."""

    def __init__(self, copies: bool):
        self.copies = copies
        self.kept: Tensor | None = None

    def __call__(self, x: Tensor, position_ids: Tensor) -> Tensor:
        angle = angles(position_ids, inv_freq())
        if self.copies:
            return turn(x, angle.cos(), angle.sin())
        if self.kept is None or self.kept.shape != angle.shape:
            self.kept = angle
        return turn(x, self.kept.cos(), self.kept.sin())


MUTANTS = [
    Mutant(
        "B01",
        (issue("huggingface/transformers", 45902),),
        "frequencies are uninitialised memory after the meta device",
        kernel(Materialised(False, 0.0)),
        kernel(Materialised(True, 0.0)),
        ("value",),
    ),
    Mutant(
        "B03",
        (pull("Synthyra/FastPLMs", 47),),
        "the same with finite garbage, so that nothing is NaN",
        kernel(Materialised(False, 6.9e-18)),
        kernel(Materialised(True, 6.9e-18)),
        ("value", "call"),
    ),
    Mutant(
        "B05",
        (pull("nomadkaraoke/python-audio-separator", 298),),
        "frequencies are replaced, and the table that was made of the old ones is used",
        kernel(sharing(CONFIG), MADE, make=sharing),
        kernel(separate(CONFIG), MADE, make=separate),
        ("instances", "config-key"),
        "share",
    ),
    Mutant(
        "B06",
        (pull("huggingface/diffusers", 10959),),
        "every call stores something new on the module, so that it is compiled again",
        kernel(Replaced(True)),
        kernel(Replaced(False)),
        ("recompiles",),
        "compiled again",
        "full",
    ),
    Mutant(
        "B07",
        (pull("NVlabs/Fast-dLLM", 51),),
        "a kept tensor is read again after what made it has run on",
        kernel(Replayed(False)),
        kernel(Replayed(True)),
        ("content", "purity", "batch", "value"),
    ),
]
