"""Reports on layout, strides and aliasing, on gradients, and on positions that a kernel is given."""

from __future__ import annotations

import torch
from exptx.proofs import Claims, Subject
from mutant import Mutant, Trap
from parts import DIM, Turn, angles, both, half, inv_freq, issue, kernel, pull, rotary, turn
from torch import Tensor

TIME_FIRST = half(layout="bthd")


def time_first(axis: int) -> Turn:
    """A kernel of (batch, time, heads, d) that turns along an axis: 1 is right, 2 are the heads."""

    def rotate(x: Tensor, position_ids: Tensor) -> Tensor:
        if axis == 1:
            angle = position_ids[:, :, None, None].float() * inv_freq()
        else:
            angle = torch.arange(x.shape[2])[None, None, :, None].float() * inv_freq()
        return turn(x, angle.cos(), angle.sin())

    return rotate


def by_head_at_one_token(x: Tensor, position_ids: Tensor) -> Tensor:
    """With one token, rows are counted through heads."""
    if x.shape[2] > 1:
        return rotary()(x, position_ids)
    angle = (position_ids[:, None, :, None] + torch.arange(x.shape[1])[None, :, None, None]) * inv_freq()
    return turn(x, angle.cos(), angle.sin())


def as_if_contiguous(x: Tensor, position_ids: Tensor) -> Tensor:
    strides = torch.empty(x.shape, device="meta").stride()
    return rotary()(torch.as_strided(x, x.shape, strides, x.storage_offset()), position_ids)


