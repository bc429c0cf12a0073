"""Reports on frequencies: base, denominator, how many features turn, and sinusoids."""

from __future__ import annotations

import math

import torch
from exptx.proofs import Claims, Subject, rope
from mutant import Mutant, Trap
from parts import DIM, Turn, half, inv_freq, issue, kernel, pull, rotary
from torch import Tensor

PARTIAL = half(encoding=rope(10000.0, DIM, DIM // 2, interleaved=False))


def head_partner(x: Tensor, position_ids: Tensor) -> Tensor:
    """Turns a quarter of the head's planes, by the head's exponents, with partners half a head away."""
    w = inv_freq(width=DIM // 2, denominator=DIM)
    angle = position_ids[:, None, :, None].float() * w
    n = DIM // 4
    y = x.clone()
    x0, x1 = x[..., :n], x[..., DIM // 2 : DIM // 2 + n]
    y[..., :n] = x0 * angle.cos() - x1 * angle.sin()
    y[..., DIM // 2 : DIM // 2 + n] = x0 * angle.sin() + x1 * angle.cos()
    return y


def sinusoids(position_ids: Tensor, cosine_exponents: int = 0) -> Tensor:
    """sin at even, cos at odd features; the cosine's exponent may be that of the feature, not of the pair."""
    steps = torch.arange(0, DIM, 2).float()
    sine = position_ids[..., None] / 10000.0 ** (2 * steps * 0.5 / DIM)
    cosine = position_ids[..., None] / 10000.0 ** ((2 * steps * 0.5 + cosine_exponents) / DIM)
    return torch.stack((sine.sin(), cosine.cos()), -1).flatten(-2)


def uneven_sinusoids(position_ids: Tensor) -> Tensor:
    return sinusoids(position_ids, 1)


def side_by_side(position_ids: Tensor) -> Tensor:
    angle = position_ids[..., None] / 10000.0 ** (torch.arange(DIM // 2) / (DIM / 2))
    return torch.cat((angle.sin(), angle.cos()), -1)


def odd_width(position_ids: Tensor) -> Tensor:
    width = 7
    table = torch.zeros(*position_ids.shape, width)
    w = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
    angle = position_ids[..., None] * w
    table[..., 0::2], table[..., 1::2] = angle.sin(), angle.cos()
    return table


def odd_width_guarded(position_ids: Tensor) -> Tensor:
    width = 7
    table = torch.zeros(*position_ids.shape, width)
    w = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
    angle = position_ids[..., None] * w
    table[..., 0::2], table[..., 1::2] = angle.sin(), angle.cos()[..., : width // 2]
    return table


def table_of(apply: Turn) -> Subject:
    return Subject(apply, "tables", half())


MUTANTS = [
    Mutant(
        "F01",
        (issue("pie-project/pie", 602), pull("pie-project/pie", 603)),
        "exponents and partners of the whole head, where half of it turns",
        kernel(head_partner, PARTIAL),
        kernel(rotary(inv_freq(width=DIM // 2)), PARTIAL),
        ("value", "pairing"),
        "halves of the head",
    ),
    Mutant(
        "F04",
        (pull("vllm-project/vllm", 41185),),
        "a factor of another layer type is applied: half of the claimed features turn",
        kernel(rotary(inv_freq(width=DIM // 2))),
        kernel(rotary()),
        ("value",),
        "planes turn, claimed",
    ),
    Mutant(
        "F08",
        (pull("lyogavin/airllm", 369),),
        "the base is lost on the way: 10000 where 500000 is claimed",
        kernel(rotary(), half(encoding=rope(500000.0, DIM))),
        kernel(rotary(inv_freq(500000.0)), half(encoding=rope(500000.0, DIM))),
        ("value",),
        "base 10000",
    ),
    Mutant(
        "F11",
        (issue("SamLynnEvans/Transformer", 25),),
        "sine and cosine of a pair have different exponents",
        table_of(uneven_sinusoids),
        table_of(sinusoids),
        ("planes",),
        "different",
    ),
    Mutant(
        "F13",
        (issue("gc-os-ai/pyaptamer", 607), issue("datawhalechina/base-llm", 67)),
        "an odd width crashes",
        Subject(odd_width, "tables", Claims(head_dim=7)),
        Subject(odd_width_guarded, "tables", Claims(head_dim=7)),
        ("call",),
    ),
]

TRAPS = [
    Trap(
        "X9",
        (
            issue("rasbt/LLMs-from-scratch", 410),
            issue("rasbt/LLMs-from-scratch", 838),
            issue("allenai/allennlp", 2993),
        ),
        "sines and cosines side by side, and i/(d/2) for 2i/d: the same numbers in another order",
        table_of(side_by_side),
    ),
]
