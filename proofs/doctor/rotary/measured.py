"""All laws of a rotary kernel, in order; a law whose call fails is a finding under its own code."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..failed import Failed
from ..findings import Finding
from ..identify.observe import Planes
from ..say import Say
from . import beyond, compiled, formats, gradients, instances, laws
from .calls import Calls
from .trial import Outcome, Trial, broken, trial

QUICK: tuple[tuple[str, Callable[[Trial], Outcome | None]], ...] = (
    ("content", laws.content),
    ("tail", laws.tail),
    ("norm", laws.norm),
    ("relative", laws.relative),
    ("heads", laws.heads),
    ("shared-keys", laws.shared_keys),
    ("batch", laws.batch),
    ("single-token", laws.single_token),
    ("strides", laws.strides),
    ("purity", laws.purity),
    ("gradient", gradients.gradient),
    ("dtype", formats.output),
    ("arithmetic", formats.arithmetic),
    ("autocast", formats.autocast),
    ("module-cast", formats.module_cast),
    ("out-of-range", beyond.beyond),
    ("instances", instances.instances),
    ("config-key", instances.keys),
)
FULL = (("compiled", compiled.compiled),)
FIXED = (
    "relative",
    "single-token",
    "purity",
    "out-of-range",
    "instances",
)  # not where the length sets the base


def measure(calls: Calls, planes: Planes, level: str, say: Say) -> Iterator[Outcome]:
    """Every law of the level."""
    try:
        given = trial(calls, planes)
    except Failed as failed:
        yield broken("call", "random content", str(failed), planes.dim)
        return
    coarse, fading = False, ()
    if planes.fades() is not None:  # described where no plain turn is claimed; scores need keys of their own
        fading = ("norm", "out-of-range", *(() if calls.subject.both else ("relative",)))
    for code, law in (*QUICK, *(FULL if level == "full" else ())):
        if coarse and code == "out-of-range":
            continue  # what is no function of the gap below `longest` says nothing about what lies beyond
        rule = calls.subject.claims.rotary
        if rule is None and code in fading:
            continue
        if code in FIXED and rule is not None and rule.length_dependent:
            continue
        say(code)
        try:
            found = law(given)
        except Failed as failed:
            found = broken(code, "the call that this law needs", str(failed), planes.dim)
        if found is not None:
            coarse = coarse or (isinstance(found, Finding) and found.code == "relative")
            yield found
