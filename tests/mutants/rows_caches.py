"""Reports on decoding with a cache: where new tokens stand, and what happens to keys that are kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch
from exptx.proofs import Claims, Subject
from exptx.symbolic import encoding, read_config
from exptx.symbolic.catalogue.alibi import slopes
from exptx.symbolic.configs.description import Alibi
from mutant import Mutant
from parts import DIM, angles, half, inv_freq, issue, kernel, pull, turn
from rules import Config, dynamic, with_rule
from torch import Tensor

Places = Callable[[int, int, int], Tensor]  # (start, count, prompt) -> positions of the new tokens


def after(start: int, count: int, prompt: int) -> Tensor:
    return start + torch.arange(count)


def from_zero(start: int, count: int, prompt: int) -> Tensor:
    return torch.arange(count)


def twice(start: int, count: int, prompt: int) -> Tensor:
    return start + (prompt if start else 0) + torch.arange(count)


def negative_prompt(start: int, count: int, prompt: int) -> Tensor:
    return start - (0 if start else 7) + torch.arange(count)


def attend(q: Tensor, k: Tensor, v: Tensor, bias: Tensor | float = 0.0, start: int = 0) -> Tensor:
    """Causal attention of queries that stand at start, start + 1, …"""
    groups = q.shape[1] // k.shape[1]
    k, v = (x.repeat_interleave(groups, 1) for x in (k, v))
    logits = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 + bias
    seen = torch.arange(k.shape[2])[None] <= start + torch.arange(q.shape[2])[:, None]
    return logits.masked_fill(~seen, float("-inf")).softmax(-1) @ v


def turned(x: Tensor, ids: Tensor) -> Tensor:
    angle = angles(ids[None], inv_freq())
    return turn(x, angle.cos(), angle.sin())


@dataclass(frozen=True)
class Kept:
    """k, v so far, and the length of the first call."""

    k: Tensor
    v: Tensor
    prompt: int


def appended(cache: Kept | None, k: Tensor, v: Tensor) -> Kept:
    if cache is None:
        return Kept(k, v, k.shape[2])
    return Kept(torch.cat((cache.k, k), 2), torch.cat((cache.v, v), 2), cache.prompt)


def decoder(
    place: Places = after, own_raw: bool = False, again: bool = False, place_keys: Places | None = None
) -> Callable[..., Any]:
    """Turned keys are kept. own_raw: those of the call are read raw; again: kept ones are turned again."""

    def step(q: Tensor, k: Tensor, v: Tensor, cache: Kept | None) -> tuple[Tensor, Kept]:
        start, prompt = (0, 0) if cache is None else (cache.k.shape[2], cache.prompt)
        ids = place(start, q.shape[2], prompt)
        mine = turned(k, ids if place_keys is None else place_keys(start, q.shape[2], prompt))
        if again and cache is not None:
            cache = Kept(turned(cache.k, torch.arange(start)), cache.v, prompt)
        now = appended(cache, mine, v)
        read = torch.cat((now.k[:, :, :start], k), 2) if own_raw else now.k
        return attend(turned(q, ids), read, v if cache is None else now.v, start=start), now

    return step


STRETCHED: Config = {**with_rule("dynamic", factor=2.0), "hidden_size": 4 * DIM, "max_position_embeddings": 8}


def by_length(keeps_turned: bool) -> Callable[..., Any]:
    """Dynamic NTK: keys are kept turned by the base of their time, or raw and turned when they are read."""

    def step(q: Tensor, k: Tensor, v: Tensor, cache: Kept | None) -> tuple[Tensor, Kept]:
        start = 0 if cache is None else cache.k.shape[2]
        total = start + q.shape[2]
        w = dynamic(STRETCHED, STRETCHED["rope_parameters"], total)

        def moved(x: Tensor, ids: Tensor) -> Tensor:
            angle = angles(ids[None], w)
            return turn(x, angle.cos(), angle.sin())

        ids = start + torch.arange(q.shape[2])
        now = appended(cache, moved(k, ids) if keeps_turned else k, v)
        read = now.k if keeps_turned else moved(now.k, torch.arange(total))
        return attend(moved(q, ids), read, now.v, start=start), now

    return step


SLOPES = torch.tensor([2.0**-2, 2.0**-4, 2.0**-6, 2.0**-8])


def with_bias(over_all: bool) -> Callable[..., Any]:
    """ALiBi over queries and all keys, or over the queries of the call alone."""

    def step(q: Tensor, k: Tensor, v: Tensor, cache: Kept | None) -> tuple[Tensor, Kept]:
        start = 0 if cache is None else cache.k.shape[2]
        now = appended(cache, k, v)
        gap = (start + torch.arange(q.shape[2]))[:, None] - torch.arange(now.k.shape[2])[None]
        if not over_all and q.shape[2] == 1:
            gap = torch.zeros_like(gap)
        return attend(q, now.k, now.v, -SLOPES[:, None, None] * gap, start), now

    return step


XPOS = encoding("xpos", head_dim=DIM)
ZETA = (torch.arange(0, DIM, 2) + 0.4 * DIM) / (1.4 * DIM)


def stretched_by(x: Tensor, ids: Tensor, exponent: Tensor) -> Tensor:
    """Neighbours turned and scaled by ζ^(exponent/512)."""
    angle = angles(ids[None], inv_freq())
    scale = ZETA ** (exponent[None, None, :, None] / 512)
    return turn(x, scale * angle.cos(), scale * angle.sin(), interleaved=True)


def xpos(centred: bool = False, lacks_offset: bool = False) -> Callable[..., Any]:
    """xPos with exponents that count from the middle of the text so far, or from 0 in every call."""

    def step(q: Tensor, k: Tensor, v: Tensor, cache: Kept | None) -> tuple[Tensor, Kept]:
        start = 0 if cache is None else cache.k.shape[2]
        ids = start + torch.arange(q.shape[2])
        centre = (start + q.shape[2]) // 2 if centred else start if lacks_offset else 0
        now = appended(cache, stretched_by(k, ids, -(ids - centre).float()), v)
        return attend(stretched_by(q, ids, (ids - centre).float()), now.k, now.v, start=start), now

    return step


def decoding(apply: Callable[..., Any], claims: Claims | None = None) -> Subject:
    return Subject(apply, "decode", claims or half())


def length_claims() -> Claims:
    found = read_config(dict(STRETCHED)).group().encoding
    return Claims(found, DIM)


def in_two_shifts(accumulates: bool) -> Callable[..., Any]:
    """A key is moved by t in two pending shifts; the second is added to the first, or put in its place."""

    def rotate(x: Tensor, position_ids: Tensor) -> Tensor:
        first = position_ids // 2
        second = position_ids - first
        pending = first + second if accumulates else second
        angle = angles(pending, inv_freq())
        return turn(x, angle.cos(), angle.sin())

    return rotate


def one_by_one(x: Tensor, position_ids: Tensor) -> Tensor:
    """Position t by t turns of one step, each rounded to half precision."""
    angle = inv_freq()
    y = x.half()
    done = torch.zeros_like(position_ids)
    for _ in range(int(position_ids.max())):
        going = (done < position_ids)[:, None, :, None]
        y = torch.where(going, turn(y.float(), angle.cos(), angle.sin()).half(), y)
        done = done + 1
    return y.to(x.dtype)


ALIBI = Claims(Alibi(slopes(4), False), DIM)
TOLD = half(longest=32)
MUTANTS = [
    Mutant(
        "K01", (issue("Blaizzy/mlx-vlm", 1983),),
        "every decoded token stands at position 0",
        decoding(decoder(from_zero)), decoding(decoder()),
        ("decode",), "from 0",
    ),
    Mutant(
        "K04", (pull("skyzh/tiny-llm", 46),),
        "the length of the prompt is counted twice at the first step",
        decoding(decoder(twice)), decoding(decoder()),
        ("decode",), "counted twice",
    ),
    Mutant(
        "K07", (pull("fla-org/flash-linear-attention", 902),),
        "a correction for padding is applied to a prompt without padding: its positions are negative",
        decoding(decoder(negative_prompt)), decoding(decoder()),
        ("decode",),
    ),
    Mutant(
        "K18", (issue("ggml-org/llama.cpp", 3825), pull("ggml-org/llama.cpp", 3835)),
        "of two pending shifts only the second is applied",
        kernel(in_two_shifts(False)), kernel(in_two_shifts(True)),
        ("relative", "value"),
    ),
    Mutant(
        "K20", (issue("ggml-org/llama.cpp", 4097),),
        "half-precision keys are shifted by one again and again, and rounding adds up",
        kernel(one_by_one, TOLD), kernel(in_two_shifts(True), TOLD),
        ("relative", "content", "planes", "angle-precision", "norm", "value"),
    ),
    Mutant(
        "R01",
        (pull("sgl-project/sglang", 19636), pull("kvcache-ai/sglang", 31), pull("kvcache-ai/sglang", 66)),
        "turned keys go to the cache only; the prompt is read with raw ones",
        decoding(decoder(own_raw=True)), decoding(decoder()),
        ("attention-value", "decode"), "not turned",
    ),
    Mutant(
        "R06", (pull("NeuraLegion/shainet", 110),),
        "keys that were kept turned are turned again at every step",
        decoding(decoder(again=True)), decoding(decoder()),
        ("decode",), "again",
    ),
    Mutant(
        "S01", (issue("huggingface/transformers", 25104),),
        "kept keys have the base of a shorter text, the query that of the present one",
        decoding(by_length(True), length_claims()), decoding(by_length(False), length_claims()),
        ("decode",), "shorter text",
    ),
    Mutant(
        "A09", (issue("keras-team/keras-hub", 2861), pull("keras-team/keras-hub", 2977)),
        "the bias is built over one query, and is 0 for every key",
        decoding(with_bias(False), ALIBI), decoding(with_bias(True), ALIBI),
        ("decode",), "new queries alone",
    ),
    Mutant(
        "D06", (issue("Dao-AILab/flash-attention", 522),),
        "the centre of xPos moves with the length of the text",
        decoding(xpos(centred=True), Claims(XPOS, DIM)), decoding(xpos(), Claims(XPOS, DIM)),
        ("decode",), "centre",
    ),
    Mutant(
        "D08", (issue("lucidrains/rotary-embedding-torch", 27),),
        "the scale of xPos counts from 0 in every call",
        decoding(xpos(lacks_offset=True), Claims(XPOS, DIM)), decoding(xpos(), Claims(XPOS, DIM)),
        ("decode",), "from 0",
    ),
]  # fmt: skip


class Tiny(torch.nn.Module):
    """Two layers of turned attention over words, called as models of transformers are.

    place(layer, start, count, mask) -> positions (batch, count) of the new tokens.
    """

    def __init__(self, place: Callable[..., Tensor]):
        super().__init__()
        random = torch.Generator().manual_seed(11)
        self.words = torch.nn.Parameter(torch.randn(16, DIM, generator=random))
        self.maps = torch.nn.Parameter(torch.randn(2, 3, DIM, DIM, generator=random) * DIM**-0.5)
        self.place = place

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        past_key_values: list[tuple[Tensor, Tensor]] | None = None,
        use_cache: bool = True,
    ) -> Any:
        start = 0 if past_key_values is None else past_key_values[0][0].shape[1]
        total = start + input_ids.shape[1]
        mask = torch.ones(len(input_ids), total) if attention_mask is None else attention_mask
        seen = torch.arange(total)[None] <= start + torch.arange(input_ids.shape[1])[:, None]
        seen = seen[None] & mask.bool()[:, None]
        x, cache = self.words[input_ids], []
        for layer, (wq, wk, wv) in enumerate(self.maps):
            ids = position_ids
            if ids is None:
                ids = self.place(layer, start, input_ids.shape[1], mask)
            q, k, v = self.moved(x @ wq, ids), self.moved(x @ wk, ids), x @ wv
            if past_key_values is not None:
                k, v = (
                    torch.cat((old, new), 1) for old, new in zip(past_key_values[layer], (k, v), strict=True)
                )
            cache.append((k, v))
            logits = (q @ k.transpose(-1, -2) * DIM**-0.5).masked_fill(~seen, torch.finfo(q.dtype).min)
            x = x + logits.softmax(-1) @ v
        return SimpleNamespace(logits=x @ self.words.T, past_key_values=cache)

    def moved(self, x: Tensor, ids: Tensor) -> Tensor:
        angle = ids[..., None].to(x.dtype) * inv_freq().to(x.dtype)
        return turn(x, angle.cos(), angle.sin())


def counted(layer: int, start: int, count: int, mask: Tensor) -> Tensor:
    """Every row's own tokens, without its pads."""
    return (mask.cumsum(-1) - 1).clamp(min=0)[:, -count:]


