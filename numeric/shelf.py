"""Tables kept for the next layer: modules with the same frequencies form each table once, together.

A shelf belongs to numbers, not to a module: it is found by the frequencies bit for bit and holds, for every
kind of request, the table at the positions asked for last. A module that no longer exists leaves none behind.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from weakref import WeakValueDictionary

import torch
from torch import Tensor

Table = tuple[Tensor, Tensor]
_KINDS = 8  # kinds of request on one shelf: dtypes, devices, amplitudes, inference mode
_LOCK = Lock()


class Shelf:
    """The tables formed last for one set of frequencies."""

    def __init__(self) -> None:
        self._kept: dict[tuple, tuple[Tensor, Table]] = {}

    def table(self, kind: tuple, position_ids: Tensor, form: Callable[[], Table]) -> Table:
        """What `form` gives at these positions: formed now, or before and kept since.

        kind: all that the table depends on besides the positions. Positions are compared number by number:
        a tensor may change without notice.
        """
        kind = (*kind, position_ids.dtype, position_ids.device, torch.is_inference_mode_enabled())
        known = self._kept.get(kind)
        if known is not None and torch.equal(known[0], position_ids):
            return known[1]
        table = form()
        with _LOCK:
            self._kept.pop(kind, None)
            self._kept[kind] = position_ids.clone(), table
            if len(self._kept) > _KINDS:
                del self._kept[next(iter(self._kept))]
        return table


_SHELVES: WeakValueDictionary[tuple, Shelf] = WeakValueDictionary()


def shelf_for(frequencies: Tensor, angles: str) -> Shelf:
    """The shelf of these frequencies, float32 or float64 of any shape, with angles formed in this way."""
    numbers = frequencies.detach().cpu()
    key = angles, numbers.dtype, tuple(numbers.shape), numbers.numpy().tobytes()
    return _SHELVES.setdefault(key, Shelf())


__all__ = ["Shelf", "shelf_for"]
