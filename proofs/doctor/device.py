"""Where somebody's code runs: inputs are moved there before a call, what comes back is moved to the CPU."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor

from ..errors import BadClaim

_DEVICE: ContextVar[str] = ContextVar("device", default="cpu")


@contextmanager
def on_device(name: str) -> Generator[None]:
    """Calls inside run there. BadClaim for a device that this torch does not have."""
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError) as error:
        first = str(error).strip().splitlines()[0]
        raise BadClaim(f"device is {name!r}, which is not here ({first}); cpu works") from None
    token = _DEVICE.set(name)
    try:
        yield
    finally:
        _DEVICE.reset(token)


def there(value: Any) -> Any:
    """A tensor on the device; anything else as it is."""
    return value.to(_DEVICE.get()) if isinstance(value, Tensor) and _DEVICE.get() != "cpu" else value


def here(value: Any) -> Any:
    """Tensors, also in tuples and lists, on the CPU."""
    if isinstance(value, Tensor):
        return value.cpu()
    if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
        return type(value)(map(here, value))
    return value
