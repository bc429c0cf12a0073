"""Tables of cos and sin, of angles, of complex numbers and of sinusoids: right ones and wrong ones."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from exptx.proofs import Claims, Subject, rope
from exptx.symbolic import read_config
from second import Case
from torch import Tensor, nn


def omega(base: float, size: int) -> Tensor:
    """base^(-2i/size) in float64."""
    return base ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)


def angles(position_ids: Tensor, w: Tensor) -> Tensor:
    """(..., time, planes) in float64."""
    return position_ids.double()[..., None] * w


def both(angle: Tensor) -> tuple[Tensor, Tensor]:
    """cos and sin in float32."""
    return angle.cos().float(), angle.sin().float()


def complex_table(position_ids: Tensor) -> Tensor:
    angle = angles(position_ids, omega(1e4, 64))
    return torch.polar(torch.ones_like(angle), angle).to(torch.complex64)


def packed_table(position_ids: Tensor) -> Tensor:
    return torch.cat(both(angles(position_ids, omega(1e4, 64))), -1)


def bare_angles(position_ids: Tensor) -> Tensor:
    return angles(position_ids, omega(5e5, 128)).float()


def sinusoids(position_ids: Tensor) -> Tensor:
    """The embedding of the first transformer: sin at even features, cos at odd ones."""
    rate = torch.exp(torch.arange(0, 64, 2).double() * (-math.log(10000.0) / 64))
    angle = angles(position_ids, rate)
    table = torch.empty(*position_ids.shape, 64)
    table[..., 0::2], table[..., 1::2] = angle.sin().float(), angle.cos().float()
    return table


def doubled(position_ids: Tensor) -> tuple[Tensor, Tensor]:
    return both(angles(position_ids, omega(1e6, 96)).repeat(*[1] * position_ids.ndim, 2))


def interleaved(position_ids: Tensor) -> tuple[Tensor, Tensor]:
    return both(angles(position_ids, omega(1e4, 64)).repeat_interleave(2, -1))


class Chebyshev:
    """cos(n + 1)w = 2 cos w cos nw - cos(n - 1)w, row by row in float64."""

    def __init__(self, rows: int) -> None:
        w = omega(1e4, 32)
        first, cos, sin = w.cos(), [torch.ones(16).double(), w.cos()], [torch.zeros(16).double(), w.sin()]
        for _ in range(rows - 2):
            cos.append(2 * first * cos[-1] - cos[-2])
            sin.append(2 * first * sin[-1] - sin[-2])
        self.cos, self.sin = torch.stack(cos).float(), torch.stack(sin).float()

    def __call__(self, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        return self.cos[position_ids], self.sin[position_ids]


def coarse_table(position_ids: Tensor) -> tuple[Tensor, Tensor]:
    cos, sin = both(angles(position_ids, omega(1e4, 64)))
    return cos.bfloat16(), sin.bfloat16()


CONFIG = {
    "model_type": "llama",
    "hidden_size": 512,
    "num_attention_heads": 8,
    "num_hidden_layers": 2,
    "head_dim": 64,
    "rope_theta": 10000.0,
    "max_position_embeddings": 16384,
}
LINEAR = {**CONFIG, "rope_scaling": {"rope_type": "linear", "factor": 4.0}}
YARN = {
    **CONFIG,
    "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096},
}


def interpolated(position_ids: Tensor) -> tuple[Tensor, Tensor]:
    """The position is divided, not the frequency."""
    return both(angles(position_ids.double() / 4, omega(1e4, 64)))


class Yarn(nn.Module):
    """Frequencies kept as logarithms; the amplitude to a power."""

    def __init__(self, power: float = 1.0) -> None:
        super().__init__()
        low, high = (64 * math.log(4096 / (2 * math.pi * n)) / (2 * math.log(1e4)) for n in (32, 1))
        low, high = math.floor(low), math.ceil(high)
        share = ((torch.arange(32, dtype=torch.float64) - low) / (high - low)).clamp(0, 1)
        self.logs = (omega(1e4, 64) * (1 - share * 3 / 4)).log()
        self.amplitude = (0.1 * math.log(4) + 1) ** power

    def forward(self, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        cos, sin = both(angles(position_ids, self.logs.exp()))
        return cos * self.amplitude, sin * self.amplitude


def changed_places(position_ids: Tensor) -> tuple[Tensor, Tensor]:
    cos, sin = both(angles(position_ids, omega(1e4, 64)))
    return sin, cos


def with_end_point(position_ids: Tensor) -> tuple[Tensor, Tensor]:
    return both(angles(position_ids, 1e4 ** -torch.linspace(0, 1, 32, dtype=torch.float64)))


def sine_one_late(position_ids: Tensor) -> tuple[Tensor, Tensor]:
    w = omega(1e4, 64)
    return angles(position_ids, w).cos().float(), angles(position_ids + 1, w).sin().float()


def modulo_table(position_ids: Tensor) -> tuple[Tensor, Tensor]:
    return both(angles(position_ids % 2048, omega(1e4, 64)))


def half_arange(position_ids: Tensor) -> tuple[Tensor, Tensor]:
    """arange takes the default format of the model, which was bfloat16."""
    power = torch.arange(0, 128, 2, dtype=torch.bfloat16) / 128
    return both(angles(position_ids, 1.0 / (10000.0**power).double()))


def two_turns_short(position_ids: Tensor) -> Tensor:
    """The angle is reduced with a rounded 2 pi."""
    return torch.remainder(angles(position_ids, omega(1e4, 64)), 6.2832).float()


class Appended:
    """A table that grows by rows that count from zero again."""

    def __init__(self) -> None:
        self.angles = angles(torch.arange(1024), omega(1e4, 64))

    def __call__(self, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        missing = int(position_ids.max()) + 1 - len(self.angles)
        if missing > 0:
            self.angles = torch.cat((self.angles, angles(torch.arange(missing), omega(1e4, 64))))
        return both(self.angles[position_ids])


def multiplied(position_ids: Tensor) -> tuple[Tensor, Tensor]:
    return both(angles(position_ids * 4, omega(1e4, 64)))


def one_row(position_ids: Tensor) -> Tensor:
    """The positions of the last row stand for the batch."""
    ids = position_ids[-1:].expand_as(position_ids) if position_ids.ndim == 2 else position_ids
    return torch.exp(1j * angles(ids, omega(1e4, 64))).to(torch.complex64)


def cosine_of_zero(position_ids: Tensor) -> tuple[Tensor, Tensor]:
    """Padding is taken to be position 0: there cos is 0 as well."""
    cos, sin = both(angles(position_ids, omega(1e4, 64)))
    return cos * (position_ids != 0)[..., None], sin


def reversed_planes(position_ids: Tensor) -> Tensor:
    return angles(position_ids, omega(1e4, 64).flip(0)).float()


def sinusoids_of_doubled_exponent(position_ids: Tensor) -> Tensor:
    """2i is formed twice: the exponent is 4i/d."""
    angle = angles(position_ids, 1e4 ** (-2 * torch.arange(0, 64, 2, dtype=torch.float64) / 64))
    return torch.stack((angle.sin(), angle.cos()), -1).flatten(-2).float()


def truncated_series(position_ids: Tensor) -> tuple[Tensor, Tensor]:
    """sin from a Taylor series of fifth order without reduction; nothing is claimed."""
    angle = angles(position_ids, torch.tensor([1e-3, 2e-4, 3e-5, 4e-6]).double())
    return angle.cos().float(), (angle - angle**3 / 6 + angle**5 / 120).float()


def _case(apply, what: str, claims: Claims, broken: bool) -> Case:
    name = getattr(apply, "__name__", type(apply).__name__)
    return Case(f"{name}_table{'_wrong' * broken}", what, Subject(apply, "tables", claims), broken)


PLAIN = Claims(rope(1e4, 64))
LINEARLY = Claims(read_config(LINEAR).group().encoding)
YARNED = Claims(read_config(YARN).group().encoding)

CASES: list[Case] = [
    _case(complex_table, "complex numbers", PLAIN, False),
    _case(packed_table, "[cos | sin]", PLAIN, False),
    _case(bare_angles, "angles", Claims(rope(5e5, 128), 128), False),
    _case(sinusoids, "an embedding of sinusoids", PLAIN, False),
    _case(doubled, "each column twice, as halves", Claims(rope(1e6, 96), 96, "half"), False),
    _case(interleaved, "each column twice, side by side", replace(PLAIN, pairing="interleaved"), False),
    _case(Chebyshev(4096), "a recurrence of second order", Claims(rope(1e4, 32), 32), False),
    _case(coarse_table, "kept in bfloat16, as claimed", replace(PLAIN, table="bfloat16"), False),
    _case(interpolated, "the position is divided", LINEARLY, False),
    _case(Yarn(), "YaRN", replace(YARNED, longest=16384), False),
    _case(changed_places, "(sin, cos)", PLAIN, True),
    _case(with_end_point, "exponents from 0 to 1, both ends", PLAIN, True),
    _case(sine_one_late, "sin is one position ahead of cos", Claims(), True),
    _case(modulo_table, "starts again at 2048", PLAIN, True),
    _case(half_arange, "arange in bfloat16", Claims(rope(1e4, 128), 128), True),
    _case(two_turns_short, "2 pi is 6.2832", PLAIN, True),
    _case(Appended(), "new rows count from zero", PLAIN, True),
    _case(multiplied, "the factor multiplies", LINEARLY, True),
    _case(one_row, "one row of positions for the batch", Claims(), True),
    _case(Yarn(2.0), "the square of the amplitude", YARNED, True),
    _case(cosine_of_zero, "cos is 0 at position 0", Claims(), True),
    _case(reversed_planes, "the slowest plane comes first", PLAIN, True),
    _case(sinusoids_of_doubled_exponent, "the exponent is 4i/d", PLAIN, True),
    _case(truncated_series, "a truncated series for sin", Claims(head_dim=8), True),
]
