"""Rotary kernels that are right, in forms that are seldom seen: complex, matrices, reflections, shears."""

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


def angles(position_ids: Tensor, w: Tensor) -> Tensor:
    """(batch or 1, 1, time, planes) in float64."""
    angle = torch.einsum("...t,n->...tn", position_ids.double(), w)
    return (angle if angle.ndim == 3 else angle[None]).unsqueeze(1)


def polar(x: Tensor, position_ids: Tensor) -> Tensor:
    """Interleaved planes as complex numbers in complex128."""
    angle = angles(position_ids, omega(1e4, 64))
    z = torch.complex(x[..., 0::2].double(), x[..., 1::2].double())
    y = z * torch.polar(torch.ones_like(angle), angle)
    return torch.view_as_real(y).flatten(-2).to(x.dtype)


def blocks(x: Tensor, position_ids: Tensor) -> Tensor:
    """A 2x2 matrix a plane, by einsum; the planes are (i, i + d/2)."""
    angle = angles(position_ids, omega(1e4, 32))
    c, s = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    turn = torch.stack((torch.stack((c, -s), -1), torch.stack((s, c), -1)), -2)
    planes = x.unflatten(-1, (2, 16))
    return torch.einsum("...nij,...jn->...in", turn.expand(*x.shape[:-1], 16, 2, 2), planes).flatten(-2)


def exponential(x: Tensor, position_ids: Tensor) -> Tensor:
    """exp(tX) of the whole head, with X skew and of eight features."""
    generator = torch.zeros(8, 8, dtype=torch.float64)
    for i, w in enumerate(omega(1e3, 8).tolist()):
        generator[2 * i, 2 * i + 1], generator[2 * i + 1, 2 * i] = -w, w
    ids = position_ids if position_ids.ndim == 2 else position_ids[None]
    turn = torch.linalg.matrix_exp(ids.double()[..., None, None] * generator)
    return torch.einsum("btij,bhtj->bhti", turn, x.double()).to(x.dtype)


def partial(x: Tensor, position_ids: Tensor) -> Tensor:
    """16 of 40 features turn; the others are written through."""
    y = x.clone()
    angle = angles(position_ids, omega(5e5, 16))
    c, s = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    y[..., 0:8] = x[..., 0:8] * c - x[..., 8:16] * s
    y[..., 8:16] = x[..., 0:8] * s + x[..., 8:16] * c
    return y


def clockwise(x: Tensor, position_ids: Tensor) -> Tensor:
    """(batch, time, heads, d); y = (x0 cos + x1 sin, x1 cos - x0 sin)."""
    angle = angles(position_ids, omega(1e4, 128)).transpose(1, 2)
    c, s = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x.tensor_split(2, -1)
    return torch.cat((a * c + b * s, torch.addcmul(b * c, a, s, value=-1)), -1)


