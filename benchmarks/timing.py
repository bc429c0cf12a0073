"""Seconds of contestants that take turns, and what is said of them: quartiles, and ratios within a round.

Contestants meet in rounds, each in another order, so that a machine that gets slower gets slower for all. A
ratio is formed inside every round, and its median is what counts. A measurement follows another call of
the same contestant, as layer follows layer in a model: nobody pays for memory that others gave back.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, quantiles

import torch

LEAST_SECONDS = 0.004  # of one measurement: shorter runs are called again and again, and share it
_MOST_CALLS = 10_000
_FAR = 1.5


@dataclass(frozen=True)
class Quartiles:
    """Three numbers that half of the measurements lie between, and in the middle of."""

    lower: float
    median: float
    upper: float

    @staticmethod
    def of(samples: Sequence[float]) -> Quartiles:
        """Of at least one sample; quartiles interpolate between neighbours, ends included."""
        if len(samples) == 1:
            return Quartiles(samples[0], samples[0], samples[0])
        return Quartiles(*quantiles(samples, n=4, method="inclusive"))


def ratio(above: Sequence[float], below: Sequence[float]) -> Quartiles:
    """above[i] / below[i], round by round."""
    return Quartiles.of([a / b for a, b in zip(above, below, strict=True)])


def order(names: Sequence[str], turn: int) -> list[str]:
    """The names from another start every time, forwards and backwards: neighbours change, too."""
    start = turn // 2 % max(len(names), 1)
    moved = [*names[start:], *names[:start]]
    return moved[::-1] if turn % 2 else moved


def interleaved(runs: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Seconds a call of every run, one measurement a round; results are dropped inside the measurement."""
    names, seconds = list(runs), {name: [] for name in runs}
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        calls = {name: _calls(run) for name, run in runs.items()}
        for turn in range(rounds):
            for name in order(names, turn):
                if calls[name] == 1:
                    runs[name]()
                seconds[name].append(_measured(runs[name], calls[name]))
    finally:
        if collecting:
            gc.enable()
    return seconds


def fastest(runs: Mapping[str, Callable[[], object]], rounds: int = 3) -> str:
    """The name whose median is least, of those that a first measurement does not leave far behind."""
    first = {name: seconds[0] for name, seconds in interleaved(runs, 1).items()}
    near = {name: runs[name] for name in runs if first[name] <= _FAR * min(first.values())}
    seconds = interleaved(near, rounds) if len(near) > 1 else {name: [first[name]] for name in near}
    return min(seconds, key=lambda name: median(seconds[name]))


def _calls(run: Callable[[], object]) -> int:
    """How often a run is called in one measurement; the first calls are slow and count for nothing."""
    once = _measured(run, 1)
    if once < LEAST_SECONDS:
        once = max(min(_measured(run, 3), _measured(run, 3)), 1e-9)
    return min(math.ceil(LEAST_SECONDS / once), _MOST_CALLS)


def _measured(run: Callable[[], object], calls: int) -> float:
    _wait()
    start = time.perf_counter()
    for _ in range(calls):
        run()
    _wait()
    return (time.perf_counter() - start) / calls


def _wait() -> None:
    """Until a GPU that is in use has done what it was given."""
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()


__all__ = ["Quartiles", "fastest", "interleaved", "order", "ratio"]
