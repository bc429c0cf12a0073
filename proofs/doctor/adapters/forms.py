"""The forms in which kernels take their tables, and the layouts in which they take x."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Tables = tuple[Tensor, ...]


def _twice(table: Tensor) -> Tensor:
    return torch.cat((table, table), -1)


def _paired(table: Tensor) -> Tensor:
    return table.repeat_interleave(2, -1)


def _complex(angles: Tensor, dtype: torch.dtype) -> Tables:
    found = torch.polar(torch.ones_like(angles), angles)
    return (found if dtype == torch.float64 else found.to(torch.complex64),)


def _pair(spread: Callable[[Tensor], Tensor]) -> Callable[[Tensor, torch.dtype], Tables]:
    return lambda angles, dtype: (spread(angles.cos()).to(dtype), spread(angles.sin()).to(dtype))


def _angles(spread: Callable[[Tensor], Tensor]) -> Callable[[Tensor, torch.dtype], Tables]:
    wide = (torch.float32, torch.float64)  # an angle in 16 bits is no angle
    return lambda angles, dtype: (spread(angles).to(dtype if dtype in wide else torch.float32),)


def _packed(angles: Tensor, dtype: torch.dtype) -> Tables:
    return (torch.cat((angles.cos(), angles.sin()), -1).to(dtype),)


FORMS: dict[str, Callable[[Tensor, torch.dtype], Tables]] = {  # of float64 angles (..., r/2)
    "cos and sin of width r/2": _pair(lambda table: table),
    "cos and sin of width r, halves repeated": _pair(_twice),
    "cos and sin of width r, neighbours repeated": _pair(_paired),
    "[cos|sin]": _packed,
    "complex numbers": _complex,
    "angles of width r/2": _angles(lambda table: table),
    "angles of width r, halves repeated": _angles(_twice),
    "angles of width r, neighbours repeated": _angles(_paired),
}
LAYOUTS = ("bhtd", "bthd", "tbhd", "thd")
SHAPES = {  # of a table (batch, time, n), as it is handed over; those without b are one row for the batch
    "tn": lambda table: table[0],
    "btn": lambda table: table,
    "t11n": lambda table: table[0][:, None, None],
    "b1tn": lambda table: table[:, None],
    "bt1n": lambda table: table[:, :, None],
}


def laid(x: Tensor, layout: str) -> Tensor:
    """x (batch, heads, time, d) in another layout, contiguous; thd holds one row of the batch."""
    if layout == "thd":
        return x[0].transpose(0, 1).contiguous()
    order = tuple("bhtd".index(axis) for axis in layout)
    return x.permute(order).contiguous()


def back(y: Tensor, layout: str) -> Tensor:
    """The inverse of `laid`."""
    if layout == "thd":
        return y.transpose(0, 1)[None]
    return y.permute(tuple(layout.index(axis) for axis in "bhtd"))
