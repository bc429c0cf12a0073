"""Slopes, biases and scores: right ones in several forms, wrong ones as they are written."""

from __future__ import annotations

import math

import torch
from exptx.proofs import Claims, Subject, rope
from exptx.symbolic import encoding, read_config
from second import Case
from torch import Tensor


def by_recursion(num_heads: int) -> Tensor:
    """The paper's own code."""

    def listed(n: int) -> list[float]:
        if math.log2(n).is_integer():
            start = 2 ** (-(2 ** -(math.log2(n) - 3)))
            return [start * start**i for i in range(n)]
        near = 2 ** math.floor(math.log2(n))
        return listed(near) + listed(2 * near)[0::2][: n - near]

    return torch.tensor(listed(num_heads))


def by_stride(num_heads: int) -> Tensor:
    """As MPT: the next power of two, odd places first."""
    above = 1 << (num_heads - 1).bit_length()
    power = 8.0 / above * torch.arange(1, above + 1, dtype=torch.float64)
    slopes = torch.exp2(-power)
    if above != num_heads:
        slopes = torch.cat((slopes[1::2], slopes[::2]))[:num_heads]
    return slopes.float()


def closed_form(num_heads: int) -> Tensor:
    """2^(-8(h+1)/c), then 2^(-4(2k+1)/c)."""
    c = 1 << (num_heads.bit_length() - 1)
    powers = [8 * (h + 1) / c for h in range(c)] + [4 * (2 * k + 1) / c for k in range(num_heads - c)]
    return torch.tensor([2.0**-p for p in powers])


def from_zero(num_heads: int) -> Tensor:
    """The first head has slope 1."""
    return torch.exp2(-8.0 * torch.arange(num_heads) / num_heads)


def uniform(num_heads: int) -> Tensor:
    """The rule for powers of two is used for all counts."""
    return torch.exp2(-8.0 * torch.arange(1, num_heads + 1) / num_heads)


def without_stride(num_heads: int) -> Tensor:
    """The slopes of 2c heads follow without leaving out every other one."""
    c = 1 << (num_heads.bit_length() - 1)
    more = torch.exp2(-4.0 * torch.arange(1, num_heads - c + 1) / c)
    return torch.cat((torch.exp2(-8.0 * torch.arange(1, c + 1) / c), more))


def in_order(num_heads: int) -> Tensor:
    """Sorted, so that the heads change places where their number is no power of two."""
    return closed_form(num_heads).sort(descending=True).values


def doubled(num_heads: int) -> Tensor:
    """4^ in place of 2^."""
    return closed_form(num_heads) ** 2


def distances(query_length: int, key_length: int) -> Tensor:
    """t - s in float32."""
    t = torch.arange(key_length - query_length, key_length).float()
    return t[:, None] - torch.arange(key_length).float()


def by_distance(query_length: int, key_length: int) -> Tensor:
    return -closed_form(12)[:, None, None] * distances(query_length, key_length).abs()


def by_key(query_length: int, key_length: int) -> Tensor:
    """+m s, the same up to a constant of each row; with an axis for the batch."""
    row = torch.arange(key_length).float().expand(query_length, -1)
    return (closed_form(12).view(-1, 1, 1) * row)[None]


def hidden(query_length: int, key_length: int) -> Tensor:
    """-inf above the diagonal."""
    gap = distances(query_length, key_length)
    return torch.where(gap < 0, -torch.inf, -closed_form(8)[:, None, None] * gap)


def logarithmic(query_length: int, key_length: int) -> Tensor:
    """KERPLE, -r1 log(1 + r2 |t-s|), with values of no model."""
    r1, r2 = torch.tensor([0.5, 1.0, 1.5, 2.5]), torch.tensor([1.0, 0.1, 0.7, 0.01])
    gap = distances(query_length, key_length).abs()
    return -r1[:, None, None] * torch.log1p(r2[:, None, None] * gap)


def from_the_start(query_length: int, key_length: int) -> Tensor:
    """The queries stand at 0, 1, ... also where keys came before."""
    t = torch.arange(query_length)[:, None] - torch.arange(key_length)
    return -closed_form(12)[:, None, None] * t.abs()


