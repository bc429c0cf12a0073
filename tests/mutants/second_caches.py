"""Decoding with a cache, and small models: right and wrong."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import torch
from exptx.proofs import Claims, Subject, rope
from second import Case
from torch import Tensor, nn
from torch.nn import functional as F

OMEGA = 1e4 ** (-torch.arange(0, 32, 2, dtype=torch.float64) / 32)


def turned(x: Tensor, positions: Tensor) -> Tensor:
    """Halves of 32 features, turned by positions (time,) or (batch, time)."""
    angle = positions[..., None].double() * OMEGA
    angle = angle.unsqueeze(1) if angle.ndim == 3 else angle
    c, s = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x.chunk(2, -1)
    return torch.cat((a * c - b * s, b * c + a * s), -1)


def attend(q: Tensor, k: Tensor, v: Tensor, shift: int = 0) -> Tensor:
    """The queries are the last ones of the keys; keys of later tokens are hidden. shift: of the mask."""
    seen = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril(k.shape[2] - q.shape[2] + shift)
    times = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(times, 1), v.repeat_interleave(times, 1)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=seen)


def appended(cache: Any, *new: Tensor) -> tuple[Tensor, ...]:
    """Along time, as new tensors."""
    return new if cache is None else tuple(torch.cat((a, b), 2) for a, b in zip(cache, new, strict=True))


def span(cache: Any, x: Tensor) -> Tensor:
    """Where the new tokens stand, by the length of the cache."""
    start = 0 if cache is None else cache[0].shape[2]
    return torch.arange(start, start + x.shape[2])


def keys_turned_once(q: Tensor, k: Tensor, v: Tensor, cache: Any) -> tuple[Tensor, Any]:
    at = span(cache, q)
    k, v = appended(cache, turned(k, at), v)
    return attend(turned(q, at), k, v), (k, v)


def keys_kept_raw(q: Tensor, k: Tensor, v: Tensor, cache: Any) -> tuple[Tensor, Any]:
    at = span(cache, q)
    k, v = appended(cache, k, v)
    return attend(turned(q, at), turned(k, torch.arange(k.shape[2])), v), (k, v)


def keys_by_distance(q: Tensor, k: Tensor, v: Tensor, cache: Any) -> tuple[Tensor, Any]:
    """The last token stands at 0 and the others before it, at negative positions."""
    k, v = appended(cache, k, v)
    back = torch.arange(1 - k.shape[2], 1)
    return attend(turned(q, back[-q.shape[2] :]), turned(k, back), v), (k, v)


def blocks_of_four(q: Tensor, k: Tensor, v: Tensor, cache: Any) -> tuple[Tensor, Any]:
    """Pages of four tokens and a number; pages are copied before they are written."""
    pages, count = ([], 0) if cache is None else ([p.clone() for p in cache["pages"]], cache["count"])
    at = torch.arange(count, count + q.shape[2])
    both = torch.stack((turned(k, at), v))
    for i, t in enumerate(at.tolist()):
        if t % 4 == 0:
            pages.append(torch.zeros(*both.shape[:3], 4, 32, dtype=both.dtype))
        pages[t // 4][:, :, :, t % 4] = both[:, :, :, i]
    count += q.shape[2]
    keys, values = torch.cat(pages, 3)[:, :, :, :count]
    return attend(turned(q, at), keys, values), {"pages": pages, "count": count}


def mask_of_the_chunk(q: Tensor, k: Tensor, v: Tensor, cache: Any) -> tuple[Tensor, Any]:
    """A chunk after a prefix is not masked within itself."""
    at = span(cache, q)
    keys, values = appended(cache, turned(k, at), v)
    return attend(turned(q, at), keys, values, 0 if cache is None else q.shape[2]), (keys, values)


def one_for_a_chunk(q: Tensor, k: Tensor, v: Tensor, cache: Any) -> tuple[Tensor, Any]:
    """After the prefill the counter moves by one for each call, however many tokens there were."""
    start = 0 if cache is None else cache[2]
    at = torch.arange(start, start + q.shape[2])
    keys, values = appended(cache and cache[:2], turned(k, at), v)
    return attend(turned(q, at), keys, values), (keys, values, q.shape[2] if cache is None else start + 1)


def turned_again(q: Tensor, k: Tensor, v: Tensor, cache: Any) -> tuple[Tensor, Any]:
    """Cached keys, already turned, are turned with the new ones at each step."""
    at = span(cache, q)
    k, v = appended(cache, k, v)
    k = turned(k, torch.arange(k.shape[2]))
    return attend(turned(q, at), k, v), (k, v)


def ring(q: Tensor, k: Tensor, v: Tensor, cache: Any) -> tuple[Tensor, Any]:
    """Eight places: the ninth token takes the place of the first, though nothing is to be forgotten."""
    at = span(cache, q) if cache is None else torch.arange(cache[2], cache[2] + q.shape[2])
    keys, values = appended(cache and cache[:2], turned(k, at), v)
    out = attend(turned(q, at), keys, values)
    return out, (keys[:, :, -8:], values[:, :, -8:], int(at[-1]) + 1)


class Shared:
    """The list is the cache, and it is appended in place: two continuations write into each other."""

    def __call__(self, q: Tensor, k: Tensor, v: Tensor, cache: Any) -> tuple[Tensor, Any]:
        cache = [] if cache is None else cache
        start = sum(part[0].shape[2] for part in cache)
        at = torch.arange(start, start + q.shape[2])
        cache.append((turned(k, at), v))
        keys, values = (torch.cat(parts, 2) for parts in zip(*cache, strict=True))
        return attend(turned(q, at), keys, values), cache


def query_at_zero(q: Tensor, k: Tensor, v: Tensor, cache: Any) -> tuple[Tensor, Any]:
    """A step turns its query by 0 and its key by the right position."""
    at = span(cache, q)
    keys, values = appended(cache, turned(k, at), v)
    return attend(turned(q, at - at[0]), keys, values), (keys, values)


def without_itself(q: Tensor, k: Tensor, v: Tensor, cache: Any) -> tuple[Tensor, Any]:
    """A step reads the cache before its own key is in it."""
    at = span(cache, q)
    keys, values = appended(cache, turned(k, at), v)
    past = keys.shape[2] - (cache is not None and q.shape[2] == 1)
    return attend(turned(q, at), keys[:, :, :past], values[:, :, :past]), (keys, values)


def batch_of_the_first(q: Tensor, k: Tensor, v: Tensor, cache: Any) -> tuple[Tensor, Any]:
    """The cache keeps the first row and expands it."""
    at = span(cache, q)
    keys, values = appended(cache, turned(k, at), v)
    kept = tuple(x[:1].expand_as(x) for x in (keys, values))
    return attend(turned(q, at), keys, values), kept


class Model(nn.Module):
    """Two layers of causal attention over a table of 64 tokens. fault: what it does wrong."""

    def __init__(self, fault: str = "") -> None:
        super().__init__()
        made = torch.Generator().manual_seed(3)
        self.fault = fault
        self.config = SimpleNamespace(vocab_size=64, num_hidden_layers=2, num_attention_heads=2)
        self.table = nn.Parameter(torch.randn(64, 64, generator=made))
        self.maps = nn.Parameter(torch.randn(2, 4, 64, 64, generator=made) / 8)
        self.eval()

    def layer(self, x: Tensor, maps: Tensor, at: Tensor, seen: Tensor, past: Any) -> tuple[Tensor, Any]:
        """x plus what it attends to; past: keys and values of this layer."""
        q, k, v = ((x @ m).unflatten(-1, (2, 32)).transpose(1, 2) for m in maps[:3])
        k, v = appended(past, turned(k, at), v)
        out = F.scaled_dot_product_attention(turned(q, at), k, v, attn_mask=seen)
        return F.layer_norm(x + out.transpose(1, 2).flatten(2) @ maps[3], (64,)), (k, v)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        past_key_values: Any = None,
        use_cache: bool = False,
        **other: Any,
    ) -> SimpleNamespace:
        batch, time = input_ids.shape
        past = 0 if past_key_values is None else past_key_values[0][0].shape[2]
        start = 0 if self.fault == "restarts" else past
        at = torch.arange(start, start + time).expand(batch, -1)
        if position_ids is not None and self.fault != "ids":
            at = position_ids.expand(batch, -1)
        seen = torch.ones(time, past + time, dtype=torch.bool).tril(past).expand(batch, 1, -1, -1)
        if attention_mask is not None and self.fault != "mask":
            hidden = attention_mask.bool()[:, None, None, :]
            own = torch.eye(past + time, dtype=torch.bool)[past:]
            seen = seen & hidden | own
        x, kept = self.table[input_ids], []
        for i, maps in enumerate(self.maps):
            layer_past = None if past_key_values is None else past_key_values[i]
            x, both = self.layer(x, maps, at, seen, layer_past)
            kept.append(both)
        if self.fault == "rows":
            x = x - x.mean(0, keepdim=True)
        logits = x @ self.table.T / math.sqrt(64)
        return SimpleNamespace(logits=logits, past_key_values=tuple(kept) if use_cache else None)


def _model(fault: str = ""):
    """A function that makes it."""

    def make() -> nn.Module:
        return Model(fault)

    return make


CLAIMS = Claims(rope(1e4, 32), 32, "half")
FEW = Claims(rope(1e4, 32), 32, "half", heads=4, kv_heads=2)
MODEL = Claims(rope(1e4, 32), 32, "half", heads=2)
DECODES = (
    (keys_turned_once, "keys are turned as they come", CLAIMS, False),
    (keys_kept_raw, "keys are turned at each step", FEW, False),
    (keys_by_distance, "negative positions", CLAIMS, False),
    (blocks_of_four, "pages", FEW, False),
    (mask_of_the_chunk, "a chunk sees its own later tokens", CLAIMS, True),
    (one_for_a_chunk, "the counter moves by one for a chunk", CLAIMS, True),
    (turned_again, "cached keys are turned again", CLAIMS, True),
    (ring, "eight places", Claims(head_dim=32), True),
    (Shared(), "the cache is changed in place", CLAIMS, True),
    (query_at_zero, "the query of a step stands at 0", CLAIMS, True),
    (without_itself, "a step does not see itself", CLAIMS, True),
    (batch_of_the_first, "the rows share one cache", Claims(head_dim=32), True),
)
MODELS = (
    ("", "a small model", False),
    ("ids", "position_ids are not read", True),
    ("restarts", "positions restart after the prefill", True),
    ("mask", "attention_mask is not read", True),
    ("rows", "the rows of a batch are mixed", True),
)
CASES: list[Case] = [
    Case(f"{getattr(f, '__name__', type(f).__name__)}_decode", what, Subject(f, "decode", claims), broken)
    for f, what, claims, broken in DECODES
]
CASES += [
    Case(f"model_{fault or 'right'}", what, Subject(_model(fault), "module", MODEL), broken)
    for fault, what, broken in MODELS
]
