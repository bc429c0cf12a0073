"""A residual beside its budget: a finding at the first entry beyond it, else what was measured."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from ..codes import CODES
from ..findings import Finding, Measured

Outcome = Finding | Measured


def judged(
    code: str, off: Tensor, allowed: Tensor, names: Sequence[str], cause: str, reproduction: str
) -> Outcome:
    """off, allowed: one shape, with an axis for each name; NaN counts as beyond."""
    beyond = (~(off <= allowed)).nonzero()
    if len(beyond):
        at = tuple(beyond[0].tolist())
        where = ", ".join(f"{name} {place}" for name, place in zip(names, at, strict=True))
        return Finding(code, where, float(off[at]), float(allowed[at]), cause, reproduction)
    if not off.numel():
        return Measured(CODES[code].law, 0.0, 0.0)
    worst = int((off / allowed).nan_to_num(0.0).argmax())
    return Measured(CODES[code].law, float(off.flatten()[worst]), float(allowed.flatten()[worst]))