def rewarded(query_length: int, key_length: int) -> Tensor:
    """Far keys gain."""
    return closed_form(12)[:, None, None] * distances(query_length, key_length).abs()


def signed(query_length: int, key_length: int) -> Tensor:
    """Without a mask the distance has to be taken without its sign."""
    return -closed_form(12)[:, None, None] * distances(query_length, key_length)


def heads_reversed(query_length: int, key_length: int) -> Tensor:
    """Slopes from the last head to the first."""
    return -closed_form(12).flip(0)[:, None, None] * distances(query_length, key_length).abs()


def bfloat_keys(query_length: int, key_length: int) -> Tensor:
    """Positions of keys in bfloat16: beyond 256 neighbours are the same."""
    row = torch.arange(key_length).bfloat16() * closed_form(12).bfloat16()[:, None]
    return row[:, None].expand(-1, query_length, -1).float()


def last_head_flat(query_length: int, key_length: int) -> Tensor:
    """A loop that ends one head early."""
    table = torch.zeros(12, query_length, key_length)
    for h, m in enumerate(closed_form(12)[:-1]):
        table[h] = -m * distances(query_length, key_length).abs()
    return table


def saturated(query_length: int, key_length: int) -> Tensor:
    """No distance is more than 127: it was kept in eight bits."""
    gap = distances(query_length, key_length).abs().clamp(max=127)
    return -closed_form(12)[:, None, None] * gap


def gaps(query_positions: Tensor, key_positions: Tensor) -> Tensor:
    """t - s, (batch or 1, 1, Tq, Tk), in float64."""
    gap = query_positions[..., :, None].double() - key_positions[..., None, :].double()
    return gap.unsqueeze(-3) if gap.ndim == 3 else gap[None, None]


def turned(x: Tensor, positions: Tensor, base: float = 1e4, growth: float = 0.0) -> Tensor:
    """Interleaved planes by complex numbers; growth: +1 for queries and -1 for keys of xPos."""
    size = x.shape[-1]
    index = torch.arange(0, size, 2, dtype=torch.float64)
    ids = positions if positions.ndim == 2 else positions[None]
    exponent = 1j * base ** (-index / size) + growth * ((index + 0.4 * size) / (1.4 * size)).log() / 512
    z = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
    return z * torch.exp(ids[:, None, :, None] * exponent)


def dot(q: Tensor, k: Tensor) -> Tensor:
    """Re of q times the conjugate of k."""
    return torch.einsum("bhtn,bhsn->bhts", q, k.conj()).real


def rotary_scores(q: Tensor, k: Tensor, query_positions: Tensor, key_positions: Tensor) -> Tensor:
    return dot(turned(q, query_positions), turned(k, key_positions)).to(q.dtype) / 8


def xpos_scores(q: Tensor, k: Tensor, query_positions: Tensor, key_positions: Tensor) -> Tensor:
    """The decay and the turn in one complex exponent, from a common middle."""
    middle = query_positions.flatten()[0]
    left = turned(q, query_positions - middle, growth=1.0)
    return (dot(left, turned(k, key_positions - middle, growth=-1.0)) / math.sqrt(8)).to(q.dtype)


def alibi_scores(q: Tensor, k: Tensor, query_positions: Tensor, key_positions: Tensor) -> Tensor:
    fall = closed_form(12).view(1, -1, 1, 1) * gaps(query_positions, key_positions).abs()
    return torch.baddbmm(-fall.expand(len(q), -1, -1, -1).flatten(0, 1).to(q.dtype), q.flatten(0, 1),
                         k.flatten(0, 1).mT, alpha=1 / 8).unflatten(0, q.shape[:2])  # fmt: skip


def twice_scaled(q: Tensor, k: Tensor, query_positions: Tensor, key_positions: Tensor) -> Tensor:
    return dot(turned(q, query_positions), turned(k, key_positions)).to(q.dtype) / 64


def keys_not_turned(q: Tensor, k: Tensor, query_positions: Tensor, key_positions: Tensor) -> Tensor:
    """Only queries turn, by their own position."""
    return dot(turned(q, query_positions), turned(k, key_positions * 0)).to(q.dtype) / 8


