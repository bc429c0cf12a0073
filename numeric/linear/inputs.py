"""The tokens of linear attention: cut into stretches as given, made ready in the dtype of the arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

from ..emitted import turn, turn_transposed
from ..layout import join_pairs, split_pairs
from ..validation import compute_dtype


@dataclass(frozen=True)
class Moment:
    """q, k (B, H, n, dk), v (B, H, n, dv) ready to be multiplied; step: e^{log decay} in float64.

    step has shape (1 or B, H, 1 or n, 1 or dk): 1 for what is the same for all tokens, or for all features.
    """

    q: Tensor
    k: Tensor
    v: Tensor
    step: Tensor


@dataclass(frozen=True)
class Tokens:
    """All tokens as they were given, and the reading of the turn's clock at each.

    k and v may have fewer heads than q, each for as many query heads.
    log_decay: (1 or B, H, 1 or T, 1 or dk); turned: Σ angle up to and with a token, float64,
    (1 or B, 1 or H, T, pairs), or None where nothing turns.
    """

    q: Tensor
    k: Tensor
    v: Tensor
    log_decay: Tensor
    turned: Tensor | None
    scale: float
    interleaved: bool

    @property
    def time(self) -> int:
        """Number of tokens."""
        return self.k.shape[2]

    @property
    def dtype(self) -> torch.dtype:
        """Of the arithmetic, and of states."""
        return compute_dtype(self.k.dtype)

    def split(self, sizes: Sequence[int]) -> list[Tokens]:
        """Stretches of so many tokens each; their gradients are joined once, not added up at full length."""

        def cut(x: Tensor) -> Sequence[Tensor]:
            return [x] * len(sizes) if x.shape[2] != self.time else x.split(list(sizes), dim=2)

        turned = [None] * len(sizes) if self.turned is None else cut(self.turned)
        parts = zip(cut(self.q), cut(self.k), cut(self.v), cut(self.log_decay), turned, strict=True)
        return [
            Tokens(q, k, v, decay, so_far, self.scale, self.interleaved) for q, k, v, decay, so_far in parts
        ]

    def gathered(self, places: Tensor) -> Tokens:
        """The tokens at some places; place -1 is an empty token, which adds nothing and keeps the state."""
        empty = (places < 0)[:, None]

        def pick(x: Tensor) -> Tensor:
            whole = x.expand(-1, -1, self.time, -1)
            return whole.index_select(2, places.clamp(min=0)).masked_fill(empty, 0.0)

        q, k, v, log_decay = (pick(x) for x in (self.q, self.k, self.v, self.log_decay))
        turned = None if self.turned is None else pick(self.turned)
        return Tokens(q, k, v, log_decay, turned, self.scale, self.interleaved)

    def ready(self) -> Moment:
        """Cast, scaled and turned, with decays as factors, and keys and values for every query head."""
        q, k, v = (x.to(self.dtype) for x in (self.q, self.k, self.v))
        if k.shape[1] < q.shape[1]:
            k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], dim=1) for x in (k, v))
        if self.turned is not None:
            q, k = (rotated(x, self.turned, self.interleaved) for x in (q, k))
        return Moment(q * self.scale, k, v, self.log_decay.double().exp())

    def turn_up_to(self, last: Sequence[int]) -> Tensor | None:
        """Σ angle up to and with some tokens, (1 or B, 1 or H, tokens, pairs); -1: nothing has turned yet."""
        if self.turned is None:
            return None
        rows = torch.tensor(last, device=self.turned.device)
        before = pad(self.turned, (0, 0, 1, 0))
        return before.index_select(2, rows + 1)

    def state_turned(self, state: Tensor, last: Sequence[int], *, back: bool) -> Tensor:
        """States (…, dk, dv) with the turn up to the tokens `last`, one a sequence, put on or taken off."""
        angle = self.turn_up_to(last)
        if angle is None:
            return state
        if len(last) > 1:  # sequences of one batch entry
            angle = angle[0].transpose(0, 1).unsqueeze(2)
        return rotated(state.mT, angle, self.interleaved, back=back).mT


def rotated(x: Tensor, angle: Tensor, interleaved: bool, *, back: bool = False) -> Tensor:
    """R(θ) x on planes of the last axis, or R(-θ) x; θ float64 (…, pairs), rounded as cos and sin."""
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    first, second = (turn_transposed if back else turn)(*split_pairs(x, interleaved), cos, sin)
    return join_pairs(first, second, interleaved)


def running_sum(x: Tensor, block: int = 256) -> Tensor:
    """Sums of x (…, T, n) over the tokens so far, in two levels: block + T/block roundings instead of T."""
    time = x.shape[-2]
    rows = pad(x, (0, 0, 0, -time % block)).unflatten(-2, (-1, block)).cumsum(-2)
    before = pad(rows[..., :-1, -1:, :], (0, 0, 0, 0, 1, 0)).cumsum(-3)
    return (rows + before).flatten(-3, -2)[..., :time, :]


__all__ = ["Moment", "Tokens", "rotated", "running_sum"]
