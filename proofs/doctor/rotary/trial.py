"""Random content, what a subject makes of it, and how far each coordinate may be off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ... import budget
from ..codes import CODES
from ..findings import Finding, Measured
from ..identify.observe import Planes, planes_of_map
from .calls import Calls
from .reproductions import reproduction

Outcome = Finding | Measured
DTYPE = "float32"


@dataclass(frozen=True)
class Trial:
    """Random x (2, 3, T, d) at ids (2, T), y of the subject, and how far a coordinate may be off.

    rows: the place of each token's position in planes.positions. keys: what x should give as keys, and how
    far that may be off; another map than that of queries only where both change lengths.
    """

    calls: Calls
    planes: Planes
    x: Tensor
    ids: Tensor
    rows: Tensor
    y: Tensor
    expected: Tensor
    allowed: Tensor
    keys: tuple[Tensor, Tensor]


def trial(calls: Calls, planes: Planes) -> Trial:
    """Rows at different positions where the subject takes them; what the planes make of x, in float64."""
    count = len(planes.positions)
    order = torch.arange(count)
    rows = torch.stack((order, order.flip(0) if calls.rows else order))
    ids = torch.tensor(planes.positions)[rows]
    x = torch.randn(2, 3, count, planes.dim, generator=torch.Generator().manual_seed(1))
    expected, allowed = turned(planes, x, rows, DTYPE)
    keys = (expected, allowed)
    if calls.subject.both and planes.fades() is not None:
        other = planes_of_map(replace(calls, side=-1), planes.positions)
        keys = keys if other is None else turned(other, x, rows, DTYPE)
    return Trial(calls, planes, x, ids, rows, calls.rotate(x, ids), expected, allowed, keys)


def turned(planes: Planes, x: Tensor, rows: Tensor, dtype: str, back: bool = False) -> tuple[Tensor, Tensor]:
    """M(t) x in float64, or its transpose, and the budget of each coordinate for inputs in `dtype`.

    x: (batch, heads, time, d); rows: (batch, time), places in planes.positions. An amplitude may be
    multiplied into x, table or result, which rounds once more, and did when the planes were read: 2u of both
    products.
    """
    first, second = ([p[side] for p in planes.pairs] for side in (0, 1))
    wide = x.to(torch.float64)
    x0, x1 = wide[..., first], wide[..., second]
    c, s = (table[rows][:, None] for table in (planes.cos, planes.sin))
    s = -s if back else s
    expected, allowed = wide.clone(), torch.zeros_like(wide)
    for where, one, other in ((first, x0 * c, -x1 * s), (second, x1 * c, x0 * s)):
        expected[..., where] = one + other
        allowed[..., where] = budget.rotated_coordinate(
            (one + other).abs(), one.abs(), other.abs(), 0.0, x0.abs() + x1.abs(), dtype
        ) + 2 * budget.compute_roundoff(dtype) * (one.abs() + other.abs())
    return expected, allowed


def judged(
    code: str,
    off: Tensor,
    allowed: Tensor,
    dim: int,
    cause: str,
    *,
    ids: Tensor | None = None,
    rows: Sequence[str] = (),
) -> Outcome:
    """A finding at the first entry beyond its budget, else the worst residual beside its budget.

    ids: (batch, time), positions of the tokens of (batch, head, token, feature); rows: words for each row of
    anything else.
    """
    beyond = (~(off <= allowed)).nonzero()
    if len(beyond):
        at = tuple(beyond[0].tolist())
        where = _where(at, ids, rows)
        return Finding(code, where, float(off[at]), float(allowed[at]), cause, reproduction(code, dim))
    worst = int((off / allowed).nan_to_num(0.0).argmax())
    return Measured(CODES[code].law, float(off.flatten()[worst]), float(allowed.flatten()[worst]))


def _where(at: tuple[int, ...], ids: Tensor | None, rows: Sequence[str]) -> str:
    if rows:
        return rows[at[0]] + (f", plane {at[1]}" if len(at) > 1 else "")
    if ids is not None:
        row, head, token, feature = at
        return f"position {int(ids[row, token])}, feature {feature} of head {head}, row {row}"
    return f"entry {list(at)} of (batch, head, token, feature)"


def broken(code: str, where: str, cause: str, dim: int) -> Finding:
    """A finding without a number: it is one or the other."""
    return Finding(code, where, None, None, cause, reproduction(code, dim))