def both_decay(q: Tensor, k: Tensor, query_positions: Tensor, key_positions: Tensor) -> Tensor:
    """xPos with the same scale for queries and keys: it depends on t + s."""
    left, right = turned(q, query_positions, growth=1.0), turned(k, key_positions, growth=1.0)
    return (dot(left, right) / math.sqrt(8)).to(q.dtype)


def bias_scaled(q: Tensor, k: Tensor, query_positions: Tensor, key_positions: Tensor) -> Tensor:
    """The bias is divided by √d together with the product."""
    fall = closed_form(12).view(-1, 1, 1) * gaps(query_positions, key_positions).abs()
    return ((q @ k.mT - fall) / 8).to(q.dtype)


def own_middle(q: Tensor, k: Tensor, query_positions: Tensor, key_positions: Tensor) -> Tensor:
    """xPos where queries and keys are each centred on their own middle."""
    left = turned(q, query_positions - query_positions.shape[-1] // 2, growth=1.0)
    right = turned(k, key_positions - key_positions.shape[-1] // 2 - 40, growth=-1.0)
    return (dot(left, right) / math.sqrt(8)).to(q.dtype)


def by_index(q: Tensor, k: Tensor, query_positions: Tensor, key_positions: Tensor) -> Tensor:
    """The given positions are read only for their number; queries are the last ones."""
    s = torch.arange(k.shape[2])
    return dot(turned(q, s[-q.shape[2] :]), turned(k, s)).to(q.dtype) / 8


BLOOM = {"model_type": "bloom", "n_head": 12, "hidden_size": 768, "n_layer": 2}
TWELVE = read_config(BLOOM).groups[0].encoding
EIGHT = read_config({**BLOOM, "n_head": 8, "hidden_size": 512}).groups[0].encoding
SLOPES = Claims(TWELVE, heads=12)
OPEN = Claims(TWELVE, heads=12, causal=False)
TURNS = Claims(rope(1e4, 64, interleaved=True), pairing="interleaved")
XPOS = Claims(encoding("xpos", head_dim=8), 8)
ROWS = {
    "slopes": (
        (by_recursion, "by recursion", SLOPES, False),
        (by_stride, "the next power of two, in another order", Claims(heads=12), False),
        (closed_form, "the closed form", Claims(heads=20), False),
        (from_zero, "h from 0", Claims(EIGHT, heads=8), True),
        (uniform, "one rule for every number of heads", SLOPES, True),
        (without_stride, "each slope of 2c heads, not every other", Claims(heads=12), True),
        (in_order, "sorted", SLOPES, True),
        (doubled, "squared", Claims(EIGHT, heads=8), True),
    ),
    "bias": (
        (by_distance, "-m |t-s|", OPEN, False),
        (by_key, "+m s", SLOPES, False),
        (hidden, "hidden keys are -inf", Claims(EIGHT, heads=8), False),
        (logarithmic, "a logarithm of the distance", Claims(heads=4, causal=False), False),
        (from_the_start, "queries start at 0", OPEN, True),
        (rewarded, "the sign is turned", SLOPES, True),
        (signed, "the distance has a sign without a mask", OPEN, True),
        (heads_reversed, "slopes in reverse", SLOPES, True),
        (bfloat_keys, "positions in bfloat16", SLOPES, True),
        (last_head_flat, "the last head has no slope", SLOPES, True),
        (saturated, "distances end at 127", SLOPES, True),
    ),
    "scores": (
        (rotary_scores, "complex products", TURNS, False),
        (xpos_scores, "xPos by a complex exponent", XPOS, False),
        (alibi_scores, "the bias by baddbmm", SLOPES, False),
        (twice_scaled, "scaled twice", TURNS, True),
        (keys_not_turned, "keys are not turned", Claims(pairing="interleaved"), True),
        (both_decay, "both sides decay", Claims(head_dim=8), True),
        (bias_scaled, "the bias is scaled as well", SLOPES, True),
        (own_middle, "two middles", XPOS, True),
        (by_index, "positions are not read", TURNS, True),
    ),
}
CASES: list[Case] = [
    Case(f"{apply.__name__}_{kind}", what, Subject(apply, kind, claims), broken)
    for kind, rows in ROWS.items()
    for apply, what, claims, broken in rows
]
