"""Angles: the only file that forms one from a frequency and a position, in float64 or as transformers does.

    ωt, or on several axes Σ_a ω_a t_a

Frequency and product each round by at most 2^-53 relatively, so an angle is off by at most 2^-52 |ωt|, on
several axes by Σ_a 2^-52 |ω_a t_a| and 2^-53 of every partial sum. "hf" angles repeat the float32 arithmetic
of transformers bit for bit, with its errors.
"""

from __future__ import annotations

from functools import lru_cache

import sympy as sp
import torch
from torch import Tensor

from ..symbolic.exact import rational_power
from ..symbolic.frequencies import Frequencies
from ..symbolic.sections import AxisFrequencies
from .constants import nearest_float
from .errors import BadChoice, BadDtype, BadTensor, PositionOutOfRange, TooLarge
from .sharding import alongside
from .transforms import unwrapped
from .validation import check_tensor, same_device

LARGEST_ANGLE = 2.0**28
_EXACT_INTEGERS = 2**53
Waves = Frequencies | AxisFrequencies | Tensor  # a number a plane, or a row of them for every axis


def exact_angles(frequencies: Tensor, position_ids: Tensor) -> Tensor:
    """ωt in float64, position_ids.shape + (n,); TooLarge where float64 can no longer hold it accurately.

    frequencies (axes, n): Σ_a ω_a t_a of position_ids (axes, …), shape … + (n,).
    """
    if not position_ids.is_meta and not torch.compiler.is_compiling() and position_ids.numel():
        _refuse_large(frequencies, position_ids)
    return _angles(frequencies, position_ids.to(torch.float64))


def single_angles(frequencies: Tensor, position_ids: Tensor) -> Tensor:
    """fl(fl(t) ω) in float32, shapes as for `exact_angles`."""
    return _angles(frequencies, position_ids.to(torch.float32))


def _angles(frequencies: Tensor, positions: Tensor) -> Tensor:
    if frequencies.ndim == 1:
        return positions[..., None] * frequencies
    first, *others = (t[..., None] * w for t, w in zip(positions, frequencies, strict=True))
    for other in others:
        first = first + other
    return first


def check_axes(frequencies: Tensor, position_ids: Tensor) -> Tensor:
    """position_ids, known to lead with as many coordinates as there are axes."""
    if frequencies.ndim == 2 and (not position_ids.ndim or len(position_ids) != len(frequencies)):
        raise BadTensor(
            f"position_ids has shape {tuple(position_ids.shape)}, but positions have {len(frequencies)} "
            f"coordinates; shape ({len(frequencies)}, …), one row a coordinate, works"
        )
    return position_ids


def check_length(position_ids: Tensor, longest: int | None, what: str = "these frequencies hold") -> None:
    """Refuse positions of a text longer than the frequencies are for, where positions have values to read."""
    if longest is None or position_ids.is_meta or torch.compiler.is_compiling() or not position_ids.numel():
        return
    last = unwrapped(position_ids).detach().max()
    if last > longest - 1:
        raise PositionOutOfRange(
            f"position_ids contains {last.item()}, but {what} in texts of at most {longest} tokens; form "
            "those of the longer text, and carry cached keys over with rerotate(k, position_ids, old, new)"
        )


def beside(ids: Tensor, frequencies: Tensor, given: Waves) -> Tensor:
    """The frequencies on the device of the positions; a tensor that the caller put elsewhere is refused."""
    if isinstance(given, Tensor):
        same_device(ids, "position_ids", given, "inv_freq")
    return alongside(ids, frequencies.to(ids.device))


def frequency_tensor(inv_freq: Waves) -> Tensor:
    """The frequencies as float64, each the nearest one; on the CPU, or where the tensor is.

    Shape (pairs,), or (axes, pairs) on several axes.
    """
    if isinstance(inv_freq, (Frequencies, AxisFrequencies)):
        return torch.tensor(nearest_frequencies(inv_freq), dtype=torch.float64, device="cpu")
    if not isinstance(inv_freq, Tensor):
        raise BadDtype(f"inv_freq is a {type(inv_freq).__name__}; Frequencies or a tensor (pairs,) works")
    inv_freq = check_tensor(inv_freq, "inv_freq")
    if inv_freq.ndim not in (1, 2) or not inv_freq.numel():
        raise BadTensor(
            f"inv_freq has shape {tuple(inv_freq.shape)}; shape (pairs,) with pairs >= 1, or (axes, pairs) "
            "on several axes, works"
        )
    if (
        not inv_freq.is_meta
        and not torch.compiler.is_compiling()
        and not unwrapped(inv_freq).isfinite().all()
    ):
        raise BadTensor("inv_freq contains NaN or infinity; finite radians per position work")
    return inv_freq.to(torch.float64)


