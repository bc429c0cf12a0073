"""Positional encodings for attention as `exp(tX)`: derived, proved, run and checked.

Three rooms, which depend on one another in one direction only; each is imported when it is first used:

- `exptx.symbolic`: exact mathematics (generators, encodings, `decide`);
- `exptx.numeric`: torch kernels and modules (needs the extra `torch`);
- `exptx.proofs`: laws, proofs, certificates, the report and the command line.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_ROOMS = ("numeric", "proofs", "symbolic")


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f".{name}", __name__)


def __dir__() -> list[str]:
    return sorted({*globals(), *_ROOMS})
