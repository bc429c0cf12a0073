"""Laws, each proved through `exptx.symbolic` and measured through `exptx.numeric`; certificates and report.

Nothing is imported until a name is used; in particular `import exptx.proofs` imports neither torch nor sympy.
"""

if __name__ == "proofs":
    raise ImportError("this is a room of exptx, not a package of its own: write `import exptx.proofs`")

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_HOME = {
    "BadClaim": "errors",
    "Claims": "doctor.claims",
    "Diagnosis": "doctor.findings",
    "Finding": "doctor.findings",
    "Hypothesis": "law",
    "Law": "law",
    "MalformedLaw": "errors",
    "MissingExtra": "errors",
    "Proof": "prove",
    "ProofsError": "errors",
    "Subject": "doctor.subject",
    "UnknownLaw": "errors",
    "Unwritable": "errors",
    "check": "doctor.suite",
    "prove": "prove",
    "rope": "doctor.claims",
}

__all__ = sorted(_HOME)


class _Room(ModuleType):
    """A module whose public names are not hidden by files of the same name (`prove`)."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Room


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
