"""Why planes turn with other axes than claimed: known mistakes, each computed from the claim."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import torch
from torch import Tensor

from ....symbolic.errors import ExptxError
from ....symbolic.sections import owners
from ...budget import single_angle_entry

_SAME = 2.0**-12  # far above any float32 recipe, far below what mistakes change


def cause_of(found: Tensor, told: Tensor) -> str:
    """found, told: (axes, planes), radians a step. The first mistake that gives what was found."""
    if found.shape != told.shape:
        return "unknown"
    for words, wrong in _guesses(told):
        if bool(((found - wrong).abs() <= 4 * single_angle_entry(0.0) + _SAME * wrong.abs()).all()):
            return words
    still = [a for a in range(len(told)) if not found[a].any() and told[a].any()]
    return f"axis {still[0]} turns nothing" if still else "unknown"


def _guesses(told: Tensor) -> Iterator[tuple[str, Tensor]]:
    count, planes = told.shape
    for order in permutations(range(count)):
        if order != tuple(range(count)):
            yield f"the axes are taken in the order {order}", told[list(order)]
    table, owner = told.sum(0), told.ne(0).double().argmax(0)
    sections = [int((owner == a).sum()) for a in range(count)]
    for layout in ("chunked", "interleaved"):
        try:
            other = torch.tensor(owners(sections, planes, layout))
        except ExptxError:  # these sections do not fit that layout
            continue
        if not torch.equal(other, owner):
            words = f"planes are shared out {layout}, where another layout is claimed"
            yield words, torch.stack([torch.where(other == a, table, 0.0) for a in range(count)])
    if planes % 2 == 0:
        first = told[:, : planes // 2]
        yield "the second half of the planes reads the table of the first", torch.cat((first, first), 1)
    for axis in range(count):
        alone = torch.zeros_like(told)
        alone[axis] = table
        yield f"every plane turns with axis {axis}", alone
