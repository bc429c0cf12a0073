"""Positions of several coordinates against the laws of several axes."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from ... import numeric
from ...numeric import exact
from ...symbolic.catalogue import encoding
from ...symbolic.scaling import rotary
from ...symbolic.sections import AxisFrequencies, axis_frequencies, sectioned
from .. import budget
from .residual import LIBRARY, Case, measures
from .rotated import DTYPES, FAR, Measured, arithmetic, drawn, name_of, score, turned, turned_by

SHOWN = {"axial": {"head_dim": 16}, "rope_3d": {"head_dim": 24}}
GRID = torch.tensor([[5, 2, 40, 0, 9, 700], [1, -2, 30, 0, 8, 7], [3, 3, 300, 0, -1, 2]])
OTHER = torch.tensor([[2, 5, 1, 0, 1000, 13], [2, 2, -30, 1, 8, 90], [0, 1, 2, 3, 4, 5]])
SHIFT = torch.tensor([[FAR], [-7], [100]])


def placed(x: Tensor, waves: AxisFrequencies, ids: Tensor, interleaved: bool) -> Measured:
    """x (batch, heads, time, 2 * pairs) turned at ids (axes, time) by the kernel, and exactly."""
    kind = arithmetic(x.dtype)
    found = numeric.rotary_embedding(
        x, *numeric.rotary_table(waves, ids, dtype=kind), interleaved=interleaved
    )
    table = exact.rotary_table(waves, ids, dtype=torch.float64)
    rates = torch.tensor([[abs(float(w)) for w in axis] for axis in waves.exact], dtype=torch.float64)
    reach = torch.einsum("at,aj->tj", ids.double().abs(), rates)
    summed = (waves.axes - 1) * budget.ORACLE * reach
    drift = [budget.table_entry(reach, kind, value=entry.abs()) + summed for entry in table]
    return turned_by(x, found, table, drift, interleaved)


@measures("axes-mixed", small=LIBRARY)
def axes_mixed() -> Iterator[Case]:
    """The score at (t + c, s + c) minus the score at (t, s), for vectors t, s, c."""
    for name, given in SHOWN.items():
        waves = axis_frequencies(encoding(name, **given))
        width, axes = 2 * len(waves), waves.axes
        for dtype in DTYPES:
            q, k = (drawn((1, 16, GRID.shape[1], width), dtype, seed) for seed in (1, 2))
            here, there = (
                score(
                    placed(q, waves, (GRID + move)[:axes], True),
                    placed(k, waves, (OTHER + move)[:axes], True),
                )
                for move in (torch.zeros_like(SHIFT), SHIFT)
            )
            where = f"{name}, head_dim {width}, positions moved by {tuple(SHIFT[:axes, 0].tolist())}"
            yield Case((there.found - here.found).abs(), there.error + here.error, name_of(dtype), where)


@measures("mrope-is-rope", small=LIBRARY)
def mrope_is_rope() -> Iterator[Case]:
    """Both layouts at t = h = w against rope on one axis, exactly."""
    ids, table = torch.tensor([0, 1, 77, 4095, FAR]), rotary(1_000_000, 16)
    for layout in ("chunked", "interleaved"):
        waves = sectioned(table, (4, 2, 2), layout)
        for dtype in DTYPES:
            x = drawn((1, 16, len(ids), 16), dtype, 3)
            several, one = placed(x, waves, ids.expand(3, -1), False), turned(x, table, ids)
            where = f"{layout} sections (4, 2, 2), head_dim 16, positions {ids.tolist()}"
            yield Case((several.found - one.known).abs(), one.error, name_of(dtype), where)


@measures("mrope-worked-example", small=LIBRARY)
def mrope_worked_example() -> Iterator[Case]:
    """The table of Qwen2-VL at (1, 2, 3) against balls."""
    waves, ids = sectioned(rotary(1_000_000, 128), (16, 24, 24)), torch.tensor([[1], [2], [3]])
    known = exact.rotary_table(waves, ids, dtype=torch.float64)
    for dtype in (torch.float64, torch.float32):
        for found, entry in zip(numeric.rotary_table(waves, ids, dtype=dtype), known, strict=True):
            bound = budget.table_entry(3.0, dtype, value=entry.abs())
            where = "sections (16, 24, 24) of 64 planes at (t, h, w) = (1, 2, 3)"
            yield Case((found.double() - entry).abs(), bound, name_of(dtype), where)