class Growing(nn.Module):
    """A table that doubles when a position lies beyond it; sliced from an offset."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("inv_freq", omega(1e4, 64), persistent=False)
        self.rows(16)

    def rows(self, count: int) -> None:
        """Keeps cos and sin of 0 .. count - 1."""
        angle = torch.outer(torch.arange(count, dtype=torch.float64), self.inv_freq.double())
        self.cos, self.sin = angle.cos(), angle.sin()

    def forward(self, x: Tensor, offset: int) -> Tensor:
        end = offset + x.shape[2]
        if end > len(self.cos):
            self.rows(max(end, 2 * len(self.cos)))
        c, s = (t[offset:end].to(x.dtype) for t in (self.cos, self.sin))
        a, b = x.chunk(2, -1)
        return torch.cat((a * c - b * s, b * c + a * s), -1)


def packed(x: Tensor, cu_seqlens: Tensor) -> Tensor:
    """Rows of a packed batch, by their lengths."""
    lengths = cu_seqlens.diff().tolist()
    ids = torch.cat([torch.arange(n) for n in lengths])
    z = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
    z = z * torch.exp(1j * angles(ids, omega(1e4, 64)))
    return torch.view_as_real(z).flatten(-2).to(x.dtype)


def counted(x: Tensor) -> Tensor:
    """(batch, time, heads, d) from zero, in one product of x and its partner with two tables."""
    angle = torch.arange(x.shape[1])[:, None] * omega(1e4, 64)
    both = torch.cat((angle, angle), -1)[:, None]
    sign = torch.cat((-torch.ones(32), torch.ones(32)))
    return x * both.cos().to(x.dtype) + x.roll(32, -1) * (both.sin() * sign).to(x.dtype)


def reordered(q: Tensor, k: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
    """Interleaved planes, through the order of halves and back."""
    order = torch.arange(64).view(32, 2).t().flatten()
    angle = angles(position_ids, omega(1e6, 64))

    def turned(x: Tensor) -> Tensor:
        a, b = x[..., order].chunk(2, -1)
        c, s = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        return torch.cat((a * c - b * s, b * c + a * s), -1)[..., order.argsort()]

    return turned(q), turned(k)


def in_bfloat16(x: Tensor, position_ids: Tensor) -> Tensor:
    """bfloat16 in and out, float32 within."""
    angle = angles(position_ids, omega(1e4, 64)).float()
    a, b = x.float().chunk(2, -1)
    c, s = angle.cos(), angle.sin()
    return torch.cat((a * c - b * s, b * c + a * s), -1).to(x.dtype)


CONFIG = {
    "model_type": "llama",
    "hidden_size": 512,
    "num_attention_heads": 8,
    "num_hidden_layers": 2,
    "head_dim": 64,
    "rope_theta": 500000.0,
    "max_position_embeddings": 131072,
}
YARN = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 16384}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}


def yarn(x: Tensor, position_ids: Tensor) -> Tensor:
    """The amplitude is given to x once, not to cos and sin."""
    edges = [64 * math.log(16384 / (2 * math.pi * n)) / (2 * math.log(5e5)) for n in (32, 1)]
    low, high = math.floor(edges[0]), math.ceil(edges[1])
    keep = 1 - ((torch.arange(32, dtype=torch.float64) - low) / (high - low)).clamp(0, 1)
    angle = angles(position_ids, omega(5e5, 64) * (keep + (1 - keep) / 8))
    a, b = ((0.1 * math.log(8) + 1) * x).chunk(2, -1)
    c, s = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    return torch.cat((a * c - b * s, b * c + a * s), -1)


def llama3(x: Tensor, position_ids: Tensor) -> Tensor:
    """Each plane on its own, in Python."""
    kept = []
    for w in omega(5e5, 64).tolist():
        turns = 8192 * w / (2 * math.pi)
        share = min(max((turns - 1) / 3, 0.0), 1.0)
        kept.append(share * w + (1 - share) * w / 8)
    angle = angles(position_ids, torch.tensor(kept, dtype=torch.float64))
    a, b = x.chunk(2, -1)
    c, s = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    return torch.cat((a * c - b * s, b * c + a * s), -1)


def two_tables(x: Tensor, position_ids: Tensor) -> Tensor:
    """t = 64 a + b, and the two turns are multiplied."""
    w = omega(1e4, 64)
    fine = torch.exp(1j * torch.arange(64)[:, None] * w)
    coarse = torch.exp(64j * torch.arange(4096)[:, None] * w)
    ids = position_ids if position_ids.ndim == 2 else position_ids[None]
    turn = (coarse[ids.div(64, rounding_mode="floor")] * fine[ids % 64])[:, None]
    a, b = x.chunk(2, -1)
    z = torch.complex(a.double(), b.double()) * turn
    return torch.cat((z.real, z.imag), -1).to(x.dtype)


def reflections(x: Tensor, position_ids: Tensor) -> Tensor:
    """A turn is two reflections: across the first axis, then across the line at half the angle."""
    half = angles(position_ids, omega(1e4, 64)) / 2
    u, v = half.cos(), half.sin()
    a, b = x[..., 0::2].double(), -x[..., 1::2].double()
    along = 2 * (a * u + b * v)
    return torch.stack((along * u - a, along * v - b), -1).flatten(-2).to(x.dtype)


def shears(x: Tensor, position_ids: Tensor) -> Tensor:
    """A turn is three shears."""
    angle = angles(position_ids, omega(1e4, 64))
    angle = torch.remainder(angle + math.pi, 2 * math.pi) - math.pi
    tangent, sine = (angle / 2).tan(), angle.sin()
    a, b = x.double().chunk(2, -1)
    a = a - tangent * b
    b = b + sine * a
    return torch.cat((a - tangent * b, b), -1).to(x.dtype)


def in_place(x: Tensor, position_ids: Tensor) -> Tensor:
    """The input is overwritten, as is said."""
    angle = angles(position_ids, omega(1e4, 64))
    c, s = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = (part.clone() for part in x.chunk(2, -1))
    x[..., :32] = a * c - b * s
    x[..., 32:] = b * c + a * s
    return x


def learned(x: Tensor, position_ids: Tensor) -> Tensor:
    """Frequencies of no rule; nothing is said about them."""
    w = torch.tensor([1.9, 0.731, 0.4142, 0.02, 0.3, 0.0077, 1.1, 0.0], dtype=torch.float64)
    angle = angles(position_ids, w)
    c, s = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack((a * c - b * s, b * c + a * s), -1).flatten(-2)


def wide(x: Tensor, position_ids: Tensor) -> Tensor:
    """float64 throughout."""
    angle = angles(position_ids, omega(1e4, 64))
    a, b = x.chunk(2, -1)
    return torch.cat((a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()), -1)


def single(q: Tensor, k: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
    """float32 throughout, 1 / base^(2i/d); eight heads of queries and two of keys."""
    w = 1.0 / (10000.0 ** (torch.arange(0, 64, 2).float() / 64))
    ids = position_ids if position_ids.ndim == 2 else position_ids[None]
    emb = (ids[..., None].float() * w).repeat(1, 1, 2)[:, None]
    half = [torch.cat((-x[..., 32:], x[..., :32]), -1) for x in (q, k)]
    return q * emb.cos() + half[0] * emb.sin(), k * emb.cos() + half[1] * emb.sin()


def _case(apply, what: str, claims: Claims) -> Case:
    name = getattr(apply, "__name__", type(apply).__name__)
    return Case(name, what, Subject(apply, "rotary", claims), broken=False)


PLAIN = rope(1e4, 64)
HALF = Claims(PLAIN, pairing="half")
NEXT = Claims(PLAIN, pairing="interleaved", direction="counter-clockwise")
EXACT = dict.fromkeys(("dtype", "angles", "table", "arithmetic"), "float64")
YARNED = read_config({**CONFIG, "rope_scaling": YARN}).group().encoding
STRETCHED = read_config({**CONFIG, "rope_scaling": LLAMA3}).group().encoding

CASES: list[Case] = [
    _case(polar, "complex numbers", NEXT),
    _case(blocks, "2x2 matrices by einsum", Claims(rope(1e4, 32), 32, "half")),
    _case(exponential, "the exponential of a matrix", Claims(rope(1e3, 8), 8, "interleaved")),
    _case(partial, "16 of 40 features, base 5e5", Claims(rope(5e5, 40, 16), 40, "half")),
    _case(
        clockwise,
        "clockwise, heads after time",
        Claims(rope(1e4, 128), 128, "half", direction="clockwise", layout="bthd"),
    ),
    _case(Growing(), "a table that grows", Claims(PLAIN, pairing="half", positions="offset")),
    _case(packed, "packed rows", Claims(PLAIN, pairing="interleaved", positions="lengths")),
    _case(counted, "no positions", Claims(PLAIN, pairing="half", positions="none", layout="bthd")),
    _case(reordered, "through another order of features", Claims(rope(1e6, 64), pairing="interleaved")),
    _case(in_bfloat16, "bfloat16 outside", Claims(PLAIN, pairing="half", dtype="bfloat16")),
    _case(yarn, "YaRN, its amplitude on x", Claims(YARNED, pairing="half", longest=131072)),
    _case(llama3, "Llama 3, plane by plane", Claims(STRETCHED, pairing="half", longest=131072)),
    _case(two_tables, "two small tables", Claims(PLAIN, pairing="half", longest=65536)),
    _case(reflections, "two reflections", NEXT),
    _case(shears, "three shears", HALF),
    _case(in_place, "overwrites its input", Claims(PLAIN, pairing="half", inplace=True, gradient=False)),
    _case(learned, "frequencies of no rule", Claims(head_dim=16)),
    _case(wide, "float64", Claims(PLAIN, pairing="half", **EXACT)),
    _case(single, "float32, grouped keys", Claims(PLAIN, pairing="half", heads=8, kv_heads=2)),
]
