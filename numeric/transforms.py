"""The transforms of torch.func, and forward-mode differentiation: where they are at work, and what they wrap.

Inside them a tensor stands for many, or has a tangent beside it, which a compiled kernel would not see.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd import forward_ad

from .errors import BadChoice


def transforming() -> bool:
    """Whether a transform (vmap, grad, jvp, …) or a level of forward-mode differentiation is open."""
    return torch._C._are_functorch_transforms_active() or forward_ad._current_level >= 0


def refuse_transforms(what: str) -> None:
    """BadChoice where a transform is at work, into which `what` does not see."""
    if transforming():
        raise BadChoice(
            f"{what} does not see into transforms of torch.func (vmap, grad, jvp, …) and forward-mode "
            "differentiation; attention(q, k, v, encoding) works there"
        )


def refuse_tangents(what: str) -> None:
    """BadChoice where numbers may have tangents, which the operator `what` would drop in silence."""
    if forward_ad._current_level >= 0:
        raise BadChoice(
            f"{what} has no rule for forward-mode differentiation; rotary_embedding(impl='eager'), "
            "attention() and, uncompiled, linear_attention() have one"
        )


def unwrapped(x: Tensor) -> Tensor:
    """The plain tensor inside all wrappers of transforms: for vmap all the numbers at once."""
    while torch._C._functorch.is_functorch_wrapped_tensor(x):
        x = torch._C._functorch.get_unwrapped(x)
    return x


__all__ = ["refuse_tangents", "refuse_transforms", "transforming", "unwrapped"]
