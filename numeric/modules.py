"""Modules: rotary embedding with its frequencies kept exact, whatever the model is cast or moved to."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..symbolic.frequencies import Frequencies
from .errors import BadChoice, BadDtype, BadTensor
from .layout import time_axis
from .rotary import rotary_embedding
from .tables import rotary_table
from .validation import check_heads, check_tensor, compute_dtype


class RotaryEmbedding(nn.Module):
    """Rotates queries and keys; no parameters, no buffers, nothing in the state dict.

    frequencies: Frequencies, or a tensor (pairs,) of radians per position, read once. They stay outside
    buffers, as exact numbers or as float64, so `.half()`, `.to(torch.bfloat16)` and `to_empty()` from the
    meta device leave the angles as they are. interleaved, layout: as for `rotary_embedding`; of wider heads
    the first 2 * pairs coordinates turn. angles: "exact" or "hf", as for `rotary_table`. attention_scaling:
    amplitude of cos and sin; left at 1, Frequencies bring their own.
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
        if angles not in ("exact", "hf"):
            raise BadChoice(f"angles is {angles!r}; 'exact' or 'hf' works")
        self.interleaved, self.layout, self.angles = interleaved, layout, angles
        self.attention_scaling = attention_scaling
        self._frequencies = frequencies if isinstance(frequencies, Frequencies) else _as_numbers(frequencies)
        self.rotary_dim = 2 * len(self._frequencies)

    def tables(
        self, position_ids: Tensor | int, *, dtype: torch.dtype = torch.float32
    ) -> tuple[Tensor, Tensor]:
        """(cos, sin), each position_ids.shape + (pairs,); a whole number n stands for positions 0 … n-1."""
        if isinstance(position_ids, int) and not isinstance(position_ids, bool):
            position_ids = torch.arange(position_ids)
        if not isinstance(position_ids, Tensor):
            raise BadDtype(
                f"position_ids is a {type(position_ids).__name__}; an integer tensor or a length works"
            )
        frequencies = self._frequencies
        if not isinstance(frequencies, Frequencies):
            frequencies = torch.tensor(frequencies, dtype=torch.float64, device=position_ids.device)
        return rotary_table(
            frequencies,
            position_ids,
            attention_scaling=self.attention_scaling,
            angles=self.angles,
            dtype=dtype,
        )

    def forward(self, q: Tensor, k: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        """(q, k) rotated; q and k may differ in heads. position_ids: (time,) or (batch, time)."""
        check_heads(q, "q", self.layout)
        check_heads(k, "k", self.layout)
        if q.dtype != k.dtype:
            raise BadDtype(f"k has dtype {k.dtype} but q has {q.dtype}; equal dtypes work")
        cos, sin = self.tables(position_ids, dtype=compute_dtype(q.dtype))
        rotate = {"interleaved": self.interleaved, "layout": self.layout, "rotary_dim": self.rotary_dim}
        return rotary_embedding(q, cos, sin, **rotate), rotary_embedding(k, cos, sin, **rotate)

    def extra_repr(self) -> str:
        """The options, for print(model)."""
        return (
            f"rotary_dim={self.rotary_dim}, interleaved={self.interleaved}, "
            f"layout={self.layout!r}, angles={self.angles!r}"
        )


def _as_numbers(frequencies: Tensor) -> tuple[float, ...]:
    """A tensor (pairs,) as Python floats, which no cast of the module reaches."""
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
    return tuple(frequencies.to(torch.float64).tolist())


__all__ = ["RotaryEmbedding"]
