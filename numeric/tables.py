"""Tables of cos and sin: the only file that forms an angle from a frequency and a position.

Angles "exact" are formed in float64: frequency and product each round by at most 2^-53 relatively, so the
angle is off by at most 2^-52 |ωt|, cos and sin by 2^-52 more, and storing in float32 by 2^-24. For
amplitude a every entry is within a (2^-24 + 2^-52 |ωt| + 2^-51) of a·cos(ωt) or a·sin(ωt).
Angles "hf" repeat the float32 arithmetic of transformers bit for bit, with its errors.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf

import sympy as sp
import torch
from torch import Tensor

from ..symbolic.frequencies import Frequencies
from .constants import nearest_float
from .errors import BadChoice, BadDtype, BadTensor, TooLarge
from .transforms import unwrapped
from .validation import check_position_ids, check_tensor, same_device

LARGEST_ANGLE = 2.0**28
_EXACT_INTEGERS = 2**53


def rotary_table(
    inv_freq: Frequencies | Tensor,
    position_ids: Tensor,
    *,
    attention_scaling: float = 1.0,
    angles: str = "exact",
    dtype: torch.dtype = torch.float32,
) -> tuple[Tensor, Tensor]:
    """(cos, sin) of inv_freq * position_ids, each of shape position_ids.shape + (pairs,): half width.

    inv_freq: Frequencies, or a tensor (pairs,) of radians per position, whose entries count as exact.
    position_ids: integers of any sign, or float clock readings, of any shape; on the wanted device.
    attention_scaling: the amplitude a; left at 1, Frequencies bring their own attention_factor.
    angles: "exact" forms ωt in float64, so every entry is within a(u + 2^-52 |ωt| + 2^-51) of the true
    a·cos(ωt) or a·sin(ωt), u = 2^-24 for float32 and 2^-53 for float64; "hf" forms it in float32, bit for
    bit as transformers does (base ** (arange / dim), position.float() * inv_freq.float()), errors included.
    dtype: of the result, float32 or float64 (which float64 inputs of the kernel need; exact angles only).
    Raises TooLarge for exact angles where |ωt| > 2^28 or |t| > 2^53, NotLowered if Frequencies hold a symbol,
    and BadTensor, BadDtype or BadChoice naming the argument. Gradients flow to a tensor inv_freq.
    Under torch.compile give a tensor or use RotaryEmbedding: Frequencies are lowered by code that cannot be
    traced. Source: Su et al., RoFormer, arXiv 2104.09864, section 3.4.2.
    """
    ids = check_position_ids(position_ids, ranks=())
    if dtype not in (torch.float32, torch.float64):
        raise BadDtype(f"dtype is {dtype}; float32 or float64 works (half precision would spoil the angles)")
    scaling = amplitude(inv_freq, attention_scaling)
    if angles == "hf":
        return _hf_table(inv_freq, ids, scaling, dtype)
    if angles != "exact":
        raise BadChoice(f"angles is {angles!r}; 'exact' or 'hf' works")
    angle = exact_angles(_beside(ids, frequency_tensor(inv_freq), inv_freq), ids)
    return (scaling * angle.cos()).to(dtype), (scaling * angle.sin()).to(dtype)


def rerotation_table(
    old: Frequencies | Tensor,
    new: Frequencies | Tensor,
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
    if angles == "hf":
        before, after = (_hf_angles(waves, position_ids).double() for waves in (old, new))
        angle = after - before
    elif angles == "exact":
        before, after = (_beside(position_ids, frequency_tensor(waves), waves) for waves in (old, new))
        angle = exact_angles(after - before, position_ids)
    else:
        raise BadChoice(f"angles is {angles!r}; 'exact' or 'hf' works")
    return (ratio * angle.cos()).to(dtype), (ratio * angle.sin()).to(dtype)


def _ratio(old: Frequencies | Tensor, new: Frequencies | Tensor, attention_scaling: float) -> float:
    """m'/m of the Frequencies, a tensor counting as 1, or the given ratio; both at once are ambiguous."""
    given = Frequencies((), _own_amplitude(new) / _own_amplitude(old))
    return amplitude(given, attention_scaling)


def _own_amplitude(waves: Frequencies | Tensor) -> sp.Expr:
    return waves.attention_factor if isinstance(waves, Frequencies) else sp.S.One


def _beside(ids: Tensor, frequencies: Tensor, given: Frequencies | Tensor) -> Tensor:
    """The frequencies on the device of the positions; a tensor that the caller put elsewhere is refused."""
    if isinstance(given, Tensor):
        same_device(ids, "position_ids", given, "inv_freq")
    return frequencies.to(ids.device)


def exact_angles(frequencies: Tensor, position_ids: Tensor) -> Tensor:
    """ωt in float64, position_ids.shape + (n,); TooLarge where float64 can no longer hold it accurately."""
    if not position_ids.is_meta and not torch.compiler.is_compiling() and position_ids.numel():
        _refuse_large(frequencies, position_ids)
    return position_ids.to(torch.float64)[..., None] * frequencies


