"""Cached keys carried from one set of frequencies to another: between two rotations lies a third.

m' R(s w') k = (m'/m) R(s (w' - w)) · m R(s w) k
"""

from __future__ import annotations

from torch import Tensor

from ..symbolic.frequencies import Frequencies
from ..symbolic.sections import AxisFrequencies
from .angles import Waves
from .coordinates import check_coordinates
from .errors import BadDtype, BadTensor
from .layout import time_axis
from .rotary import rotary_embedding
from .tables import rerotation_table
from .validation import check_heads, check_token_positions, compute_dtype, same_device


def rerotate(
    k: Tensor,
    position_ids: Tensor,
    old: Waves,
    new: Waves,
    *,
    attention_scaling: float = 1.0,
    interleaved: bool = False,
    layout: str = "bhtd",
    angles: str = "exact",
    impl: str = "auto",
    out: Tensor | None = None,
) -> Tensor:
    """Keys rotated at the frequencies `old`, as if they had been rotated at `new`; shape and dtype of k.

    k: (batch, heads, time, head_dim), or (batch, time, heads, head_dim) with layout="bthd", of any float
    dtype, as they lie in a cache; queries work too. Of wider heads the first 2 * pairs coordinates turn.
    position_ids: (time,) or (batch, time), at which they were rotated, integers or float clock readings; on
    several axes as for `RotaryEmbedding`.
    old, new: Frequencies, or tensors (pairs,) of radians per position, equally many; or those of axes.
    attention_scaling: m'/m, the new amplitude over the old; left at 1, Frequencies bring their own, and a
    tensor has 1. angles: "exact"; or "hf" for keys that were rotated by the float32 angles of transformers.
    interleaved, impl, out: as for `rotary_embedding`.
    Every entry of the table is within a(u + 2^-53 |t|·3(w + w') + 2^-51) of the true one, a = m'/m
    and u as for `rotary_table`. Each call rounds once more to the dtype of k: where frequencies change at
    every token, keeping keys as they were before any rotation loses less.
    Raises BadTensor, BadDtype, BadChoice, NotLowered, TooLarge, or PositionOutOfRange where old or new is for
    shorter texts, naming the argument. Gradients flow to k.
    Source: the group law R(a)R(b) = R(a + b), on every plane.
    """
    check_heads(k, "k", layout)
    axes, pairs = _shape(old, new)
    batch, time = k.shape[0], k.shape[time_axis(layout)]
    if axes is None:
        ids = check_token_positions(position_ids, batch, time)
    else:
        ids = check_coordinates(position_ids, axes, getattr(old, "text", False), batch, time)
    same_device(k, "k", ids, "position_ids")
    table = rerotation_table(
        old, new, ids, attention_scaling=attention_scaling, angles=angles, dtype=compute_dtype(k.dtype)
    )
    return rotary_embedding(
        k, *table, interleaved=interleaved, layout=layout, rotary_dim=2 * pairs, impl=impl, out=out
    )


def _shape(old: Waves, new: Waves) -> tuple[int | None, int]:
    """(how many axes, None for one without a row of its own; how many planes), the same before and after."""
    shapes = []
    for name, waves in (("old", old), ("new", new)):
        if not isinstance(waves, (Frequencies, AxisFrequencies, Tensor)):
            raise BadDtype(f"{name} is a {type(waves).__name__}; Frequencies or a tensor (pairs,) works")
        if isinstance(waves, Tensor) and waves.ndim not in (1, 2):
            raise BadTensor(f"{name} has shape {tuple(waves.shape)}; shape (pairs,) or (axes, pairs) works")
        if isinstance(waves, Tensor):
            shapes.append(tuple(waves.shape))
        else:
            shapes.append((len(waves),) if isinstance(waves, Frequencies) else (waves.axes, len(waves)))
    if shapes[0] != shapes[1]:
        words = [
            f"{shape[-1]} planes" + (f" on {shape[0]} axes" if len(shape) == 2 else "") for shape in shapes
        ]
        raise BadTensor(f"old has {words[0]} and new has {words[1]}; equally many work")
    *axes, pairs = shapes[0]
    return (axes[0] if axes else None), pairs


__all__ = ["rerotate"]
