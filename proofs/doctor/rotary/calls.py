"""Calls of a subject in one form, whatever its own is; a call that fails is a `Failed` with its sentence."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ....numeric.layout import heads_first, time_axis
from ..call import called, shaped, shown
from ..failed import Failed
from ..subject import Subject
from .forms import FORMS, form_of
from .placing import by_offset, packed, padded


@dataclass(frozen=True)
class Calls:
    """The subject; whether it takes a row of positions for each row of the batch; the form of a table.

    side: which output counts, 0 for queries, -1 for keys.
    """

    subject: Subject
    rows: bool
    form: str = "cos and sin"
    side: int = 0

    def rotate(self, x: Tensor, ids: Tensor) -> Tensor:
        """y of x (batch, heads, time, head_dim) at ids (batch, time); of the side where there are two."""
        return self.rotate_both(x, ids)[self.side]

    def rotate_both(
        self, x: Tensor, ids: Tensor, *, keys: Tensor | None = None, learns: bool = False
    ) -> tuple[Tensor, ...]:
        """x as queries, and `keys`, or x again, as keys where the subject takes both.

        learns: with gradients. x is handed over as it lies in memory, or as a copy where the subject may
        overwrite it.
        """
        claims = self.subject.claims
        inputs = [heads_first(x, claims.layout)]
        if self.subject.both:
            inputs.append(heads_first(x.clone() if keys is None else keys, claims.layout))
        if claims.inplace:
            inputs = [given.clone() for given in inputs]
        axis = time_axis(claims.layout)

        def call(*given: object) -> tuple[Tensor, ...]:
            return self._once(given, learns)

        if claims.positions == "ids":
            outputs = call(*inputs, self._ids(ids))
        elif claims.positions == "offset":
            outputs = by_offset(call, tuple(inputs), ids[0], axis)
        else:
            place = packed if claims.positions == "lengths" else padded
            outputs = place(call, tuple(inputs), ids[0], axis)
        return tuple(heads_first(y, claims.layout) for y in outputs)

    def _once(self, given: tuple[object, ...], learns: bool) -> tuple[Tensor, ...]:
        """One call: as many tensors as went in, each of the shape of its input."""
        inputs = [x for x in given[: 1 + self.subject.both] if isinstance(x, Tensor)]
        found = called(self.subject.apply, *given, learns=learns)
        if found is None and self.subject.claims.inplace:
            found = tuple(inputs)
        outputs = tuple(found) if isinstance(found, (tuple, list)) else (found,)
        if len(outputs) != len(inputs):
            raise Failed(f"returned {shown(found)}; {'(q, k)' if len(inputs) == 2 else 'y'} was expected")
        for y, x in zip(outputs, inputs, strict=True):
            shaped(y, tuple(x.shape))
        return outputs

    def tables(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """cos and sin at ids (batch, time), each (batch, time, width)."""
        found = called(self.subject.apply, self._ids(ids))
        cos, sin = FORMS[self.form](found)
        if cos.shape != sin.shape or cos.ndim < 2 or cos.numel() != ids.numel() * cos.shape[-1]:
            raise Failed(f"returned {shown(found)} for {ids.numel()} positions")
        return cos.reshape(*ids.shape, -1), sin.reshape(*ids.shape, -1)

    def _ids(self, ids: Tensor) -> Tensor:
        return ids.clone() if self.rows else ids[0].clone()


def opened(subject: Subject) -> Calls:
    """The calls that work: with a row of positions for every row, else with one for all; or Failed."""
    ids = torch.arange(3).expand(2, 3).contiguous()
    refusal = None
    for rows in (True, False) if subject.claims.positions == "ids" else (False,):
        calls = Calls(subject, rows)
        try:
            if subject.kind == "tables":
                given = ids if rows else ids[0]
                calls = replace(calls, form=form_of(called(subject.apply, given.clone())))
                calls.tables(ids)
            else:
                calls.rotate(torch.ones(2, 4, 3, subject.claims.head_dim), ids)
        except Failed as failed:
            refusal = refusal or failed
        else:
            return calls
    raise refusal or Failed("cannot be called")
