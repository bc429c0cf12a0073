"""What a tensor argument must be: one wording for every refusal of shape, dtype, device and position."""

from __future__ import annotations

import torch
from torch import Tensor

from .errors import BadChoice, BadDtype, BadTensor, PositionOutOfRange
from .layout import time_axis
from .transforms import unwrapped

FLOATS = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def check_tensor(x: object, name: str) -> Tensor:
    """x itself, known to be a floating-point tensor."""
    if not isinstance(x, Tensor):
        raise BadDtype(f"{name} is a {type(x).__name__}; a floating-point tensor works")
    if x.dtype not in FLOATS:
        raise BadDtype(f"{name} has dtype {x.dtype}; float64, float32, bfloat16 or float16 works")
    return check_dense(x, name)


def check_dense(x: Tensor, name: str) -> Tensor:
    """x itself, known to have one number for every index: neither sparse nor nested."""
    if x.is_nested or x.layout != torch.strided:
        kind = "nested" if x.is_nested else str(x.layout).removeprefix("torch.")
        raise BadTensor(f"{name} is a {kind} tensor; a dense one works")
    return x


def check_heads(x: object, name: str, layout: str | None = None) -> Tensor:
    """x itself, known to be a floating-point tensor of rank 4; layout None where the caller has no choice."""
    time_axis(layout or "bhtd")
    x = check_tensor(x, name)
    if x.ndim != 4:
        words = "(batch, time, heads, head_dim)" if layout == "bthd" else "(batch, heads, time, head_dim)"
        raise BadTensor(
            f"{name} has rank {x.ndim} and shape {tuple(x.shape)}; rank 4, {words}, works"
            f"{_packed(name, layout) if x.ndim == 3 else ''}"
        )
    return x


def _packed(name: str, layout: str | None) -> str:
    """How tokens without a batch become rank 4."""
    if layout is None:
        return f", and (tokens, heads, head_dim) as {name}.transpose(0, 1)[None]"
    return f", and (tokens, heads, head_dim) as {name}[None] with layout='bthd'"


def check_flag(x: object, name: str) -> bool:
    """x itself, known to be True or False."""
    if not isinstance(x, bool):
        raise BadChoice(f"{name} is {x!r}; True or False works")
    return x


def compute_dtype(dtype: torch.dtype) -> torch.dtype:
    """The dtype that arithmetic runs in: float64 for float64, float32 for all others."""
    return torch.float64 if dtype == torch.float64 else torch.float32


def same_device(x: Tensor, name: str, other: Tensor, other_name: str) -> None:
    """Both tensors live on one device."""
    if x.device != other.device:
        raise BadTensor(f"{other_name} is on {other.device} but {name} is on {x.device}; move one of them")


def check_position_ids(position_ids: object, name: str = "position_ids", *, ranks=(1, 2)) -> Tensor:
    """Positions as a tensor of integers or of float64/float32 clock readings of an allowed rank."""
    if not isinstance(position_ids, Tensor):
        raise BadDtype(f"{name} is a {type(position_ids).__name__}; an integer tensor works")
    if position_ids.dtype not in (*INTEGERS, torch.float64, torch.float32):
        raise BadDtype(
            f"{name} has dtype {position_ids.dtype}; integers, or float64 or float32 clock readings, work"
        )
    check_dense(position_ids, name)
    if ranks and position_ids.ndim not in ranks:
        raise BadTensor(
            f"{name} has rank {position_ids.ndim} and shape {tuple(position_ids.shape)}; "
            "shape (time,) or (batch, time) works"
        )
    return position_ids


def check_token_positions(position_ids: object, batch: int, time: int, name: str = "position_ids") -> Tensor:
    """Positions of shape (time,), (1, time) or (batch, time)."""
    ids = check_position_ids(position_ids, name)
    if ids.shape[-1] != time or (ids.ndim == 2 and ids.shape[0] not in (1, batch)):
        raise BadTensor(
            f"{name} has shape {tuple(ids.shape)}, but there are {batch} sequences of {time} tokens; "
            f"shape ({time},) or ({batch}, {time}) works"
        )
    return ids


def check_row_numbers(position_ids: Tensor) -> Tensor:
    """Positions that can be row numbers of a table: integers."""
    if position_ids.dtype not in INTEGERS:
        raise BadDtype(
            f"position_ids has dtype {position_ids.dtype}; integers work as row numbers of a table "
            "(form the table at float clock readings with rotary_table instead)"
        )
    return position_ids


def check_in_table(position_ids: Tensor, length: int) -> None:
    """0 <= id < length for every id; values are read only where they can be (not on meta, not compiled)."""
    if position_ids.is_meta or torch.compiler.is_compiling() or not position_ids.numel():
        return
    numbers = unwrapped(position_ids)
    low, high = int(numbers.min()), int(numbers.max())
    if low < 0 or high >= length:
        raise outside_table(low if low < 0 else high, length)


def outside_table(position: int, length: int) -> PositionOutOfRange:
    """The refusal of a position that a table of `length` rows does not hold."""
    return PositionOutOfRange(
        f"position_ids contains {position}, but cos and sin have {length} rows; ids in 0..{length - 1} work "
        "(for other positions form the table there with rotary_table)"
    )
