"""Linear attention beside the float64 recurrence, with the budget of every output and every state.

The reference, run on magnitudes, gives the sum that a budget is relative to; its runs are one batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ... import numeric
from ...numeric import reference
from ...numeric.layout import join_pairs, split_pairs
from .. import budget
from .rotated import Measured, arithmetic


@dataclass(frozen=True)
class Recurrence:
    """One sequence and how it is read: arguments of `linear_attention`, batch 1; the state may be None."""

    q: Tensor
    k: Tensor
    v: Tensor
    log_decay: Tensor
    angle: Tensor | None = None
    scale: float = 1.0
    initial_state: Tensor | None = None
    interleaved: bool = False

    def run(self, form: str, chunk_size: int = 64) -> tuple[Tensor, Tensor]:
        """(out, final state) of the kernel."""
        return numeric.linear_attention(**vars(self), form=form, chunk_size=chunk_size)

    def known(self) -> tuple[Tensor, Tensor]:
        """(out, final state) of the reference."""
        return reference.linear_attention(**vars(self))

    def magnitudes(self, raised: Sequence[float]) -> tuple[Tensor, Tensor]:
        """The reference on magnitudes with all log decays raised by each number, an entry of the batch each.

        A plane that turns counts |x0| + |x1| in both coordinates.
        """
        q, k = (self._spread(x.double().abs()) for x in (self.q, self.k))
        state, decay, count = self.initial_state, self.log_decay.double(), len(raised)
        if self.angle is not None and decay.ndim == 4:
            decay = join_pairs(decay, decay, self.interleaved)
        if decay.ndim == 1:
            decay = decay[None, :, None].expand(1, -1, q.shape[2])
        if state is not None:
            state = self._spread(state.double().abs().mT).mT.expand(count, -1, -1, -1)
        more = torch.tensor(raised, dtype=torch.float64).reshape(-1, *[1] * (decay.ndim - 1))
        q, k, v = (x.expand(count, -1, -1, -1) for x in (q, k, self.v.double().abs()))
        return Recurrence(q, k, v, decay + more, scale=abs(self.scale), initial_state=state).known()

    def _spread(self, x: Tensor) -> Tensor:
        if self.angle is None:
            return x
        x0, x1 = split_pairs(x, self.interleaved)
        return join_pairs(x0 + x1, x0 + x1, self.interleaved)

    def table_error(self) -> float:
        """τ of the table that queries and keys are turned by: its angle, cos, and storing.

        An angle for every token is summed over blocks of 256, and those are; an angle for all is multiplied.
        """
        if self.angle is None:
            return 0.0
        time = self.q.shape[2]
        summed = min(time, 256) + time / 256 + 1 if self.angle.ndim == 4 else 1
        turned = float(self.angle.double().abs().amax()) * time
        return summed * budget.ORACLE * turned + budget.table_entry(0.0, arithmetic(self.q.dtype))


def checked(
    given: Recurrence, forms: Sequence[str], chunk_size: int = 64
) -> dict[str, tuple[Measured, Measured]]:
    """By form: the outputs, and the final state, beside the reference, each with its budget."""
    kind, (time, features) = given.q.dtype, given.q.shape[2:]
    known = given.known()
    steps = [budget.step_error(form, chunk_size, kind) for form in forms]
    sums = given.magnitudes((0.0, *steps))
    results = {}
    for row, form in enumerate(forms, 1):
        found = given.run(form, chunk_size)
        roundings = budget.recurrence_roundings(form, features, time, chunk_size)
        errors = [
            budget.recurred(x[:1], x[row : row + 1], roundings, given.table_error(), kind) + _underflow(given)
            for x in sums
        ]
        out = budget.rounded(known[0].abs(), errors[0], kind)
        results[form] = (
            Measured(found[0].double(), known[0], out),
            Measured(found[1].double(), known[1], errors[1]),
        )
    return results


def _underflow(given: Recurrence) -> float:
    """What factors and products below the smallest normal number may lose, over all terms of an output."""
    most = [1 + float(x.double().abs().max()) for x in (given.q, given.k, given.v)]
    terms = given.q.shape[2] * given.q.shape[3]
    tiny = budget.format_of(arithmetic(given.q.dtype)).half_smallest
    return 8 * terms * abs(given.scale) * most[0] * most[1] * most[2] * tiny


__all__ = ["Recurrence", "checked"]
