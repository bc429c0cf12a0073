"""Linear attention against its laws: the recurrence is the sum, chunks are the recurrence, gates a clock."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch

from ... import numeric
from .flows import RATES, VALUES
from .recurred import Recurrence, checked
from .residual import SIGNS, Case, measures
from .rotated import DTYPES, drawn, name_of

SMALL = f"{SIGNS}; and where tokens turn, the forms that are compared turn by one table"

TOKENS, CHUNK, DIM = 150, 16, 8
RATE, TURN = float(VALUES["gamma"]), float(VALUES["omega"])


def tokens(name: str, dtype: torch.dtype, clock: Sequence[float] = ()) -> Recurrence:
    """Random tokens that fade or turn, alike or as gates say; a slide has no such kernel.

    The canonical turn is R(ωt), the rotary one R(-ωt).
    """
    gates = torch.tensor(clock or [1.0] * TOKENS, dtype=torch.float64)[None, None].expand(1, 2, -1)
    q, k, v = (drawn((1, 2, TOKENS, DIM), dtype, seed) for seed in (21, 22, 23))
    turning = name == "turn"
    angle = (-TURN * gates[..., None]).expand(-1, -1, -1, DIM // 2) if turning else None
    if not clock:
        return Recurrence(q, k, v, *_steady(turning))
    return Recurrence(q, k, v, -gates * (0.0 if turning else RATE), angle)


def _steady(turning: bool) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Log decays a head, and an angle a plane, the same for all tokens."""
    decay = torch.full((2,), 0.0 if turning else -RATE, dtype=torch.float64)
    return decay, torch.full((DIM // 2,), -TURN, dtype=torch.float64) if turning else None


def apart(given: Recurrence, forms: tuple[str, str], where: str) -> Iterator[Case]:
    """Outputs and states of two forms; each may be off by its own budget."""
    one, other = checked(given, forms, CHUNK).values()
    for left, right, what in zip(one, other, ("outputs", "the last state"), strict=True):
        error = (left.found - right.found).abs()
        yield Case(
            error, left.error + right.error, name_of(given.q.dtype), f"{what}, {TOKENS} tokens, {where}"
        )


def each(name: str, forms: tuple[str, str], where: str, clock: Sequence[float] = ()) -> Iterator[Case]:
    """`apart` in every dtype."""
    for dtype in DTYPES if name != "slide" else ():
        yield from apart(tokens(name, dtype, clock), forms, where)


@measures("recurrence", small=SMALL)
def recurrence(name: str) -> Iterator[Case]:
    """Token by token against all pairs."""
    yield from each(name, ("recurrent", "parallel"), RATES)


@measures("gated-recurrence", small=SMALL)
def gated_recurrence(name: str) -> Iterator[Case]:
    """The same with a gate a token, which moves the clock by 0 to 3."""
    gates = [0.25 * (7 * t % 13) for t in range(TOKENS)]
    yield from each(name, ("recurrent", "parallel"), f"gates 0 to 3, {RATES}", gates)


@measures("chunks", small=SMALL)
def chunks(name: str) -> Iterator[Case]:
    """Chunk by chunk, a last one shorter, against token by token."""
    yield from each(name, ("chunked", "recurrent"), f"chunks of {CHUNK}, {RATES}")


def any_maps(forms: tuple[str, str]) -> Iterator[Case]:
    """A gate for every feature and token, from 1 down to e^-5, and some exactly 0."""
    for dtype in DTYPES:
        given = tokens("fade", dtype)
        gates = -5 * drawn((1, 2, TOKENS, DIM), torch.float64, 24).abs() ** 3 / 8
        gates = gates.masked_fill(gates < -4, -math.inf)
        yield from apart(replace(given, log_decay=gates), forms, "a gate a feature, some of them 0")


@measures("recurrence-any-size", small=SMALL)
def recurrence_any_size() -> Iterator[Case]:
    yield from any_maps(("recurrent", "parallel"))


@measures("chunks-any-size", small=SMALL)
def chunks_any_size() -> Iterator[Case]:
    yield from any_maps(("chunked", "recurrent"))


@measures("add-then-decay")
def add_then_decay() -> Iterator[Case]:
    """The kernel, which decays and then adds, against the state that is decayed once more."""
    for dtype in DTYPES:
        out, _ = checked(tokens("fade", dtype), ["recurrent"])["recurrent"]
        late = math.exp(-RATE) * out.known
        yield Case((out.found - late).abs(), out.error, name_of(dtype), f"{TOKENS} tokens, γ = 1/10")


@measures("chunk-border")
def chunk_border() -> Iterator[Case]:
    """Two stretches put together with one step fewer between them, against the recurrence."""
    for dtype in DTYPES:
        given = tokens("fade", dtype)
        _, end = checked(given, ["recurrent"])["recurrent"]
        first, second = (
            numeric.state_map(given.k[:, :, part], given.v[:, :, part], given.log_decay)
            for part in (slice(0, TOKENS - 8), slice(TOKENS - 8, TOKENS))
        )
        short = numeric.StateMap(second.state, second.log_decay + RATE)
        found = numeric.combine_states(first, short).state.double()
        yield Case((found - end.known).abs(), end.error, name_of(dtype), "a chunk of 8 tokens, γ = 1/10")


__all__ = ["apart", "tokens"]
