"""Attention in float64 at any positions of queries and keys, under a claimed encoding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from ....numeric import reference
from ....numeric.angles import frequency_tensor
from ....numeric.layout import join_pairs, split_pairs
from ....symbolic.configs.description import Alibi, Rotary
from ....symbolic.encoding import Encoding
from ... import budget
from ..claims import Claims

Logits = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Places:
    """Where queries and keys of one call stand.

    queries: (Tq,), keys: (Tk,), integer positions; visible: (Tq, Tk). query_length, key_lengths: of the text
    by which a rule that follows the length was applied; (Tk,) for keys.
    """

    queries: Tensor
    keys: Tensor
    visible: Tensor
    query_length: int
    key_lengths: Tensor


def proper(start: int, count: int) -> Places:
    """Tokens start, …, start + count - 1 after all before them."""
    total = start + count
    queries, keys = torch.arange(start, total), torch.arange(total)
    lengths = torch.full((total,), total)
    return Places(queries, keys, keys[None] <= queries[:, None], total, lengths)


def logits(q: Tensor, k: Tensor, claims: Claims, places: Places) -> Tensor:
    """scale score + bias, (batch, heads, Tq, Tk), float64; k has as many heads as q."""
    encoding, scale = claims.encoding, claims.head_dim**-0.5
    if isinstance(encoding, Alibi):
        slopes = torch.tensor([float(m) for m in encoding.slopes], dtype=torch.float64)
        gap = (places.queries[:, None] - places.keys[None]).double()
        bias = -slopes[:, None, None] * gap * (scale if encoding.scaled else 1.0)
        return scale * (q @ k.transpose(-1, -2)) + bias
    if isinstance(encoding, Rotary):
        turned = turn(q, claims, encoding, places.queries, places.query_length)
        keys = torch.empty_like(k)
        for length in places.key_lengths.unique().tolist():
            mine = places.key_lengths == length
            keys[:, :, mine] = turn(k[:, :, mine], claims, encoding, places.keys[mine], length)
        return scale * float(encoding.softmax_factor) * (turned @ keys.transpose(-1, -2))
    if isinstance(encoding, Encoding):
        return float(encoding.scale) * reference.scores(q, k, encoding, places.queries, places.keys)
    return scale * (q @ k.transpose(-1, -2))


def turn(x: Tensor, claims: Claims, encoding: Rotary, ids: Tensor, length: int) -> Tensor:
    """x at positions ids, by the frequencies of a text of that length; float64."""
    found = encoding.frequencies(length)
    waves = frequency_tensor(found).double()
    angle = ids.double()[:, None] * waves
    factor = float(found.attention_factor)
    cos, sin = factor * angle.cos(), factor * angle.sin()
    head, tail = x[..., : 2 * len(waves)], x[..., 2 * len(waves) :]
    x0, x1 = split_pairs(head, neighbours(claims))
    turned = join_pairs(x0 * cos - x1 * sin, x0 * sin + x1 * cos, neighbours(claims))
    return torch.cat((turned, tail), -1)


def neighbours(claims: Claims) -> bool:
    """Whether the claimed pairing is interleaved; half-split where nothing says so."""
    if claims.pairing is not None:
        return claims.pairing == "interleaved"
    return claims.rotary is not None and bool(claims.rotary.interleaved)


def attended(q: Tensor, k: Tensor, v: Tensor, claims: Claims, places: Places) -> Tensor:
    """softmax(logits) v over what is visible; k and v may have fewer heads. float64."""
    groups = q.shape[1] // k.shape[1]
    k, v = (t.double().repeat_interleave(groups, 1) for t in (k, v))
    found = logits(q.double(), k, claims, places).masked_fill(~places.visible, float("-inf"))
    return found.softmax(-1) @ v


def allowed(q: Tensor, k: Tensor, v: Tensor, claims: Claims, places: Places) -> Tensor:
    """How far each output may be off in the claimed dtype, (batch, heads, Tq, dv).

    A logit is off as `_logit_errors` says. Where nothing is claimed the weights are unknown; whatever they
    are, the output moves by at most (e^{2r} - 1 + γ) max|v|, r the largest error of a logit of the row.
    """
    groups = q.shape[1] // k.shape[1]
    q, k, v = q.double(), *(t.double().repeat_interleave(groups, 1) for t in (k, v))
    found = logits(q, k, claims, places).masked_fill(~places.visible, float("-inf"))
    error = _logit_errors(q, k, claims, places)
    if claims.encoding is None:
        r = error.masked_fill(~places.visible, 0.0).amax(-1, keepdim=True)
        u, length = budget.compute_roundoff(claims.dtype), len(places.keys)
        gaps = 2 * found.masked_fill(~places.visible, 0.0).abs().amax(-1, keepdim=True) + length
        growth = (2 * r + 2 * u * gaps + 8 * u).expm1() + 2 * budget.gamma(length + 4, claims.dtype)
        return budget.rounded(v.abs().max(), growth * v.abs().max(), claims.dtype).expand(
            *q.shape[:3], v.shape[-1]
        )
    weights = found.softmax(-1)
    gaps = (found.amax(-1, keepdim=True) - found).masked_fill(~places.visible, 0.0)
    off = budget.attended(weights, gaps, v, error.masked_fill(~places.visible, 0.0), claims.dtype)
    return budget.rounded((weights @ v).abs(), off, claims.dtype)


def _logit_errors(q: Tensor, k: Tensor, claims: Claims, places: Places) -> Tensor:
    """(batch, heads, Tq, Tk): both vectors turned by float32 angles, with 16 roundings of a frequency.

    Per plane for a claimed rotary, whose frequencies are known; else as if all planes turned a radian a step.
    Then bias, scale and sum, each rounded, with slopes of at most 1.
    """
    encoding, scale = claims.encoding, claims.head_dim**-0.5
    reach = torch.maximum(places.queries[:, None].abs(), places.keys[None].abs()).double()
    if isinstance(encoding, Rotary):
        found = encoding.frequencies(int(reach.max()) + 1)
        scale *= float(encoding.softmax_factor) * float(found.attention_factor) ** 2
        waves = frequency_tensor(found).double()
        interleaved = claims.pairing == "interleaved" or (
            claims.pairing is None and bool(encoding.interleaved)
        )
        turning = 2 * len(waves)
        size = [torch.hypot(*split_pairs(x[..., :turning], interleaved)) for x in (q, k)]
        drift = sum(
            size[0][..., i, None] * size[1][..., None, :, i]
            * budget.single_angle_entry(reach * w, frequency_roundings=16)
            for i, w in enumerate(waves.tolist())
        )  # fmt: skip
    else:
        turns = 0.0 if isinstance(encoding, Alibi) else reach
        entry = budget.single_angle_entry(turns, frequency_roundings=16)
        drift = q.norm(dim=-1)[..., None] * k.norm(dim=-1)[..., None, :] * entry
    products = q.abs() @ k.abs().transpose(-1, -2)
    u = budget.compute_roundoff(claims.dtype)
    off = 4 * drift + (budget.gamma(claims.head_dim, claims.dtype) + 8 * u) * products
    gap = (places.queries[:, None] - places.keys[None]).abs().double()
    return budget.logit(scale, products, off, gap if isinstance(encoding, Alibi) else 0.0, claims.dtype)
