"""Reports on pairing and layout of tables, and on what is turned at all, and which way."""

from __future__ import annotations

from dataclasses import replace

import torch
from exptx.proofs import Subject, rope
from mutant import Mutant, Trap
from parts import DIM, Turn, angles, both, half, inv_freq, issue, kernel, pull, rotary
from torch import Tensor

INTERLEAVED = half(encoding=rope(10000.0, DIM, interleaved=True))


def repeated(partner_half: bool) -> Turn:
    """The table holds every angle twice, side by side; the partner stands a half away, or beside it."""

    def rotate(x: Tensor, position_ids: Tensor) -> Tensor:
        angle = angles(position_ids, inv_freq().repeat_interleave(2))
        if partner_half:
            x0, x1 = x.chunk(2, -1)
            partner = torch.cat((-x1, x0), -1)
        else:
            partner = torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)
        return x * angle.cos() + partner * angle.sin()

    return rotate


def flagged(honoured: bool) -> Turn:
    """A kernel with a flag for the pairing, read or not, called with it set."""

    def rotate(x: Tensor, position_ids: Tensor, interleaved: bool = True) -> Tensor:
        return rotary(interleaved=interleaved and honoured)(x, position_ids)

    return rotate


def mixed_pairs(q: Tensor, k: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
    return rotary(interleaved=True)(q, position_ids), rotary()(k, position_ids)


def first_head_only(x: Tensor, position_ids: Tensor) -> Tensor:
    y = x.clone()
    y[:, :1] = repeated(True)(x[:, :1], position_ids)
    return y


def dropped(x: Tensor, position_ids: Tensor) -> Tensor:
    rotary()(x, position_ids)  # out of place, and its result is not used
    return x.clone()


def clockwise(x: Tensor, position_ids: Tensor) -> Tensor:
    return rotary(-inv_freq())(x, position_ids)


def without_base(x: Tensor, position_ids: Tensor) -> Tensor:
    return rotary(inv_freq(base=torch.tensor(0.0)))(x, position_ids)


STRETCHED = {
    "rope_type": "yarn", "rope_theta": 10000.0, "factor": 1.0, "original_max_position_embeddings": 4096,
}  # fmt: skip
YARN = half(encoding=replace(rope(10000.0, DIM, interleaved=True), rule="yarn", parameters=STRETCHED))

MUTANTS = [
    Mutant(
        "L01",
        (issue("huggingface/transformers", 25199), issue("naklecha/llama3-from-scratch", 20)),
        "half-split turning of weights that were stored for neighbours",
        kernel(rotary(), INTERLEAVED),
        kernel(rotary(interleaved=True), INTERLEAVED),
        ("pairing",),
        "claimed interleaved",
    ),
    Mutant(
        "L02",
        (pull("NeuraLegion/shainet", 111),),
        "neighbours are turned in a half-split model; position 0 cannot show it",
        kernel(rotary(interleaved=True)),
        kernel(rotary()),
        ("pairing",),
        "claimed half",
    ),
    Mutant(
        "L04",
        (issue("huggingface/diffusers", 13546), issue("baidu/ERNIE-Image", 6)),
        "every angle stands twice in the table, and partners are a half away: two angles in a plane",
        kernel(repeated(True), INTERLEAVED),
        kernel(repeated(False), INTERLEAVED),
        ("planes",),
        "different angles",
    ),
    Mutant(
        "L06",
        (issue("vllm-project/vllm-ascend", 12765), pull("vllm-project/vllm-ascend", 12780)),
        "the flag for the pairing is taken and not read",
        kernel(flagged(False), INTERLEAVED),
        kernel(flagged(True), INTERLEAVED),
        ("pairing",),
        "half",
    ),
    Mutant(
        "L07",
        (pull("xLLM-AI/xllm", 853),),
        "queries are turned interleaved, keys half-split",
        kernel(mixed_pairs),
        kernel(both(rotary())),
        ("content", "pairing"),
    ),
    Mutant(
        "L08",
        (pull("PaddlePaddle/PaddleFleet", 678),),
        "the branch for scaled tables does not read the flag for the pairing",
        kernel(rotary(), YARN),
        kernel(rotary(interleaved=True), YARN),
        ("pairing",),
        "half",
    ),
    Mutant(
        "L10",
        (pull("huggingface/transformers", 47403),),
        "a table for neighbours meets a half-split kernel, on the first head only",
        kernel(first_head_only, INTERLEAVED),
        kernel(repeated(False), INTERLEAVED),
        ("planes", "content"),
    ),
    Mutant(
        "R02",
        (pull("bytedance-iaas/vllm", 59),),
        "the result of an out-of-place kernel is dropped",
        kernel(dropped),
        kernel(rotary()),
        ("value",),
        "nothing turns",
    ),
    Mutant(
        "R03",
        (pull("trymirai/lalamo", 268),),
        "the sine has the other sign for queries and keys alike",
        kernel(both(clockwise)),
        kernel(both(rotary())),
        ("direction",),
        "clockwise",
    ),
    Mutant(
        "R04",
        (pull("ngxson/llama.cpp", 59),),
        "the forward pass runs the inverse, the backward pass the forward",
        kernel(clockwise),
        kernel(rotary()),
        ("direction",),
        "sign of the sine",
    ),
    Mutant(
        "R09",
        (pull("nntrainer/nntrainer", 3982),),
        "base 0 is accepted: frequencies are infinite and the output is no number",
        kernel(without_base),
        kernel(rotary()),
        ("call",),
        "not finite",
    ),
]

TRAPS = [
    Trap(
        "X1",
        (pull("karpathy/nanochat", 489),),
        "both queries and keys turn clockwise: a convention where none is claimed",
        Subject(both(clockwise), "rotary", half(encoding=None)),
    ),
    Trap(
        "X2",
        (
            issue("karpathy/nanochat", 264),
            issue("huggingface/transformers", 40462),
            issue("lucidrains/soundstorm-pytorch", 23),
            issue("baichuan-inc/Baichuan-7B", 136),
        ),
        "half-split where a reader expects neighbours: a fixed permutation of features",
        Subject(both(rotary()), "rotary", half(encoding=None)),
    ),
]
