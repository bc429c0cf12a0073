"""Modules: rotary embedding with its frequencies kept exact, whatever the model is cast or moved to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from ..symbolic.configs.description import Rotary
from ..symbolic.configs.read import read_config
from ..symbolic.encoding import Encoding
from ..symbolic.frequencies import Frequencies
from ..symbolic.sections import AxisFrequencies, axis_frequencies, is_interleaved, sectioned
from .angles import Waves, check_length, frequency_tensor, hf_frequency_tensor
from .coordinates import check_coordinates
from .direct import unwatched
from .errors import BadChoice, BadDtype, BadTensor
from .hf_rules import hf_frequencies
from .layout import time_axis
from .rotary import rotary_embedding_qk
from .shelf import Shelf, shelf_for
from .tables import amplitude, longest_of, rotary_table
from .validation import (
    check_flag,
    check_heads,
    check_tensor,
    check_token_positions,
    compute_dtype,
    same_device,
)


class RotaryEmbedding(nn.Module):
    """Rotates queries and keys; no parameters, no buffers, nothing in the state dict.

    frequencies: Frequencies, or a tensor (pairs,) of radians per position; on several axes AxisFrequencies,
    or a tensor (axes, pairs). They are lowered to numbers once, here, and kept outside buffers, in float64
    (in float32 for angles="hf"), so `.half()`, `.to(torch.bfloat16)` and `to_empty()` from the meta device
    leave the angles as they are, and they follow the module to another device. interleaved, layout: as for
    `rotary_embedding`; of wider heads the first 2 * pairs coordinates turn (a module made from a config or
    an encoding refuses heads of another width than it says). angles: "exact" or "hf", as for `rotary_table`.
    attention_scaling: amplitude of cos and sin; left at 1, Frequencies bring their own.
    Frequencies of a rule that follows the length (dynamic NTK, the short factors of LongRoPE) are for one
    length: positions beyond it are refused, and `rerotate` carries cached keys over to the next ones.
    Modules with the same frequencies share the tables they form. Compiles with torch.compile(fullgraph=True).
    Raises BadDtype, BadTensor or BadChoice naming the argument, NotLowered if Frequencies hold a symbol.
    """

    def __init__(
        self,
        frequencies: Waves,
        *,
        interleaved: bool = False,
        layout: str = "bhtd",
        angles: str = "exact",
        attention_scaling: float = 1.0,
    ) -> None:
        super().__init__()
        time_axis(layout)
        check_flag(interleaved, "interleaved")
        if angles not in ("exact", "hf"):
            raise BadChoice(f"angles is {angles!r}; 'exact' or 'hf' works")
        self.interleaved, self.layout, self.angles = interleaved, layout, angles
        if not isinstance(frequencies, (Frequencies, AxisFrequencies)):
            _check_frequencies(frequencies)
        self.attention_scaling = amplitude(frequencies, attention_scaling)
        kept = hf_frequency_tensor(frequencies) if angles == "hf" else frequency_tensor(frequencies)
        with torch.inference_mode(False):  # no tensor of inference, which a clock that learns could not save
            self._inv_freq = kept.detach().clone()  # no buffer, which a cast would round and meta would empty
        self.rotary_dim = 2 * kept.shape[-1]
        self.axes = 1 if kept.ndim == 1 else len(kept)
        self._on_axes, self._text = kept.ndim == 2, getattr(frequencies, "text", False)
        self.longest = longest_of(frequencies)
        self.head_dim: int | None = None  # the width of heads, where what the module is made from says it
        self._shelf: Shelf | None = None

    @classmethod
    def from_encoding(
        cls, encoding: Encoding, *, layout: str = "bhtd", angles: str = "exact"
    ) -> RotaryEmbedding:
        """The rotary embedding of an encoding on several axes, with its frequencies and its pairing.

        encoding: axial, rope_3d, rope_mixed or mrope, with numbers only. layout, angles: as for the class.
        BadInput for an encoding that does not turn planes by coordinates.
        """
        waves, interleaved = axis_frequencies(encoding), is_interleaved(encoding)
        module = cls(waves, interleaved=interleaved, layout=layout, angles=angles)
        module.head_dim = int(encoding.head_dim)
        return module

    @classmethod
    def from_config(
        cls,
        config: object,
        *,
        layer_type: str | None = None,
        seq_len: int | None = None,
        interleaved: bool | None = None,
        layout: str = "bhtd",
        angles: str = "exact",
    ) -> RotaryEmbedding:
        """The rotary embedding of a config: frequencies, rule and amplitude, as `read_config` reads them.

        config: a transformers config, or a mapping with the keys of a config.json, old or new. layer_type:
        chooses where layers differ. seq_len: the length of text that the table is for, in positions, which
        "dynamic" and "longrope" need. interleaved: as for `rotary_embedding`; None: as models of the config's
        model_type have it, half-split where that is not known. angles="hf" gives the frequencies of
        transformers to the last bit. What a model multiplies its logits with besides is not part of a table.
        A config with mrope_section has positions of several coordinates, as in `forward`, text among them.
        Errors as for `read_config`; BadChoice where layers of the config do not turn.
        """
        encoding = _rotary_of(config, layer_type)
        waves = encoding.frequencies(seq_len)
        if encoding.sections:
            waves = sectioned(waves, encoding.sections, encoding.section_layout or "chunked")
        options = {"interleaved": bool(encoding.interleaved) if interleaved is None else interleaved}
        if angles == "hf":
            single, scaling = hf_frequencies(encoding, seq_len)
            if isinstance(waves, AxisFrequencies):
                owned = torch.tensor([[w != 0 for w in rates] for rates in waves.exact], device="cpu")
                single = torch.where(owned, single, 0.0)
            module = cls(single, layout=layout, angles=angles, attention_scaling=scaling, **options)
            module.longest, module._text = waves.longest, getattr(waves, "text", False)
        else:
            module = cls(waves, layout=layout, angles=angles, **options)
        module.head_dim = encoding.head_dim
        return module

    def __getstate__(self) -> dict:
        return {**self.__dict__, "_shelf": None}

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
        the positions 0 … n-1. On several axes (axes, …), a row for every coordinate, and the tables are
        … + (pairs,). dtype: float32 or float64. Errors as for `rotary_table`.
        """
        if isinstance(position_ids, int) and not isinstance(position_ids, bool):
            if position_ids < 0:
                raise BadTensor(f"position_ids is {position_ids}; an integer tensor or a length works")
            position_ids = torch.arange(position_ids, device=self._inv_freq.device)
            if self._on_axes:
                text = check_coordinates(position_ids, self.axes, self._text, 1, len(position_ids))
                position_ids = text[:, 0]
        if not isinstance(position_ids, Tensor):
            raise BadDtype(
                f"position_ids is a {type(position_ids).__name__}; an integer tensor or a length works"
            )
        check_length(position_ids, self.longest)
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
        both. On several axes (axes, batch or 1, time), a row for every coordinate; for sections of one table
        (M-RoPE) also (time,) or (batch, time), text, whose coordinates are equal. Gradients flow to q and k.
        Errors as for `rotary_table` and `rotary_embedding`; BadTensor for heads of another width than the
        config or encoding says, if the module is made from one.
        """
        check_heads(q, "q", self.layout)
        if self.head_dim not in (None, q.shape[-1]):
            raise BadTensor(
                f"q has head_dim {q.shape[-1]}, but the config or encoding of this module says "
                f"{self.head_dim}; heads of {self.head_dim} features work"
            )
        batch, time = q.shape[0], q.shape[time_axis(self.layout)]
        if self._on_axes:
            position_ids = check_coordinates(position_ids, self.axes, self._text, batch, time)
        else:
            check_token_positions(position_ids, batch, time)
        same_device(q, "q", position_ids, "position_ids")
        cos, sin = self._kept_tables(position_ids, compute_dtype(q.dtype))
        return rotary_embedding_qk(
            q, k, cos, sin, interleaved=self.interleaved, layout=self.layout, rotary_dim=self.rotary_dim
        )

    def _kept_tables(self, position_ids: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """`tables`, formed once for all layers, of this module and of others with the same frequencies."""
        if not unwatched(position_ids):
            return self.tables(position_ids, dtype=dtype)
        if self._shelf is None:
            self._shelf = shelf_for(self._inv_freq, self.angles)
        kind = dtype, self.attention_scaling
        return self._shelf.table(kind, position_ids, lambda: self.tables(position_ids, dtype=dtype))

    def extra_repr(self) -> str:
        """The options, for print(model)."""
        width = "" if self.head_dim is None else f"head_dim={self.head_dim}, "
        return (
            f"{width}rotary_dim={self.rotary_dim}, interleaved={self.interleaved}, "
            f"layout={self.layout!r}, angles={self.angles!r}"
        )


def _check_frequencies(frequencies: Tensor) -> None:
    """Refuse what is no tensor (pairs,) or (axes, pairs) of finite numbers."""
    if not isinstance(frequencies, Tensor):
        kind = type(frequencies).__name__
        raise BadDtype(f"frequencies is a {kind}; Frequencies or a tensor (pairs,) works")
    if check_tensor(frequencies, "frequencies").is_meta:
        raise BadTensor(
            "frequencies is on the meta device, without numbers; Frequencies or a CPU tensor works"
        )
    if frequencies.ndim not in (1, 2) or not frequencies.numel() or not frequencies.isfinite().all():
        raise BadTensor(
            f"frequencies has shape {tuple(frequencies.shape)}; shape (pairs,) with finite entries works, or "
            "(axes, pairs)"
        )


def _rotary_of(config: object, layer_type: str | None) -> Rotary:
    """The rotary layers that a config describes."""
    encoding = read_config(_keys(config)).group(layer_type).encoding
    if not isinstance(encoding, Rotary):
        raise BadChoice(f"layer_type is {layer_type!r}, whose layers have no rotary positions")
    return encoding


def _keys(config: object) -> Mapping[str, Any]:
    """A mapping itself; of an object what it writes as one, else its public attributes."""
    if isinstance(config, Mapping):
        return config
    if callable(written := getattr(config, "to_dict", None)):
        return written()
    return {name: getattr(config, name) for name in dir(config) if not name.startswith("_")}


__all__ = ["RotaryEmbedding"]
