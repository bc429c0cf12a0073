"""Modules: rotary embedding with its frequencies kept exact, whatever the model is cast or moved to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from ..symbolic.frequencies import Frequencies, frequencies
from .direct import unwatched
from .errors import BadChoice, BadDtype, BadTensor
from .layout import time_axis
from .rotary import rotary_embedding_qk
from .tables import amplitude, frequency_tensor, hf_frequency_tensor, rotary_table
from .validation import (
    check_flags,
    check_heads,
    check_tensor,
    check_token_positions,
    compute_dtype,
    same_device,
)

_READ = (  # of a config
    "rope_parameters", "rope_theta", "rope_scaling", "partial_rotary_factor",
    "head_dim", "hidden_size", "num_attention_heads", "max_position_embeddings",
)  # fmt: skip


class RotaryEmbedding(nn.Module):
    """Rotates queries and keys; no parameters, no buffers, nothing in the state dict.

    frequencies: Frequencies, or a tensor (pairs,) of radians per position; lowered to numbers once, here.
    They are kept outside buffers, in float64 (in float32 for angles="hf"), so `.half()`,
    `.to(torch.bfloat16)` and `to_empty()` from the meta device leave the angles as they are, and they follow
    the module to another device. interleaved, layout: as for `rotary_embedding`; of wider heads the first
    2 * pairs coordinates turn. angles: "exact" or "hf", as for `rotary_table`. attention_scaling: amplitude
    of cos and sin; left at 1, Frequencies bring their own.
    Compiles with torch.compile(fullgraph=True).
    Raises BadDtype, BadTensor or BadChoice naming the argument, NotLowered if Frequencies hold a symbol.
    """

    def __init__(
        self,
        frequencies: Frequencies | Tensor,
        *,
        interleaved: bool = False,
        layout: str = "bhtd",
        angles: str = "exact",
        attention_scaling: float = 1.0,
    ) -> None:
        super().__init__()
        time_axis(layout)
        check_flags(interleaved=interleaved)
        if angles not in ("exact", "hf"):
            raise BadChoice(f"angles is {angles!r}; 'exact' or 'hf' works")
        self.interleaved, self.layout, self.angles = interleaved, layout, angles
        if not isinstance(frequencies, Frequencies):
            _check_frequencies(frequencies)
        self.attention_scaling = amplitude(frequencies, attention_scaling)
        kept = hf_frequency_tensor(frequencies) if angles == "hf" else frequency_tensor(frequencies)
        self._inv_freq = kept.detach().clone()  # no buffer, which a cast would round and meta would empty
        self.rotary_dim = 2 * len(kept)
        self._last: tuple | None = None  # what the table was formed for last, and the table

    @classmethod
    def from_config(
        cls,
        config: object,
        *,
        layer_type: str | None = None,
        interleaved: bool = False,
        layout: str = "bhtd",
        angles: str = "exact",
    ) -> RotaryEmbedding:
        """The rotary embedding of a config: frequencies, scaling rule and amplitude as in `rope_parameters`.

        config: a transformers config, or a mapping with the same keys: rope_parameters (or the older
        rope_theta and rope_scaling), head_dim (or hidden_size and num_attention_heads), and
        max_position_embeddings where the rule needs it. layer_type: chooses where there are parameters for
        each. interleaved is not in a config: True for checkpoints of the GPT-J kind. Errors as for
        `frequencies`; BadTensor if there is no head_dim.
        """
        given = config if isinstance(config, Mapping) else _attributes(config)
        waves = frequencies(
            _rope_parameters(given),
            _head_dim(given),
            max_position_embeddings=given.get("max_position_embeddings"),
            layer_type=layer_type,
        )
        return cls(waves, interleaved=interleaved, layout=layout, angles=angles)

    def __getstate__(self) -> dict:
        return {**self.__dict__, "_last": None}

    def _apply(self, fn, recurse=True):
        """Follow the module to the device that `fn` moves to, never its dtype, and never to meta."""
        super()._apply(fn, recurse)
        device = fn(self._inv_freq.new_empty(0)).device
        if device.type != "meta":
            self._inv_freq = self._inv_freq.to(device)
        return self

    def tables(
        self, position_ids: Tensor | int, *, dtype: torch.dtype = torch.float32
    ) -> tuple[Tensor, Tensor]:
        """(cos, sin), each position_ids.shape + (pairs,), on the device of position_ids.

        position_ids: integers of any sign or float clock readings, of any shape; a whole number n stands for
        the positions 0 … n-1. dtype: float32 or float64. Errors as for `rotary_table`.
        """
        if isinstance(position_ids, int) and not isinstance(position_ids, bool):
            if position_ids < 0:
                raise BadTensor(f"position_ids is {position_ids}; an integer tensor or a length works")
            position_ids = torch.arange(position_ids, device=self._inv_freq.device)
        if not isinstance(position_ids, Tensor):
            raise BadDtype(
                f"position_ids is a {type(position_ids).__name__}; an integer tensor or a length works"
            )
        return rotary_table(
            self._inv_freq.to(position_ids.device),
            position_ids,
            attention_scaling=self.attention_scaling,
            angles=self.angles,
            dtype=dtype,
        )

    def forward(self, q: Tensor, k: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        """(q, k) rotated, same shapes and dtypes; q and k may differ in heads, not in dtype.

        q, k: (batch, heads, time, head_dim), or (batch, time, heads, head_dim) with layout="bthd", of any
        float dtype. position_ids: (time,) or (batch, time), integers or float clock readings, shared by
        both. Errors as for `rotary_table` and `rotary_embedding`; gradients flow to q and k.
        """
        check_heads(q, "q", self.layout)
        check_token_positions(position_ids, q.shape[0], q.shape[time_axis(self.layout)])
        same_device(q, "q", position_ids, "position_ids")
        cos, sin = self._kept_tables(position_ids, compute_dtype(q.dtype))
        return rotary_embedding_qk(
            q, k, cos, sin, interleaved=self.interleaved, layout=self.layout, rotary_dim=self.rotary_dim
        )

    def _kept_tables(self, position_ids: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """`tables`, formed once for all layers that ask for the same positions one after the other.

        Positions are compared number by number: a tensor may change without notice.
        """
        if not unwatched(position_ids):
            return self.tables(position_ids, dtype=dtype)
        key = (
            dtype,
            position_ids.dtype,
            self.angles,
            self.attention_scaling,
            torch.is_inference_mode_enabled(),
        )
        last = self._last
        if last is None or last[0] != key or not torch.equal(last[1], position_ids):
            last = self._last = key, position_ids.clone(), self.tables(position_ids, dtype=dtype)
        return last[2]

    def extra_repr(self) -> str:
        """The options, for print(model)."""
        return (
            f"rotary_dim={self.rotary_dim}, interleaved={self.interleaved}, "
            f"layout={self.layout!r}, angles={self.angles!r}"
        )


def _check_frequencies(frequencies: Tensor) -> None:
    """Refuse what is no tensor (pairs,) of finite numbers."""
    if not isinstance(frequencies, Tensor):
        kind = type(frequencies).__name__
        raise BadDtype(f"frequencies is a {kind}; Frequencies or a tensor (pairs,) works")
    if check_tensor(frequencies, "frequencies").is_meta:
        raise BadTensor(
            "frequencies is on the meta device, without numbers; Frequencies or a CPU tensor works"
        )
    if frequencies.ndim != 1 or not len(frequencies) or not frequencies.isfinite().all():
        raise BadTensor(
            f"frequencies has shape {tuple(frequencies.shape)}; shape (pairs,) with finite entries works"
        )


def _attributes(config: object) -> dict[str, Any]:
    """What is read of a config, where it has that, under any name that it answers to."""
    return {name: getattr(config, name) for name in _READ if hasattr(config, name)}


def _head_dim(given: Mapping) -> int:
    """head_dim, or hidden_size / num_attention_heads."""
    if (size := given.get("head_dim")) is not None:
        return size
    width, heads = given.get("hidden_size"), given.get("num_attention_heads")
    if width is None or heads is None:
        raise BadTensor("config has no head_dim, nor hidden_size and num_attention_heads; one of them works")
    if not (isinstance(width, int) and isinstance(heads, int) and heads > 0 and width % heads == 0):
        raise BadTensor(
            f"config has no head_dim, hidden_size {width!r} and num_attention_heads {heads!r}; a head_dim "
            "works, or whole numbers of which one divides the other"
        )
    return width // heads


def _rope_parameters(given: Mapping) -> dict:
    """rope_parameters, or what older configs say in rope_theta, rope_scaling and partial_rotary_factor."""
    if given.get("rope_parameters") is not None:
        return _mapping(given, "rope_parameters")
    older = {key: given[key] for key in ("rope_theta", "partial_rotary_factor") if given.get(key) is not None}
    return older if given.get("rope_scaling") is None else {**older, **_mapping(given, "rope_scaling")}


def _mapping(given: Mapping, name: str) -> dict:
    found = given[name]
    if not isinstance(found, Mapping):
        raise BadDtype(f"config has {name} {found!r}; a mapping works")
    return dict(found)


__all__ = ["RotaryEmbedding"]
