"""Which linear map acts at each position, read off unit vectors: planes, cos and sin, what is copied."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ....numeric.rounding import unit_roundoff
from ..rotary.calls import Calls


@dataclass(frozen=True)
class Planes:
    """pairs: (i, j) with i < j, empty for tables of half width; cos, sin: (positions, planes), float64.

    Where y_i = x_i c - x_j s and y_j = x_i s + x_j c; skew: how far the worst plane is from that form, at
    skewed_at (position, plane). copied: features that no position touches. dim: features of a head.
    """

    positions: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]
    cos: Tensor
    sin: Tensor
    skew: float
    skewed_at: tuple[int, int]
    copied: tuple[int, ...]
    dim: int

    @property
    def count(self) -> int:
        """Planes."""
        return self.cos.shape[1]

    @property
    def amplitude(self) -> float:
        """The length of (cos, sin) in the middle of the planes at position 0."""
        return float(torch.hypot(self.cos[0], self.sin[0]).median())

    @property
    def pairing(self) -> str:
        """half, interleaved, either (one plane), or other."""
        adjacent = all(j == i + 1 and i % 2 == 0 for i, j in self.pairs)
        gaps = {j - i for i, j in self.pairs}
        half = len(gaps) == 1 and all(i < min(gaps) for i, _ in self.pairs)
        if adjacent and half:
            return "either"
        return "interleaved" if adjacent else "half" if half else "other"

    @property
    def direction(self) -> str:
        """The way all planes turn from position 0 to 1: counter-clockwise, clockwise, or mixed."""
        steps = self.steps()
        if bool((steps >= 0).all()):
            return "counter-clockwise"
        return "clockwise" if bool((steps <= 0).all()) else "mixed"

    def fades(self) -> Tensor | None:
        """g of each plane whose length is e^{gt} times that at position 0; None where all stay as long.

        A length is off by 8u, and its logarithm by as much relative to itself, since an exponent rounds. Far
        positions at which a length is lost to 0 say nothing.
        """
        length = torch.hypot(self.cos, self.sin)
        kept = int(
            (length > unit_roundoff("float32") ** 4).all(1).long().cumprod(0).sum()
        )  # of normal numbers
        if kept < 2:
            return None
        t = torch.tensor(self.positions[:kept], dtype=torch.float64)[:, None]
        grown = torch.log(length[:kept] / length[:1])
        rates = grown[-1:] / t[-1]
        near = 16 * unit_roundoff("float32") * (1 + grown.abs())
        exponential = bool(((grown - rates * t).abs() <= near).all())
        return rates[0] if exponential and bool((grown[-1].abs() > near[-1]).any()) else None

    def levelled(self) -> Planes:
        """The same turns at the lengths of position 0."""
        length = torch.hypot(self.cos, self.sin) / torch.hypot(self.cos[:1], self.sin[:1])
        return replace(self, cos=self.cos / length, sin=self.sin / length)

    def steps(self) -> Tensor:
        """Radians from position 0 to position 1, in (-π, π], a plane each."""
        phase = torch.atan2(self.sin, self.cos)
        return wrapped(phase[1] - phase[0])


def wrapped(angle: Tensor) -> Tensor:
    """The angle in (-π, π] that differs by whole turns."""
    return angle - 2 * math.pi * torch.ceil(angle / (2 * math.pi) - 0.5)


def places(longest: int) -> tuple[int, ...]:
    """0 to 8, and near every power of two below `longest`: odd ones, which narrow formats cannot hold."""
    near = [p for k in range(3, longest.bit_length()) for p in (1 << k, (1 << k) + 1, 3 * (1 << k) // 2 - 1)]
    return tuple(sorted({*range(9), *(p for p in near if p < longest), longest - 1}))


def planes_of_map(calls: Calls, positions: tuple[int, ...]) -> Planes | None:
    """From the images of all unit vectors; None where a feature meets more than one other."""
    dim = calls.subject.claims.head_dim
    units = torch.eye(dim)[:, None, None, :].expand(dim, 1, len(positions), dim).contiguous()
    ids = torch.tensor(positions).expand(dim, -1).contiguous()
    images = calls.rotate(units, ids)[:, 0].to(torch.float64)
    matrix = images.permute(1, 2, 0)  # (position, row, column)
    met = (matrix != 0).any(0)
    met = (met | met.T) & ~torch.eye(dim, dtype=torch.bool)
    if bool((met.sum(1) > 1).any()):
        return None
    pairs = tuple((i, j) for i, j in met.nonzero().tolist() if i < j)
    first, second = (
        torch.tensor(side, dtype=torch.long) for side in (zip(*pairs, strict=True) if pairs else ((), ()))
    )
    a, b = matrix[:, first, first], matrix[:, second, second]
    c, d = matrix[:, second, first], -matrix[:, first, second]
    uneven = torch.maximum((a - b).abs(), (c - d).abs())
    where = divmod(int(uneven.argmax()), len(pairs)) if pairs else (0, 0)
    copied = tuple(i for i in range(dim) if not met[i].any())
    skew = float(uneven.max()) if pairs else 0.0
    return Planes(positions, pairs, a, c, skew, (positions[where[0]], where[1]), copied, dim)


def planes_of_tables(calls: Calls, positions: tuple[int, ...]) -> tuple[Planes, str]:
    """From cos and sin, and how wide they are: half, or full with planes side by side or neighbouring."""
    cos, sin = (part[0].to(torch.float64) for part in calls.tables(torch.tensor([positions])))
    half = cos.shape[1] // 2
    both = torch.stack((cos, sin))
    form, pairs = "half width", ()
    if cos.shape[1] % 2 == 0 and half > 1 and torch.equal(both[..., :half], both[..., half:]):
        form, pairs = "full width, halves alike", tuple((i, i + half) for i in range(half))
        both = both[..., :half]
    elif cos.shape[1] % 2 == 0 and half > 1 and torch.equal(both[..., ::2], both[..., 1::2]):
        form, pairs = "full width, neighbours alike", tuple((2 * i, 2 * i + 1) for i in range(half))
        both = both[..., ::2]
    dim = 2 * both.shape[-1]
    length = torch.hypot(both[0], both[1])
    uneven = (length - length[:1]).abs()
    where = divmod(int(uneven.argmax()), both.shape[-1])
    planes = Planes(
        positions, pairs, both[0], both[1], float(uneven.max()), (positions[where[0]], where[1]), (), dim
    )
    return planes, form if calls.form == "cos and sin" else f"{form}, as {calls.form}"
