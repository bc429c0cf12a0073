"""Tables of cos and sin at given positions, and of the turn from one table to another.

The angle is off by at most 2^-52 |ωt| (see `angles`), cos and sin by 2^-52 more, and storing in float32 by
2^-24. For amplitude a every entry is within a (2^-24 + 2^-52 |ωt| + 2^-51) of a·cos(ωt) or a·sin(ωt).
"""

from __future__ import annotations

from math import inf

import sympy as sp
import torch
from torch import Tensor

from ..symbolic.frequencies import Frequencies
from ..symbolic.sections import AxisFrequencies
from .angles import (
    Waves,
    beside,
    check_axes,
    check_length,
    exact_angles,
    frequency_tensor,
    hf_frequency_tensor,
    single_angles,
)
from .constants import nearest_float
from .errors import BadChoice, BadDtype, BadTensor
from .validation import check_position_ids


def rotary_table(
    inv_freq: Waves,
    position_ids: Tensor,
    *,
    attention_scaling: float = 1.0,
    angles: str = "exact",
    dtype: torch.dtype = torch.float32,
) -> tuple[Tensor, Tensor]:
    """(cos, sin) of inv_freq * position_ids, each of shape position_ids.shape + (pairs,): half width.

    inv_freq: Frequencies, or a tensor (pairs,) of radians per position, whose entries count as exact; on
    several axes AxisFrequencies, or a tensor (axes, pairs): then position_ids is (axes, …), a row for every
    coordinate, the angle Σ_a ω_a t_a, and the table … + (pairs,).
    position_ids: integers of any sign, or float clock readings, of any shape; on the wanted device.
    attention_scaling: the amplitude a; left at 1, Frequencies bring their own attention_factor.
    angles: "exact" forms ωt in float64, so every entry is within a(u + 2^-52 |ωt| + 2^-51) of the true
    a·cos(ωt) or a·sin(ωt), u = 2^-24 for float32 and 2^-53 for float64 (where several axes turn a plane,
    with Σ_a |ω_a t_a| for |ωt|, and 2^-53 of it more for every axis after the first); "hf" forms it in
    float32, bit for bit as transformers does (base ** (arange / dim), position.float() * inv_freq.float()),
    errors included.
    dtype: of the result, float32 or float64 (which float64 inputs of the kernel need; exact angles only).
    Raises TooLarge for exact angles where |ωt| > 2^28 or |t| > 2^53, NotLowered if Frequencies hold a symbol,
    PositionOutOfRange beyond the length that Frequencies are for, and BadTensor, BadDtype or BadChoice naming
    the argument. Gradients flow to a tensor inv_freq.
    Under torch.compile give a tensor or use RotaryEmbedding: Frequencies are lowered by code that cannot be
    traced. Source: Su et al., RoFormer, arXiv 2104.09864, section 3.4.2.
    """
    ids = check_position_ids(position_ids, ranks=())
    if dtype not in (torch.float32, torch.float64):
        raise BadDtype(f"dtype is {dtype}; float32 or float64 works (half precision would spoil the angles)")
    scaling = amplitude(inv_freq, attention_scaling)
    check_length(ids, longest_of(inv_freq))
    if angles == "hf":
        return _hf_table(inv_freq, ids, scaling, dtype)
    if angles != "exact":
        raise BadChoice(f"angles is {angles!r}; 'exact' or 'hf' works")
    waves = beside(ids, frequency_tensor(inv_freq), inv_freq)
    angle = exact_angles(waves, check_axes(waves, ids))
    return (scaling * angle.cos()).to(dtype), (scaling * angle.sin()).to(dtype)


def rerotation_table(
    old: Waves,
    new: Waves,
    position_ids: Tensor,
    *,
    attention_scaling: float,
    angles: str,
    dtype: torch.dtype,
) -> tuple[Tensor, Tensor]:
    """(cos, sin) of (w' - w)t times m'/m: the turn from a rotation at `old` to one at `new`.

    Both frequencies round, then their difference and the product: the angle is off by at most
    2^-53 |t|·3(w + w'). "hf": the difference of two float32 angles, which float64 holds.
    """
    ratio = _ratio(old, new, attention_scaling)
    check_length(position_ids, longest_of(old), "the frequencies old hold")
    check_length(position_ids, longest_of(new), "the frequencies new hold")
    if angles == "hf":
        before, after = (_hf_angles(waves, position_ids).double() for waves in (old, new))
        angle = after - before
    elif angles == "exact":
        before, after = (beside(position_ids, frequency_tensor(waves), waves) for waves in (old, new))
        angle = exact_angles(after - before, position_ids)
    else:
        raise BadChoice(f"angles is {angles!r}; 'exact' or 'hf' works")
    return (ratio * angle.cos()).to(dtype), (ratio * angle.sin()).to(dtype)


def _ratio(old: Waves, new: Waves, attention_scaling: float) -> float:
    """m'/m of the Frequencies, a tensor counting as 1, or the given ratio; both at once are ambiguous."""
    given = Frequencies((), own_amplitude(new) / own_amplitude(old))
    return amplitude(given, attention_scaling)


def own_amplitude(waves: Waves) -> sp.Expr:
    """The attention factor of Frequencies, exactly; 1 for a tensor, which has none."""
    return waves.attention_factor if isinstance(waves, (Frequencies, AxisFrequencies)) else sp.S.One


def longest_of(waves: Waves) -> int | None:
    """The longest text that Frequencies are for; None for every length, and for a tensor."""
    return waves.longest if isinstance(waves, (Frequencies, AxisFrequencies)) else None


def _hf_table(inv_freq: Waves, ids: Tensor, scaling: float, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    if dtype != torch.float32:
        raise BadChoice(f"angles='hf' forms float32 tables, but dtype is {dtype}; angles='exact' works")
    angle = _hf_angles(inv_freq, ids)
    return angle.cos() * scaling, angle.sin() * scaling


def _hf_angles(inv_freq: Waves, ids: Tensor) -> Tensor:
    """fl(fl(t) w) in float32, position_ids.shape + (pairs,)."""
    waves = beside(ids, hf_frequency_tensor(inv_freq), inv_freq)
    return single_angles(waves, check_axes(waves, ids))


def amplitude(inv_freq: Waves, attention_scaling: float) -> float:
    """The given scaling, or the attention factor of the Frequencies; both at once are ambiguous."""
    try:
        scaling = float(attention_scaling)
    except (TypeError, ValueError):
        scaling = 0.0
    if not 0 < scaling < inf:
        raise BadTensor(f"attention_scaling is {attention_scaling!r}; a finite positive number works")
    own = 1.0
    if isinstance(inv_freq, (Frequencies, AxisFrequencies)):
        own = nearest_float(inv_freq.attention_factor, name="attention_factor")
    if own != 1.0 and scaling not in (1.0, own):
        raise BadChoice(
            f"attention_scaling is {scaling} but inv_freq has attention_factor {own}; give only one of them"
        )
    return scaling if own == 1.0 else own


__all__ = ["amplitude", "longest_of", "rerotation_table", "rotary_table"]
