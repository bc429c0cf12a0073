"""One call of somebody's code: what it raises, or returns in another form, is a `Failed` with a sentence."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .device import here, there
from .failed import Failed


def called(apply: Callable[..., Any], *arguments: Any, learns: bool = False, **named: Any) -> Any:
    """apply(*arguments, **named), without gradients unless it `learns`; Failed with what it raised."""
    try:
        with torch.set_grad_enabled(learns), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a warning of somebody's code is no failure, whoever examines it
            placed = {name: there(value) for name, value in named.items()}
            return here(apply(*map(there, arguments), **placed))
    except Exception as error:
        first = str(error).strip().splitlines() or [""]
        raise Failed(f"raised {type(error).__name__}: {first[0]}") from error


def finite(y: object) -> Tensor:
    """A floating-point tensor of finite numbers, detached; Failed for anything else."""
    if not isinstance(y, Tensor) or not y.is_floating_point():
        raise Failed(f"returned {shown(y)}; a floating-point tensor was expected")
    if not y.isfinite().all():
        raise Failed("returned numbers that are not finite")
    return y.detach()


def shaped(y: object, shape: tuple[int, ...]) -> Tensor:
    """A finite tensor of the shape; Failed for anything else."""
    found = finite(y)
    if tuple(found.shape) != tuple(shape):
        raise Failed(f"returned {shown(found)}; shape {tuple(shape)} was expected")
    return found


def shown(value: object) -> str:
    """What was returned, in words."""
    if isinstance(value, Tensor):
        return f"a {str(value.dtype).removeprefix('torch.')} tensor of shape {tuple(value.shape)}"
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(shown, value))})"
    return f"a {type(value).__name__}"
