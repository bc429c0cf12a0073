"""Cached keys against the laws of frequencies that change."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from ... import numeric
from ...numeric.constants import nearest_float
from ...numeric.layout import join_pairs, split_pairs
from ...symbolic.frequencies import Frequencies
from ...symbolic.ramps import yarn
from ...symbolic.scaling import dynamic, longrope, rotary
from .. import budget
from .residual import LIBRARY, Case, measures
from .rotated import (
    DTYPES,
    FAR,
    Measured,
    angles,
    arithmetic,
    drawn,
    exact_table,
    name_of,
    score,
    turned,
    turned_by,
)

POSITIONS = torch.tensor([0, 1, 77, 4095, FAR])
CHANGES = (
    ("YaRN, s = 4 to 16", yarn(10000, 16, 4, 4096), yarn(10000, 16, 16, 4096)),
    (
        "dynamic NTK, one token more",
        *(dynamic(10000, 16, 2, 4096, length) for length in (2 * FAR, 2 * FAR + 1)),
    ),
    ("LongRoPE at its switch", *(longrope(10000, 16, x, 2) for x in ([1] * 8, [1, 1, 2, 4, 8, 16, 32, 32]))),
)


def amplified(x: Tensor, waves: Frequencies, ids: Tensor) -> Measured:
    """m R(ωt) x by the kernel and exactly, with the coordinates' budgets."""
    kind, m = arithmetic(x.dtype), nearest_float(waves.attention_factor)
    found = numeric.rotary_embedding(x, *numeric.rotary_table(waves, ids, dtype=kind))
    entries = exact_table(waves, tuple(ids.tolist()))
    drift = [budget.table_entry(angles(waves, ids), kind, m, entry.abs() / m) for entry in entries]
    return turned_by(x, found, entries, drift, False)


def carried(k: Measured, dtype: torch.dtype, old: Frequencies, new: Frequencies, ids: Tensor) -> Measured:
    """Cached keys turned on by the kernel, beside the exact turn; the error of the cache is added."""
    cached, kind = k.found.to(dtype), arithmetic(dtype)
    found = numeric.rerotate(cached, ids, old, new)
    ratio = new.attention_factor / old.attention_factor
    between = Frequencies(tuple(b - a for a, b in zip(old, new, strict=True)), ratio)
    entries = exact_table(between, tuple(ids.tolist()))
    before, after = angles(old, ids), angles(new, ids)
    drift = [
        budget.rerotation_entry(before, after, kind, nearest_float(ratio), entry.abs() / nearest_float(ratio))
        for entry in entries
    ]
    turn = turned_by(cached, found, entries, drift, False)
    e0, e1 = split_pairs(k.error, False)
    c, s = (entry.abs() for entry in entries)
    return Measured(turn.found, turn.known, turn.error + join_pairs(c * e0 + s * e1, s * e0 + c * e1, False))


@measures("rerotation", small=LIBRARY)
def rerotation() -> Iterator[Case]:
    """Keys cached at one set of frequencies and carried to another, against keys rotated afresh."""
    for name, old, new in CHANGES:
        for dtype in DTYPES:
            x = drawn((1, 32, len(POSITIONS), 16), dtype, 8)
            moved = carried(amplified(x, old, POSITIONS), dtype, old, new, POSITIONS)
            fresh = amplified(x, new, POSITIONS).known
            where = f"{name}, head_dim 16, positions {POSITIONS.tolist()}"
            yield Case(
                (moved.found - fresh).abs(),
                moved.error + 3 * budget.ORACLE * fresh.abs(),
                name_of(dtype),
                where,
            )


@measures("cached-keys")
def cached_keys() -> Iterator[Case]:
    """Scores at (4099, 4096) and at (3, 0), with keys of the plain table and queries of YaRN's."""
    old, new = rotary(10000, 16), Frequencies(yarn(10000, 16, 16, 4096).exact)
    for dtype in DTYPES:
        q, k = (drawn((1, 16, 1, 16), dtype, seed) for seed in (1, 2))
        near, far = (
            score(turned(q, new, torch.tensor([shift + 3])), turned(k, old, torch.tensor([shift])))
            for shift in (0, 4096)
        )
        where = "head_dim 16, queries at 3 and 4099, keys at 0 and 4096"
        yield Case((far.found - near.found).abs(), far.error + near.error, name_of(dtype), where)
