"""What a stretch of tokens does to a state of linear attention, and how two stretches make one.

    S ↦ e^{log_decay} R(-angle) S + state

Two such maps, one after the other, are one again, so stretches can be summed up apart, on several machines,
and put together in any grouping: the group law, with what the tokens added carried along.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from ..errors import BadDtype, BadTensor
from ..softmax import full_precision
from ..validation import check_flag
from .checks import check_chunk_size, check_state, check_tokens, known_state, queries_like
from .decays import carried, two_terms
from .forms import state_after
from .inputs import rotated


@dataclass(frozen=True)
class StateMap:
    """The map S ↦ e^{log_decay} R(-angle) S + state of a stretch of tokens.

    state: (B, H, dk, dv) float32 (float64 for float64 tokens), what the stretch makes of an empty state;
    log_decay: (1 or B, H, 1 or dk) float64, the sum over its tokens; angle: (1 or B, 1 or H, dk/2) float64
    radians, likewise, or None where nothing turns; interleaved: the pairing of the planes that turn.
    """

    state: Tensor
    log_decay: Tensor
    angle: Tensor | None = None
    interleaved: bool = False

    def __call__(self, state: Tensor) -> Tensor:
        """Where a state, (B, H, dk, dv), is after the stretch; BadTensor or BadDtype for anything else."""
        known_state(state, "state", self.state.dtype, tuple(self.state.shape))
        if self.angle is not None:
            state = rotated(state.mT, self.angle.unsqueeze(-2), self.interleaved, back=True).mT
        return carried(state, two_terms(self.log_decay.exp().unsqueeze(-1), state.dtype), self.state)


def state_map(
    k: Tensor,
    v: Tensor,
    log_decay: Tensor,
    *,
    angle: Tensor | None = None,
    chunk_size: int = 64,
    interleaved: bool = False,
    enable_gqa: bool = False,
) -> StateMap:
    """What tokens do to a state, whatever it is: one StateMap, without outputs.

    k: (B, H, T, dk), v: (B, H, T, dv), log_decay, angle, chunk_size, interleaved as for `linear_attention`.
    With enable_gqa k and v may have fewer heads than log_decay, as there; the map has those of log_decay.
    For one sequence on several machines: each forms the map of its own tokens, puts the maps of those
    before it together with `combine_states`, and begins its own `linear_attention` with that map's state
    (or, if the sequence goes on from a state, with where the map takes it). O(T); gradients flow to all.
    Raises BadTensor, BadDtype or TooLarge naming the argument, as `linear_attention` does.
    """
    q = queries_like(k, log_decay) if check_flag(enable_gqa, "enable_gqa") else k
    tokens = check_tokens(q, k, v, log_decay, angle, 1.0, interleaved, enable_gqa)
    check_chunk_size(chunk_size)
    empty = check_state(None, "state", q, v, k.shape[0])
    with full_precision(k):
        log_decay = tokens.log_decay.double().expand(-1, -1, tokens.time, -1).sum(2)
        state = tokens.state_turned(state_after(tokens, empty, chunk_size), [tokens.time - 1], back=True)
        turned = tokens.turn_up_to([tokens.time - 1])
        return StateMap(state, log_decay, None if turned is None else turned.squeeze(2), interleaved)


def combine_states(first: StateMap, second: StateMap) -> StateMap:
    """One map for two stretches of tokens, `first` and then `second`.

    Associative: (a b) c and a (b c) agree to rounding. BadDtype if one is no StateMap, BadTensor if they
    differ in shape, dtype or in whether and how they turn.
    """
    for name, part in (("first", first), ("second", second)):
        if not isinstance(part, StateMap):
            raise BadDtype(f"{name} is a {type(part).__name__}; a StateMap works, as state_map gives it")
    kinds = [(m.state.shape, m.state.dtype, m.angle is None, m.interleaved) for m in (first, second)]
    if kinds[0] != kinds[1]:
        words = [f"{tuple(shape)} {dtype}{'' if still else ', turning'}" for shape, dtype, still, _ in kinds]
        raise BadTensor(f"first is a map of {words[0]} and second of {words[1]}; maps of one kind work")
    angle = None if first.angle is None or second.angle is None else first.angle + second.angle
    return StateMap(second(first.state), first.log_decay + second.log_decay, angle, first.interleaved)


__all__ = ["StateMap", "combine_states", "state_map"]