def frequency_tensor(inv_freq: Frequencies | Tensor) -> Tensor:
    """The frequencies as float64 (pairs,), each the nearest float64; on the CPU, or where the tensor is."""
    if isinstance(inv_freq, Frequencies):
        return torch.tensor(nearest_frequencies(inv_freq), dtype=torch.float64, device="cpu")
    if not isinstance(inv_freq, Tensor):
        raise BadDtype(f"inv_freq is a {type(inv_freq).__name__}; Frequencies or a tensor (pairs,) works")
    inv_freq = check_tensor(inv_freq, "inv_freq")
    if inv_freq.ndim != 1 or not len(inv_freq):
        raise BadTensor(f"inv_freq has shape {tuple(inv_freq.shape)}; shape (pairs,) with pairs >= 1 works")
    if (
        not inv_freq.is_meta
        and not torch.compiler.is_compiling()
        and not unwrapped(inv_freq).isfinite().all()
    ):
        raise BadTensor("inv_freq contains NaN or infinity; finite radians per position work")
    return inv_freq.to(torch.float64)


@lru_cache(maxsize=256)
def nearest_frequencies(frequencies: Frequencies) -> tuple[float, ...]:
    """Every exact frequency as its nearest float64."""
    return tuple(nearest_float(w, name=f"frequency {k}") for k, w in enumerate(frequencies.exact))


def hf_inv_freq(rope_theta: float, rotary_dim: int) -> Tensor:
    """1.0 / (rope_theta ** (arange(0, rotary_dim, 2) / rotary_dim)) in float32, as transformers forms it."""
    steps = torch.arange(0, rotary_dim, 2, dtype=torch.int64, device="cpu").to(torch.float32)
    return 1.0 / (rope_theta ** (steps / rotary_dim))


def hf_frequency_tensor(inv_freq: Frequencies | Tensor) -> Tensor:
    """The frequencies as float32 (pairs,), as transformers forms them; on the CPU, or where the tensor is."""
    if isinstance(inv_freq, Frequencies):
        return hf_inv_freq(*_base_and_width(inv_freq))
    return check_tensor(inv_freq, "inv_freq").to(torch.float32)


def _hf_table(
    inv_freq: Frequencies | Tensor, ids: Tensor, scaling: float, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    if dtype != torch.float32:
        raise BadChoice(f"angles='hf' forms float32 tables, but dtype is {dtype}; angles='exact' works")
    angle = _hf_angles(inv_freq, ids)
    return angle.cos() * scaling, angle.sin() * scaling


def _hf_angles(inv_freq: Frequencies | Tensor, ids: Tensor) -> Tensor:
    """fl(fl(t) w) in float32, position_ids.shape + (pairs,)."""
    frequencies = _beside(ids, hf_frequency_tensor(inv_freq), inv_freq)
    return ids.to(torch.float32)[..., None] * frequencies


def _base_and_width(frequencies: Frequencies) -> tuple[float, int]:
    """(rope_theta, rotary_dim) of frequencies that are rope_theta^(-2k/rotary_dim); BadChoice otherwise."""
    exact = frequencies.exact
    pairs = len(exact)
    base = exact[1] ** -pairs if pairs > 1 else sp.Integer(1)
    if any(value != base ** sp.Rational(-k, pairs) for k, value in enumerate(exact)):
        raise BadChoice(
            "angles='hf' needs the base, but inv_freq is no Frequencies of the form rope_theta^(-2k/dim); "
            "pass the float32 inv_freq tensor of the model instead"
        )
    return nearest_float(base, name="rope_theta"), 2 * pairs


def amplitude(inv_freq: Frequencies | Tensor, attention_scaling: float) -> float:
    """The given scaling, or the attention factor of the Frequencies; both at once are ambiguous."""
    try:
        scaling = float(attention_scaling)
    except (TypeError, ValueError):
        scaling = 0.0
    if not 0 < scaling < inf:
        raise BadTensor(f"attention_scaling is {attention_scaling!r}; a finite positive number works")
    own = 1.0
    if isinstance(inv_freq, Frequencies):
        own = nearest_float(inv_freq.attention_factor, name="attention_factor")
    if own != 1.0 and scaling not in (1.0, own):
        raise BadChoice(
            f"attention_scaling is {scaling} but inv_freq has attention_factor {own}; give only one of them"
        )
    return scaling if own == 1.0 else own


def _refuse_large(frequencies: Tensor, ids: Tensor) -> None:
    """Refuse positions that float64 cannot hold and angles beyond 2^28: both would be silently wrong."""
    frequencies, ids = unwrapped(frequencies), unwrapped(ids)
    if ids.is_floating_point() and not ids.isfinite().all():
        raise BadTensor("position_ids contains NaN or infinity; finite clock readings work")
    largest = max(abs(int(ids.detach().min())), abs(int(ids.detach().max())))
    if largest > _EXACT_INTEGERS:
        raise TooLarge(
            f"position_ids contains {largest} > 2^53, which float64 cannot hold; exact.rotary_table works"
        )
    refuse_large_angle(largest * frequencies.detach().abs().max())


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
    "amplitude",
    "exact_angles",
    "frequency_tensor",
    "hf_frequency_tensor",
    "hf_inv_freq",
    "nearest_frequencies",
    "refuse_large_angle",
    "rerotation_table",
    "rotary_table",
]
