"""Positions with several coordinates: which shapes they come in, and text among them.

The rank decides: (axes, batch, time) holds a coordinate a row, (time,) and (batch, time) hold text, whose
coordinates are all the same number.
"""

from __future__ import annotations

from torch import Tensor

from .errors import BadTensor
from .validation import check_position_ids


def check_coordinates(position_ids: object, axes: int, text: bool, batch: int, time: int) -> Tensor:
    """Positions as (axes, batch or 1, time); text, where the frequencies have it, is spread over the axes."""
    ids = check_position_ids(position_ids, ranks=())
    if text and (ids.shape == (time,) or (ids.ndim == 2 and ids.shape in ((1, time), (batch, time)))):
        return (ids[None] if ids.ndim == 1 else ids).expand(axes, -1, -1)
    if ids.ndim != 3 or ids.shape[0] != axes or ids.shape[1] not in (1, batch) or ids.shape[2] != time:
        words = f"shape ({axes}, {batch} or 1, {time}), one row a coordinate, works"
        if text:
            words += f", or ({time},) or ({batch}, {time}) for text, whose coordinates are equal"
        raise BadTensor(
            f"position_ids has shape {tuple(ids.shape)}, but there are {batch} sequences of {time} tokens "
            f"and {axes} coordinates; {words}"
        )
    return ids


__all__ = ["check_coordinates"]
