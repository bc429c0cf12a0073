"""Laws of a table that need no specification: rows, order of calls, one position alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from ... import budget
from ..failed import Failed
from ..identify.observe import Planes
from .calls import Calls
from .trial import Outcome, broken, judged


def measure(calls: Calls, planes: Planes) -> Iterator[Outcome]:
    """Every law; one whose call fails is a finding under its own code."""
    laws: dict[str, Callable[[Calls, Planes], Outcome | None]] = {
        "batch": batch,
        "single-token": single,
        "purity": purity,
    }
    for code, law in laws.items():
        try:
            found = law(calls, planes)
        except Failed as failed:
            found = broken(code, "the call that this law needs", str(failed), planes.dim)
        if found is not None:
            yield found


def _entries(calls: Calls, ids: Tensor) -> Tensor:
    """cos and sin, (2, batch, time, width), float64."""
    return torch.stack(calls.tables(ids)).double()


def _near(off: Tensor, planes: Planes) -> Tensor:
    return torch.full_like(off, 2 * max(planes.amplitude, 1.0) * budget.single_angle_entry(0.0))


def batch(calls: Calls, planes: Planes) -> Outcome | None:
    """Two rows at different positions, each alone; None where rows are not taken."""
    if not calls.rows:
        return None
    ids = torch.tensor(planes.positions)
    rows = torch.stack((ids, ids.flip(0)))
    alone = torch.cat([_entries(calls, row[None]) for row in rows], 1)
    off = (_entries(calls, rows) - alone).abs()
    return judged("batch", off, _near(off, planes), planes.dim, "a row depends on the rows around it")


def single(calls: Calls, planes: Planes) -> Outcome:
    """The third position alone."""
    ids = torch.tensor(planes.positions)[None]
    off = (_entries(calls, ids[:, 2:3]) - _entries(calls, ids)[:, :, 2:3]).abs()
    cause = "the number of positions is taken for a position"
    return judged("single-token", off, _near(off, planes), planes.dim, cause)


def purity(calls: Calls, planes: Planes) -> Outcome:
    """Few positions, many, the few again; then as many others."""
    ids = torch.tensor(planes.positions)[None]
    few = ids[:, :3]
    first = _entries(calls, few)
    _entries(calls, ids)
    off = (_entries(calls, few) - first).abs()
    moved = (_entries(calls, ids.flip(1)) - _entries(calls, ids).flip(2)).abs()
    cause = "something is kept from call to call under too small a key"
    worst = torch.cat((off.flatten(), moved.flatten()))[None, None, None]
    return judged("purity", worst, _near(worst, planes), planes.dim, cause)
