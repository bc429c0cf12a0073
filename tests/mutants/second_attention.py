"""Attention and planes of several axes: right in unusual ways, and wrong."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from exptx.proofs import Claims, Subject, rope
from exptx.symbolic import read_config
from second import Case
from torch import Tensor
from torch.nn import functional as F


def omega(base: float, size: int) -> Tensor:
    """base^(-2i/size) in float64."""
    return base ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)


def turned(x: Tensor, angle: Tensor) -> Tensor:
    """Halves of x turned by angle (..., time, planes), which is broadcast over heads."""
    c, s = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x.chunk(2, -1)
    return torch.cat((a * c - b * s, b * c + a * s), -1)


def counted(x: Tensor) -> Tensor:
    """Turned by 0, 1, ..."""
    return turned(x, torch.arange(x.shape[2])[:, None] * omega(1e4, x.shape[3]))


def earlier(time: int) -> Tensor:
    """Where a key may be seen."""
    return torch.ones(time, time, dtype=torch.bool).tril()


def grouped(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Queries are folded into groups; keys are never repeated."""
    groups = k.shape[1]
    folded = counted(q).unflatten(1, (groups, -1))
    logits = torch.einsum("bgrtd,bgsd->bgrts", folded, counted(k)) / math.sqrt(q.shape[-1])
    weights = logits.masked_fill(~earlier(q.shape[2]), -torch.inf).softmax(-1)
    return torch.einsum("bgrts,bgsd->bgrtd", weights, v).flatten(1, 2)


