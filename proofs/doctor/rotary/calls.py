"""Calls of a subject in one form, whatever its own is; a call that fails is a `Failed` with its sentence."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ....numeric.layout import heads_first
from ..call import called, finite, shaped, shown
from ..failed import Failed
from ..subject import Subject


@dataclass(frozen=True)
class Calls:
    """The subject, and whether it takes a row of positions for each row of the batch."""

    subject: Subject
    rows: bool

    def rotate(self, x: Tensor, ids: Tensor) -> Tensor:
        """y of x (batch, heads, time, head_dim) at ids (batch, time); of queries where there are keys too."""
        return self.rotate_both(x, ids)[0]

    def rotate_both(self, x: Tensor, ids: Tensor) -> tuple[Tensor, ...]:
        """x as queries, and as keys where the subject takes both."""
        given = heads_first(x, self.subject.claims.layout)
        both = self.subject.arguments == 3
        inputs = (given, given.clone()) if both else (given,)
        found = called(self.subject.apply, *inputs, self._ids(ids))
        outputs = tuple(found) if both and isinstance(found, (tuple, list)) else (found,)
        if len(outputs) != len(inputs):
            raise Failed(f"returned {shown(found)}; (q, k) of the shapes of its inputs was expected")
        return tuple(heads_first(shaped(y, given.shape), self.subject.claims.layout) for y in outputs)

    def tables(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """cos and sin at ids (batch, time), each (batch, time, width)."""
        found = called(self.subject.apply, self._ids(ids))
        if not (isinstance(found, (tuple, list)) and len(found) == 2):
            raise Failed(f"returned {shown(found)}; (cos, sin) was expected")
        cos, sin = (finite(part) for part in found)
        if cos.shape != sin.shape or cos.ndim < 2 or cos.numel() != ids.numel() * cos.shape[-1]:
            raise Failed(f"returned {shown(found)} for {ids.numel()} positions")
        return cos.reshape(*ids.shape, -1), sin.reshape(*ids.shape, -1)

    def _ids(self, ids: Tensor) -> Tensor:
        return ids.clone() if self.rows else ids[0].clone()


def opened(subject: Subject) -> Calls:
    """The calls that work: with a row of positions for every row, else with one for all; or Failed."""
    ids = torch.arange(3).expand(2, 3).contiguous()
    refusal = None
    for rows in (True, False):
        calls = Calls(subject, rows)
        try:
            if subject.kind == "tables":
                calls.tables(ids)
            else:
                calls.rotate(torch.ones(2, 4, 3, subject.claims.head_dim), ids)
        except Failed as failed:
            refusal = refusal or failed
        else:
            return calls
    raise refusal or Failed("cannot be called")