@lru_cache(maxsize=256)
def nearest_frequencies(frequencies: Frequencies | AxisFrequencies) -> tuple:
    """Every exact frequency as its nearest float64; a tuple an axis where there are several."""
    if isinstance(frequencies, Frequencies):
        return tuple(nearest_float(w, name=f"frequency {k}") for k, w in enumerate(frequencies.exact))
    return tuple(
        tuple(nearest_float(w, name=f"rate {k} of axis {a}") for k, w in enumerate(rates))
        for a, rates in enumerate(frequencies.exact)
    )


def hf_inv_freq(rope_theta: float, rotary_dim: int) -> Tensor:
    """1.0 / (rope_theta ** (arange(0, rotary_dim, 2) / rotary_dim)) in float32, as transformers forms it."""
    steps = torch.arange(0, rotary_dim, 2, dtype=torch.int64, device="cpu").to(torch.float32)
    return 1.0 / (rope_theta ** (steps / rotary_dim))


def hf_frequency_tensor(inv_freq: Waves) -> Tensor:
    """The frequencies as float32, as transformers forms them; on the CPU, or where the tensor is."""
    if isinstance(inv_freq, Frequencies):
        return hf_inv_freq(*_base_and_width(inv_freq))
    if isinstance(inv_freq, AxisFrequencies):
        table = Frequencies(tuple(sp.Add(*rates) for rates in zip(*inv_freq.exact, strict=True)))
        owned = torch.tensor([[bool(w) for w in rates] for rates in inv_freq.exact], device="cpu")
        return torch.where(owned, hf_inv_freq(*_base_and_width(table)), 0.0)
    return check_tensor(inv_freq, "inv_freq").to(torch.float32)


def _base_and_width(frequencies: Frequencies) -> tuple[float, int]:
    """(rope_theta, rotary_dim) of frequencies that are rope_theta^(-2k/rotary_dim); BadChoice otherwise."""
    exact = frequencies.exact
    pairs = len(exact)
    base = exact[1] ** -pairs if pairs > 1 else sp.Integer(1)
    if any(value != rational_power(base, sp.Rational(-k, pairs)) for k, value in enumerate(exact)):
        raise BadChoice(
            "angles='hf' needs the base, but inv_freq is no Frequencies of the form rope_theta^(-2k/dim); "
            "pass the float32 inv_freq tensor of the model instead"
        )
    return nearest_float(base, name="rope_theta"), 2 * pairs


def _refuse_large(frequencies: Tensor, ids: Tensor) -> None:
    """Refuse positions that float64 cannot hold and angles beyond 2^28: both would be silently wrong."""
    plain = unwrapped(ids).detach()
    if plain.is_floating_point() and not plain.isfinite().all():
        raise BadTensor("position_ids contains NaN or infinity; finite clock readings work")
    largest = max(abs(int(plain.min())), abs(int(plain.max())))
    if largest > _EXACT_INTEGERS:
        raise TooLarge(
            f"position_ids contains {largest} > 2^53, which float64 cannot hold; exact.rotary_table works"
        )
    rows = ids.detach().to(torch.float64).reshape(1 if frequencies.ndim == 1 else len(frequencies), -1)
    rates = frequencies.detach().abs().reshape(len(rows), -1)
    refuse_large_angle((rows.abs().amax(-1)[:, None] * rates).sum(0))


def refuse_large_angle(angle: Tensor) -> None:
    """TooLarge if some |angle| exceeds 2^28, where float64 no longer holds its fraction of a turn well."""
    if angle.is_meta or torch.compiler.is_compiling() or not angle.numel():
        return
    largest = float(unwrapped(angle).detach().abs().max())
    if largest > LARGEST_ANGLE:
        raise TooLarge(
            f"the largest angle |inv_freq * position_ids| is {largest:.4g} > 2^28 radians, where float64 "
            "angles lose accuracy; exact.rotary_table works at any position"
        )


__all__ = [
    "LARGEST_ANGLE",
    "Waves",
    "beside",
    "check_axes",
    "check_length",
    "exact_angles",
    "frequency_tensor",
    "hf_frequency_tensor",
    "hf_inv_freq",
    "nearest_frequencies",
    "refuse_large_angle",
    "single_angles",
]
