"""Exact mathematics: exponential polynomials, generators and encodings.

In reading order: errors, the door (`admit`, `exact`, `premises`); the ring and its decision (`exppoly`,
`reader`, `balls`, `witness`, `decide`); the other exact steps (`signs`, `limits`, `words`, `induction`,
`reindex`, `finite`); blocks and generators (`block`, `generator`, `derivation`, `boundedness`, folder
`spectral`, `axes`, `clocks`); biases (`realization`, folder `realizing`); encodings (`scaling`, `ramps`,
`frequencies`, `encoding`, `equivalent`, `verdicts`, folders `kinds`, `catalogue` and `configs`, `sections`);
programs (`program`, `lowering`, `lowered`, `emission`, `emit_c`, `emit_triton`, `emit_torch`, `readback`);
how formulas are read and written (`parse`, `tree`, `typeset`, folder `writing`).

Nothing is imported until a name is used; in particular `import exptx.symbolic` does not import sympy.
"""

if __name__ == "symbolic":
    raise ImportError("this is a room of exptx, not a package of its own: write `import exptx.symbolic`")

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_HOME = {
    "BadInput": "errors",
    "Disagreement": "errors",
    "ExptxError": "errors",
    "SingularPoint": "errors",
    "Undecidable": "errors",
    "Unreadable": "errors",
    "Unsupported": "errors",
    "WrongType": "errors",
    "At": "tree",
    "D": "tree",
    "from_tree": "tree",
    "to_tree": "tree",
    "Enclosure": "balls",
    "enclose": "balls",
    "Status": "decide",
    "Verdict": "decide",
    "decide": "decide",
    "group_law": "decide",
    "verify_flow": "decide",
    "parse": "parse",
    "parse_signs": "parse",
    "Finite": "finite",
    "Homomorphism": "finite",
    "Induction": "induction",
    "Limit": "limits",
    "Reindex": "reindex",
    "Sign": "signs",
    "Words": "words",
    "Block": "block",
    "CompanionBlock": "spectral.companion",
    "Generator": "generator",
    "Derivation": "derivation",
    "DerivationStep": "derivation",
    "Boundedness": "boundedness",
    "Axes": "axes",
    "Commutation": "axes",
    "commutation": "axes",
    "inclusive_is_exclusive": "clocks",
    "one_clock": "clocks",
    "order_free": "clocks",
    "Program": "program",
    "lower": "lowering",
    "Lowered": "lowered",
    "lower_generator": "lowered",
    "Metric": "spectral.metric",
    "Tempo": "spectral.tempo",
    "to_latex": "typeset",
    "to_text": "typeset",
    "to_typst": "typeset",
    "Approximation": "realization",
    "NotRealizable": "realization",
    "Realization": "realization",
    "realize": "realization",
    "Frequencies": "frequencies",
    "frequencies": "frequencies",
    "ModelConfig": "configs.description",
    "read_config": "configs.read",
    "AxisFrequencies": "sections",
    "axis_frequencies": "sections",
    "sectioned": "sections",
    "Encoding": "encoding",
    "Answer": "verdicts",
    "Verdicts": "verdicts",
    "verdicts": "verdicts",
    "encoding": "catalogue",
    "encodings": "catalogue",
    "Inequivalent": "equivalent",
    "Intertwiner": "equivalent",
    "equivalent": "equivalent",
}

__all__ = sorted(_HOME)


class _Room(ModuleType):
    """A module whose public names are not hidden by files of the same name (`decide`, `encoding`)."""

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
