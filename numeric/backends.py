"""Which path computes a rotation: the fastest that runs here, or exactly the one that was asked for."""

from __future__ import annotations

import warnings
from functools import lru_cache

from . import native, triton
from .errors import BadChoice, NotBuilt
from .transforms import transforming

IMPLS = ("auto", "eager", "native", "triton")
_HOME = {"native": "cpu", "triton": "cuda"}  # the device of each compiled path
_INTERPRETED = ("triton", "cpu")


def chosen(impl: str, device: str) -> str:
    """The path for tensors on a device of this type: "eager", "native" (CPU) or "triton" (CUDA).

    "auto" takes the compiled path of the device if it can be built, else the eager one, and warns once why.
    Inside torch.func and forward-mode differentiation it is the eager one, which they see through. A path
    that was asked for by name and cannot run raises: BadChoice there and on the wrong device, NotBuilt where
    something is missing, with what to install. On meta every path has shapes and no numbers.
    """
    if impl == "eager":
        return impl
    if impl == "auto":
        return "eager" if transforming() else _fastest(device)
    if impl not in IMPLS:
        raise BadChoice(f"impl is {impl!r}; one of {', '.join(map(repr, IMPLS))} works")
    if not _is_home(impl, device):
        other = (
            " (and TRITON_INTERPRET=1 in the environment, slowly)" if (impl, device) == _INTERPRETED else ""
        )
        raise BadChoice(
            f"impl={impl!r} runs on {_HOME[impl]} but x is on {device}; impl='auto' or 'eager' works{other}"
        )
    if transforming():
        raise BadChoice(
            f"impl={impl!r} does not see into transforms of torch.func (vmap, grad, jvp, …) and forward-mode "
            "differentiation; impl='auto' or 'eager' works"
        )
    if reason := missing(impl):
        raise NotBuilt(f"impl={impl!r} cannot run here: {reason}; impl='eager' works")
    return impl


def _is_home(impl: str, device: str) -> bool:
    """Whether a compiled path takes tensors on this device; Triton's interpreter takes those of a CPU."""
    return device in (_HOME[impl], "meta") or ((impl, device) == _INTERPRETED and triton.interpreted())


def missing(path: str) -> str | None:
    """What a compiled path lacks on this machine, with what to install; None if it runs."""
    return {"native": native, "triton": triton}[path].available()


def _fastest(device: str) -> str:
    """The compiled path of the device, or "eager" where there is none or it cannot run."""
    return _found(device)


@lru_cache(maxsize=8)
def _found(device: str) -> str:
    """The same, found out once: what is missing is said then, and not again."""
    path = next((name for name, home in _HOME.items() if home == device), None)
    if path is None:
        return "eager"
    if reason := missing(path):
        warnings.warn(f"rotations on {device} run in eager PyTorch: {reason}", RuntimeWarning, stacklevel=5)
        return "eager"
    return path


# A compiler takes what these say as a constant: the mark of torch.compiler.assume_constant_result, which as a
# decorator would import the whole compiler along with this file.
for function in (_is_home, missing, _fastest):
    vars(function)["_dynamo_marked_constant"] = True

__all__ = ["IMPLS", "chosen", "missing"]
