"""Rotary kernels with one fault each, as they happen when a kernel is rewritten, cached or moved."""

from __future__ import annotations

import math

import torch
from exptx.proofs import Claims, Subject, rope
from exptx.symbolic import read_config
from second import Case
from torch import Tensor, nn


def omega(base: float, size: int) -> Tensor:
    """base^(-2i/size) in float64."""
    return base ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)


def turns(position_ids: Tensor, w: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """cos and sin, (batch or 1, 1, time, planes)."""
    angle = position_ids.double()[..., None] * w
    angle = angle[None] if angle.ndim == 2 else angle
    return angle.cos()[:, None].to(dtype), angle.sin()[:, None].to(dtype)


def halves(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Planes (i, i + d/2), counter-clockwise."""
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


def neighbours(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Planes (2i, 2i + 1), counter-clockwise."""
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, b * cos + a * sin), -1).flatten(-2)


def last_plane_dropped(x: Tensor, position_ids: Tensor) -> Tensor:
    cos, sin = turns(position_ids, omega(1e4, 32), x.dtype)
    y = x.clone()
    for i in range(16 - 1):
        a, b, c, s = x[..., 2 * i], x[..., 2 * i + 1], cos[..., i], sin[..., i]
        y[..., 2 * i], y[..., 2 * i + 1] = a * c - b * s, b * c + a * s
    return y


