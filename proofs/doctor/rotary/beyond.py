"""Positions beyond those that were tried: right, or refused, never folded back."""

from __future__ import annotations

import torch
from torch import Tensor

from ... import budget
from ..failed import Failed
from .laws import entry
from .trial import DTYPE, Outcome, Trial, judged


def beyond(given: Trial) -> Outcome | None:
    """R(a + b) R(0) x = R(b) R(a) x with a + b at and beyond `longest`; raising is right as well.

    Each of the maps is off by at most what an angle of its size allows, relative to the length of x.
    """
    claims, planes = given.calls.subject.claims, given.planes
    rule = claims.rotary
    if claims.positions != "ids" or (rule is not None and rule.length_dependent):
        return None
    last = claims.longest - 1
    steps = torch.tensor([[1, 17, last]])
    x = given.x[:1, :, :3].contiguous()
    try:
        far = given.calls.rotate(x, steps + last)
        sought = given.calls.rotate(far, torch.zeros_like(steps))
    except Failed:
        return None
    twice = given.calls.rotate(given.calls.rotate(x, torch.full_like(steps, last)), steps)
    off = (sought.double() - twice.double()).norm(dim=-1)[0]
    whole, first, second = (
        budget.rotated_vector(entry(given, at * _fastest(given)), DTYPE)
        for at in (steps[0] + last, torch.full_like(steps[0], last), steps[0])
    )
    allowed = (1 + whole) * (1 + float(budget.rotated_vector(entry(given, torch.zeros(1)), DTYPE))) - 1
    allowed = allowed + (1 + first) * (1 + second) - 1
    length = max(planes.amplitude, 1.0) ** 2 * x.double().norm(dim=-1)[0]
    return judged(
        "out-of-range", off.T, (allowed * length).T, planes.dim, _cause(given, x, far, steps + last)
    )


def _fastest(given: Trial) -> float:
    return float(given.planes.steps().abs().max())


def _cause(given: Trial, x: Tensor, far: Tensor, ids: Tensor) -> str:
    """The position that far ones are read as, where it is one of the usual ones."""
    longest = given.calls.subject.claims.longest
    guesses = {
        f"positions are taken modulo {longest}": ids % longest,
        f"positions from {longest} on are read as {longest - 1}": ids.clamp(max=longest - 1),
    }
    if torch.equal(far, x):
        return f"positions from {longest} on are not turned"
    for words, read in guesses.items():
        if torch.equal(far, given.calls.rotate(x, read)):
            return words
    return "unknown"