def upper_ahead(layer: int, start: int, count: int, mask: Tensor) -> Tensor:
    """The counter of seen tokens moves on in the first layer, before the second reads it."""
    return counted(layer, start, count, mask) + (1 if layer and start else 0)


def shared_cursor(layer: int, start: int, count: int, mask: Tensor) -> Tensor:
    """In the prompt every row counts its own; later all stand at the length of the cache."""
    if not start:
        return counted(layer, start, count, mask)
    return (start + torch.arange(count)).expand(len(mask), -1)


def with_pads(layer: int, start: int, count: int, mask: Tensor) -> Tensor:
    """In the prompt pads are counted; later they are not."""
    if start:
        return counted(layer, start, count, mask)
    return torch.arange(count).expand(len(mask), -1)


def model(place: Callable[..., Tensor]) -> Subject:
    def tiny() -> Tiny:
        return Tiny(place)

    return Subject(tiny, "module", half())


MUTANTS += [
    Mutant(
        "K02", (issue("fla-org/flash-linear-attention", 766),),
        "a counter moves on in the first layer, so that upper ones are a position ahead",
        model(upper_ahead), model(counted),
        ("decode",),
    ),
    Mutant(
        "K08", (issue("scouzi1966/maclocal-api", 92),),
        "rows of different lengths share one cursor after the prompt",
        model(shared_cursor), model(counted),
        ("batch", "padding"), "row",
    ),
    Mutant(
        "K10", (issue("huggingface/transformers", 22161),),
        "pads are counted in the prompt, and not in what follows",
        model(with_pads), model(counted),
        ("padding", "batch"), "pads",
    ),
]  # fmt: skip
