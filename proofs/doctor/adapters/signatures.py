"""The signatures of known libraries, by name; what is adapted is judged with tables that we give it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from ....numeric.angles import frequency_tensor
from ..claims import Claims, one_of, rope
from ..kinds import GUESSED
from ..subject import Subject, required_names
from .forms import FORMS
from .probe import find
from .recipe import Recipe

HALF, TWICE, PAIRED, PACKED, COMPLEX, _, ANGLES, ANGLES_PAIRED = FORMS
BASE = 10000.0  # of the tables where no encoding is claimed
SIGNATURES = {
    "transformers": Recipe("qkcs", "bhtd", TWICE, "btn"),  # (q, k, cos, sin), batched tables
    "gptj": Recipe("xsc", "bthd", HALF, "btn"),  # (tensor, sin, cos)
    "flash-attn": Recipe("xcs", "bthd", HALF, "tn"),  # (x, cos, sin, interleaved=False)
    "fla": Recipe("xcs", "bthd", HALF, "tn"),  # rotary_embedding_ref(x, cos, sin, interleaved=False)
    "rotary-embedding-torch": Recipe("fx", "bhtd", ANGLES_PAIRED, "tn"),  # (freqs, t)
    "x-transformers": Recipe("xf", "bhtd", ANGLES_PAIRED, "btn"),  # (t, freqs, scale=1)
    "onnx": Recipe("xcsp", "bhtd", HALF, "tn"),  # (X, cos_cache, sin_cache, position_ids)
    "megatron": Recipe("xf", "tbhd", ANGLES, "t11n"),  # (t, freqs), freqs are angles
    "meta": Recipe("qkf", "bthd", COMPLEX, "tn"),  # (xq, xk, freqs_cis)
    "torchscale": Recipe("xsc", "thd", HALF, "tn"),  # (x, sin, cos, scale=1) of rows (batch heads)
}
NAMES = ("auto", *SIGNATURES)


def adapted(apply: Callable[..., Any], adapter: str = "auto", claims: Claims | None = None) -> Subject:
    """A kernel that takes tables as a Subject of kind rotary, with tables of the claimed encoding.

    apply: with the signature that `adapter` names, or any where it is "auto": then the layout, the order of
    arguments and the form of the tables are found by calls. claims: as for `check`; without an encoding the
    tables have the base 10000, which is then not judged. BadClaim for an unknown adapter, or where none, or
    more than one way of calling fits.
    """
    one_of("adapter", adapter, NAMES)
    given = claims or Claims()
    encoding = given.rotary or rope(BASE, given.head_dim)
    recipe = find(apply, encoding.rotary_dim, given.head_dim) if adapter == "auto" else SIGNATURES[adapter]
    waves = frequency_tensor(encoding.frequencies(given.longest)).to(torch.float64)
    if adapter == "torchscale":
        apply = _by_heads(apply)
    how = "found by calls" if adapter == "auto" else f"the adapter {adapter}"
    notes = [
        f"frequencies are not the callable's: its tables were given to it, called as {recipe.words} ({how})"
    ]
    if given.rotary is None:
        notes.append(f"the tables have the base {BASE:g}; with --base or --config they are those of a model")
    turn = recipe.subject(apply, waves, given.longest)
    return Subject(turn, "rotary", replace(given, layout="bhtd"), notes=tuple(notes))


def takes_tables(apply: Callable[..., Any]) -> bool:
    """Whether its arguments fit no kind, or are named as tables are."""
    names = required_names(apply)
    return len(names) not in GUESSED or any(
        word in name for name in names for word in ("cos", "sin", "freqs")
    )


def _by_heads(apply: Callable[..., Any]) -> Callable[..., Any]:
    """Rows (time, heads, d) as torchscale takes them: (heads, time, d)."""

    def rotate(x: Tensor, sin: Tensor, cos: Tensor) -> Tensor:
        return apply(x.transpose(0, 1).contiguous(), sin, cos).transpose(0, 1)

    return rotate