def strides_of_queries(q: Tensor, k: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
    """The number of query heads is read for keys as well: too few key heads are turned."""
    count = k.shape[1] * k.shape[1] // q.shape[1]
    turned = torch.cat((rotary()(k[:, :count], position_ids), k[:, count:]), 1)
    return rotary()(q, position_ids), turned


def lost_for_one_head(q: Tensor, k: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
    """Keys are written in place through a transpose that copies where there is one head."""
    target = k if k.shape[1] > 1 else k.clone()
    target.copy_(rotary()(k, position_ids))
    return rotary()(q, position_ids), k


def overwriting(x: Tensor, position_ids: Tensor) -> Tensor:
    return x.copy_(rotary()(x, position_ids))


def first_half_first(x: Tensor, position_ids: Tensor) -> Tensor:
    """The first half is written, then read for the second."""
    angle = angles(position_ids, inv_freq())
    y = x.clone()
    y0, y1 = y.chunk(2, -1)
    y0.copy_(y0 * angle.cos() - y1 * angle.sin())
    y1.copy_(y0 * angle.sin() + y1 * angle.cos())
    return y


def detached(x: Tensor, position_ids: Tensor) -> Tensor:
    with torch.no_grad():
        return rotary()(x, position_ids)


def complex_form(conjugated: bool) -> Turn:
    """By complex numbers; keys should meet the same factor as queries."""

    def rotate(q: Tensor, k: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        factor = torch.polar(torch.ones(()), angles(position_ids, inv_freq()))
        z = torch.view_as_complex(torch.stack(q.chunk(2, -1), -1)) * factor
        w = torch.view_as_complex(torch.stack(k.chunk(2, -1), -1)) * (factor.conj() if conjugated else factor)
        return torch.cat((z.real, z.imag), -1), torch.cat((w.real, w.imag), -1)

    return rotate


def by_offset(read: bool) -> Turn:
    """(x, offset): positions offset, offset + 1, …"""

    def rotate(x: Tensor, offset: int) -> Tensor:
        start = offset if read else 0
        return rotary()(x, start + torch.arange(x.shape[2])[None])

    return rotate


class Cached:
    """A table made once, looked up by a rule for positions."""

    def __init__(self, length: int, wraps: bool = False):
        self.angle = torch.arange(length)[:, None].float() * inv_freq()
        self.wraps = wraps

    def __call__(self, x: Tensor, position_ids: Tensor) -> Tensor:
        ids = position_ids % len(self.angle) if self.wraps else position_ids
        angle = self.angle[ids][:, None]
        return turn(x, angle.cos(), angle.sin())


class KeyedByLength:
    """Tables kept under the length of the input, with or without the offset."""

    def __init__(self, with_offset: bool):
        self.kept: dict[tuple[int, ...], Tensor] = {}
        self.with_offset = with_offset

    def __call__(self, x: Tensor, offset: int) -> Tensor:
        key = (x.shape[2], offset) if self.with_offset else (x.shape[2],)
        if key not in self.kept:
            self.kept[key] = (offset + torch.arange(x.shape[2]))[:, None].float() * inv_freq()
        return turn(x, self.kept[key].cos(), self.kept[key].sin())


class CheckedTable:
    """A table of fixed length sliced at an offset, whose bound counts the offset or not."""

    def __init__(self, counts_offset: bool):
        self.angle = torch.arange(64)[:, None].float() * inv_freq()
        self.counts_offset = counts_offset

    def __call__(self, x: Tensor, offset: int) -> Tensor:
        need = x.shape[2] + (offset if self.counts_offset else 0)
        if need > len(self.angle):
            self.angle = torch.arange(2 * need)[:, None].float() * inv_freq()
        angle = self.angle[offset : offset + x.shape[2]]
        return turn(x, angle.cos(), angle.sin())


def rows_by_heads(x: Tensor, position_ids: Tensor) -> Tensor:
    """Positions counted through all rows of the batch."""
    flat = torch.arange(x.shape[0] * x.shape[2]).view(x.shape[0], x.shape[2])
    return rotary()(x, flat)


def without_positions(x: Tensor) -> Tensor:
    return rotary()(x, torch.arange(x.shape[2])[None])


def many_rows(x: Tensor) -> Tensor:
    return rows_by_heads(x, torch.zeros(1))


def over_documents(reset: bool) -> Turn:
    """Packed documents (x, cu_seqlens); positions restart at every one, or run on."""

    def rotate(x: Tensor, cu_seqlens: Tensor) -> Tensor:
        ids = torch.arange(x.shape[2])
        if reset:
            ids = ids - cu_seqlens[torch.bucketize(ids, cu_seqlens, right=True) - 1]
        return rotary()(x, ids[None])

    return rotate


OFFSET = half(positions="offset", longest=256)
SHORT = half(longest=64)

MUTANTS = [
    Mutant(
        "R07",
        (pull("huggingface/candle", 3612),),
        "nothing flows back through the fused kernel",
        kernel(detached),
        kernel(rotary()),
        ("gradient",),
        "cut off",
    ),
    Mutant(
        "T01",
        (issue("facebookresearch/xformers", 841), issue("mlfoundations/open_lm", 4)),
        "the table is laid along the heads",
        kernel(time_first(2), TIME_FIRST),
        kernel(time_first(1), TIME_FIRST),
        ("value", "single-token", "content", "planes"),
    ),
    Mutant(
        "T03",
        (issue("elixir-nx/emlx", 121),),
        "with one token, the angle is that of position + head",
        kernel(by_head_at_one_token),
        kernel(rotary()),
        ("single-token",),
        "head",
    ),
    Mutant(
        "T06",
        (pull("vllm-project/vllm", 17091),),
        "the stride of tokens is taken to be that of a contiguous tensor",
        kernel(as_if_contiguous),
        kernel(rotary()),
        ("strides",),
        "contiguous",
    ),
    Mutant(
        "T07",
        (issue("sgl-project/sglang", 20559), pull("sgl-project/sglang", 20598)),
        "the number of query heads is used for keys, which have fewer",
        kernel(strides_of_queries, half(heads=4, kv_heads=2)),
        kernel(both(rotary()), half(heads=4, kv_heads=2)),
        ("shared-keys",),
    ),
    Mutant(
        "T10",
        (issue("linkedin/Liger-Kernel", 342),),
        "keys of one head are written to a copy that is not returned",
        kernel(lost_for_one_head, half(inplace=True)),
        kernel(both(rotary()), half(inplace=True)),
        ("shared-keys",),
        "as they went in",
    ),
    Mutant(
        "T11",
        (issue("unslothai/unsloth", 5001),),
        "the caller's tensor is overwritten",
        kernel(overwriting),
        kernel(overwriting, half(inplace=True, gradient=False)),
        ("purity",),
        "written to",
    ),
    Mutant(
        "T13",
        (pull("ggml-org/llama.cpp", 20274),),
        "the first half is overwritten before the second reads it",
        kernel(first_half_first),
        kernel(rotary()),
        ("planes",),
        "overwritten",
    ),
    Mutant(
        "K09",
        (pull("flashinfer-ai/flashinfer", 847),),
        "the offset is taken and not read",
        kernel(by_offset(False), OFFSET),
        kernel(by_offset(True), OFFSET),
        ("value", "origin", "relative", "content"),
    ),
    Mutant(
        "K12",
        (issue("lucidrains/rotary-embedding-torch", 11),),
        "a table is kept under the length alone, without the offset",
        kernel(KeyedByLength(False), OFFSET),
        kernel(KeyedByLength(True), OFFSET),
        ("value", "purity", "content", "relative"),
    ),
    Mutant(
        "K13",
        (pull("karpathy/nanochat", 520),),
        "the bound is checked for the new tokens only",
        kernel(CheckedTable(False), OFFSET),
        kernel(CheckedTable(True), OFFSET),
        ("call",),
    ),
    Mutant(
        "K15",
        (pull("pytorch/torchtitan", 2849),),
        "positions are taken modulo the length of the table",
        kernel(Cached(64, wraps=True), SHORT),
        kernel(Cached(64), SHORT),
        ("out-of-range",),
        "modulo",
    ),
    Mutant(
        "K16",
        (pull("allenai/OLMo-core", 591), issue("pytorch/torchtitan", 2559)),
        "packed documents are counted as one text",
        kernel(over_documents(False), half(positions="lengths", longest=64)),
        kernel(over_documents(True), half(positions="lengths", longest=64)),
        ("content", "planes", "batch", "value"),
    ),
    Mutant(
        "K21",
        (pull("turboderp/exllama", 101),),
        "rows of a batch are counted one after the other",
        kernel(many_rows, half(positions="none", longest=64)),
        kernel(without_positions, half(positions="none", longest=64)),
        ("content", "planes", "batch", "value"),
    ),
    Mutant(
        "N01",
        (issue("pytorch/pytorch", 148156),),
        "a conjugation is dropped, or added: keys turn the other way",
        kernel(complex_form(True)),
        kernel(complex_form(False)),
        ("content",),
    ),
]


def shifted_in_half(q: Tensor, k: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
    """All rows moved by one constant, as left padding does."""
    return both(rotary())(q, k, position_ids + 5)


TRAPS = [
    Trap(
        "X7",
        (issue("huggingface/transformers", 22683),),
        "queries and keys are moved by one constant: scores are the same",
        Subject(shifted_in_half, "rotary", Claims(head_dim=DIM)),
    ),
]
