"""Tensors: rotary tables and kernels, transport by exp(tX), attention, all in PyTorch.

Needs the extra `torch`. Nothing is imported until a name is used.
"""

if __name__ == "numeric":
    raise ImportError("this is a room of exptx, not a package of its own: write `import exptx.numeric`")

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from .errors import MissingTorch

if find_spec("torch") is None:
    raise MissingTorch("exptx.numeric needs PyTorch, which is not installed: pip install 'exptx[torch]'")

_HOME = {  # no file bears the name of a public function, or importing the file would hide the function
    "FloatSpectrum": "nearness",
    "RelativeTest": "relative",
    "RotaryEmbedding": "modules",
    "StateMap": "linear.states",
    "alibi_attention": "biases.attention",
    "alibi_score_mod": "biases.flex",
    "alibi_slopes": "biases.slopes",
    "attention": "attend",
    "biased_attention": "biases.attention",
    "causal_mask_mod": "biases.flex",
    "combine_states": "linear.states",
    "decay_score_mod": "biases.flex",
    "float_spectrum": "nearness",
    "linear_attention": "linear.attention",
    "patch": "patching",
    "permute_qk": "layout",
    "relative_test": "relative",
    "rerotate": "rerotation",
    "rotary_embedding": "rotary",
    "rotary_embedding_qk": "rotary",
    "rotary_table": "tables",
    "state_map": "linear.states",
    "t5_score_mod": "biases.flex",
    "table_score_mod": "biases.flex",
    "transport": "flow",
    "unpatch": "patching",
    "BadChoice": "errors",
    "BadDtype": "errors",
    "BadTensor": "errors",
    "MissingTorch": "errors",
    "NeedsGradient": "errors",
    "NotBuilt": "errors",
    "NotLowered": "errors",
    "NotPatched": "errors",
    "NotRounded": "errors",
    "NumericError": "errors",
    "PositionOutOfRange": "errors",
    "TooLarge": "errors",
    "Unbounded": "errors",
}
_MODULES = ("exact", "reference")

__all__ = sorted([*_HOME, *_MODULES])


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
