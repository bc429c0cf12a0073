"""Side-by-side measurements: `exptx bench` times kernels against copying memory and against their peers.

In reading order: what a contestant may be off by (`budgets`); what all contestants share (`case`); times
(`timing`); contestants (`ours`, `eager`, `peers`); races of rotary kernels (`race`), of biases (`slots`) and
of the decision procedure (`decide`); what is wanted (`bars`); all of it (`run`, `machine`, `tables`).
Needs the extra `torch`; peers come with the extra `bench`. Nothing is imported until a name is used.
"""

if __name__ == "benchmarks":
    raise ImportError("this is a room of exptx, not a package of its own: write `import exptx.benchmarks`")

from importlib import import_module
from typing import Any

_HOME = {  # no file bears the name of a public function, or importing the file would hide the function
    "Outcome": "run",
    "document": "run",
    "markdown": "tables",
    "outcome": "run",
    "text": "tables",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