def online(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Keys one by one, with a running maximum."""
    q, k = counted(q) / math.sqrt(q.shape[-1]), counted(k)
    most = torch.full(q.shape[:3], -torch.inf, dtype=q.dtype)
    total, out = torch.zeros_like(most), torch.zeros_like(q)
    for s in range(k.shape[2]):
        logit = (q * k[:, :, s : s + 1]).sum(-1)
        logit = logit.masked_fill(torch.arange(q.shape[2]) < s, -torch.inf)
        above = torch.maximum(most, logit)
        shrink, weight = (most - above).exp(), (logit - above).exp()
        total = total * shrink + weight
        out = out * shrink[..., None] + weight[..., None] * v[:, :, s : s + 1]
        most = above
    return out / total[..., None]


def built_in(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """torch's own kernel; (batch, time, heads, d) without a mask."""
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    return F.scaled_dot_product_attention(counted(q), counted(k), v).transpose(1, 2)


SLOPES = torch.exp2(-torch.arange(1, 9, dtype=torch.float64))


def lifted(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """ALiBi as one more feature of queries and keys: (m, s) gives m s."""
    time = torch.arange(q.shape[2], dtype=q.dtype)
    slope = SLOPES.to(q.dtype).view(-1, 1, 1).expand(q.shape[0], -1, q.shape[2], 1)
    place = (time - time.mean())[:, None].expand(*k.shape[:2], -1, -1)
    left = torch.cat((q / math.sqrt(q.shape[-1]), slope), -1)
    right = torch.cat((k, place), -1)
    logits = (left @ right.mT).masked_fill(~earlier(len(time)), -torch.inf)
    return logits.softmax(-1) @ v


def repeated_wrongly(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """repeat in place of repeat_interleave: head h reads group h mod n."""
    times = q.shape[1] // k.shape[1]
    k, v = k.repeat(1, times, 1, 1), v.repeat(1, times, 1, 1)
    return F.scaled_dot_product_attention(counted(q), counted(k), v, is_causal=True)


def sees_the_next(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The mask leaves one key more."""
    seen = torch.ones(q.shape[2], q.shape[2], dtype=torch.bool).tril(diagonal=1)
    return F.scaled_dot_product_attention(counted(q), counted(k), v, attn_mask=seen)


def masked_after(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Later keys are removed after the softmax, and the rows no longer sum to 1."""
    logits = counted(q) @ counted(k).mT / math.sqrt(q.shape[-1])
    return (logits.softmax(-1) * earlier(q.shape[2])) @ v


def values_turned(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """One loop over all three."""
    q, k, v = (counted(x) for x in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def not_shifted(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """exp of the logits without their maximum."""
    weights = (counted(q) @ counted(k).mT / math.sqrt(q.shape[-1])).exp() * earlier(q.shape[2])
    return weights / weights.sum(-1, keepdim=True) @ v


def slopes_of_one_head(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The slopes are broadcast over the batch's axis: all heads have the first."""
    gap = torch.arange(q.shape[2])[:, None] - torch.arange(q.shape[2])
    logits = q @ k.mT / math.sqrt(q.shape[-1]) - SLOPES[:1].to(q.dtype).view(-1, 1, 1) * gap
    return logits.masked_fill(gap < 0, -torch.inf).softmax(-1) @ v


def half_mask(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Hidden logits are -10, which is not low enough."""
    logits = counted(q) @ counted(k).mT / math.sqrt(q.shape[-1])
    return torch.where(earlier(q.shape[2]), logits, -10.0).softmax(-1) @ v


def over_queries(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The softmax runs over the queries."""
    logits = counted(q) @ counted(k).mT / math.sqrt(q.shape[-1])
    return torch.nan_to_num(logits.masked_fill(~earlier(q.shape[2]), -torch.inf).softmax(-2)) @ v


SECTIONS = (8, 12, 12)
CONFIG = {
    "model_type": "qwen2_vl",
    "hidden_size": 512,
    "num_attention_heads": 8,
    "num_hidden_layers": 2,
    "head_dim": 64,
    "rope_theta": 1000000.0,
    "max_position_embeddings": 4096,
    "rope_scaling": {"type": "mrope", "mrope_section": list(SECTIONS)},
}


def by_plane(x: Tensor, position_ids: Tensor) -> Tensor:
    """Each plane picks its axis."""
    axis = torch.repeat_interleave(torch.arange(3), torch.tensor(SECTIONS))
    place = position_ids[axis].movedim(0, -1)
    return turned(x, (place * omega(1e6, 64)).unsqueeze(1))


def by_selection(x: Tensor, position_ids: Tensor) -> Tensor:
    """One-hot rows select the axis, in one product, in complex numbers."""
    select = F.one_hot(torch.repeat_interleave(torch.arange(3), torch.tensor(SECTIONS)), 3).double()
    angle = torch.einsum("abt,na,n->btn", position_ids.double(), select, omega(1e6, 64))
    z = torch.complex(*(part.double() for part in x.chunk(2, -1))) * torch.exp(1j * angle)[:, None]
    return torch.cat((z.real, z.imag), -1).to(x.dtype)


def by_split(x: Tensor, position_ids: Tensor) -> Tensor:
    """As transformers does it: tables of all axes, split in twice the sections."""
    angle = position_ids[..., None].double() * omega(1e6, 64)
    tables = [torch.cat((t, t), -1).to(x.dtype) for t in (angle.cos(), angle.sin())]
    cos, sin = (
        torch.cat([part[i % 3] for i, part in enumerate(t.split(SECTIONS * 2, -1))], -1)[:, None]
        for t in tables
    )
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat((-b, a), -1) * sin


def first_axis_only(x: Tensor, position_ids: Tensor) -> Tensor:
    """Height and width are ignored."""
    return turned(x, (position_ids[0][..., None] * omega(1e6, 64)).unsqueeze(1))


def sections_not_doubled(x: Tensor, position_ids: Tensor) -> Tensor:
    """Sections count features of the doubled table, so the halves of a plane turn by different angles."""
    angle = position_ids[..., None].double() * omega(1e6, 64)
    tables = [torch.cat((t, t), -1).to(x.dtype) for t in (angle.cos(), angle.sin())]
    cos, sin = (
        torch.cat([part[i] for i, part in enumerate(t.split((16, 24, 24), -1))], -1)[:, None] for t in tables
    )
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat((-b, a), -1) * sin


def axes_exchanged(x: Tensor, position_ids: Tensor) -> Tensor:
    """Width before height."""
    return by_plane(x, position_ids[[0, 2, 1]])


def section_off_by_one(x: Tensor, position_ids: Tensor) -> Tensor:
    """The first plane of the second section still belongs to the first axis."""
    axis = torch.repeat_interleave(torch.arange(3), torch.tensor((9, 11, 12)))
    return turned(x, (position_ids[axis].movedim(0, -1) * omega(1e6, 64)).unsqueeze(1))


def sections_start_again(x: Tensor, position_ids: Tensor) -> Tensor:
    """Each section has its own frequencies from 1 down."""
    parts = [p[..., None] * omega(1e6, 2 * n) for p, n in zip(position_ids, SECTIONS, strict=True)]
    return turned(x, torch.cat(parts, -1).unsqueeze(1))


PLAIN = Claims(rope(1e4, 32), 32, "half")
FEW = replace(PLAIN, kv_heads=2)
ALIBI = read_config({"model_type": "bloom", "n_head": 8, "hidden_size": 256, "n_layer": 1})
BIASED = Claims(ALIBI.groups[0].encoding, 32, heads=8)
AXES = Claims(read_config(CONFIG).group().encoding, 64, "half")
ROWS = {
    "attention": (
        (grouped, "groups by einsum", replace(PLAIN, heads=6, kv_heads=2), False),
        (online, "a running softmax", PLAIN, False),
        (built_in, "without a mask, heads after time", replace(PLAIN, causal=False, layout="bthd"), False),
        (lifted, "ALiBi as a feature", BIASED, False),
        (repeated_wrongly, "groups in the wrong order", FEW, True),
        (sees_the_next, "one later key is seen", PLAIN, True),
        (masked_after, "masked after the softmax", Claims(head_dim=32), True),
        (values_turned, "values turn as well", PLAIN, True),
        (not_shifted, "overflows at large logits", PLAIN, True),
        (slopes_of_one_head, "one slope for all heads", BIASED, True),
        (half_mask, "hidden keys keep a share", PLAIN, True),
        (over_queries, "the softmax over queries", PLAIN, True),
    ),
    "multiaxis": (
        (by_plane, "an axis for each plane", AXES, False),
        (by_selection, "one-hot and complex", AXES, False),
        (by_split, "split tables", AXES, False),
        (first_axis_only, "one axis", AXES, True),
        (sections_not_doubled, "sections of features", AXES, True),
        (axes_exchanged, "two axes change places", AXES, True),
        (section_off_by_one, "a section is one plane too long", AXES, True),
        (sections_start_again, "frequencies start again", AXES, True),
    ),
}
CASES: list[Case] = [
    Case(f"{apply.__name__}_{kind}", what, Subject(apply, kind, claims), broken)
    for kind, rows in ROWS.items()
    for apply, what, claims, broken in rows
]
