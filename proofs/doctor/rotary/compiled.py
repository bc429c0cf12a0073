"""What torch.compile makes of a rotary kernel: the same values, compiled once for inputs of one shape."""

from __future__ import annotations

import functools
import warnings
from dataclasses import replace

import torch

from ..failed import Failed
from .trial import Outcome, Trial, broken, judged


def compiled(given: Trial) -> Outcome | None:
    """Compiled by the default backend, called three times on new tensors."""
    subject = given.calls.subject
    torch.compiler.reset()
    counted: list[int] = []

    def backend(graph, inputs):
        from torch._inductor.compile_fx import compile_fx

        counted.append(1)
        return compile_fx(graph, inputs)

    calls = replace(given.calls, subject=replace(subject, apply=_same_arguments(subject.apply, backend)))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y = calls.rotate(given.x, given.ids)
            first = len(counted)
            for _ in range(2):
                calls.rotate(given.x.clone(), given.ids.clone())
    except Failed as failed:
        return broken("compiled", "torch.compile", str(failed), given.planes.dim)
    if len(counted) > first:
        cause = "it is compiled again for every call: something it keeps is new each time"
        return broken("recompiles", f"{len(counted)} compilations of one shape", cause, given.planes.dim)
    off = (y.double() - given.expected).abs()
    return judged("compiled", off, 2 * given.allowed, given.planes.dim, "unknown")


def _same_arguments(apply, backend):
    """The compiled callable under the signature of the original."""
    inner = torch.compile(apply, backend=backend, dynamic=False)

    @functools.wraps(getattr(apply, "forward", apply))
    def call(*arguments):
        return inner(*arguments)

    return call