def keys_with_swapped_tables(q: Tensor, k: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
    cos, sin = turns(position_ids, omega(1e4, 64), q.dtype)
    return halves(q, cos, sin), halves(k, sin, cos)


def clamped_to_the_table(x: Tensor, position_ids: Tensor) -> Tensor:
    cos, sin = turns(position_ids.clamp(max=2047), omega(1e4, 64), x.dtype)
    return halves(x, cos, sin)


def off_by_one_beyond_2048(x: Tensor, position_ids: Tensor) -> Tensor:
    late = (position_ids > 2048).long()
    return halves(x, *turns(position_ids - late, omega(5e5, 48), x.dtype))


def short_positions(x: Tensor, position_ids: Tensor) -> Tensor:
    return halves(x, *turns(position_ids.to(torch.int16), omega(1e6, 64), x.dtype))


def half_positions(x: Tensor, position_ids: Tensor) -> Tensor:
    return neighbours(x, *turns(position_ids.to(torch.float16), omega(1e4, 64), x.dtype))


def first_row_for_all(x: Tensor, position_ids: Tensor) -> Tensor:
    ids = position_ids[:1] if position_ids.ndim == 2 else position_ids
    return halves(x, *turns(ids, omega(1e4, 64), x.dtype))


def last_head_forgotten(x: Tensor, position_ids: Tensor) -> Tensor:
    cos, sin = turns(position_ids, omega(1e4, 16), x.dtype)
    return torch.cat((halves(x[:, :-1], cos, sin), x[:, -1:]), dim=1)


def degrees(x: Tensor, position_ids: Tensor) -> Tensor:
    w = torch.deg2rad(omega(1e4, 64))
    return halves(x, *turns(position_ids, w, x.dtype))


def heads_as_time(x: Tensor) -> Tensor:
    """The axis of heads is counted, as if x were (batch, time, heads, d)."""
    angle = torch.arange(x.shape[1], dtype=torch.float64)[:, None, None] * omega(1e4, 64)
    return halves(x, angle.cos().to(x.dtype), angle.sin().to(x.dtype))


def mixed_pairing(x: Tensor, position_ids: Tensor) -> Tensor:
    cos, sin = turns(position_ids, omega(1e4, 64), x.dtype)
    cos, sin = cos.repeat_interleave(2, -1), sin.repeat_interleave(2, -1)
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat((-b, a), -1) * sin


def whole_head_in_exponent(x: Tensor, position_ids: Tensor) -> Tensor:
    w = 1e4 ** (-torch.arange(0, 16, 2, dtype=torch.float64) / 64)
    head = halves(x[..., :16], *turns(position_ids, w, x.dtype))
    return torch.cat((head, x[..., 16:]), -1)


def overwritten_half(x: Tensor, position_ids: Tensor) -> Tensor:
    """The first half is updated in place and then read again; the caller's x changes as well."""
    cos, sin = turns(position_ids, omega(1e4, 64), x.dtype)
    x = x.detach()
    a, b = x[..., :32], x[..., 32:]
    a.mul_(cos).sub_(b * sin)
    b.mul_(cos).add_(a * sin)
    return x


class StaleTable(nn.Module):
    """cos and sin are kept while the length stays the same, whatever the positions are."""

    def __init__(self) -> None:
        super().__init__()
        self.shape: torch.Size | None = None

    def forward(self, x: Tensor, position_ids: Tensor) -> Tensor:
        if self.shape != position_ids.shape:
            self.shape = position_ids.shape
            self.kept = turns(position_ids, omega(1e4, 64), x.dtype)
        return halves(x, *self.kept)


def angles_in_the_inputs_format(x: Tensor, position_ids: Tensor) -> Tensor:
    w = omega(1e4, 64).to(x.dtype)
    angle = position_ids.to(x.dtype)[..., None] * w
    angle = angle[:, None] if angle.ndim == 3 else angle
    return halves(x, angle.cos(), angle.sin())


def odd_token_left(x: Tensor, position_ids: Tensor) -> Tensor:
    """Two tokens a block; where the length is odd, the last one stays as it is."""
    even = x.shape[2] // 2 * 2
    cos, sin = turns(position_ids[..., :even], omega(1e4, 64), x.dtype)
    return torch.cat((neighbours(x[:, :, :even], cos, sin), x[:, :, even:]), dim=2)


YARN = {
    "model_type": "llama",
    "hidden_size": 512,
    "num_attention_heads": 8,
    "num_hidden_layers": 2,
    "head_dim": 64,
    "rope_theta": 10000.0,
    "max_position_embeddings": 16384,
    "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096},
}


def yarn_omega(base: float, size: int, factor: float, first: int) -> Tensor:
    """The frequencies of YaRN with 32 and 1 turns at the ends of the ramp."""
    low, high = (size * math.log(first / (2 * math.pi * n)) / (2 * math.log(base)) for n in (32, 1))
    low, high = max(math.floor(low), 0), min(math.ceil(high), size - 1)
    ramp = ((torch.arange(size // 2, dtype=torch.float64) - low) / (high - low)).clamp(0, 1)
    w = omega(base, size)
    return w * (1 - ramp) + w / factor * ramp


def yarn_without_amplitude(x: Tensor, position_ids: Tensor) -> Tensor:
    return halves(x, *turns(position_ids, yarn_omega(1e4, 64, 4.0, 4096), x.dtype))


def step_at_zero(x: Tensor, offset: int) -> Tensor:
    """A single token is taken for the first one."""
    start = 0 if x.shape[2] == 1 else offset
    return halves(x, *turns(torch.arange(x.shape[2]) + start, omega(1e4, 64), x.dtype))


def first_token_of_a_row(x: Tensor, cu_seqlens: Tensor) -> Tensor:
    """searchsorted on the wrong side: the first token of a row is counted with the row before."""
    index = torch.arange(x.shape[2])
    ends = cu_seqlens.long()[1:]
    row = torch.searchsorted(ends, index, right=False)
    return halves(x, *turns(index - cu_seqlens.long()[row], omega(1e4, 64), x.dtype))


def log2_for_ln(x: Tensor, position_ids: Tensor) -> Tensor:
    w = torch.exp(-math.log2(1e4) * torch.arange(0, 64, 2, dtype=torch.float64) / 64)
    return neighbours(x, *turns(position_ids, w, x.dtype))


def keys_one_ahead(q: Tensor, k: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
    w = omega(1e6, 64)
    return halves(q, *turns(position_ids, w, q.dtype)), halves(k, *turns(position_ids + 1, w, k.dtype))


def without_gradient(x: Tensor, position_ids: Tensor) -> Tensor:
    with torch.no_grad():
        return halves(x, *turns(position_ids, omega(1e4, 64), x.dtype))


def one_plane_off(x: Tensor, position_ids: Tensor) -> Tensor:
    w = 1e4 ** (-torch.arange(2, 66, 2, dtype=torch.float64) / 64)
    return halves(x, *turns(position_ids, w, x.dtype))


def sines_of_the_next_plane(x: Tensor, position_ids: Tensor) -> Tensor:
    w = omega(1e4, 32)
    cos, _ = turns(position_ids, w, x.dtype)
    _, sin = turns(position_ids, w.roll(-1), x.dtype)
    return halves(x, cos, sin)


def blocks_that_start_again(x: Tensor) -> Tensor:
    """512 tokens a block, and each block counts from zero."""
    return halves(x, *turns(torch.arange(x.shape[2]) % 512, omega(1e4, 64), x.dtype))


def transposed_planes(x: Tensor, position_ids: Tensor) -> Tensor:
    """Interleaved planes are turned, but the result is joined as halves."""
    cos, sin = turns(position_ids, omega(1e4, 64), x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


def conjugate_rows(x: Tensor, position_ids: Tensor) -> Tensor:
    """Complex product with the conjugate in odd rows of the batch."""
    cos, sin = turns(position_ids, omega(1e4, 64), x.dtype)
    sign = torch.ones(x.shape[0], 1, 1, 1, dtype=x.dtype)
    sign[1::2] = -1
    return neighbours(x, cos, sin * sign)


def _case(apply, what: str, claims: Claims) -> Case:
    name = getattr(apply, "__name__", type(apply).__name__)
    return Case(name, what, Subject(apply, "rotary", claims), broken=True)


PLAIN = rope(1e4, 64)
HALF = Claims(PLAIN, pairing="half")
NEXT = Claims(PLAIN, pairing="interleaved")
YARNED = read_config(YARN).group().encoding

CASES: list[Case] = [
    _case(last_plane_dropped, "the last plane is not turned", Claims(rope(1e4, 32), 32, "interleaved")),
    _case(keys_with_swapped_tables, "sin and cos change places for keys", HALF),
    _case(clamped_to_the_table, "positions beyond 2047 are 2047", HALF),
    _case(
        off_by_one_beyond_2048,
        "positions beyond 2048 are one too small",
        Claims(rope(5e5, 48), 48, pairing="half"),
    ),
    _case(
        short_positions,
        "positions in 16 bits overflow at 32768",
        Claims(rope(1e6, 64), pairing="half", longest=65536),
    ),
    _case(half_positions, "positions in float16 are rounded beyond 2048", NEXT),
    _case(first_row_for_all, "the positions of the first row are used for all", HALF),
    _case(last_head_forgotten, "the last head is not turned", Claims(rope(1e4, 16), 16, "half")),
    _case(degrees, "the frequencies are taken for degrees", HALF),
    _case(heads_as_time, "heads are counted for tokens", Claims(PLAIN, pairing="half", positions="none")),
    _case(mixed_pairing, "tables are interleaved, the rotation is by halves", Claims()),
    _case(
        whole_head_in_exponent,
        "the exponent is divided by the head, not by its turned part",
        Claims(rope(1e4, 64, 16), pairing="half"),
    ),
    _case(overwritten_half, "the first half is overwritten before it is read", HALF),
    _case(StaleTable(), "a table is kept for other positions of the same length", HALF),
    _case(
        angles_in_the_inputs_format,
        "angles are formed in bfloat16",
        Claims(PLAIN, pairing="half", dtype="bfloat16"),
    ),
    _case(odd_token_left, "the last of an odd number of tokens is not turned", NEXT),
    _case(yarn_without_amplitude, "the attention factor of YaRN is missing", Claims(YARNED, pairing="half")),
    _case(step_at_zero, "one token alone stands at 0", Claims(PLAIN, pairing="half", positions="offset")),
    _case(
        first_token_of_a_row,
        "a packed row starts one token late",
        Claims(PLAIN, pairing="half", positions="lengths"),
    ),
    _case(log2_for_ln, "log2 of the base in place of ln", NEXT),
    _case(keys_one_ahead, "keys stand one position further", Claims(rope(1e6, 64), pairing="half")),
    _case(without_gradient, "no gradient passes", HALF),
    _case(one_plane_off, "the exponents start at 2", HALF),
    _case(sines_of_the_next_plane, "sin belongs to the next plane", Claims(head_dim=32)),
    _case(blocks_that_start_again, "blocks of 512 count from zero", Claims(PLAIN, positions="none")),
    _case(transposed_planes, "planes are taken interleaved and returned as halves", NEXT),
    _case(conjugate_rows, "odd rows turn the other way", Claims()),
]
